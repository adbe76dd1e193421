"""Draws the model's graph beside the gold one, for the report."""

from collections.abc import Mapping

from gnomon_published.benchmarks.vir_bench.drawing import read_nodes, read_record
from gnomon_published.visit_graphs.compare import compared
from gnomon_published.visit_graphs.draw import svg


def figures(metrics: Mapping[str, float | str | None]) -> list[tuple[str, str]]:
    """Captions and pictures of an answer: gold first, then the model's; none where nothing was kept."""
    text = metrics.get("graph")
    if not isinstance(text, str):
        return []
    nodes = read_nodes(text)
    what, shown = ("edges", compared(*read_record(text))) if nodes is None else ("locations", nodes)
    right = sum(mark == "right" for mark in shown.gold_marks.values())
    gold = f"Gold: {right} of {len(shown.gold_marks)} {what} found"
    wrong = sum(mark == "wrong" for mark in shown.answer_marks.values())
    answer = f"Model: {len(shown.answer_marks)} {what}, {wrong} of them wrong"
    return [
        (gold, svg(shown.gold, title=gold, marks=shown.gold_marks)),
        (answer, svg(shown.answer, title=answer, marks=shown.answer_marks)),
    ]
