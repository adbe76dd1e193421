"""Check: what breaks the rules of a visiting-order graph, in words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gnomon.visit_graphs.graph import LEVELS, Edge, VisitGraph

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
    """All broken rules: a city lies in one prefecture, a place in one city or place; transitions run within
    one parent, between nodes of one level; no edge is drawn twice or to itself.

    >>> from gnomon.visit_graphs.build import Visit, graph_of
    >>> problems(graph_of([Visit(prefecture="Nara", city="Nara", place="Todaiji")]))
    []
    """
    found = list(_edge_problems(graph))
    parents = graph.parents()
    for node in graph.nodes.values():
        above = [parent for parent in dict.fromkeys(parents[node.id]) if parent in graph.nodes]
        if node.level != "prefecture" and not above:
            found.append(Problem(kind="no_parent", detail=f"{node.name} ({node.level}) lies in nothing"))
        if len(above) > 1:
            names = ", ".join(graph.nodes[parent].name for parent in above)
            found.append(Problem(kind="several_parents", detail=f"{node.name} lies in {names}"))
    return found


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
    one, other = (graph.nodes[end].name if end in graph.nodes else end for end in (edge.source, edge.target))
    return f"{one} → {other} ({edge.kind})"
