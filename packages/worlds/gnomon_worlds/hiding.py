"""Works out when moving bodies hide another from a camera, by their outlines in its picture."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.scene.scene import Point
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.movement import FACING_S, Body, Journey, beside

SEEN = 0.25  # share of its outline that is free, where a camera sees a body
STEP_S = 0.25  # between two moments that are looked at; ends are then found to MOMENT_S
MOMENT_S = 0.001
NEAR_DEPTH_M = 0.5  # nearer to the lens nothing is looked at
APART_M = 40.0  # what is farther off hides nothing
TOP = 0.7  # of a body's height: who leaves that free does not hide it
# What surely hides, as shares of width and height: bonnets are lower than roofs, heads less broad than arms.
SOLID = {"vehicle": (0.96, 0.55), "van": (0.96, 0.92), "pedestrian": (0.55, 0.94)}

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Placed = tuple[Point, float]  # where a body is, and which way it faces in degrees


def standing(mount: Mount, body: Body, at: Point, heading_deg: float) -> Point:
    """The middle of a vehicle whose side nearest to the camera touches the ground at a point.

    A box ends below where its target meets the ground; so the point that it gives is the nearest one.
    """
    turn = math.radians(heading_deg - mount.heading_deg)
    reach_m = abs(math.cos(turn)) * body.length_m / 2 + abs(math.sin(turn)) * body.width_m / 2
    look = math.radians(mount.heading_deg)
    x_m, y_m = at[0] - mount.xy_m[0], at[1] - mount.xy_m[1]
    ahead_m = x_m * math.sin(look) + y_m * math.cos(look)
    if ahead_m <= 0:
        return at
    share = reach_m / ahead_m
    return (at[0] + share * x_m, at[1] + share * y_m)


def outline(mount: Mount, body: Body, placed: Placed, *, solid: tuple[float, float] = (1.0, 1.0)) -> Polygon:
    """The outline of a body in the picture, in pixels; `solid` shrinks its width and height.

    Vehicles are boxes, people flat and turned to the camera. Empty where it is not before the lens.
    """
    at, heading_deg = placed
    wide, high = solid
    if body.kind == "pedestrian":
        away_deg = bearing_deg(mount.xy_m, at)
        turn = math.radians(turn_deg(away_deg, heading_deg))
        half_m = wide * (abs(math.sin(turn)) * body.length_m + abs(math.cos(turn)) * body.width_m) / 2
        across = math.radians(away_deg + 90)
        ground = [
            (at[0] + s * half_m * math.sin(across), at[1] + s * half_m * math.cos(across)) for s in (-1, 1)
        ]
    else:
        middle, along = standing(mount, body, at, heading_deg), math.radians(heading_deg)
        ahead = (math.sin(along) * body.length_m / 2, math.cos(along) * body.length_m / 2)
        right = (wide * math.cos(along) * body.width_m / 2, -wide * math.sin(along) * body.width_m / 2)
        ground = [
            (middle[0] + a * ahead[0] + r * right[0], middle[1] + a * ahead[1] + r * right[1])
            for a in (-1, 1)
            for r in (-1, 1)
        ]
    corners = np.array([(*point, z_m, 1.0) for point in ground for z_m in (0.0, high * body.height_m)])
    columns, rows, depths = mount.projection() @ corners.T
    if depths.min() < NEAR_DEPTH_M:
        return Polygon()
    hull = shapely.convex_hull(shapely.linestrings(columns / depths, rows / depths))
    return hull if isinstance(hull, Polygon) else Polygon()


def free_share(mount: Mount, target: tuple[Body, Placed], nearer: Sequence[tuple[Body, Placed]]) -> float:
    """The share of a body in the picture that others before it leave free."""
    width, height = mount.image_size
    whole: BaseGeometry = outline(mount, *target).intersection(shapely.box(0, 0, width, height))
    if whole.area == 0:
        return 0.0
    if not nearer:
        return 1.0
    hiding = [outline(mount, *other, solid=SOLID[other[0].look or other[0].kind]) for other in nearer]
    return float(whole.difference(shapely.union_all(hiding)).area / whole.area)


def seen_spans(
    mount: Mount, floor: int, journey: Journey, start_s: float, end_s: float
) -> Iterator[tuple[float, float]]:
    """The spans of a stay in view in which those who go with the target don't hide it."""
    count = max(1, math.ceil((end_s - start_s) / STEP_S))
    times_s = np.linspace(start_s, end_s, count + 1)
    doubtful = (
        _may_be_hidden(mount, floor, journey, times_s) if journey.company else np.zeros(count + 1, bool)
    )
    began_s: float | None = None
    was_s, was_seen = start_s, False
    for time_s, is_doubtful in zip(times_s.tolist(), doubtful.tolist(), strict=True):
        seen = not is_doubtful or is_seen(mount, floor, journey, time_s)
        if seen and began_s is None:
            began_s = start_s if time_s == start_s else _change_s(mount, floor, journey, was_s, time_s)
        elif was_seen and not seen and began_s is not None:
            yield began_s, _change_s(mount, floor, journey, was_s, time_s)
            began_s = None
        was_s, was_seen = time_s, seen
    if began_s is not None:
        yield began_s, end_s


