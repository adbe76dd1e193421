"""Progress: what a person sees on stderr while work goes on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from service.running import Look


def on_stderr() -> Progress:
    """A progress bar with counts, time spent and time left, on stderr."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=Console(stderr=True),
    )


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar over `what`; call the yielded function with how many are done and how many there are."""
    with on_stderr() as progress:
        bar = progress.add_task(what, total=None, note="")

        def advance(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total)

        yield advance


class JobProgress:
    """A bar over a job's trials, with what is missing and each arm's mean so far.

    A context manager; the bar appears with the first look, so that an early error stands alone.
    """

    def __init__(self) -> None:
        self._progress = on_stderr()
        self._bar = self._progress.add_task("trials", total=None, note="")
        self._sums: dict[str, tuple[float, int]] = {}
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_shown:
            self._progress.stop()

    def show(self, look: "Look") -> None:
        """Take in a look at the job."""
        if not self._is_shown:
            self._is_shown = True
            self._progress.start()
        for row in look.rows:
            if row.score is not None:
                total, count = self._sums.get(row.arm, (0.0, 0))
                self._sums[row.arm] = (total + row.score, count + 1)
        means = [f"{arm} {total / count:.2f}" for arm, (total, count) in sorted(self._sums.items())]
        counts = look.job.counts
        missing = [f"{counts.infra_missing} missing"] if counts.infra_missing else []
        note = ", ".join(missing + means)
        self._progress.update(self._bar, completed=counts.done, total=counts.planned, note=note)
