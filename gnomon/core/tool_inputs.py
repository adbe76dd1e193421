"""What samples hold for tools, and which tools those of a benchmark, or of one file of it, can serve."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, overload, runtime_checkable

from gnomon.core.sample import ImageRef, Sample
from gnomon.core.select import Select
from gnomon_tools.core.clip import Picture, Pictures
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.core.tool import MediaSource, ToolContext
from gnomon_tools.core.toolbox import TOOLS

if TYPE_CHECKING:
    from gnomon.core.benchmark import Benchmark


@runtime_checkable
class ProvidesToolInputs(Protocol):
    """Says what its samples hold for tools.

    `tools: all` then means the tools that fit, and reports count against these. Without it every tool counts
    as fitting.

    Example: `provides = (Footage, None)`, for questions about clips: tools that look into one, and those that
    need nothing.
    """

    provides: tuple[Need, ...]


def context_of(sample: Sample, media: MediaSource | None = None) -> ToolContext:
    """What a call of a tool may look at on this sample; its pictures where there are `media`."""
    images = [part.content for part in sample.parts if isinstance(part.content, ImageRef)]
    pictures = Pictures(listed=_Pictures(images)) if images and media is not None else None
    return ToolContext(
        inputs={**sample.inputs, **held(pictures)}, media=media, sample_id=sample.ref.sample_id
    )


class _Pictures(Sequence[Picture]):
    """The pictures of a question, in the order in which it shows them; each is read when it is asked for."""

    def __init__(self, images: Sequence[ImageRef]) -> None:
        self._images = images

    def __len__(self) -> int:
        return len(self._images)

    @overload
    def __getitem__(self, index: int) -> Picture: ...
    @overload
    def __getitem__(self, index: slice) -> list[Picture]: ...
    def __getitem__(self, index: int | slice) -> Picture | list[Picture]:
        if isinstance(index, slice):
            return [Picture(**asdict(image)) for image in self._images[index]]
        return Picture(**asdict(self._images[index]))


def provided_inputs(benchmark: "Benchmark", names: Iterable[str]) -> tuple[str, ...]:
    """Those of these tools that the benchmark's samples can serve; tools that no longer exist are kept."""
    if not isinstance(benchmark, ProvidesToolInputs):
        return tuple(names)
    tools = {name: TOOLS.find(name) for name in names}
    served = (None, *benchmark.provides)
    return tuple(name for name, tool in tools.items() if tool is None or tool.needs in served)


def usable_tools(benchmark: "Benchmark") -> list[str]:
    """The names of the tools that fit the benchmark's samples; all there are, where it does not say.

    An arm that takes away a tool which no sample offers would cost as much as any other, and show nothing.
    Our tools that need nothing work on lengths and angles of pictures, so they fit where the benchmark says
    so; one of the user's own always does.
    """
    names = provided_inputs(benchmark, TOOLS.working_names())
    if not isinstance(benchmark, ProvidesToolInputs) or None in benchmark.provides:
        return list(names)
    return [name for name in names if TOOLS.get(name).needs is not None or TOOLS.whose(name) is not None]


@runtime_checkable
class ServesBySelect(Protocol):
    """Generates questions that hold something else for tools by what is selected.

    An arm's and a preset's `tools: all` then mean the tools that fit the selection.

    Example: `selecting` of `worlds` gives a benchmark that provides clips too where `frames` are asked for.
    """

    def selecting(self, select: Select) -> "Benchmark":
        """The benchmark that provides what these samples hold."""


@runtime_checkable
class ServesByFile(Protocol):
    """Reads files of which each may hold something else for tools.

    `tools: all`, of a preset or an arm, then means the tools that fit the questions of the spec's file.

    Example: `serving` of `questions` gives a benchmark that provides no `scene` for a file without scenes.
    """

    def serving(self, data: Path) -> "Benchmark":
        """The benchmark that provides what some question of this file has.

        Raises:
            DataError: it cannot be read.
        """
