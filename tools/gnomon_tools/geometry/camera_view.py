"""Computes what a camera sees of its floor, known or presumed, and how a mover crosses it."""

import math
from dataclasses import dataclass
from typing import Literal

import shapely
from shapely import Polygon

from gnomon_tools.geometry.angles import turn_deg
from gnomon_tools.geometry.field_of_view import crossings, sector, view_of
from gnomon_tools.geometry.network import Network
from gnomon_tools.scene.scene import Camera, Point, Scene

PRESUMED_FOV_DEG = 60.0  # a street camera with a usual lens of about 6 mm
PRESUMED_RANGE_M = {"outdoor": 60.0, "indoor": 20.0}  # as far as a detector still finds a car, a person
PRESUMED_ERROR_M = {"outdoor": 20.0, "indoor": 5.0}
LANE_M = 5.0  # so far in front of a street camera passes the nearest lane: a car across it fills the picture
ALONG_DEG = 45.0
BEYOND_M = 200.0  # longer than any view

Alignment = Literal["following", "oncoming", "across"]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a camera sees of its floor, the point in it that ways lead to, how far off its edges may be."""

    area: Polygon
    aim_m: Point
    error_m: float
    presumed: bool  # angle or range are not known but usual values


def view_of_camera(scene: Scene, camera: Camera, range_m: float | None = None) -> View | None:
    """The camera's view; where angle or range are unknown, as usual. None without a position and a heading.

    >>> from gnomon_tools.scene.frame import Frame
    >>> scene = Scene(id="s", frame=Frame(), kind="outdoor")
    >>> view = view_of_camera(scene, Camera(id="c", xy_m=(0.0, 0.0), heading_deg=0.0))
    >>> view.aim_m, view.presumed, view_of_camera(scene, Camera(id="c"))
    ((0.0, 5.0), True, None)
    """
    own_area = view_of(camera)
    if own_area is not None:
        aim_m, error_m = _aim(scene, camera, own_area), camera.position_error_m
        return View(area=own_area, aim_m=aim_m, error_m=error_m, presumed=False)
    if camera.xy_m is None or camera.heading_deg is None:
        return None
    range_m = camera.range_m or range_m or PRESUMED_RANGE_M[scene.kind]
    area = sector(camera.xy_m, camera.heading_deg, camera.fov_deg or PRESUMED_FOV_DEG, range_m)
    aim_m = point_ahead(camera.xy_m, camera.heading_deg, min(LANE_M, range_m / 2))
    error_m = camera.position_error_m + PRESUMED_ERROR_M[scene.kind]
    return View(area=area, aim_m=aim_m, error_m=error_m, presumed=True)


def buffered(view: View) -> Polygon:
    """The area that a view may reach: a known one widened by its error."""
    return view.area if view.presumed else view.area.buffer(view.error_m)


def alignment(camera_deg: float, travel_deg: float) -> Alignment:
    """How a mover crosses a picture: `following` and `oncoming` within 45° of its axis, else `across`.

    >>> alignment(10, 350), alignment(10, 180), alignment(0, 90)
    ('following', 'oncoming', 'across')
    """
    turn = abs(turn_deg(camera_deg, travel_deg))
    return "following" if turn < ALONG_DEG else "oncoming" if turn > 180 - ALONG_DEG else "across"


def chord_of(view: View, camera: Camera, heading_deg: float) -> tuple[float, Point, Point] | None:
    """The chord of a known view; of a presumed one the chord along its axis or square to it."""
    if not view.presumed or camera.heading_deg is None:
        return chord(view, heading_deg)
    turn = round(turn_deg(camera.heading_deg, heading_deg) / 90) * 90
    return chord(view, camera.heading_deg + turn)


def chord(view: View, heading_deg: float) -> tuple[float, Point, Point] | None:
    """Length and ends of the straight line through the view's aim in a direction; None where it has none.

    >>> square = Polygon([(0, 0), (4, 0), (4, 2), (0, 2)])
    >>> chord(View(area=square, aim_m=(2.0, 1.0), error_m=0.0, presumed=False), 90.0)
    (4.0, (0.0, 1.0), (4.0, 1.0))
    """
    line = [point_ahead(view.aim_m, heading_deg, far_m) for far_m in (-BEYOND_M, BEYOND_M)]
    crossing = min(crossings(line, view.area), key=lambda span: abs(sum(span) / 2 - BEYOND_M), default=None)
    if crossing is None:
        return None
    (x0_m, y0_m), (x1_m, y1_m) = (point_along(line, at_m) for at_m in crossing)
    ends = (round(x0_m, 6), round(y0_m, 6)), (round(x1_m, 6), round(y1_m, 6))
    return round(crossing[1] - crossing[0], 6), *ends


def _aim(scene: Scene, camera: Camera, area: Polygon) -> Point:
    """The view's middle; outdoors the road's point nearest to it, if that is in view."""
    middle = area.centroid if area.contains(area.centroid) else area.representative_point()
    network = Network.of(scene)
    if scene.kind == "outdoor" and not network.empty:
        path = network.path((middle.x, middle.y), camera.floor, (middle.x, middle.y), camera.floor)
        if path is not None:
            on_road = path.legs[0].points_m[0]
            if shapely.intersects_xy(area, *on_road):
                return on_road
    return (middle.x, middle.y)


def point_ahead(point_m: Point, heading_deg: float, far_m: float) -> Point:
    """The point so far away in that direction.

    >>> point_ahead((1.0, 2.0), 90.0, 3.0)
    (4.0, 2.0)
    """
    heading = math.radians(heading_deg)
    return point_m[0] + far_m * math.sin(heading), point_m[1] + far_m * math.cos(heading)


def point_along(line: list[Point], at_m: float) -> Point:
    """The point of a line after so many metres.

    >>> point_along([(0.0, 0.0), (2.0, 0.0)], 0.5)
    (0.5, 0.0)
    """
    point = shapely.LineString(line).interpolate(at_m)
    return point.x, point.y
