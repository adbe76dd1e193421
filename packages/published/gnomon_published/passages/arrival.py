"""Computes when a target that left one camera comes into the view of another and leaves it."""

import math
from dataclasses import dataclass
from itertools import pairwise
from math import dist
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from shapely import Polygon

from gnomon_published.passages.view_crossing import BLIND_M, NEAR_M, Unreachable, ViewCrossing, view_crossing
from gnomon_tools.core.array_args import Seconds
from gnomon_tools.core.location import Location, find_camera, listed, locate
from gnomon_tools.core.marks import line_of, xys
from gnomon_tools.core.scene_marks import heading_arrow, location_dot, location_name, spot_of
from gnomon_tools.core.sketch import Mark
from gnomon_tools.core.tool import ToolArgs, ToolError
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.geometry.camera_view import BEYOND_M, View, alignment, buffered, point_ahead, view_of_camera
from gnomon_tools.geometry.field_of_view import crossings
from gnomon_tools.scene.scene import Camera, Point, Scene

Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
XY = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


class Departure(ToolArgs):
    """The end of a sighting; speed and heading are those of the target as it left."""

    at: Location = Field(description="where it was last seen: exactly one of camera, place, or x_m with y_m")
    time_s: float = Field(ge=-1e9, le=1e9, description="when that was, in seconds from any start")
    speed_mps: float = Field(ge=0.05, le=100, description="its speed in metres per second")
    speed_error_mps: float = Field(
        default=0.0, ge=0, le=100, description="how far off the speed may be, in metres per second"
    )
    seen_within_m: float | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="how far a camera of unknown range sees it; 60 outdoors, 20 indoors if left out",
    )
    heading_deg: float | None = Field(
        default=None, ge=-360, le=360, description="the direction it went, clockwise from north, if known"
    )
    track_m: list[XY] = Field(
        default=[],
        max_length=1000,
        description="[x, y] of the points of the sighting, on the floor of `at`: other cameras may see them",
    )
    track_times_s: list[Seconds] = Field(
        default=[], max_length=1000, description="the times of track_m, rising, on the clock of time_s"
    )
    seen_by: str | None = Field(
        default=None, max_length=200, description="id of the camera that saw it last, if known"
    )

    @model_validator(mode="after")
    def _times_go_with_points(self) -> Self:
        if len(self.track_m) != len(self.track_times_s):
            raise ValueError(
                f"track_m has {len(self.track_m)} points but track_times_s {len(self.track_times_s)} times"
            )
        if any(later <= earlier for earlier, later in pairwise(self.track_times_s)):
            raise ValueError("track_times_s must rise strictly")
        return self


Stay = tuple[
    float, float | None
]  # from and until, in seconds; until None: it was still in view when last seen

ENDS_M = 1e-3  # a stretch that ends so close to the track's end lasts on


def departure_marks(scene: Scene, departure: Departure) -> list[Mark | None]:
    """Where a target was last seen, its direction there and the track that it came by."""
    spot = spot_of(scene, departure.at)
    track = line_of(
        xys(departure.track_m),
        departure.seen_by or "",
        "asked",
        floor=spot[1] if spot else 0,
        times_s=departure.track_times_s,
    )
    name = departure.seen_by or location_name(departure.at)
    last = location_dot(scene, departure.at, f"last seen by {name}" if departure.seen_by else name)
    return [track, last, heading_arrow(scene, spot, departure.heading_deg, role="asked")]


def seen_within(departure: Departure, area: Polygon) -> Stay | None:
    """The longest stretch of the departure's track in an area; None if it never was, or no track is given.

    A track that begins in the area came into it earlier: straight, at the departure's speed.
    """
    line: list[Point] = [(x_m, y_m) for x_m, y_m in departure.track_m]
    at_m = np.concatenate([[0.0], np.cumsum([dist(*pair) for pair in pairwise(line)])])
    stretches = crossings(line, area)
    if not stretches or at_m[-1] == 0.0:
        return None
    enters_m, leaves_m = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
    enters_s, leaves_s = (
        float(np.interp(metres, at_m, departure.track_times_s)) for metres in (enters_m, leaves_m)
    )
    if enters_m <= ENDS_M:
        enters_s -= _back_m(line, area) / departure.speed_mps
    return enters_s, None if leaves_m >= at_m[-1] - ENDS_M else leaves_s


def _back_m(line: list[Point], area: Polygon) -> float:
    """Metres from the first point straight back to where the area begins."""
    onward = next(point for point in line if point != line[0])
    far = point_ahead(line[0], bearing_deg(onward, line[0]), BEYOND_M)
    return max(
        (leaves_m for enters_m, leaves_m in crossings([line[0], far], area) if enters_m <= ENDS_M),
        default=0.0,
    )


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
        ToolError: the camera does not exist, its view is unknown, or no way leads there.
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
    if (
        not view.presumed
        and here.floor == camera.floor
        and (stay_s := seen_within(departure, buffered(view)))
    ):
        basis, (start_s, until_s) = "overlap", stay_s
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
        ToolError: the camera's position or heading is unknown.
    """
    view = view_of_camera(scene, camera, range_m)
    if view is None:
        with_view = [each.id for each in scene.cameras.values() if view_of_camera(scene, each) is not None]
        raise ToolError(f"Where camera {camera.id!r} looks is unknown. Known for: {listed(with_view)}.")
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


def same_mast(scene: Scene, camera_id: str | None, other: Camera) -> bool:
    """Whether another camera of that id stands at the same crossing or mast, within NEAR_M outdoors."""
    if camera_id is None or camera_id == other.id or scene.kind != "outdoor":
        return False
    first = find_camera(scene, camera_id)
    if first.xy_m is None or other.xy_m is None:
        return False
    return first.floor == other.floor and math.dist(first.xy_m, other.xy_m) <= NEAR_M


def _spread_s(metres: float, error_m: float, departure: Departure) -> float:
    """First order: the length's error at this speed, and the speed's error over this length."""
    speed_mps = departure.speed_mps
    return error_m / speed_mps + abs(metres) * departure.speed_error_mps / speed_mps**2
