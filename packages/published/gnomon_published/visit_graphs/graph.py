"""The graph of prefectures, cities and places: how it is built from visits, and what breaks its rules."""

from collections import Counter
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
    """Nodes by id, in their given order, and edges; its shape is not checked (see `problems`)."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Sequence[Edge] = ()

    def at(self, level: Level) -> list[Node]:
        return [node for node in self.nodes.values() if node.level == level]

    def of(self, kind: EdgeKind) -> list[Edge]:
        return [edge for edge in self.edges if edge.kind == kind]

    def parents(self) -> dict[str, list[str]]:
        """By node id: the ids of the nodes that include it."""
        parents_of: dict[str, list[str]] = {node: [] for node in self.nodes}
        for edge in self.of("inclusion"):
            parents_of.setdefault(edge.target, []).append(edge.source)
        return parents_of


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


ProblemKind = Literal[
    "unknown_node",
    "self_loop",
    "repeated_edge",
    "no_parent",
    "several_parents",
    "wrong_inclusion",
    "transition_across_levels",
    "transition_across_parents",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A rule that is broken, and by what."""

    kind: ProblemKind
    detail: str


def problems(graph: VisitGraph) -> list[Problem]:
    """All broken rules: a city is in one prefecture, a place in one city or place; transitions run within
    one parent, between nodes of one level; no edge is drawn twice or to itself.

    >>> nara = Node(id="Nara", level="city", name="Nara")
    >>> [problem.kind for problem in problems(VisitGraph(nodes={"Nara": nara}, edges=()))]
    ['no_parent']
    """
    broken = list(_edge_problems(graph))
    parents = graph.parents()
    for node in graph.nodes.values():
        above = [parent for parent in dict.fromkeys(parents[node.id]) if parent in graph.nodes]
        if node.level != "prefecture" and not above:
            broken.append(Problem(kind="no_parent", detail=f"{node.name} ({node.level}) lies in nothing"))
        if len(above) > 1:
            names = ", ".join(graph.nodes[parent].name for parent in above)
            broken.append(Problem(kind="several_parents", detail=f"{node.name} lies in {names}"))
    return broken


def _edge_problems(graph: VisitGraph) -> Iterator[Problem]:
    for edge, count in Counter(graph.edges).items():
        unknown = [end for end in (edge.source, edge.target) if end not in graph.nodes]
        if unknown:
            yield Problem(kind="unknown_node", detail=f"{unknown[0]} is no node ({_told(graph, edge)})")
            continue
        if count > 1:
            yield Problem(kind="repeated_edge", detail=f"{_told(graph, edge)}, {count} times")
        if edge.source == edge.target:
            yield Problem(kind="self_loop", detail=_told(graph, edge))
        elif edge.kind == "inclusion":
            yield from _inclusion_problems(graph, edge)
        else:
            yield from _transition_problems(graph, edge)


def _inclusion_problems(graph: VisitGraph, edge: Edge) -> Iterator[Problem]:
    above, below = (graph.nodes[end].level for end in (edge.source, edge.target))
    step = LEVELS.index(below) - LEVELS.index(above)
    if step != 1 and not (above == below == "place"):
        yield Problem(kind="wrong_inclusion", detail=f"{_told(graph, edge)}: a {below} in a {above}")


def _transition_problems(graph: VisitGraph, edge: Edge) -> Iterator[Problem]:
    levels = [graph.nodes[end].level for end in (edge.source, edge.target)]
    if levels[0] != levels[1]:
        detail = f"{_told(graph, edge)}: from a {levels[0]} to a {levels[1]}"
        yield Problem(kind="transition_across_levels", detail=detail)
        return
    parents = graph.parents()
    if set(parents[edge.source]).isdisjoint(parents[edge.target]) and levels[0] != "prefecture":
        detail = f"{_told(graph, edge)}: the two lie in different areas"
        yield Problem(kind="transition_across_parents", detail=detail)


def _told(graph: VisitGraph, edge: Edge) -> str:
    source, target = (
        graph.nodes[end].name if end in graph.nodes else end for end in (edge.source, edge.target)
    )
    return f"{source} → {target} ({edge.kind})"
