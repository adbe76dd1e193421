"""Lays a picture out: where positions are on it, which floors have panels, what is worth looking at.

A picture is laid out once, in pixels of the view that it opens with, 700 wide; another view of it, as the
whole map, is another `viewBox` of the same drawing.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gnomon_tools.core.sketch import XY, Dot, Line, Mark, Sketch

WIDTH = 700.0  # pixels of the view around what matters
LETTERS = 13.0  # pixels
MARGIN = 0.12  # around what matters, of its larger side
WIDEST, TALLEST = 2.1, 1.3  # width by height of a view
MIN_SPAN: Mapping[str, float] = {"outdoor": 150.0, "indoor": 30.0, "boxes": 3.0, "earth": 250.0}  # metres
SHARE_OF_ALL = (
    0.8  # a step that reaches over so much of a map in both directions says nothing of where to look
)
FEW = 6  # cameras that a step may name of a small map
FAR = 3.0  # marks further from the map than this many of its diagonals are not drawn
GAP = 0.05  # between the panels of floors, of a panel's larger side
EARTH_M = 6_371_008.8  # mean radius

Bounds = tuple[float, float, float, float]  # west, south, east, north in the plane's metres or pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewBox:
    """A part of the picture, in its pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def rect(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return self.x, self.y, self.x + self.width, self.y + self.height

    @property
    def letters(self) -> float:
        """The letter size for this view: LETTERS, scaled from a view of 700 pixels."""
        return LETTERS * self.width / WIDTH

    def __str__(self) -> str:
        return " ".join(f"{value + 0.0:.1f}" for value in (self.x, self.y, self.width, self.height))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where positions are on the picture. `bounds` and the panels' `offsets` are in the plane's units."""

    flat: Callable[[XY], XY]  # a position to metres east and north, or pixels right and up
    bounds: Bounds
    offsets: Mapping[int, XY]  # of each floor's panel
    per_unit: float  # pixels of the picture per unit of the plane
    crop: ViewBox
    whole: ViewBox
    unit: str = "m"

    def at(self, xy: XY, floor: int = 0) -> XY:
        """The pixel of a position on a floor; a floor without a panel is drawn on the lowest one."""
        x, up = self.flat(xy)
        right, above = self.offsets.get(floor) or self.offsets[min(self.offsets)]
        return (x + right) * self.per_unit, -(up + above) * self.per_unit

    def panel(self, floor: int) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of a floor's panel."""
        west, south, east, north = _moved(self.bounds, self.offsets[floor])
        return west * self.per_unit, -north * self.per_unit, east * self.per_unit, -south * self.per_unit

    def is_near(self, mark: Mark) -> bool:
        """Whether every position of a mark is a number, and on the map or not absurdly far from it."""
        west, south, east, north = self.bounds
        reach = FAR * math.hypot(east - west, north - south)
        points = [self.flat(xy) for xy in positions(mark) if all(map(math.isfinite, xy))]
        return len(points) == len(positions(mark)) > 0 and all(
            west - reach <= x <= east + reach and south - reach <= up <= north + reach for x, up in points
        )


def positions(mark: Mark) -> tuple[XY, ...]:
    """The positions of any mark.

    >>> positions(Dot(at=(1.0, 2.0)))
    ((1.0, 2.0),)
    """
    if isinstance(mark, Dot):
        return (mark.at,)
    return mark.points if isinstance(mark, Line) else mark.ring


def bounds_of(points: Iterable[XY]) -> Bounds | None:
    """The smallest bounds around points; None around none.

    >>> bounds_of([(1.0, 2.0), (0.0, 5.0)])
    (0.0, 2.0, 1.0, 5.0)
    """
    pairs = [xy for xy in points if all(map(math.isfinite, xy))]
    if not pairs:
        return None
    xs, ys = zip(*pairs, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earth:
    """Degrees on a plane about a point: x = R Δλ cos φ₀, y = R Δφ, with the Earth's mean radius.

    Right to 1 % of lengths up to 100 km at 60° north.
    """

    lon_deg: float
    lat_deg: float

    @property
    def _shrink(self) -> float:
        return max(math.cos(math.radians(self.lat_deg)), 0.01)

    def flat(self, lon_lat_deg: XY) -> XY:
        """(Longitude, latitude) in degrees to metres east and north.

        >>> x, up = Earth(lon_deg=24.0, lat_deg=60.0).flat((25.0, 60.0))
        >>> round(x / 1000, 1), up
        (55.6, 0.0)
        """
        east_deg = (lon_lat_deg[0] - self.lon_deg + 540) % 360 - 180
        north_deg = lon_lat_deg[1] - self.lat_deg
        return math.radians(east_deg) * EARTH_M * self._shrink, math.radians(north_deg) * EARTH_M

    def degrees(self, xy_m: XY) -> XY:
        """Metres east and north to (longitude, latitude) in degrees, not wrapped.

        >>> Earth(lon_deg=24.0, lat_deg=60.0).degrees((0.0, 0.0))
        (24.0, 60.0)
        """
        x_m, y_m = xy_m
        east_deg = math.degrees(x_m / EARTH_M / self._shrink)
        return self.lon_deg + east_deg, self.lat_deg + math.degrees(y_m / EARTH_M)


def earth_about(points: Sequence[XY]) -> Earth:
    """The plane about the middle of some positions in degrees.

    >>> earth_about([(24.0, 60.0), (26.0, 61.0)])
    Earth(lon_deg=25.0, lat_deg=60.5)
    """
    west, south, east, north = bounds_of(points) or (0.0, 0.0, 0.0, 0.0)
    lon_deg = (west + east) / 2 if east - west <= 180 else points[0][0]
    return Earth(lon_deg=lon_deg, lat_deg=(south + north) / 2)


def plan_of(
    *,
    flat: Callable[[XY], XY],
    base: Bounds | None,
    floors: Sequence[int],
    focus: Mapping[int, Bounds],
    min_span: float,
    unit: str = "m",
    is_exact: bool = False,
) -> Plan:
    """Lay out the panels of floors, all with the same bounds, and choose the two views.

    `focus` holds what matters on each floor. Panels of floors that matter come first, the upper above the
    lower or side by side, whichever shows them larger.
    """
    if is_exact and base is not None:
        per_unit = WIDTH / _size(base)[0]
        box = _view_box(base, per_unit)
        offsets = dict.fromkeys(floors, (0.0, 0.0))
        return Plan(
            flat=flat, bounds=base, offsets=offsets, per_unit=per_unit, crop=box, whole=box, unit=unit
        )
    around = _union([*([base] if base else []), *focus.values()]) or (0.0, 0.0, min_span, min_span)
    bounds = _grown(around, max(0.02 * max(_size(around)), 0.5 * max(0.0, min_span - max(_size(around)))))
    order = sorted((floor for floor in floors if floor in focus), reverse=True)
    order += sorted((floor for floor in floors if floor not in focus), reverse=True)
    layouts = [_layout(bounds, order, is_stacked=is_stacked) for is_stacked in (True, False)]
    crops = [_crop(bounds, layout, focus, min_span) for layout in layouts]
    offsets, crop = min(zip(layouts, crops, strict=True), key=lambda pair: _size(_shaped(pair[1]))[0])
    whole = _union([_moved(bounds, offset) for offset in offsets.values()]) or bounds
    crop = _shaped(crop)
    width, height = _size(crop)
    whole = _with_aspect(_grown(whole, 0.02 * max(_size(whole))), width / height)
    crop = whole if _size(crop)[0] >= 0.85 * _size(whole)[0] else _within(crop, whole)
    per_unit = WIDTH / _size(crop)[0]
    return Plan(
        flat=flat,
        bounds=bounds,
        offsets=offsets,
        per_unit=per_unit,
        crop=_view_box(crop, per_unit),
        whole=_view_box(whole, per_unit),
        unit=unit,
    )


def focus_of(
    sketches: Iterable[tuple[Sketch, bool]],
    *,
    flat: Callable[[XY], XY],
    base: Bounds | None,
    cameras: Mapping[str, tuple[int, Bounds]],
    floors: Sequence[int],
) -> dict[int, Bounds]:
    """What matters, by floor: the sketches' marks and the cameras that they name.

    A sketch that need not matter (the second of a pair is false) counts only where it singles a part of the
    map out, by marks in a part of it or by a few of its cameras. `cameras`: each one's floor and the bounds
    of what it sees.
    """
    chosen: dict[int, list[Bounds]] = {}
    for sketch, must_matter in sketches:
        parts: list[tuple[int, Bounds]] = []
        for mark in sketch.marks:
            box = bounds_of(map(flat, positions(mark)))
            if box is not None and _is_near(box, base):
                parts.append((mark.floor if mark.floor in floors else min(floors), box))
        if must_matter or len(sketch.cameras) <= max(FEW, len(cameras) / 2):
            parts += [cameras[name] for name in sketch.cameras if name in cameras]
        if must_matter or not _is_everywhere([box for _, box in parts], base):
            for floor, box in parts:
                chosen.setdefault(floor, []).append(box)
    return {floor: around for floor, boxes in chosen.items() if (around := _union(boxes))}


def _is_everywhere(boxes: list[Bounds], base: Bounds | None) -> bool:
    around = _union(boxes)
    if around is None or base is None:
        return False
    return all(
        side >= SHARE_OF_ALL * full for side, full in zip(_size(around), _size(base), strict=True) if full
    )


def union_near(base: Bounds | None, boxes: Iterable[Bounds]) -> Bounds | None:
    """Bounds around the base and those boxes that are not absurdly far from it."""
    return _union([*([base] if base else []), *(box for box in boxes if _is_near(box, base))])


def _is_near(box: Bounds, base: Bounds | None) -> bool:
    if base is None:
        return True
    reach = FAR * math.hypot(*_size(base))
    west, south, east, north = _grown(base, reach)
    return west <= box[0] and south <= box[1] and box[2] <= east and box[3] <= north


def _layout(bounds: Bounds, order: Sequence[int], *, is_stacked: bool) -> dict[int, XY]:
    width, height = _size(bounds)
    gap = GAP * max(width, height)
    if is_stacked:
        return {floor: (0.0, -row * (height + gap)) for row, floor in enumerate(order)}
    return {floor: (column * (width + gap), 0.0) for column, floor in enumerate(order)}


def _crop(bounds: Bounds, offsets: Mapping[int, XY], focus: Mapping[int, Bounds], min_span: float) -> Bounds:
    """The view around what matters: part of one floor, or panels of several, cut at the outer sides."""
    if not focus:
        return _union([_moved(bounds, offset) for offset in offsets.values()]) or bounds
    boxes = [_moved(box if len(focus) == 1 else bounds, offsets[floor]) for floor, box in focus.items()]
    around = _union(boxes) or bounds
    if len(focus) > 1:
        return _grown(around, 0.02 * max(_size(around)))
    around = _grown(around, MARGIN * max(_size(around)))
    width, height = _size(around)
    return _grown_by(around, max(0.0, min_span - width) / 2, max(0.0, min_span / WIDEST - height) / 2)


def _shaped(box: Bounds) -> Bounds:
    width, height = _size(box)
    return _with_aspect(box, min(max(width / (height or 1.0), TALLEST), WIDEST))


def _with_aspect(box: Bounds, aspect: float) -> Bounds:
    """The box made wider or higher, about its middle."""
    width, height = _size(box)
    return _grown_by(box, max(0.0, height * aspect - width) / 2, max(0.0, width / aspect - height) / 2)


def _within(box: Bounds, whole: Bounds) -> Bounds:
    """The box shifted into the whole, where it is the smaller one."""
    width, height = _size(box)
    west = min(max(box[0], whole[0]), whole[2] - width) if width <= _size(whole)[0] else box[0]
    south = min(max(box[1], whole[1]), whole[3] - height) if height <= _size(whole)[1] else box[1]
    return west, south, west + width, south + height


def _size(box: Bounds) -> XY:
    return box[2] - box[0], box[3] - box[1]


def _grown(box: Bounds, by: float) -> Bounds:
    return _grown_by(box, by, by)


def _grown_by(box: Bounds, x: float, y: float) -> Bounds:
    return box[0] - x, box[1] - y, box[2] + x, box[3] + y


def _moved(box: Bounds, by: XY) -> Bounds:
    return box[0] + by[0], box[1] + by[1], box[2] + by[0], box[3] + by[1]


def _union(boxes: Sequence[Bounds]) -> Bounds | None:
    if not boxes:
        return None
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def _view_box(box: Bounds, per_unit: float) -> ViewBox:
    west, _, _, north = box
    width, height = _size(box)
    return ViewBox(x=west * per_unit, y=-north * per_unit, width=width * per_unit, height=height * per_unit)
