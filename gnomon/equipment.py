"""Equipment: what a benchmark's samples hold for tools, from benchmarks that say so."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from gnomon.benchmark import Benchmark
from tools.core.tool import Need
from tools.core.toolbox import TOOLS


@runtime_checkable
class Equipped(Protocol):
    """A benchmark that says which needs of tools its samples meet."""

    holds: tuple[Need, ...]


def fitting_of(benchmark: Benchmark, names: Iterable[str]) -> tuple[str, ...]:
    """Those of these tools that the benchmark's samples can serve; tools there are no more count as well."""
    if not isinstance(benchmark, Equipped):
        return tuple(names)
    known = TOOLS.names()
    return tuple(name for name in names if name not in known or TOOLS.get(name).needs in benchmark.holds)


def fitting_tools(benchmark: Benchmark) -> list[str]:
    """The names of the tools that the benchmark's samples can serve; all there are, where it does not say.

    An arm that takes away a tool which no sample offers would cost as much as any other, and show nothing.
    """
    if not isinstance(benchmark, Equipped):
        return list(TOOLS.names())
    return [tool.name for tool in TOOLS if tool.needs in benchmark.holds]
