"""Shows progress: in a notebook as a bar that is redrawn, elsewhere as the command line does."""

import html
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gnomon_service.cli.progress import Counter, clock

if TYPE_CHECKING:
    from gnomon_service.answers import JobView

REDRAW_S = 0.25


def in_notebook() -> bool:
    """Whether this process is a notebook's kernel: only then are pictures shown."""
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return instance is not None and hasattr(instance, "kernel")


def counter() -> Counter:
    """A counter of trials for where the user is."""
    return NotebookCounter("trials") if in_notebook() else Counter("trials")


class NotebookCounter(Counter):
    """A counter that draws a bar in the cell's output, in the same place each time."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self._what_counted = what
        self._handle: Any = None
        self._began_s = self._drawn_s = 0.0
        self._last = (0, 0, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._draw(time.monotonic())

    def show(self, done: int, total: int, note: str = "") -> None:
        """Show a new count."""
        now_s = time.monotonic()
        self._last = (done, total, note)
        if self._handle is None:
            from IPython import display

            self._began_s = now_s
            draw: Any = display.display  # it has no types
            self._handle = draw({"text/plain": ""}, raw=True, display_id=True)
        if now_s - self._drawn_s >= REDRAW_S:
            self._draw(now_s)

    def _draw(self, now_s: float) -> None:
        done, total, note = self._last
        self._drawn_s = now_s
        text = f"{done:,} of {total:,} {self._what_counted}, {clock(now_s - self._began_s)}"
        text += f" · {note}" if note else ""
        style = "width:20em;vertical-align:middle"
        bar = f'<progress max="{max(total, 1)}" value="{done}" style="{style}"></progress>'
        shown = f"<div>{bar} <small>{html.escape(text)}</small></div>"
        self._handle.update({"text/html": shown, "text/plain": text}, raw=True)


class ViewProgress:
    """Shows progress over a job that another process runs. A context manager."""

    def __init__(self, *, is_shown: bool) -> None:
        self._counter = counter() if is_shown else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._counter is not None:
            self._counter.__exit__(kind, error, trace)

    def show(self, view: "JobView") -> None:
        """Show the job as it is now."""
        if self._counter is not None:
            counts = view["counts"]
            missing = counts["infra_missing"]
            done = counts["scored"] + counts["model_failed"] + missing
            self._counter.show(done, counts["planned"], f"{missing:,} missing" if missing else "")
