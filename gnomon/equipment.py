"""Equipment: what a benchmark's samples hold for tools, from benchmarks that say so."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from gnomon.core.benchmark import Benchmark
from tools.core.tool import Need
from tools.core.toolbox import TOOLS


@runtime_checkable
class ProvidesToolInputs(Protocol):
    """A benchmark that says which needs of tools its samples meet."""

    provides: tuple[Need, ...]


def provided_inputs(benchmark: Benchmark, names: Iterable[str]) -> tuple[str, ...]:
    """Those of these tools that the benchmark's samples can serve; tools there are no more count as well."""
    if not isinstance(benchmark, ProvidesToolInputs):
        return tuple(names)
    known = TOOLS.names()
    return tuple(name for name in names if name not in known or TOOLS.get(name).needs in benchmark.provides)


def usable_tools(benchmark: Benchmark) -> list[str]:
    """The names of the tools that the benchmark's samples can serve; all there are, where it does not say.

    An arm that takes away a tool which no sample offers would cost as much as any other, and show nothing.
    """
    if not isinstance(benchmark, ProvidesToolInputs):
        return list(TOOLS.names())
    return [tool.name for tool in TOOLS if tool.needs in benchmark.provides]
