"""Counting: precision, recall and F1; whatever has no denominator is 0, as released."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Precision, recall and F1; above 1 where a rule counts one prediction twice."""

    precision: float
    recall: float
    f1: float

    def items(self) -> Iterable[tuple[str, float]]:
        """Names and values."""
        return (("precision", self.precision), ("recall", self.recall), ("f1", self.f1))


ZERO = Measure(precision=0.0, recall=0.0, f1=0.0)


def measure(*, hits: int, predicted: int, gold: int) -> Measure:
    """The measure of `hits` among that many predictions and that many golds.

    >>> measure(hits=1, predicted=2, gold=1)
    Measure(precision=0.5, recall=1.0, f1=0.6666666666666666)
    >>> measure(hits=0, predicted=0, gold=0)
    Measure(precision=0.0, recall=0.0, f1=0.0)
    """
    precision = hits / predicted if predicted > 0 else 0.0
    recall = hits / gold if gold > 0 else 0.0
    both = precision + recall
    return Measure(precision=precision, recall=recall, f1=2 * precision * recall / both if both > 0 else 0.0)


def flat(levels: Mapping[str, Measure]) -> dict[str, float | str | None]:
    """By `level.measure`, for a score's metrics."""
    return {f"{level}.{name}": value for level, found in levels.items() for name, value in found.items()}
