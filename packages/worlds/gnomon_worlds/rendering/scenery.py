"""All that stands still before one camera, drawn once."""

import math
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import numpy as np
import shapely
from numpy.typing import NDArray

from gnomon_tools.scene.scene import Point
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.rendering import building, town
from gnomon_worlds.rendering.canvas import Canvas, Lens
from gnomon_worlds.rendering.figures import look_of, vehicle
from gnomon_worlds.rendering.light import LIT, Conditions, Light
from gnomon_worlds.rendering.solid import Solid
from gnomon_worlds.world import World

KEPT = 8
NOON_HOUR = 12.0
CAR_M = 4.0  # from the middle of a parked car, within which all of it is, and more than its height
PLAIN = 1  # owner of what stands still


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenery:
    """A canvas with what stands still, and the light it stands in."""

    canvas: Canvas
    light: Light


@lru_cache(KEPT)
def scenery(
    world: World, camera: str, size_px: tuple[int, int], conditions: Conditions, hour: float = NOON_HOUR
) -> Scenery:
    """What a camera sees without anything that moves, at an hour of the day."""
    mount = world.installation.mounts[camera]
    canvas = Canvas(Lens(mount, size_px))
    if world.scene.kind == "indoor":
        floor = world.scene.cameras[camera].floor
        light = Light.indoors(conditions=conditions, lamps_m=building.lamps_of(world, floor))
        for sheet in building.rooms(world, floor):
            canvas.draw(sheet, light.still, PLAIN)
    else:
        light = _town(world, mount, canvas, conditions, hour)
    light.settle(canvas)
    return Scenery(canvas=canvas, light=light)


def _town(world: World, mount: Mount, canvas: Canvas, conditions: Conditions, hour: float) -> Light:
    there = town.town_of(world)
    near = [lamp for lamp in there.lamps_m if 16 < math.dist(lamp, mount.xy_m) < 90]
    light = Light.outdoors(
        lat_deg=world.scene.frame.lat_deg,
        hour=hour,
        conditions=conditions,
        lamps_m=np.array(near).reshape(-1, 2),
    )
    canvas.draw(town.ground(world, mount), light.still, PLAIN)
    shadows = []
    slope = (-light.sun[0] / light.sun[2], -light.sun[1] / light.sun[2])
    longest = 1.0 + math.hypot(*slope)  # of a shadow and what casts it, for each metre of height
    houses = [
        house
        for house in there.buildings
        if math.dist(house.ring_m[0], mount.xy_m) < town.FAR_M
        and any(canvas.may_show(corner, longest * house.height_m) for corner in house.ring_m)
    ]
    for house in houses:
        base = np.array(house.ring_m)
        shadows.append(hull(np.concatenate([base, base + np.array(slope) * house.height_m])))
    solids = []
    for tree in there.trees_m:
        if 9 < math.dist(tree[:2], mount.xy_m) < 110 and canvas.may_show(tree[:2], longest * tree[2]):
            solids.append(town.tree(tree, mount))
            turns = np.linspace(0, 2 * math.pi, 12, endpoint=False)
            crown = np.array(tree[:2]) + np.array(slope) * 0.68 * tree[2]
            shadows.append(crown + 0.3 * tree[2] * np.column_stack([np.cos(turns), np.sin(turns)]))
    for at, heading_deg, number in there.parked:
        if 9 < math.dist(at, mount.xy_m) < 110 and canvas.may_show(at, longest * CAR_M):
            car = vehicle(look_of("vehicle", Random(number))).placed(at, heading_deg)
            solids.append(car)
            shadows.append(cast(car, slope))
    if light.shadow > 0:
        canvas.shadow(shadows, light.shadow)
    for house in houses:
        if not any(canvas.may_show(corner, 4.0) for corner in house.ring_m):
            continue
        canvas.draw(town.house(house), light.still, PLAIN)
        if conditions.night:
            canvas.draw(town.house(house, is_lit=True), light.still, LIT)
    for solid in solids:
        canvas.draw(solid, light.still, PLAIN)
    for at in near:
        canvas.draw(
            town.lamp((float(at[0]), float(at[1])), mount), light.still, LIT if conditions.night else PLAIN
        )
    return light


def cast(solid: Solid, slope: tuple[float, float]) -> NDArray[np.float64]:
    """The shadow of a solid on the ground; `slope` is its length for each metre of height."""
    points = solid.points_m
    return hull(points[:, :2] + points[:, 2:] * np.array(slope))


def cast_by_walker(foot: Point, slope: tuple[float, float]) -> NDArray[np.float64]:
    """The shadow of a person who stands at a point."""
    return _cast_at_origin(slope) + foot


@lru_cache(64)
def _cast_at_origin(slope: tuple[float, float]) -> NDArray[np.float64]:
    turns = np.linspace(0, 2 * math.pi, 10, endpoint=False)
    disc = 0.22 * np.column_stack([np.cos(turns), np.sin(turns)])
    return hull(np.concatenate([disc, np.array(slope) * 1.55 + 0.8 * disc]))


def hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The corners of the convex hull of points (n, 2)."""
    corners: NDArray[np.float64] = shapely.get_coordinates(shapely.MultiPoint(points).convex_hull)[:-1]
    return corners
