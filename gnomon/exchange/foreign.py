"""A benchmark that Gnomon does not have: what a report needs to know of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.core.benchmark import BENCHMARKS, Benchmark, Published, SampleSet
from gnomon.core.errors import SpecError
from gnomon.core.score import Score


@dataclass(kw_only=True)
class Foreign:
    """A benchmark by name only: its runs can be reported, not repeated or scored again."""

    name: str
    version: str = "imported"
    tasks: tuple[str, ...] = ()
    scenes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    needs_data: bool = False
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"

    def open(self, **_: object) -> SampleSet:
        raise self._absent()

    def score(self, *_: object, **__: object) -> Score:
        raise self._absent()

    def score_record(self, *_: object, **__: object) -> Score:
        raise self._absent()

    def published(self) -> Sequence[Published]:
        return ()

    def _absent(self) -> SpecError:
        return SpecError(f"{self.name!r} was run elsewhere; Gnomon has neither its samples nor its scorer")


def benchmark_called(name: str) -> Benchmark:
    """The benchmark of this name; a foreign one where Gnomon does not have it.

    >>> benchmark_called("gsm8k").version
    'imported'
    """
    return BENCHMARKS.find(name) or Foreign(name=name)
