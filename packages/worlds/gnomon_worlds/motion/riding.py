"""A camera on a vehicle that drives in a town's simulated traffic, among others and walkers."""

from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.ids import stable_seed
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.motion.travellers import (
    PAINTS,
    SHIRTS,
    Array,
    Traveller,
    Way,
    keep_apart,
    person_wearing,
    vehicle_looking,
)
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE
from gnomon_worlds.traffic import Wish, set_out
from gnomon_worlds.world import World

CAMERA_M = 1.45  # above the ground: that of a driver's eyes in a van
FRAME_S = 0.5
FRAMES = (15, 21)
LENGTHS = FRAMES[1] - FRAMES[0] + 1  # of rides: tours of a town are asked for one after the other
DRIVES, WALKS = 20, 30  # drawn in a town
ASIDE_DEG = 40.0  # by which the camera looks to a side of where the vehicle goes, at most
WIDEST_DEG = 95.0  # turns between the first frame and the last
CLOSE_DEG = 2.0  # to the turn that is wanted
GOING_MPS = 2.0  # on average, at least
STEP_S = 0.05  # between moments at which a way is looked at
WARM_S = 4.0  # of a drive that is never filmed, at either end
NEAR_M = 32.0  # of the camera, within which others pass
VEHICLES, WALKERS = 6, 4  # others, at most
TRIES = 4  # places in time for each of the others
CHECK_S = 0.125
GAP_M, BESIDE_M, ELBOW_M = 7.5, 2.4, 1.2  # between middles: in a lane, of two lanes, of walkers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traffic:
    """Ways through a town, who drives ahead on each, and where each body is at every STEP_S of its time."""

    drives: tuple[Way, ...]
    before: tuple[tuple[Way, ...], ...]
    walks: tuple[Way, ...]
    tracks: tuple[tuple[Array, Array], ...]  # times (n), poses (n × 3) with headings that run on


@lru_cache(32)
def traffic_of(world: World) -> Traffic:
    """The traffic of a town, simulated once."""
    if world.traffic is None:
        raise ValueError("a town with simulated traffic")
    rng = Random(stable_seed("riding", world.scene.id))
    wishes: list[Wish] = []
    for body, count in ((VEHICLE, DRIVES), (PEDESTRIAN, WALKS)):
        for _ in range(count):
            start, end = rng.sample(world.ends, 2)
            wishes.append((body, start, end))
    made = [journey for journey in set_out(world, world.traffic, rng, wishes) if journey]
    drives = [journey for journey in made if journey.body is VEHICLE]
    ways = tuple(map(Way.of, drives))
    tracks = []
    for journey, way in zip(drives, ways, strict=True):
        times_s = np.arange(journey.start_s + WARM_S, journey.end_s - WARM_S, STEP_S)
        poses = _rider(way).poses(times_s)
        poses[:, 2] = np.degrees(np.unwrap(np.radians(poses[:, 2])))
        tracks.append((times_s, poses))
    return Traffic(
        drives=ways,
        before=tuple(tuple(Way.of(companion.journey) for companion in journey.company) for journey in drives),
        walks=tuple(Way.of(journey) for journey in made if journey.body is PEDESTRIAN),
        tracks=tuple(tracks),
    )


