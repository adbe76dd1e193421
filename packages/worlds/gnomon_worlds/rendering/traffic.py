"""Draws who moves through a clip besides its target; some look like the target."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import shapely
from shapely.geometry.base import BaseGeometry

from gnomon.core.ids import stable_seed
from gnomon_tools.scene.scene import Point
from gnomon_worlds.hiding import free_share
from gnomon_worlds.lanes import LANE_M
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE, Journey, beside, journey
from gnomon_worlds.rendering.figures import TALL, Look, look_of
from gnomon_worlds.trajectory import Sighting, Trip, sightings
from gnomon_worlds.world import Spot, World

DRIVERS, WALKERS_OUT, WALKERS_IN = (1, 3), (2, 5), (1, 3)  # others in a clip: at least, at most
TRIES = 40
PAVEMENT_M, ASIDE_M = (4.3, 5.7), (0.5, 0.75)  # from the line of the ways to walkers out and in
APART_M = {"vehicle": 7.5, "pedestrian": 0.9}  # of two on the same line, at least
ALIKE = 0.4  # share of the others that look like the target
LEFT = 0.5  # share of a target that passers-by leave free in crowded worlds, at least
CHECKED_S = 0.5  # between two moments at which distances are checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """Somebody on the way, so far to the right of a journey's line; `trip` is None unless a question asks."""

    journey: Journey
    look: Look
    right_m: float = 0.0
    walls: BaseGeometry | None = None  # near which it goes on its line, to get through doors
    trip: Trip | None = None

    def at(self, time_s: float, floor: int) -> tuple[Point, float] | None:
        """Where it is and which way it faces, in degrees; None while it is not on that floor."""
        right_m = self.right_m
        if self.walls is not None:
            at = shapely.Point(self.journey.at(time_s).xy_m)
            right_m *= min(1.0, max(0.0, float(shapely.distance(self.walls, at)) - 0.4))
        return beside(self.journey, time_s, floor, right_m)


def movers(world: World, trips: Collection[Trip], sighting: Sighting, *, seed: int) -> tuple[Mover, ...]:
    """All that move through a clip: the targets of its question, then others, drawn by lot."""
    asked = [
        Mover(
            journey=trip.journey,
            look=look_of(trip.journey.body.kind, Random(stable_seed("look", trip.target))),
            trip=trip,
        )
        for trip in trips
    ]
    rng = Random(stable_seed("traffic", seed, world.scene.id, sighting.camera, round(sighting.start_s, 3)))
    taken = [*asked, *(mover for trip in trips for mover in _company(trip))]
    if world.scene.kind == "indoor":
        wanted = ["pedestrian"] * rng.randint(*WALKERS_IN)
    else:
        wanted = ["vehicle"] * rng.randint(*DRIVERS) + ["pedestrian"] * rng.randint(*WALKERS_OUT)
    for kind in wanted:
        passer = _passer(world, rng, kind, sighting, taken)
        if passer is not None:
            taken.append(passer)
    return tuple(taken)


def _company(trip: Trip) -> Iterator[Mover]:
    """Those who move with a target; some look like it."""
    rng, kind = Random(stable_seed("company", trip.target)), trip.journey.body.kind
    own = look_of(kind, Random(stable_seed("look", trip.target)))
    for companion in trip.journey.company:
        look = own if rng.random() < ALIKE else look_of(kind, rng)
        if companion.journey.body.look == "van":
            look = replace(look, shape=TALL)
        yield Mover(journey=companion.journey, look=look, right_m=companion.right_m)


def _passer(world: World, rng: Random, kind: str, clip: Sighting, taken: Sequence[Mover]) -> Mover | None:
    """Somebody else who passes the clip's camera at some time in the clip; None if none was found."""
    camera = world.scene.cameras[clip.camera]
    alike = [mover.look for mover in taken if mover.trip is not None and mover.look.kind == kind]
    look = rng.choice(alike) if alike and rng.random() < ALIKE else look_of(kind, rng)
    for _ in range(TRIES):
        start, end = rng.sample(world.ends, 2)
        if world.scene.kind == "outdoor":  # a way that surely leads past: towards one of the camera's spots
            start, end = rng.choice((start, end)), rng.choice(world.spots[clip.camera])
        made = journey(world, rng, VEHICLE if kind == "vehicle" else PEDESTRIAN, start, end)
        stays = sightings(made, [camera]) if made else ()
        if made is None or not stays:
            continue
        stay = rng.choice(stays)
        at_s = rng.uniform(clip.start_s, clip.end_s)
        moved = made.later(at_s - rng.uniform(stay.start_s, stay.end_s))
        right_m = 0.0
        if kind == "pedestrian":
            right_m = rng.uniform(*(ASIDE_M if world.scene.kind == "indoor" else PAVEMENT_M)) * rng.choice(
                (-1, 1)
            )
            if world.scene.kind == "indoor":
                right_m = abs(right_m)
        if world.lanes:
            right_m = beside_middle_m(world, start if start in world.spots[clip.camera] else end, right_m)
        walls = _walls(world, camera.floor) if world.scene.kind == "indoor" else None
        mover = Mover(journey=moved, look=look, right_m=right_m, walls=walls)
        if world.is_crowded and any(_hides(world, mover, other, clip) for other in taken if other.trip):
            continue  # the truth counts those alone who go with a target
        if all(_apart(mover, other, clip, camera.floor) for other in taken):
            return mover
    return None


def beside_middle_m(world: World, spot: Spot, right_m: float) -> float:
    """How far to the right of a street's middle somebody goes: rightmost lane or pavement."""
    at = shapely.Point(spot.xy_m)
    road = min(world.scene.roads.values(), key=lambda road: float(road.line.distance(at)))
    lanes = world.lanes[road.id]
    if right_m:
        return right_m + math.copysign(lanes.widening_m, right_m)
    return lanes.half_m - LANE_M / 2


def _hides(world: World, mover: Mover, target: Mover, clip: Sighting) -> bool:
    """Whether a mover hides more than half of a target at some time in a clip."""
    mount, floor = world.installation.mounts[clip.camera], world.scene.cameras[clip.camera].floor
    count = max(1, math.ceil((clip.end_s - clip.start_s) / CHECKED_S))
    for step in range(count + 1):
        time_s = clip.start_s + (clip.end_s - clip.start_s) * step / count
        its, there = mover.at(time_s, floor), target.at(time_s, floor)
        if its and there and math.dist(its[0], mount.xy_m) < math.dist(there[0], mount.xy_m):
            nearer = [(mover.journey.body, its)]
            if free_share(mount, (target.journey.body, there), nearer) < LEFT:
                return True
    return False


def _apart(mover: Mover, other: Mover, clip: Sighting, floor: int) -> bool:
    """Whether two movers keep apart during the whole clip."""
    least_m = max(APART_M[mover.look.kind], APART_M[other.look.kind])
    if mover.look.kind != other.look.kind:
        least_m = 3.2
    time_s = clip.start_s
    while time_s <= clip.end_s:
        here, there = mover.at(time_s, floor), other.at(time_s, floor)
        if here and there and math.dist(here[0], there[0]) < least_m:
            return False
        time_s += CHECKED_S
    return True


@lru_cache(8)
def _walls(world: World, floor: int) -> BaseGeometry:
    return shapely.union_all(
        [zone.area.boundary for zone in world.scene.zones.values() if zone.floor == floor]
    )
