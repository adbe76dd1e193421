"""Build: the graph of an ordered list of visits, by VIR-Bench's rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gnomon.visit_graphs.graph import LEVELS, Edge, Node, VisitGraph

Path = tuple[str, ...]  # prefecture, city, place, place inside that …


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A place that was visited, with the areas it lies in; `inside` names the places it is part of."""

    prefecture: str
    city: str
    place: str
    inside: tuple[str, ...] = ()
    category: str = ""

    @property
    def path(self) -> Path:
        """Names from the largest to the smallest."""
        return (self.prefecture, self.city, *self.inside, self.place)


def graph_of(visits: Sequence[Visit]) -> VisitGraph:
    """Inclusions of every visited place, and one transition for each step from a visit to the next.

    A step that leaves an area is drawn between the areas: at the highest level at which the two visits
    differ. A step into or out of a part of the same place is no transition, and a step made twice is one.

    >>> graph = graph_of([Visit(prefecture="Osaka", city="Osaka", place="Namba Station"),
    ...                   Visit(prefecture="Osaka", city="Osaka", place="Glico Sign"),
    ...                   Visit(prefecture="Hyogo", city="Kobe", place="Kobe Port Tower")])
    >>> [edge for edge in graph.named_edges() if edge[2] == "transition"]
    [('Namba Station', 'Glico Sign', 'transition'), ('Osaka', 'Hyogo', 'transition')]
    """
    nodes: dict[str, Node] = {}
    edges: dict[Edge, None] = {}
    for visit in visits:
        for depth in range(1, len(visit.path) + 1):
            path = visit.path[:depth]
            category = visit.category if path == visit.path else ""
            level = LEVELS[min(depth, len(LEVELS)) - 1]
            nodes.setdefault(_id(path), Node(id=_id(path), level=level, name=path[-1], category=category))
            if depth > 1:
                edges[Edge(source=_id(path[:-1]), target=_id(path), kind="inclusion")] = None
    for one, other in pairwise(visits):
        step = _step(one.path, other.path)
        if step:
            edges[Edge(source=_id(step[0]), target=_id(step[1]), kind="transition")] = None
    return VisitGraph(nodes=nodes, edges=tuple(edges))


def _step(one: Path, other: Path) -> tuple[Path, Path] | None:
    """The ends of the transition: the two paths, cut after the first name in which they differ."""
    for depth, (left, right) in enumerate(zip(one, other, strict=False), start=1):
        if left != right:
            return one[:depth], other[:depth]
    return None


def _id(path: Path) -> str:
    return " / ".join(path)