@lru_cache(LENGTHS)
def _parts(traffic: Traffic, frames: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Where so many frames of a moving drive can begin: the drive, the step of its track, and its turn.

    Turns are in degrees from the first frame to the last, right positive.
    """
    steps, least_m = round((frames - 1) * FRAME_S / STEP_S), GOING_MPS * (frames - 1) * FRAME_S
    drives, starts, turns = [np.empty(0, np.intp)], [np.empty(0, np.intp)], [np.empty(0)]
    for number, (_, poses) in enumerate(traffic.tracks):
        if len(poses) <= steps:
            continue
        gone_m = np.concatenate([[0.0], np.hypot(*np.diff(poses[:, :2], axis=0).T).cumsum()])
        begins = np.nonzero(gone_m[steps:] - gone_m[:-steps] >= least_m)[0]
        drives.append(np.full(len(begins), number))
        starts.append(begins)
        turns.append((poses[steps:, 2] - poses[:-steps, 2])[begins])
    return np.concatenate(drives), np.concatenate(starts), np.concatenate(turns)


def _rider(way: Way) -> Traveller:
    return vehicle_looking("grey", Random(0), way)


def ride(world: World, rng: Random, tour_id: str) -> Tour | None:
    """Draw a ride: first how much it turns, evenly, then a drive that does; None where there is none."""
    traffic = traffic_of(world)
    frames, turn_deg = rng.randint(*FRAMES), rng.uniform(-WIDEST_DEG, WIDEST_DEG)
    drives, starts, turns_deg = _parts(traffic, frames)
    fits = np.nonzero(np.abs(turns_deg + turn_deg) < CLOSE_DEG)[0]  # left is positive
    if not len(fits):
        return None
    part = fits[rng.randrange(len(fits))]
    number = int(drives[part])
    clock_s = float(traffic.tracks[number][0][starts[part]])
    times_s = tuple(FRAME_S * frame for frame in range(frames))
    at = _rider(traffic.drives[number]).poses(clock_s + np.array(times_s))
    facing_deg = at[:, 2] + rng.uniform(-ASIDE_DEG, ASIDE_DEG)
    poses = np.column_stack([at[:, :2], np.full(frames, CAMERA_M), facing_deg, np.zeros(frames)])
    return Tour(
        id=tour_id,
        world=world,
        times_s=times_s,
        poses=poses,
        draw_travellers=partial(_others, traffic, rng.getstate(), number, clock_s, times_s[-1]),
        clock_s=clock_s,
    )


def _others(
    traffic: Traffic, lots: tuple[Any, ...], number: int, clock_s: float, lasting_s: float
) -> tuple[Traveller, ...]:
    """The vehicles ahead of the rider on its way, then others whose ways pass near; all keep apart.

    The same whenever it is asked: `lots` is the state of the generator that draws them.
    """
    rng = Random()
    rng.setstate(lots)
    times_s = clock_s + np.arange(0.0, lasting_s + CHECK_S / 2, CHECK_S)
    own = _rider(traffic.drives[number]).poses(times_s)
    paints, shirts = rng.sample(list(PAINTS), len(PAINTS)), rng.sample(list(SHIRTS), len(SHIRTS))
    passing = [way for other, way in enumerate(traffic.drives) if other != number]
    vehicles: list[Traveller] = []
    placed = own[None]
    for is_ahead, ways in ((True, traffic.before[number]), (False, rng.sample(passing, len(passing)))):
        for way in ways:
            if len(vehicles) == VEHICLES:
                break
            for _ in range(1 if is_ahead else TRIES):
                moved = way if is_ahead else _passing(rng, way, own, times_s)
                if moved is None:
                    break
                vehicle = vehicle_looking(paints[len(vehicles)], rng, moved)
                poses = vehicle.poses(times_s)
                if keep_apart(poses, placed, ahead_m=GAP_M, aside_m=BESIDE_M):
                    vehicles.append(vehicle)
                    placed = np.concatenate([placed, poses[None]])
                    break
    walkers: list[Traveller] = []
    for way in rng.sample(traffic.walks, len(traffic.walks)):
        if len(walkers) == WALKERS:
            break
        moved = _passing(rng, way, own, times_s)
        if moved is None:
            continue
        walker = person_wearing(shirts[len(walkers)], rng, moved)
        poses = walker.poses(times_s)
        least_m = np.array([BESIDE_M] * (1 + len(vehicles)) + [ELBOW_M] * len(walkers))[:, None]
        if keep_apart(poses, placed, ahead_m=least_m, aside_m=least_m):
            walkers.append(walker)
            placed = np.concatenate([placed, poses[None]])
    return (*vehicles, *walkers)


def _passing(rng: Random, way: Way, own: Array, times_s: Array) -> Way | None:
    """The way, moved in time so that it is near the camera at some moment; None where it never gets near."""
    moment = rng.randrange(len(times_s))
    away_m = np.hypot(*(way.points_m - own[moment, :2]).T)
    near = np.nonzero(away_m < NEAR_M)[0]
    if not len(near):
        return None
    there_s = float(way.times_s[rng.choice(near.tolist())])
    return way.later(float(times_s[moment]) - there_s)
