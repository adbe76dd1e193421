"""Builds marks of a scene's locations, cameras, headings and ways."""

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from gnomon_tools.core.location import Location, locate
from gnomon_tools.core.marks import amount, arrow_at, dot_at, line_of
from gnomon_tools.core.sketch import XY, Dot, Line, Role
from gnomon_tools.core.tool import ToolError
from gnomon_tools.scene.scene import Scene

if TYPE_CHECKING:
    from gnomon_tools.geometry.route import Path

Spot = tuple[XY, int]  # where, on which floor

SAME_M = 0.01  # points of a way so close to each other are drawn as a single one
HEADING_M = {"outdoor": 15.0, "indoor": 3.0}  # length of the arrow that shows a direction


def location_name(location: Location) -> str:
    """A location as a summary names it.

    >>> location_name(Location(camera="c1")), location_name(Location(x_m=1.0, y_m=-2.25))
    ('c1', '(1.0, −2.2)')
    """
    name = location.camera or location.place
    return name or f"({location.x_m:.1f}, {location.y_m:.1f})".replace("-", "−")


def spot_of(scene: Scene, location: Location) -> Spot | None:
    """Where a location is; None where the scene does not know it."""
    try:
        position = locate(scene, location)
    except ToolError:
        return None
    return position.xy_m, position.floor


def location_dot(scene: Scene, location: Location, label: str = "", role: Role = "asked") -> Dot | None:
    """The dot of a location, its error about it."""
    try:
        position = locate(scene, location)
    except ToolError:
        return None
    name = label or location_name(location)
    return dot_at(position.xy_m, name, role, floor=position.floor, radius_m=position.error_m)


def camera_dot(scene: Scene, camera_id: str, label: str = "", role: Role = "asked") -> Dot | None:
    """The dot of a camera, if the scene knows where it is."""
    camera = scene.cameras.get(camera_id)
    if camera is None:
        return None
    return dot_at(camera.xy_m, label or camera_id, role, floor=camera.floor)


def heading_arrow(
    scene: Scene, spot: Spot | None, heading_deg: float | None, label: str = "", role: Role = "result"
) -> Line | None:
    """A short arrow from a spot into a compass direction."""
    at, floor = spot or (None, 0)
    return arrow_at(at, heading_deg, HEADING_M[scene.kind], label, role, floor=floor)


def straight_line(
    start: Spot | None, end: Spot | None, label: str = "", role: Role = "result"
) -> Line | None:
    """The dashed straight line between two spots, on the floor of the first."""
    if start is None or end is None:
        return None
    return line_of((start[0], end[0]), label, role, floor=start[1], is_dashed=True)


def way_lines(
    scene: Scene, start: Spot | None, end: Spot | None, label: str = "", role: Role = "result"
) -> list[Line | None]:
    """The shortest way between two spots, a line a floor, the longest with the label.

    A straight dashed line where the scene has no network or it does not lead there.
    """
    if start is None or end is None:
        return []
    from gnomon_tools.geometry.network import Network  # every worker loads the tools, few draw ways

    try:
        path = Network.of(scene).path(*start, *end)
    except ValueError:
        path = None
    if path is None:
        return [straight_line(start, end, label, role)]
    by_floor = _by_floor(path, start, end)
    longest = max(by_floor, key=lambda part: _length_m(part[0]))
    return [
        line_of(track, label if (track, floor) == longest else "", role, floor=floor)
        for track, floor in by_floor
    ]


def measured(name: str, metres: float | None) -> str:
    """The label of a way: a name and the metres, if they are there."""
    return name if metres is None else f"{name} {amount(metres, 'm')}".strip()


def _by_floor(path: "Path", start: Spot, end: Spot) -> list[tuple[list[XY], int]]:
    """The points of a path from one spot to the other, floor by floor, each once."""
    parts: list[tuple[list[XY], int]] = [([start[0]], start[1])]
    for leg in path.legs:
        if leg.floor == leg.to_floor:
            parts[-1][0].extend(leg.points_m)
        else:
            parts[-1][0].append(leg.points_m[0])
            parts.append(([leg.points_m[-1]], leg.to_floor))
    parts[-1][0].append(end[0])
    return [(_without_repeats(track), floor) for track, floor in parts]


def _without_repeats(track: list[XY]) -> list[XY]:
    kept = track[:1]
    for point in track:
        if math.dist(kept[-1], point) > SAME_M:
            kept.append(point)
    return kept if len(kept) == 1 else [*kept[:-1], track[-1]]


def _length_m(track: list[XY]) -> float:
    return math.fsum(math.dist(before, after) for before, after in pairwise(track))
