"""Answers what most benchmarks answer alike, such as the figures of a paper; each adds what it has beyond."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published
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
        return _published_rows(type(self).__module__.rpartition(".")[0])


@cache
def _published_rows(package: str) -> tuple[Published, ...]:
    """The rows of a benchmark's package, as fractions; what they hold is written in the file's `source`."""
    file = files(package).joinpath("published.json")
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.is_file() else ()
    return tuple(Published(**row) for row in rows)
