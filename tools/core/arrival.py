"""Arrival: when a departed target comes into a camera's view and when it leaves it."""

import math
from dataclasses import dataclass
from typing import Literal

from tools.core.departure import Departure
from tools.core.location import find_camera, listed, locate
from tools.core.overlap import seen_within
from tools.core.tool import ToolError
from tools.geometry.camera_view import View, alignment, buffered, view_of_camera
from tools.geometry.view_crossing import BLIND_M, NEAR_M, Unreachable, ViewCrossing, view_crossing
from tools.scene.scene import Camera, Point, Scene

Basis = Literal["overlap", "same_mast", "transit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Seconds on the departure's clock; the spreads are how far off start and end may be."""

    start_s: float
    end_s: float
    middle_s: float
    middle_m: Point
    start_spread_s: float
    end_spread_s: float
    distance_m: float
    distance_error_m: float
    basis: Basis
    passage: ViewCrossing


def arrival(scene: Scene, departure: Departure, camera_id: str) -> Arrival:
    """Move the target at an even pace on the shortest way to the camera's view and through it.

    Raises:
        ToolError: no such camera, nobody knows what it sees, or no way leads there.
    """
    camera = find_camera(scene, camera_id)
    view = view_in(scene, camera, departure.seen_within_m)
    here = locate(scene, departure.at)
    try:
        seen_by = find_camera(scene, departure.seen_by) if departure.seen_by else None
        start = (here.xy_m, here.floor)
        way = view_crossing(scene, start, camera, view, heading_deg=departure.heading_deg, seen_by=seen_by)
    except Unreachable:
        raise ToolError(
            f"No way leads from the start (floor {here.floor}) to what {camera_id!r} sees."
        ) from None
    basis: Basis = "overlap" if way.starts_inside else "transit"
    enters_m, leaves_m = way.enters_m, max(way.leaves_m, way.enters_m)
    if view.presumed and handed_over(scene, departure, camera):
        basis, enters_m, leaves_m = "same_mast", BLIND_M, BLIND_M + leaves_m - enters_m
    start_s, end_s = (departure.time_s + metres / departure.speed_mps for metres in (enters_m, leaves_m))
    if not view.presumed and here.floor == camera.floor and (seen := seen_within(departure, buffered(view))):
        basis, (start_s, until_s) = "overlap", seen
        end_s = max(end_s, departure.time_s) if until_s is None else until_s
    error_m = here.error_m + way.error_m
    middle_m = min(max(way.length_m, enters_m), leaves_m)
    return Arrival(
        middle_s=departure.time_s + middle_m / departure.speed_mps,
        middle_m=view.aim_m,
        start_s=start_s,
        end_s=end_s,
        start_spread_s=_spread_s(enters_m, error_m, departure),
        end_spread_s=_spread_s(leaves_m, error_m, departure),
        distance_m=way.length_m,
        distance_error_m=error_m,
        basis=basis,
        passage=way,
    )


def view_in(scene: Scene, camera: Camera, range_m: float | None = None) -> View:
    """What the camera sees, or would usually see.

    Raises:
        ToolError: its position or heading is not known.
    """
    view = view_of_camera(scene, camera, range_m)
    if view is None:
        known = [each.id for each in scene.cameras.values() if view_of_camera(scene, each) is not None]
        raise ToolError(f"Where camera {camera.id!r} looks is unknown. Known for: {listed(known)}.")
    return view


def handed_over(scene: Scene, departure: Departure, camera: Camera) -> bool:
    """Whether the target comes by the mast that saw it last, into the view of another camera of that mast.

    Not if both look the same way, or if it went away along the axis of the camera that saw it.
    """
    if departure.seen_by is None or not same_mast(scene, departure.seen_by, camera):
        return False
    last_deg, travel_deg = find_camera(scene, departure.seen_by).heading_deg, departure.heading_deg
    if last_deg is None or camera.heading_deg is None:
        return True
    away = travel_deg is not None and alignment(last_deg, travel_deg) == "following"
    return not away and alignment(last_deg, camera.heading_deg) != "following"


def same_mast(scene: Scene, one: str | None, other: Camera) -> bool:
    """Whether another camera of that id stands at the same crossing or mast, within NEAR_M outdoors."""
    if one is None or one == other.id or scene.kind != "outdoor":
        return False
    first = find_camera(scene, one)
    if first.xy_m is None or other.xy_m is None:
        return False
    return first.floor == other.floor and math.dist(first.xy_m, other.xy_m) <= NEAR_M


def _spread_s(metres: float, error_m: float, departure: Departure) -> float:
    """First order: the length's error at this speed, and the speed's error over this length."""
    speed_mps = departure.speed_mps
    return error_m / speed_mps + abs(metres) * departure.speed_error_mps / speed_mps**2
