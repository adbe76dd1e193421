"""Keeps the gold graph and a model's graph, small enough to be stored with the score."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from gnomon_published.benchmarks.vir_bench.journey import UNKNOWN, Journey
from gnomon_published.visit_graphs.compare import MAX_EDGES, Comparison, Named
from gnomon_published.visit_graphs.graph import KINDS, Edge, Level, Node, VisitGraph

_LEVELS: Mapping[str, Level] = {
    "prefectures": "prefecture",
    "cities": "city",
    "points_of_interest": "place",
}
MAX_NAME = 200
_UNKNOWN = tuple(f"{word} (" for word in UNKNOWN.values())


def visit_graph(journey: Journey) -> VisitGraph:
    """The gold graph as edge prediction asks for it."""
    nodes = {
        spot.id: Node(
            id=spot.id, level=_LEVELS[spot.level], name=spot.name(journey.language), category=spot.category
        )
        for spot in journey.spots.values()
        if spot.level in _LEVELS and not spot.is_nameless
    }
    edges = [
        Edge(source=link.source, target=link.target, kind=KINDS[link.kind == "transition"])
        for link in journey.gold_links()
    ]
    return VisitGraph(nodes=nodes, edges=edges)


def named_edges(edges: object) -> list[Named]:
    """The edges of a reply that have two names and a kind; the others cannot be drawn."""
    named: list[Named] = []
    for edge in edges[:MAX_EDGES] if isinstance(edges, list) else ():
        fields = edge if isinstance(edge, Mapping) else {}
        source, target, kind = (fields.get(name) for name in ("source", "target", "type"))
        if isinstance(source, str) and isinstance(target, str) and kind in KINDS:
            named.append((source[:MAX_NAME], target[:MAX_NAME], kind))
    return named


def graph_record(journey: Journey, answered: Iterable[Named]) -> str:
    """Gold and the given edges as JSON text."""
    graph = visit_graph(journey)
    record = {
        "nodes": [[node.id, node.level, node.name] for node in graph.nodes.values()],
        "gold": [[edge.source, edge.target, edge.kind] for edge in graph.edges],
        "given": list(answered),
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def read_record(text: str) -> tuple[VisitGraph, list[Named]]:
    """The gold graph and the given edges of such a text."""
    record: dict[str, Any] = json.loads(text)
    nodes = {node_id: Node(id=node_id, level=level, name=name) for node_id, level, name in record["nodes"]}
    edges = tuple(Edge(source=source, target=target, kind=kind) for source, target, kind in record["gold"])
    return VisitGraph(nodes=nodes, edges=edges), [
        (source, target, kind) for source, target, kind in record["given"]
    ]


def node_record(journey: Journey, found_ids: Iterable[str], wrong: Iterable[tuple[str, str]]) -> str:
    """Gold, the ids of the gold spots that the answer has, and level and name of its other entries."""
    wrong_names = [[level, name[:MAX_NAME]] for level, name in wrong][:MAX_EDGES]
    record = {**json.loads(graph_record(journey, ())), "found": list(found_ids), "wrong": wrong_names}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def read_nodes(text: str) -> Comparison | None:
    """What a node answer found of gold, and a graph of all that it gave; None if it is a record of edges."""
    record: dict[str, Any] = json.loads(text)
    if "found" not in record:
        return None
    gold, _ = read_record(text)
    found_ids = set(record["found"])
    countable = [node.id for node in gold.nodes.values() if not node.name.startswith(_UNKNOWN)]
    nodes = {node.id: node for node in gold.nodes.values() if node.id in found_ids}
    for number, (level, name) in enumerate(record["wrong"]):
        nodes[f"given {number}"] = Node(id=f"given {number}", level=_LEVELS[level], name=name)
    inside = [edge for edge in gold.of("inclusion") if edge.source in found_ids and edge.target in found_ids]
    return Comparison(
        gold=gold,
        gold_marks={node: "right" if node in found_ids else "missed" for node in countable},
        answer=VisitGraph(nodes=nodes, edges=inside),
        answer_marks={node: "right" if node in found_ids else "wrong" for node in nodes},
    )
