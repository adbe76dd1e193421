"""Draws the marks of one layer: dots, lines and areas by role and look, cameras that are named."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from gnomon.drawing.arm_look import COLOURS
from gnomon.drawing.labels import AT_CORNER, BESIDE, Rect, Side, Wish, along, around, path_of
from gnomon.drawing.layer import Layer
from gnomon.drawing.markup import number, tag
from gnomon.drawing.plan import LETTERS, Plan
from gnomon.drawing.thin_line import kept_points
from gnomon_tools.core.sketch import XY, Area, Dot, Line, Mark

SYMBOLS = {  # in a box from −5 to 5; `arrow` points right and ends at its middle
    "square": "M-3.6-3.6h7.2v7.2h-7.2z",
    "disc": "M-4 0a4 4 0 1 1 8 0a4 4 0 1 1-8 0z",
    "triangle": "M0-4.4 4.4 3.4h-8.8z",
    "diamond": "M0-4.8 4.8 0 0 4.8-4.8 0z",
    "cross": "M-3.6-3.6 3.6 3.6M3.6-3.6-3.6 3.6",
    "arrow": "M-5-3.4 1 0-5 3.4z",
}
NAMED_RANK, RESULT_RANK, ASKED_RANK = 0, 1, 2


@dataclass(slots=True, kw_only=True)
class Drawn:
    """A layer's elements and labels, and the areas that labels must not cover or should avoid."""

    elements: list[Markup] = field(default_factory=list)
    wishes: list[Wish] = field(default_factory=list)
    taken: list[Rect] = field(default_factory=list)
    avoid: list[Rect] = field(default_factory=list)


def symbols(ident: str) -> Markup:
    """The shapes of ends and dots, once for a whole picture."""
    return tag(
        "defs",
        *(
            tag(
                "symbol", tag("path", d=path), id=f"{ident}-{name}", viewBox="-5 -5 10 10", overflow="visible"
            )
            for name, path in SYMBOLS.items()
        ),
    )


def draw_layer(
    layer: Layer, plan: Plan, ident: str, *, camera_ids: dict[str, str], camera_points: dict[str, XY]
) -> Drawn:
    """The marks of a layer; `camera_ids` are ids of the base map's cameras, `camera_points` their pixels."""
    drawn = Drawn()
    for camera in dict.fromkeys(layer.sketch.cameras):
        if camera in camera_ids:
            drawn.elements.append(tag("use", href=f"#{camera_ids[camera]}", class_="named"))
            _sign_of_camera(drawn, layer, camera_points[camera], ident)
            drawn.wishes.append(
                Wish(
                    at=camera_points[camera],
                    text=camera,
                    css="camera-name named",
                    rank=NAMED_RANK,
                    is_bold=True,
                )
            )
    for kind in (Area, Line, Dot):  # areas lie lowest
        for mark in layer.sketch.marks:
            if isinstance(mark, kind) and plan.is_near(mark):
                _draw(drawn, mark, layer, plan, ident)
    _name_truth(drawn, layer)
    texts = {wish.text for wish in drawn.wishes if wish.rank == NAMED_RANK}
    drawn.wishes = [wish for wish in drawn.wishes if wish.rank == NAMED_RANK or wish.text not in texts]
    return drawn


def _sign_of_camera(drawn: Drawn, layer: Layer, at: XY, ident: str) -> None:
    """Marks a camera: a ring if it is right, an arm's shape above it if the arm answered it."""
    if layer.look == "truth":
        drawn.elements.append(tag("circle", class_="ring", cx=at[0], cy=at[1], r=".6em"))
    elif layer.arm and isinstance(layer.look, int):
        right, up = layer.look % COLOURS - (COLOURS - 1) / 2, 1.0 + layer.look // COLOURS
        drawn.elements.append(_symbol(ident, layer.arm.shape, at, "dot result", by=(right, -up)))
        drawn.taken.append(around((at[0] + right * LETTERS, at[1] - up * LETTERS), LETTERS * 0.4))


