"""Layout: boxes within boxes, prefectures side by side, what they hold one below the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.visit_graphs.graph import LEVELS, Node, VisitGraph, visiting_order

ROW_PX = 22
PLACE_PX = 190  # width of the innermost box
PAD_PX = 8
GAP_PX = 46  # between prefectures, for the arrows
DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A node's rectangle: left, top, width and height in pixels; its name stands in its first row."""

    node: Node
    x: float
    y: float
    width: float
    height: float
    inside: tuple["Box", ...] = ()

    @property
    def middle_y(self) -> float:
        """Where arrows begin and end: the middle of the row with the name."""
        return self.y + ROW_PX / 2


def boxes(graph: VisitGraph) -> list[Box]:
    """The outermost boxes, from left to right: prefectures in the order of their visits, then whatever lies
    in nothing. A node that lies in several is drawn in the first; one that lies in itself, in nothing.
    """
    holds: dict[str, list[str]] = {node: [] for node in graph.nodes}
    placed: dict[str, str] = {}
    parents = graph.parents()
    for node in graph.nodes:
        for parent in parents[node]:
            if parent in graph.nodes and not _is_above(node, parent, placed):
                placed[node] = parent
                holds[parent].append(node)
                break
    roots = [node for node in graph.nodes if node not in placed]
    roots.sort(key=lambda node: LEVELS.index(graph.nodes[node].level))
    found, x = [], 0.0
    for root in visiting_order(graph, roots):
        box = _box(graph, holds, root, x, 0.0, depth=0)
        found.append(box)
        x += box.width + GAP_PX
    return found


def _is_above(node: str, start: str, placed: dict[str, str]) -> bool:
    """Whether `start` lies, at any depth, in `node`, or too deep to be drawn."""
    at: str | None = start
    for _ in range(DEEPEST):
        if at is None or at == node:
            return at is not None
        at = placed.get(at)
    return True


def _box(graph: VisitGraph, holds: dict[str, list[str]], node: str, x: float, y: float, *, depth: int) -> Box:
    inner: list[Box] = []
    top = y + ROW_PX
    for child in visiting_order(graph, holds[node]):
        inner.append(_box(graph, holds, child, x + PAD_PX, top, depth=depth + 1))
        top += inner[-1].height + PAD_PX / 2
    width = max([PLACE_PX, *(box.width for box in inner)]) + (2 * PAD_PX if inner else 0)
    height = top - y + (PAD_PX / 2 if inner else 0)
    return Box(node=graph.nodes[node], x=x, y=y, width=width, height=height, inside=tuple(inner))


def all_boxes(outermost: Sequence[Box]) -> list[Box]:
    """These and all that lie in them, the outer before the inner."""
    return [box for one in outermost for box in (one, *all_boxes(one.inside))]
