"""Exhibit: the model's graph beside the gold one, for the report."""

from collections.abc import Mapping

from gnomon.benchmarks.vir_bench.drawing import read_record
from gnomon.visits.compare import compared
from gnomon.visits.draw import svg


def figures(metrics: Mapping[str, float | str | None]) -> list[tuple[str, str]]:
    """Captions and pictures of an edge answer: gold first, then the model's; none for other answers."""
    text = metrics.get("graph")
    if not isinstance(text, str):
        return []
    found = compared(*read_record(text))
    right = sum(mark == "right" for mark in found.gold_marks.values())
    gold = f"Gold: {right} of {len(found.gold_marks)} edges found"
    wrong = sum(mark == "wrong" for mark in found.given_marks.values())
    given = f"Model: {len(found.given_marks)} edges, {wrong} of them wrong"
    return [
        (gold, svg(found.gold, title=gold, marks=found.gold_marks)),
        (given, svg(found.given, title=given, marks=found.given_marks)),
    ]
