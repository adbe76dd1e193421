"""Defines what a graph of routes offers: legs between nodes, and how points join them (roads, floors)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shapely import Polygon

from gnomon_tools.geometry.route import RouteLeg
from gnomon_tools.scene.scene import Point

Edge = tuple[int, int]  # the nodes that it leads from and to


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """Where a point joins the ground: the nearest point of a road or zone, `snap_m` away."""

    id: str
    xy_m: Point
    floor: int
    snap_m: float
    along_m: float = 0.0  # from the beginning of a road


@dataclass(slots=True)
class Link:
    """A way between an anchor and a node; its leg is made when it is asked for."""

    node: int
    length_m: float
    _make: Callable[[], RouteLeg]
    _leg: RouteLeg | None = None

    @property
    def leg(self) -> RouteLeg:
        if self._leg is None:
            self._leg = self._make()
        return self._leg


class Ground(Protocol):
    """A graph of routes: edges between nodes, numbered from 0, with lengths, and how points join them."""

    @property
    def lengths_m(self) -> Mapping[Edge, float]:
        """By edge."""
        ...

    @property
    def empty(self) -> bool:
        """Whether there is nothing to join."""
        ...

    def leg(self, edge: Edge, /) -> RouteLeg:
        """The leg along an edge."""
        ...

    def anchors(self, points: Sequence[tuple[Point, int]]) -> list["Anchor | None"]:
        """Where points, each of a floor, join the ground; None if the floor has none."""
        ...

    def leaving(self, start: Anchor) -> Sequence[Link]:
        """Every way from an anchor to a node next to it."""
        ...

    def arriving(self, end: Anchor) -> Sequence[Link]:
        """Every way from a node next to an anchor to the anchor."""
        ...

    def entries(self, area: Polygon, start: Anchor, floor: int, /) -> Sequence[Point]:
        """Points, one of which is the first of an area on the shortest way into it; none if not known."""
        ...

    def direct(self, start: Anchor, end: Anchor) -> RouteLeg | None:
        """The way between two anchors that touches no node, if there is one."""
        ...
