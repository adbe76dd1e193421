"""Parting: who was last seen by a camera has left its view, so the part of a way that lies in it is behind.

It matters where no homography tells the place within the view, and on stairs, where none holds.
"""

from collections.abc import Iterable, Sequence

import shapely
from shapely import Polygon

from tools.geometry import stairs
from tools.geometry.field_of_view import TOUCH_M, crossings, view_of
from tools.geometry.route import RouteLeg
from tools.scene.scene import Camera, Scene


def distance_to_exit_m(scene: Scene, legs: Sequence[RouteLeg], camera: Camera | None) -> float:
    """Slowed metres from the beginning of a way to where it leaves the camera's view for the first time.

    The target was seen there, so the view is taken to reach the beginning. Where the camera has a homography,
    that is exact on the ground but not on stairs: then only a way that leaves by stairs in view counts.
    0 without a camera and where nobody knows what it sees.
    """
    drawn = view_of(camera) if camera else None
    if camera is None or drawn is None or not legs or legs[0].floor != camera.floor:
        return 0.0
    reached = drawn.union(shapely.Point(legs[0].points_m[0])).convex_hull
    view = reached if isinstance(reached, Polygon) else drawn
    flights, passed_m, left_m = stairs.in_view(scene, camera.floor, view), 0.0, 0.0
    for leg in legs:
        length_m, seen_m = stairs.slowed_m(leg), 0.0
        if leg.id in flights:
            seen_m = flights[leg.id]
            left_m = passed_m + seen_m
        elif leg.on_ground and leg.floor == camera.floor and leg.length_m > TOUCH_M:
            seen_m = next((leaves_m for _, leaves_m in crossings(leg.points_m, view)), 0.0)
            left_m = left_m if camera.homography is not None else passed_m + seen_m
        if seen_m < length_m - TOUCH_M:
            break
        passed_m += length_m
    return left_m


def reversed_legs(legs: Iterable[RouteLeg]) -> list[RouteLeg]:
    """The same way, gone the other way round."""
    return [
        RouteLeg(
            id=leg.id,
            kind=leg.kind,
            floor=leg.to_floor,
            to_floor=leg.floor,
            points_m=tuple(reversed(leg.points_m)),
            length_m=leg.length_m,
        )
        for leg in reversed(list(legs))
    ]
