"""Builds marks, spans and summaries out of recorded results, in which any field may be missing or odd.

What cannot be drawn is None, and `drawn` leaves it out. A number that is missing is spelled "?".
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from gnomon_tools.core.sketch import XY, Area, Dot, Line, Mark, Plane, Role, Sketch, Span

SUMMARY_LENGTH = 90
LABEL_LENGTH = 59
NAMES_SHOWN = 4
LARGEST = 1e12  # what is beyond it is no coordinate, time or length


def number_in(row: object, name: str) -> float | None:
    """A field that is a finite number, else None.

    >>> number_in({"x_m": 3}, "x_m"), number_in({"x_m": "3"}, "x_m"), number_in({}, "x_m")
    (3.0, None, None)
    """
    value = row.get(name) if isinstance(row, Mapping) else None
    return float(value) if _is_number(value) else None


def text_in(row: object, name: str) -> str:
    """A field that is a text, else an empty one."""
    value = row.get(name) if isinstance(row, Mapping) else None
    return value if isinstance(value, str) else ""


def rows_in(row: object, name: str) -> list[Mapping[str, Any]]:
    """The objects in a field that is a list."""
    return [item for item in _items(row, name) if isinstance(item, Mapping)]


def texts_in(row: object, name: str) -> list[str]:
    """The texts in a field that is a list."""
    return [item for item in _items(row, name) if isinstance(item, str)]


def numbers_in(row: object, name: str) -> list[float]:
    """The finite numbers in a field that is a list."""
    return [float(item) for item in _items(row, name) if _is_number(item)]


def points_in(row: object, name: str) -> tuple[XY, ...]:
    """The positions in a field that is a list of [x, y] or [x, y, z]; heights are left out."""
    return xys(_items(row, name))


def xys(positions: Iterable[object]) -> tuple[XY, ...]:
    """The finite positions among lists of coordinates.

    >>> xys([[1, 2], [3.0, 4.0, 5.0], [6], "x"])
    ((1.0, 2.0), (3.0, 4.0))
    """
    lists = [item for item in positions if isinstance(item, list | tuple) and len(item) >= 2]
    return tuple((float(x), float(y)) for x, y, *_ in lists if _is_number(x) and _is_number(y))


def xy_in(row: object, x_name: str = "x_m", y_name: str = "y_m") -> XY | None:
    """The position in two fields."""
    x, y = number_in(row, x_name), number_in(row, y_name)
    return None if x is None or y is None else (x, y)


def floor_of(row: object) -> int:
    """The floor that a row says, else 0."""
    return int(number_in(row, "floor") or 0)


def amount(value: float | None, unit: str, *, signed: bool = False) -> str:
    """A number of units with one decimal, long ways in kilometres.

    >>> amount(28.94, "m"), amount(403_812, "m"), amount(-2.0, "s"), amount(None, "s"), amount(12.0, "px²")
    ('28.9 m', '403.8 km', '−2.0 s', '? s', '12.0 px²')
    """
    if value is None:
        return f"? {unit}"
    if unit == "m" and abs(value) >= 1000:
        value, unit = value / 1000, "km"
    spelled = f"{value:+,.1f}" if signed else f"{value:,.1f}"
    return f"{spelled} {unit}".replace("-", "−").replace(" °", "°")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "camera"), counted(2, "camera"), counted(2, "box", "boxes")
    ('1 camera', '2 cameras', '2 boxes')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def some(names: Sequence[str]) -> str:
    """The first names and how many more there are.

    >>> some(["a", "b"]), some([]), some(["a", "b", "c", "d", "e", "f"])
    ('a, b', 'none', 'a, b, c, d and 2 more')
    """
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "") or "none"


def dot_at(
    at: XY | None, label: str = "", role: Role = "result", *, floor: int = 0, radius_m: float | None = None
) -> Dot | None:
    """A dot, where there is a position."""
    if at is None:
        return None
    return Dot(at=at, label=_cut(label, LABEL_LENGTH), role=role, floor=floor, radius_m=radius_m or None)


def line_of(
    track: Sequence[XY],
    label: str = "",
    role: Role = "result",
    *,
    floor: int = 0,
    times_s: Sequence[float] = (),
    has_arrow: bool = False,
    is_dashed: bool = False,
) -> Line | None:
    """A line, where there are two points; times that do not go with the points are left out."""
    if len(track) < 2:
        return None
    return Line(
        points=tuple(track),
        label=_cut(label, LABEL_LENGTH),
        role=role,
        floor=floor,
        times_s=tuple(times_s) if len(times_s) == len(track) else (),
        has_arrow=has_arrow,
        is_dashed=is_dashed,
    )


def arrow_at(
    at: XY | None,
    heading_deg: float | None,
    length_m: float,
    label: str = "",
    role: Role = "result",
    *,
    floor: int = 0,
) -> Line | None:
    """An arrow from a point into a compass direction, where both are there.

    >>> arrow_at((1.0, 2.0), 90.0, 3.0).points[1]
    (4.0, 2.0)
    """
    if at is None or heading_deg is None:
        return None
    heading = math.radians(heading_deg)
    tip = (at[0] + length_m * math.sin(heading), at[1] + length_m * math.cos(heading))
    return line_of((at, tip), label, role, floor=floor, has_arrow=True)


def area_of(ring: Sequence[XY], label: str = "", role: Role = "result", *, floor: int = 0) -> Area | None:
    """An area, where its ring has three points."""
    if len(ring) < 3:
        return None
    return Area(ring=tuple(ring), label=_cut(label, LABEL_LENGTH), role=role, floor=floor)


def box_area(box: Sequence[float], label: str = "", role: Role = "asked") -> Area | None:
    """A box [x, y, width, height] of a picture."""
    x, y, width, height = box
    return area_of(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), label, role)


def span_of(
    start_s: float | None,
    end_s: float | None,
    label: str = "",
    role: Role = "result",
    *,
    error_s: float | None = None,
) -> Span | None:
    """A stretch of time, an instant where only one end is there; ends are put in order."""
    ends_s = sorted(end for end in (start_s, end_s) if end is not None)
    if not ends_s:
        return None
    label = _cut(label, LABEL_LENGTH)
    return Span(start_s=ends_s[0], end_s=ends_s[-1], label=label, role=role, error_s=error_s)


def place_dot(row: object, label: str = "", role: Role = "result") -> Dot | None:
    """The dot of a place on the Earth, with its name unless another label is passed."""
    at = xy_in(row, "lon_deg", "lat_deg")
    return dot_at(at, label or text_in(row, "name"), role, radius_m=number_in(row, "position_error_m"))


def drawn(
    summary: str,
    marks: Iterable[Mark | None] = (),
    *,
    spans: Iterable[Span | None] = (),
    cameras: Iterable[str] = (),
    plane: Plane = "scene",
) -> Sketch:
    """A sketch of all that is there, its summary on one line."""
    return Sketch(
        summary=_cut(summary, SUMMARY_LENGTH),
        marks=tuple(mark for mark in marks if mark is not None),
        spans=tuple(stretch for stretch in spans if stretch is not None),
        cameras=tuple(dict.fromkeys(filter(None, cameras))),
        plane=plane,
    )


def _cut(words: str, length: int) -> str:
    words = " ".join(words.split())
    return words if len(words) <= length else f"{words[: length - 1].rstrip()}…"


def _items(row: object, name: str) -> list[Any]:
    value = row.get(name) if isinstance(row, Mapping) else None
    return value if isinstance(value, list) else []


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