def is_seen(mount: Mount, floor: int, journey: Journey, time_s: float) -> bool:
    """Whether at least SEEN of a target is free at a moment when its ground is in view."""
    placed = beside(journey, time_s, floor)
    if placed is None:
        return False
    eye, (x_m, y_m) = mount.xy_m, placed[0]
    away_m = math.dist(placed[0], eye)
    towards = ((x_m - eye[0]) / away_m, (y_m - eye[1]) / away_m)
    nearer = []
    for other in journey.company:
        its = beside(other.journey, time_s, floor, other.right_m)
        if its is None:
            continue
        east, north = its[0][0] - eye[0], its[0][1] - eye[1]
        ahead_m = east * towards[0] + north * towards[1]
        aside_m = abs(east * towards[1] - north * towards[0])
        if max(0.0, away_m - APART_M) < ahead_m < away_m and aside_m < _reach_m(
            journey.body, other.journey.body
        ):
            nearer.append((other.journey.body, its))
    return free_share(mount, (journey.body, placed), nearer) >= SEEN


def _reach_m(target: Body, other: Body) -> float:
    """How far from the sight line to a target the middle of a hiding body can be at most."""
    return sum(max(body.length_m, body.width_m) / 2 for body in (target, other))


def _may_be_hidden(mount: Mount, floor: int, journey: Journey, times_s: Floats) -> Flags:
    """At which moments bodies that are high enough may cover enough of the target's breadth."""
    eye, target = np.array(mount.xy_m), _course(journey, floor, times_s, 0.0)
    away_m = np.hypot(*(target - eye).T)
    towards = (target - eye) / away_m[:, None]
    sinking = (mount.height_m - TOP * journey.body.height_m) / away_m
    least_m, most_m = sorted((journey.body.length_m, journey.body.width_m))
    covered_m = np.zeros(len(times_s))
    for other in journey.company:
        body, its = other.journey.body, _course(other.journey, floor, times_s, other.right_m) - eye
        ahead_m = (its * towards).sum(axis=1)
        aside_m = its[:, 0] * towards[:, 1] - its[:, 1] * towards[:, 0]
        is_high = mount.height_m - sinking * ahead_m < body.height_m
        is_near = (ahead_m > NEAR_DEPTH_M) & (ahead_m < away_m) & (away_m - ahead_m < APART_M)
        larger = away_m / np.maximum(ahead_m, NEAR_DEPTH_M)  # than as far away as the target
        half_m = larger * SOLID[body.look or body.kind][0] * max(body.length_m, body.width_m) / 2
        right_m = np.minimum(larger * aside_m + half_m, most_m / 2)
        left_m = np.maximum(larger * aside_m - half_m, -most_m / 2)
        covered_m += np.where(is_near & is_high, np.maximum(0.0, right_m - left_m), 0.0)
    needed_m = (1 - SEEN) * least_m if journey.body.kind == "pedestrian" else 0.0
    return np.asarray(covered_m > needed_m)


def _course(journey: Journey, floor: int, times_s: Floats, right_m: float) -> Floats:
    """Where somebody beside a journey's line is (n, 2); NaN while not on that floor."""
    places = np.full((len(times_s), 2), np.nan)
    for stretch in journey.stretches:
        is_on = (times_s >= stretch.times_s[0]) & (times_s <= stretch.times_s[-1])
        if stretch.floor != floor or not is_on.any():
            continue
        xs, ys = zip(*stretch.points_m, strict=True)

        def at(moments_s: Floats) -> Floats:
            return np.column_stack([np.interp(moments_s, stretch.times_s, values) for values in (xs, ys)])  # noqa: B023

        on_s = times_s[is_on]
        ahead = at(on_s + FACING_S) - at(on_s - FACING_S)
        length = np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
        places[is_on] = at(on_s) + right_m * np.column_stack([ahead[:, 1], -ahead[:, 0]]) / length
    return places


def _change_s(mount: Mount, floor: int, journey: Journey, before_s: float, after_s: float) -> float:
    """When the target comes into sight or is hidden, between two moments of which one shows it."""
    was_seen = is_seen(mount, floor, journey, before_s)
    while after_s - before_s > MOMENT_S:
        middle_s = (before_s + after_s) / 2
        if is_seen(mount, floor, journey, middle_s) is was_seen:
            before_s = middle_s
        else:
            after_s = middle_s
    return (before_s + after_s) / 2
