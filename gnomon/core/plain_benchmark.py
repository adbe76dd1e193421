"""Holds what most benchmarks answer alike: one scorer, answers without a place, the table of a paper."""

from collections.abc import Sequence

from gnomon.core.benchmark import Published
from gnomon.core.published_rows import published_rows
from gnomon.core.sample import Sample
from gnomon_tools.core.sketch import Sketch


class PlainBenchmark:
    """A base for benchmarks; what a benchmark has beyond it, it defines itself."""

    scenes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    needs_data = True

    def answer_sketch(self, sample: Sample, answer: str) -> Sketch:  # noqa: ARG002 (a word has no place)
        return Sketch()

    def published(self) -> Sequence[Published]:
        """The rows of `published.json` in the benchmark's folder; none where it has no such file."""
        return published_rows(type(self).__module__.rpartition(".")[0])
