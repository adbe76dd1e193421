"""A trial's trace, a prompt and a plan, as text and as a notebook shows them."""

import base64
import html
import io
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from gnomon_service.answers import TrialView

WIDTH = 100  # characters of a line
BOX = (
    "max-height:36em;overflow:auto;margin:0;padding:12px 14px;border:1px solid #dcdad3;border-radius:8px;"
    "background:#fff;color:#1b2430;font:13px/1.45 ui-monospace,'DejaVu Sans Mono',monospace;"
    "white-space:pre-wrap"
)


class View(Mapping[str, Any]):
    """Plain data that is shown in words: `str` gives them, a notebook a box of them."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return printed(self._print)

    def _repr_html_(self) -> str:
        return printed_html(self._print)

    def _print(self, console: "Console") -> None:
        raise NotImplementedError


class Trace(View):
    """A trial with its prompt, its steps, its answer and its score."""

    def __init__(self, data: "TrialView", *, truth: str = "") -> None:
        super().__init__(data)
        self.truth = truth

    @property
    def steps(self) -> list[dict[str, Any]]:
        """What was done, step by step; empty where no trace is stored."""
        return list((self["trace"] or {}).get("steps") or ())

    @property
    def answer(self) -> str | None:
        """The parsed answer; None where there is none."""
        answer: str | None = (self["row"] or {}).get("answer")
        return answer

    @property
    def score(self) -> float | None:
        """The score; None where it is missing."""
        score: float | None = (self["row"] or {}).get("score")
        return score

    def _print(self, console: "Console") -> None:
        from gnomon_workbench.trace_text import print_trace  # late: Rich loads slowly

        print_trace(self._data, console, truth=self.truth, full=True)


class Prompt(View):
    """What a model would get for one sample: `messages`, `tools`, `images` and how they may be used."""

    def __init__(self, data: Mapping[str, Any], *, read_picture: Callable[[str], bytes]) -> None:
        super().__init__(data)
        self._read_picture = read_picture

    def _print(self, console: "Console") -> None:
        from gnomon_workbench.dry_run import print_shown  # late: it loads the agents

        print_shown(dict(self._data), console)

    def pictures(self) -> list[bytes]:
        """The pictures that the model would see, in order, as PNG or JPEG."""
        return [self._read_picture(image["sha256"]) for image in self["images"]]

    def _repr_html_(self) -> str:
        pictures = [
            f'<img alt="picture {number}" style="max-width:48%;max-height:360px;margin:8px 8px 0 0" '
            f'src="data:{html.escape(image["media_type"])};base64,{base64.b64encode(data).decode()}">'
            for number, (image, data) in enumerate(zip(self["images"], self.pictures(), strict=True), start=1)
        ]
        return super()._repr_html_() + "".join(pictures)


class Plan(View):
    """What a job would cost and could detect."""

    def _print(self, console: "Console") -> None:
        from gnomon_service.cli.commands.plan import plan_text  # late: it brings the command line

        console.print(plan_text(dict(self._data)), markup=False, highlight=False, soft_wrap=True)


def printed(draw: Callable[["Console"], None]) -> str:
    """What `draw` prints, as plain text."""
    from rich.console import Console  # late: Rich loads slowly

    text = io.StringIO()
    draw(Console(file=text, width=WIDTH, force_terminal=False, force_jupyter=False, color_system=None))
    return text.getvalue().rstrip("\n")


def printed_html(draw: Callable[["Console"], None]) -> str:
    """What `draw` prints, with its colours, as a box for a notebook; everything is escaped."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=WIDTH,
        record=True,
        force_terminal=True,
        force_jupyter=False,
        color_system="truecolor",
        highlight=False,
    )
    draw(console)
    code = console.export_html(inline_styles=True, code_format="{code}")
    return f'<pre style="{BOX}">{code}</pre>'
