"""The graph: prefectures, cities and places; inclusion by place, transition by time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["prefecture", "city", "place"]
LEVELS: tuple[Level, ...] = ("prefecture", "city", "place")
EdgeKind = Literal["inclusion", "transition"]
KINDS: tuple[EdgeKind, ...] = ("inclusion", "transition")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An area or place that was visited; two may share a name (Osaka the prefecture, Osaka the city)."""

    id: str
    level: Level
    name: str
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """From the larger to the smaller (inclusion), or from the earlier to the later (transition), by ids."""

    source: str
    target: str
    kind: EdgeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitGraph:
    """Nodes by id, in their given order, and edges; nothing is promised of its shape (see `problems`)."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Sequence[Edge] = ()

    def at(self, level: Level) -> list[Node]:
        """The nodes of a level, in their given order."""
        return [node for node in self.nodes.values() if node.level == level]

    def of(self, kind: EdgeKind) -> list[Edge]:
        """The edges of a kind, in their given order."""
        return [edge for edge in self.edges if edge.kind == kind]

    def parents(self) -> dict[str, list[str]]:
        """By node id: the ids of the nodes that include it."""
        found: dict[str, list[str]] = {node: [] for node in self.nodes}
        for edge in self.of("inclusion"):
            found.setdefault(edge.target, []).append(edge.source)
        return found

    def named_edges(self) -> Iterator[tuple[str, str, EdgeKind]]:
        """Edges by the names of their ends."""
        for edge in self.edges:
            yield self.nodes[edge.source].name, self.nodes[edge.target].name, edge.kind


def visiting_order(graph: VisitGraph, among: Sequence[str]) -> list[str]:
    """The nodes of `among` in the order of the transitions between them; ties keep the given order.

    Nodes on a cycle (a place visited twice) come in the given order, where the cycle is reached.

    >>> nodes = {name: Node(id=name, level="city", name=name) for name in "abc"}
    >>> edges = [Edge(source="c", target="a", kind="transition")]
    >>> visiting_order(VisitGraph(nodes=nodes, edges=edges), ["a", "b", "c"])
    ['b', 'c', 'a']
    """
    before: dict[str, set[str]] = {node: set() for node in among}
    for edge in graph.of("transition"):
        if edge.source in before and edge.target in before and edge.source != edge.target:
            before[edge.target].add(edge.source)
    left, ordered = list(among), list[str]()
    while left:
        free = next((node for node in left if not before[node] - set(ordered)), left[0])
        left.remove(free)
        ordered.append(free)
    return ordered
