"""Finds the boxes that a call names, and draws boxes from above; what the tools on boxes have in common."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import shapely
from pydantic import Field

from gnomon_tools.core.marks import area_of, number_in, some, text_in, xys
from gnomon_tools.core.name_match import plain_name
from gnomon_tools.core.sketch import XY, Area, Mark, Role
from gnomon_tools.core.tool import ToolContext, ToolError
from gnomon_tools.geometry.oriented_boxes import footprint
from gnomon_tools.scene.boxes import Box, Boxes

MAX_LISTED = 30  # names in a message to the model
ROUNDED_M = 0.0005  # results are rounded to the millimetre
ROUNDED_DEG = 0.005

BoxName = Annotated[str, Field(min_length=1, max_length=100)]


def boxes_in(context: ToolContext) -> Boxes:
    """The boxes that a call works on; none where there are none."""
    return context.find(Boxes) or Boxes(by_name={})


def box_named(boxes: Boxes, name: str) -> Box:
    """The box of this name, or the only one of this kind.

    Raises:
        ToolError: there is none, or several are of this kind; says which names there are.
    """
    found = _of_name_or_kind(boxes, name)
    if len(found) > 1:
        names = _listed([box.name for box in found])
        raise ToolError(f"There are {len(found)} boxes of the kind {name!r}. Name one: {names}.")
    return found[0]


def boxes_named(
    boxes: Boxes, names: Sequence[str] | None, *, but: Sequence[Box] = ()
) -> dict[str, list[Box]]:
    """By each name or kind its boxes, without those in `but`; without names every other box.

    Raises:
        ToolError: a name is none, or nothing but what is left out.
    """
    if not names:
        rest = {box.name: [box] for box in boxes.by_name.values() if box not in but}
        if not rest:
            raise ToolError("There is no other box.")
        return rest
    found = {name: [box for box in _of_name_or_kind(boxes, name) if box not in but] for name in names}
    for name, these in found.items():
        if not these:
            raise ToolError(f"{name!r} is what the call measures from; name others.")
    return found


def kind_named(boxes: Boxes, kind: str) -> list[Box]:
    """All boxes of a kind.

    Raises:
        ToolError: there is no such kind; says which there are.
    """
    found = _of_kind(boxes, plain_name(kind))
    if not found:
        kinds = _listed(list(dict.fromkeys(box.kind for box in boxes.by_name.values())))
        raise ToolError(f"There is no box of the kind {_quoted(kind)}. There are: {kinds}.")
    return found


def _of_name_or_kind(boxes: Boxes, name: str) -> list[Box]:
    wanted = plain_name(name).removeprefix("the ")
    named = [box for box in boxes.by_name.values() if plain_name(box.name) == wanted]
    found = named or _of_kind(boxes, wanted)
    if not found:
        raise ToolError(f"There is no box {_quoted(name)}. There are: {_listed(list(boxes.by_name))}.")
    return found


def _of_kind(boxes: Boxes, wanted: str) -> list[Box]:
    """Those of the kind as it is written, else those of which it is the plural, or the first of one."""
    exact = [box for box in boxes.by_name.values() if plain_name(box.kind) == wanted]
    return exact or [
        box
        for box in boxes.by_name.values()
        if wanted in (f"{plain_name(box.kind)}{ending}" for ending in ("s", "es", " 1"))
    ]


def _quoted(name: str) -> str:
    return repr(name[:60].encode(errors="backslashreplace").decode())


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MAX_LISTED
    shown = ", ".join(names[:MAX_LISTED])[:1500]
    return (f"{shown} and {more} more; box_list lists them" if more > 0 else shown) or "none"


def turn_deg(at: Sequence[float], towards: Sequence[float], of: Sequence[float]) -> float:
    """The turn from the line of sight to a third point, seen from above: left is positive, −180 to 180.

    >>> turn_deg((0, 0), (1, 0), (0, 2)), turn_deg((0, 0), (1, 0), (1, -1))
    (90.0, -45.0)
    """
    (x, y), (u, v) = ((point[0] - at[0], point[1] - at[1]) for point in (towards, of))
    return math.degrees(math.atan2(x * v - y * u, x * u + y * v))


def rounded(value: float, digits: int = 3) -> float:
    """A number of a result, without a minus before zero."""
    return round(float(value), digits) + 0.0


def outline(context: ToolContext, name: str, role: Role = "result", label: str = "") -> Area | None:
    """The box of this name from above, which the map names; None where there is none."""
    try:
        box = box_named(boxes_in(context), name)
    except ToolError:
        return None
    ring = list(shapely.get_coordinates(footprint(box)).tolist())[:-1]
    return area_of(xys(ring), label, role)


def centre_of(context: ToolContext, name: str) -> XY | None:
    """The middle of the box of this name from above; None where there is none."""
    try:
        x_m, y_m, _ = box_named(boxes_in(context), name).centre_m
    except ToolError:
        return None
    return x_m, y_m


def between(context: ToolContext, first: str, second: str) -> tuple[XY, ...]:
    """The two points at which two boxes are closest seen from above; fewer where a box is not there."""
    boxes = boxes_in(context)
    try:
        areas = [footprint(box_named(boxes, name)) for name in (first, second)]
    except ToolError:
        return ()
    return xys(shapely.get_coordinates(shapely.shortest_line(*areas)).tolist())


def outlines(context: ToolContext, rows: Sequence[Mapping[str, object]]) -> list[Mark | None]:
    """The boxes that rows of a result name."""
    return [outline(context, text_in(row, "name")) for row in rows]


def rows_in_words(rows: Sequence[Mapping[str, object]], field: str, unit: str) -> str:
    """The first rows of a result: their names with a number.

    >>> rows_in_words([{"name": "bed", "distance_m": 1.5}], "distance_m", "m")
    'bed 1.50 m'
    """
    numbers = [f"{number_in(row, field) or 0:.2f} {unit}".replace(" °", "°") for row in rows]
    return some([f"{text_in(row, 'name')} {number}" for row, number in zip(rows, numbers, strict=True)])
