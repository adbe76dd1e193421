"""Draws a visiting-order graph as SVG: inclusion is a box in a box, transition an arrow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

from gnomon_published.visit_graphs.compare import Mark, Marks
from gnomon_published.visit_graphs.graph import LEVELS, Node, VisitGraph, visiting_order

ROW_PX = 22
PLACE_PX = 190  # width of the innermost box
PAD_PX = 8
GAP_PX = 46  # between prefectures, for the arrows
DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A node's rectangle: left, top, width and height in pixels; its name is in its first row."""

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
    """The outermost boxes, from left to right: prefectures in the order of their visits, then what is
    in nothing. A node that is in several is drawn in the first; one that is in itself, in nothing.
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
    placed_boxes, x = [], 0.0
    for root in visiting_order(graph, roots):
        box = _box(graph, holds, root, x, 0.0, depth=0)
        placed_boxes.append(box)
        x += box.width + GAP_PX
    return placed_boxes


def _is_above(node: str, start: str, placed: dict[str, str]) -> bool:
    """Whether `start` is, at any depth, in `node`, or too deep to be drawn."""
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
    return [box for outer in outermost for box in (outer, *all_boxes(outer.inside))]


MARGIN_PX = 12
TITLE_PX = 26
CHARS = 26  # of a name; the whole of it shows on hovering
FILLS = {"prefecture": "#eef2f7", "city": "#ffffff", "place": "#f7f5ef"}
COLOURS: Mapping[Mark | None, str] = {
    "right": "#1a7f4b",
    "wrong": "#b3261e",
    "missed": "#8a6d00",
    None: "#44546a",
}
SIGNS: Mapping[Mark | None, str] = {"right": "✓", "wrong": "✗", "missed": "–", None: ""}
DASHES: Mapping[Mark | None, str] = {"missed": ' stroke-dasharray="4 3"', "wrong": ' stroke-dasharray="1 3"'}


def svg(graph: VisitGraph, *, title: str, marks: Marks = MappingProxyType({})) -> str:
    """The picture of a graph: complete in itself, without scripts, all text escaped.

    What is marked right is green and whole, what is missed dashed, what is wrong dotted and red; the sign of
    an inclusion is before the name of what is inside.
    """
    outermost = boxes(graph)
    every = all_boxes(outermost)
    right = max((box.x + box.width for box in outermost), default=200.0)
    bottom = max((box.y + box.height for box in outermost), default=0.0)
    width, height = right + 2 * MARGIN_PX + GAP_PX, bottom + TITLE_PX + 2 * MARGIN_PX
    inclusions = {edge.target: edge for edge in graph.of("inclusion")}
    at = {box.node.id: box for box in every}
    inner = {node: marks.get(edge) for node, edge in inclusions.items()}
    body = [_drawn_box(box, marks.get(box.node.id) or inner.get(box.node.id)) for box in every]
    body += [
        _arrow(at[edge.source], at[edge.target], marks.get(edge))
        for edge in graph.of("transition")
        if edge.source in at and edge.target in at
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
        f' height="{height:.0f}" role="img" font-family="system-ui, sans-serif" font-size="12">'
        f"<title>{escape(title)}</title>"
        f'<text x="{MARGIN_PX}" y="{MARGIN_PX + 8}" font-weight="600" fill="#1c2733">{escape(title)}</text>'
        f'<g transform="translate({MARGIN_PX} {MARGIN_PX + TITLE_PX})">{"".join(body)}</g></svg>'
    )


def _drawn_box(box: Box, mark: Mark | None) -> str:
    name = box.node.name or "(nameless)"
    shown = name if len(name) <= CHARS else f"{name[: CHARS - 1]}…"
    weight = ' font-weight="600"' if box.node.level != "place" else ""
    sign = f"{SIGNS[mark]} " if SIGNS[mark] else ""
    edge = COLOURS[mark] if mark else "#b8c2cc"
    return (
        f'<g><title>{escape(name)}</title><rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}"'
        f' height="{box.height:.1f}" rx="4" fill="{FILLS[box.node.level]}" stroke="{edge}"'
        f"{DASHES.get(mark, '')}/>"
        f'<text x="{box.x + 8:.1f}" y="{box.y + ROW_PX - 7:.1f}"{weight} fill="#1c2733">'
        f'<tspan fill="{edge}">{sign}</tspan>{escape(shown)}</text></g>'
    )


def _arrow(source: Box, target: Box, mark: Mark | None) -> str:
    """From right edge to right edge within a column, else from the side that faces the other."""
    colour = COLOURS[mark]
    x1, y1, y2 = source.x + source.width, source.middle_y, target.middle_y
    if abs(source.x - target.x) < GAP_PX:
        x2, bulge = target.x + target.width, 14 + min(abs(y2 - y1) / 8, 24)
        curve = (
            f"M{x1:.1f} {y1:.1f} C{x1 + bulge:.1f} {y1:.1f} {x2 + bulge:.1f} {y2:.1f} {x2 + 2:.1f} {y2:.1f}"
        )
        head = f"M{x2 + 8:.1f} {y2 - 4:.1f} L{x2 + 1:.1f} {y2:.1f} L{x2 + 8:.1f} {y2 + 4:.1f}"
    else:
        forward = target.x > source.x
        x1, x2 = (x1, target.x) if forward else (source.x, target.x + target.width)
        back = -7 if forward else 7
        half = (x1 + x2) / 2
        bends = f"{half:.1f} {y1 - 16:.1f} {half:.1f} {y2 - 16:.1f}"
        curve = f"M{x1:.1f} {y1:.1f} C{bends} {x2:.1f} {y2:.1f}"
        head = f"M{x2 + back:.1f} {y2 - 5:.1f} L{x2:.1f} {y2:.1f} L{x2 + back:.1f} {y2 + 3:.1f}"
    style = f'fill="none" stroke="{colour}" stroke-width="1.6"'
    return f'<path d="{curve}" {style}{DASHES.get(mark, "")}/><path d="{head}" {style}/>'
