"""Parting: who was last seen by a camera has left its view, so the part of a way that lies in it is behind.

It matters where no homography tells the place within the view, and on stairs, where none holds.
"""

from collections.abc import Iterable

from tools.geometry import stairs
from tools.geometry.field_of_view import TOUCH_M, crossings, view_of
from tools.geometry.path import Leg
from tools.scene.scene import Camera, Scene

EDGE_M = 0.5  # a way that begins so close to a view begins in it: places were rounded, views drawn by hand


def behind_m(scene: Scene, legs: Iterable[Leg], camera: Camera | None) -> float:
    """Slowed metres from the beginning of a way to where it leaves the camera's view for the first time.

    Where the camera has a homography, the way's beginning is exact on the ground but not on stairs: then only
    a way that leaves by stairs in view counts. 0 without a camera and where nobody knows what it sees.
    """
    view = view_of(camera) if camera else None
    if camera is None or view is None:
        return 0.0
    flights, passed_m, left_m = stairs.in_view(scene, camera.floor, view), 0.0, 0.0
    for leg in legs:
        length_m, seen_m = stairs.slowed_m(leg), 0.0
        if leg.id in flights:
            seen_m = flights[leg.id]
            left_m = passed_m + seen_m
        elif leg.on_ground and leg.floor == camera.floor and leg.length_m > TOUCH_M:
            stretches = crossings(leg.points_m, view)
            seen_m = stretches[0][1] if stretches and stretches[0][0] <= EDGE_M else 0.0
            left_m = left_m if camera.homography is not None else passed_m + seen_m
        if seen_m < length_m - TOUCH_M:
            break
        passed_m += length_m
    return left_m


def reversed_legs(legs: Iterable[Leg]) -> list[Leg]:
    """The same way, gone the other way round."""
    return [
        Leg(
            id=leg.id,
            kind=leg.kind,
            floor=leg.to_floor,
            to_floor=leg.floor,
            points_m=tuple(reversed(leg.points_m)),
            length_m=leg.length_m,
        )
        for leg in reversed(list(legs))
    ]
