"""Draws the model's graph beside the gold one, for the report."""

from collections.abc import Mapping

from gnomon_published.benchmarks.vir_bench.drawing import NodesGiven, read_nodes, read_record
from gnomon_published.visit_graphs.compare import compared
from gnomon_published.visit_graphs.draw import svg


def figures(metrics: Mapping[str, float | str | None]) -> list[tuple[str, str]]:
    """Captions and pictures of an answer: gold first, then the model's; none where nothing was kept."""
    text = metrics.get("graph")
    if not isinstance(text, str):
        return []
    nodes = read_nodes(text)
    return _of_edges(text) if nodes is None else _of_nodes(nodes)


def _of_edges(text: str) -> list[tuple[str, str]]:
    comparison = compared(*read_record(text))
    right = sum(mark == "right" for mark in comparison.gold_marks.values())
    gold = f"Gold: {right} of {len(comparison.gold_marks)} edges found"
    wrong = sum(mark == "wrong" for mark in comparison.answer_marks.values())
    answer = f"Model: {len(comparison.answer_marks)} edges, {wrong} of them wrong"
    return [
        (gold, svg(comparison.gold, title=gold, marks=comparison.gold_marks)),
        (answer, svg(comparison.answer, title=answer, marks=comparison.answer_marks)),
    ]


def _of_nodes(nodes: NodesGiven) -> list[tuple[str, str]]:
    right = sum(mark == "right" for mark in nodes.gold_marks.values())
    gold = f"Gold: {right} of {len(nodes.gold_marks)} locations found"
    wrong = sum(mark == "wrong" for mark in nodes.answer_marks.values())
    answer = f"Model: {len(nodes.answer_marks)} locations, {wrong} of them wrong"
    return [
        (gold, svg(nodes.gold, title=gold, node_marks=nodes.gold_marks)),
        (answer, svg(nodes.answer, title=answer, node_marks=nodes.answer_marks)),
    ]
