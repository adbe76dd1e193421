"""Compares a model's edges with the gold ones: each edge is right, wrong or missed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gnomon_published.visit_graphs.graph import KINDS, LEVELS, Edge, EdgeKind, Node, VisitGraph

Mark = Literal["right", "wrong", "missed"]
Marks = Mapping[Edge | str, Mark]  # by edge, or by the id of a node
Named = tuple[str, str, EdgeKind]  # source, target, kind, by names

MAX_EDGES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The gold graph and the model's, with a mark on every edge, or, of an answer of nodes, on every node.

    Gold's are right or missed, the model's right or wrong. What the model made up is in its graph alone.
    """

    gold: VisitGraph
    answer: VisitGraph
    gold_marks: Marks
    answer_marks: Marks


def compared(gold: VisitGraph, named: Iterable[Named]) -> Comparison:
    """Read edges by name as edges between gold's nodes. Where nodes share a name, an edge that gold has is
    meant before any other, each once; a name that no node has becomes a node.

    >>> whole = Node(id="1", level="prefecture", name="Osaka")
    >>> city = Node(id="2", level="city", name="Osaka")
    >>> holds = Edge(source="1", target="2", kind="inclusion")
    >>> gold = VisitGraph(nodes={"1": whole, "2": city}, edges=(holds,))
    >>> comparison = compared(gold, [("Osaka", "Osaka", "inclusion"), ("Osaka", "Kobe", "transition")])
    >>> list(comparison.answer_marks.values()), list(comparison.gold_marks.values())
    (['right', 'wrong'], ['right'])
    """
    nodes = dict(gold.nodes)
    by_name: dict[str, list[str]] = {}
    for node in gold.nodes.values():
        by_name.setdefault(node.name, []).append(node.id)
    left = list(gold.edges)
    marks: dict[Edge, Mark] = {}
    for source, target, kind in list(named)[:MAX_EDGES]:
        ends = [by_name.setdefault(name, [_made_up(nodes, name)]) for name in (source, target)]
        edge = next((e for e in left if e.kind == kind and e.source in ends[0] and e.target in ends[1]), None)
        if edge:
            left.remove(edge)
        marks.setdefault(edge or _likely(nodes, ends[0], ends[1], kind), "right" if edge else "wrong")
    return Comparison(
        gold=gold,
        answer=VisitGraph(nodes=nodes, edges=tuple(marks)),
        gold_marks={edge: "missed" if edge in left else "right" for edge in gold.edges},
        answer_marks={edge: marks[edge] for edge in marks},
    )


def _made_up(nodes: dict[str, Node], name: str) -> str:
    node_id = next((node.id for node in nodes.values() if node.name == name), None)
    if node_id is None:
        node_id = f"made up: {name}"
        nodes[node_id] = Node(id=node_id, level="place", name=name)
    return node_id


def _likely(nodes: Mapping[str, Node], sources: list[str], targets: list[str], kind: EdgeKind) -> Edge:
    """The edge that the names most likely mean: within a level for a transition, one level down for an
    inclusion.
    """
    down = KINDS.index(kind) == 0

    def strangeness(pair: tuple[str, str]) -> int:
        above, below = (LEVELS.index(nodes[end].level) for end in pair)
        return abs(below - above - down)

    source, target = min(
        ((source_id, target_id) for source_id in sources for target_id in targets), key=strangeness
    )
    return Edge(source=source, target=target, kind=kind)
