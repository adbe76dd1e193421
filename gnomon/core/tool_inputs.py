"""What a benchmark's samples hold for tools: which tools they can serve, of the benchmark or of one file."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tools.core.tool import Need
from tools.core.toolbox import TOOLS

if TYPE_CHECKING:
    from gnomon.core.benchmark import Benchmark


@runtime_checkable
class ProvidesToolInputs(Protocol):
    """Says what its samples hold for tools.

    `tools: all` of a preset then means the tools that fit, and reports count against these. Without it every
    tool counts as fitting.

    Example: `provides = ("footage", "nothing")`, for questions about clips.
    """

    provides: tuple[Need, ...]


def provided_inputs(benchmark: "Benchmark", names: Iterable[str]) -> tuple[str, ...]:
    """Those of these tools that the benchmark's samples can serve; tools there are no more count as well."""
    if not isinstance(benchmark, ProvidesToolInputs):
        return tuple(names)
    tools = {name: TOOLS.find(name) for name in names}
    return tuple(name for name, tool in tools.items() if tool is None or tool.needs in benchmark.provides)


def usable_tools(benchmark: "Benchmark") -> list[str]:
    """The names of the tools that the benchmark's samples can serve; all there are, where it does not say.

    An arm that takes away a tool which no sample offers would cost as much as any other, and show nothing.
    """
    return list(provided_inputs(benchmark, TOOLS.working_names()))


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
        ...