def _name_truth(drawn: Drawn, layer: Layer) -> None:
    """Labels the truth with its layer's name where nothing else names it, as its colour alone is too pale."""
    if layer.look == "truth" and drawn.avoid and not any(wish.rank for wish in drawn.wishes):
        left, top, right, bottom = drawn.avoid[len(drawn.avoid) // 2]
        middle = ((left + right) / 2, (top + bottom) / 2)
        drawn.wishes.append(Wish(at=middle, text=layer.name, css="mark-name", rank=RESULT_RANK, is_bold=True))


def _draw(drawn: Drawn, mark: Mark, layer: Layer, plan: Plan, ident: str) -> None:
    if isinstance(mark, Dot):
        _dot(drawn, mark, layer, plan, ident)
    elif isinstance(mark, Line):
        _line(drawn, mark, layer, plan, ident)
    else:
        ring = [plan.at(xy, mark.floor) for xy in mark.ring]
        kept = [ring[index] for index in kept_points(ring)]
        css = f"area {mark.role}"
        drawn.elements.append(tag("path", class_=css, d=path_of([kept], is_closed=True)))
        corner = (min(x for x, _ in kept), min(y for _, y in kept))
        _name(drawn, mark, corner, AT_CORNER)


def _name(drawn: Drawn, mark: Mark, at: XY, sides: tuple[Side, ...] = BESIDE) -> None:
    if mark.label:
        rank = ASKED_RANK if mark.role == "asked" else RESULT_RANK
        css = f"mark-name {mark.role}"
        drawn.wishes.append(Wish(at=at, text=mark.label, css=css, rank=rank, sides=sides, is_bold=True))


def _dot(drawn: Drawn, dot: Dot, layer: Layer, plan: Plan, ident: str) -> None:
    x, y = plan.at(dot.at, dot.floor)
    if dot.radius_m:
        drawn.elements.append(
            tag("circle", class_=f"reach {dot.role}", cx=x, cy=y, r=dot.radius_m * plan.per_unit)
        )
    if dot.role == "problem":
        drawn.elements.append(_symbol(ident, "cross", (x, y), "cross"))
    elif layer.arm:
        drawn.elements.append(_symbol(ident, layer.arm.shape, (x, y), f"dot {dot.role}"))
    else:
        drawn.elements.append(tag("circle", class_=f"dot {dot.role}", cx=x, cy=y, r=".34em"))
    drawn.taken.append(around((x, y), LETTERS * 0.36))
    _name(drawn, dot, (x, y))


def _line(drawn: Drawn, line: Line, layer: Layer, plan: Plan, ident: str) -> None:
    pixels = [plan.at(xy, line.floor) for xy in line.points]
    is_timed = len(line.times_s) == len(pixels)
    kept = kept_points(pixels, line.times_s if is_timed else ())
    points = [pixels[index] for index in kept]
    written = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    times = " ".join(f"{round(line.times_s[index], 2):g}" for index in kept) if is_timed else None
    css = f"line {line.role}" + (" dashed" if line.is_dashed else "")
    drawn.elements.append(
        tag("polyline", class_=css, points=written, data_times=times, data_points=written if times else None)
    )
    drawn.avoid += along(points, LETTERS * 0.8)
    end = points[-1]
    if line.has_arrow and (turn := _direction(points)) is not None:
        drawn.elements.append(_symbol(ident, "arrow", end, f"head {line.role}", turn))
    elif line.role == "problem":
        drawn.elements.append(_symbol(ident, "cross", end, "cross"))
    elif layer.arm:
        drawn.elements.append(_symbol(ident, layer.arm.shape, end, f"dot {line.role}"))
    _name(drawn, line, end if line.has_arrow or is_timed else _middle(points))


def _symbol(
    ident: str, shape: str, at: XY, css: str, turn_deg: float | None = None, by: XY = (0.0, 0.0)
) -> Markup:
    """A shape at a point, moved `by` em to the right and down."""
    x, y = at
    transform = f"translate({number(x)} {number(y)})" + (
        "" if turn_deg is None else f"rotate({turn_deg:.0f})"
    )
    return tag(
        "use",
        href=f"#{ident}-{shape}",
        class_=css,
        transform=transform,
        x=f"{by[0] - 0.5:g}em",
        y=f"{by[1] - 0.5:g}em",
        width="1em",
        height="1em",
    )


def _direction(points: Sequence[XY]) -> float | None:
    """Degrees clockwise from the right in which a line ends; None for a line without length."""
    end = points[-1]
    for point in reversed(points[:-1]):
        if math.dist(point, end) > 1.0:
            return math.degrees(math.atan2(end[1] - point[1], end[0] - point[0]))
    return None


def _middle(points: Sequence[XY]) -> XY:
    """The point half-way along a line."""
    half = sum(math.dist(start, end) for start, end in itertools.pairwise(points)) / 2
    for start, end in itertools.pairwise(points):
        length = math.dist(start, end)
        if half <= length and length > 0:
            share = half / length
            return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
        half -= length
    return points[-1]
