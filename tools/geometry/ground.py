"""Ground: what a network walks or drives on. Roads and floors are the two there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tools.geometry.path import Leg
from tools.scene.scene import Point

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """Where a point joins the ground: the nearest point of a road or zone, `snap_m` away."""

    id: str
    xy_m: Point
    floor: int
    snap_m: float
    along_m: float = 0.0  # from the beginning of a road


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A leg between an anchor and a node of the graph."""

    node: int
    leg: Leg


class Ground(Protocol):
    """A directed graph whose edges carry a `leg` and its `length_m`, and how points join it."""

    graph: "nx.DiGraph[int]"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to join."""
        ...

    def anchor(self, xy_m: Point, floor: int) -> Anchor | None:
        """Where the point joins the ground; None if the floor has none."""
        ...

    def leaving(self, start: Anchor) -> Sequence[Link]:
        """Every way from an anchor to a node next to it."""
        ...

    def arriving(self, end: Anchor) -> Sequence[Link]:
        """Every way from a node next to an anchor to the anchor."""
        ...

    def direct(self, start: Anchor, end: Anchor) -> Leg | None:
        """The way between two anchors that touches no node, if there is one."""
        ...


def add_edge(graph: "nx.DiGraph[int]", start: int, end: int, leg: Leg) -> None:
    """Join two nodes by a leg, unless a shorter leg joins them already."""
    known = graph.get_edge_data(start, end)
    if known is None or leg.length_m < known["length_m"]:
        graph.add_edge(start, end, leg=leg, length_m=leg.length_m)
