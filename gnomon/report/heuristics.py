"""Floors: what rules without a model score on the samples of this very job, beside every result."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from typing_extensions import TypedDict

from gnomon.core.benchmark import HEURISTIC_PREFIX
from gnomon.core.row import Row


class HeuristicMean(TypedDict):
    """A rule's mean over the samples of one cell."""

    n: int
    mean: float


class HeuristicRow(TypedDict):
    """A rule without a model, such as the nearest camera, by cell where it applies."""

    rule: str
    by_task: dict[str, HeuristicMean]


class HeuristicScores:
    """Rows on their way to the ledger, of which the rules' scores are kept, once a sample."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)

    def tee(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass the rows on."""
        for row in rows:
            for name, value in row.metrics.items():
                if name.startswith(HEURISTIC_PREFIX) and isinstance(value, float | int):
                    self._found[name.removeprefix(HEURISTIC_PREFIX), row.cell][row.sample_id] = float(value)
            yield row

    def rows(self) -> list[HeuristicRow]:
        """One row a rule: its mean in each cell where it applies, with the number of samples."""
        found: dict[str, HeuristicRow] = {}
        for (rule, cell), values in sorted(self._found.items()):
            row = found.setdefault(rule, {"rule": rule, "by_task": {}})
            row["by_task"][cell] = {"n": len(values), "mean": sum(values.values()) / len(values)}
        return list(found.values())
