"""Options of commands that read a file of questions of one's own."""

from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError

if TYPE_CHECKING:
    from gnomon.core.benchmark import Benchmark


def reading(benchmark: "Benchmark", columns: tuple[str, ...], scorer: str | None) -> "Benchmark":
    """The benchmark for a file with these names of columns (`OURS=THEIRS`) and this scorer.

    Raises:
        SpecError: an option is not of that form, or the benchmark has columns and scorers of its own.
    """
    from gnomon.core.benchmark import ReadsOwnFiles

    if not columns and scorer is None:
        return benchmark
    field = "--columns" if columns else "--scorer"
    if not isinstance(benchmark, ReadsOwnFiles):
        raise SpecError(f"{benchmark.name} has its own; allowed with the benchmark questions", field=field)
    names = {}
    for pair in columns:
        ours, is_pair, theirs = pair.partition("=")
        if not is_pair or not theirs:
            raise SpecError(f"{pair!r} is not of the form OURS=THEIRS", field="--columns")
        names[ours.strip()] = theirs.strip()
    return benchmark.reading(names, scorer)
