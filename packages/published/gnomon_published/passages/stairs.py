"""Handles stairs in view: a camera that looks at their foot or head also sees people on the flight."""

import math
from collections.abc import Iterable

import shapely
from shapely import LineString, Polygon

from gnomon_tools.geometry.route import RouteLeg
from gnomon_tools.scene.scene import Scene

# Weidmann (1993): 1.34 m/s on the level; on stairs 0.61 up and 0.69 down horizontally, which is 0.72 and 0.81
# along a slope of 32°. A lift's wait and ride are no faster.
# On an escalator people stand, and 0.5 m/s is its usual speed.
WALKING_MPS, ESCALATOR_MPS = 1.34, 0.5
SLOWDOWN = 1.75
SLOWDOWNS = {"stairs": SLOWDOWN, "lift": SLOWDOWN, "escalator": WALKING_MPS / ESCALATOR_MPS}
FLIGHT_M = 5.0  # so much of a flight is in view: a flight of 12 steps is about that long
TOUCH_M = 1.5  # stairs that end this close to a view begin in it


def slowed_m(leg: RouteLeg) -> float:
    """A leg's length; on stairs, lifts and escalators longer by as much as they take longer."""
    return leg.length_m * SLOWDOWNS.get(leg.kind, 1.0)


def in_view(scene: Scene, floor: int, area: Polygon) -> dict[str, float]:
    """The stairs that begin in a view: id → slowed metres of their flight that it shows.

    Of a flight drawn as a line so much as its plan lies in the view, at most FLIGHT_M.
    """
    shown_m = {}
    for portal in scene.portals.values():
        if portal.kind != "stairs":
            continue
        ends = zip(portal.zones, portal.ends_m, strict=True)
        here = [end for zone, end in ends if scene.zones[zone].floor == floor]
        if any(area.distance(shapely.Point(end)) <= TOUCH_M for end in here):
            plan_m = math.dist(*portal.ends_m)
            share = area.intersection(LineString(portal.ends_m)).length / plan_m if plan_m else 1.0
            if share > 0:
                shown_m[portal.id] = SLOWDOWN * min(share * max(portal.length_m, plan_m), FLIGHT_M)
    return shown_m


def enters_before_m(
    enters_m: float, aim_at_m: float, legs: Iterable[RouteLeg], shown_m: dict[str, float]
) -> float:
    """When a stay in view begins, with the flights in view that are walked before its aim.

    Of stairs that are drawn as a point nobody knows how they lie, and the steps may hide who comes by them.
    """
    at_m = 0.0
    for leg in legs:
        at_m += slowed_m(leg)
        if leg.id in shown_m and at_m <= aim_at_m + 1e-6 and leg.points_m[0] != leg.points_m[-1]:
            enters_m = min(enters_m, at_m - shown_m[leg.id])
    return enters_m


def leaves_after_m(
    leaves_m: float, aim_at_m: float, legs: Iterable[RouteLeg], shown_m: dict[str, float]
) -> float:
    """When a stay in view ends, with the flights that begin in view; metres along slowed legs.

    Who goes away by stairs stays in view on them, and who comes to stairs in view goes on by them.
    """
    at_m = 0.0
    walked = set()
    for leg in legs:
        if leg.id in shown_m:
            walked.add(leg.id)
            if at_m >= aim_at_m - 1e-6:
                leaves_m = max(leaves_m, at_m + shown_m[leg.id])
        at_m += slowed_m(leg)
    return max([leaves_m, *(aim_at_m + shown for name, shown in shown_m.items() if name not in walked)])
