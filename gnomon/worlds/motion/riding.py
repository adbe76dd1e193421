"""A camera on a vehicle that drives in a town's simulated traffic, among others and walkers."""

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import numpy as np

from gnomon.core.ids import stable_seed
from gnomon.worlds.motion.tour import Tour
from gnomon.worlds.motion.travellers import (
    PAINTS,
    SHIRTS,
    Array,
    Traveller,
    keep_apart,
    person_wearing,
    vehicle_looking,
)
from gnomon.worlds.movement import PEDESTRIAN, VEHICLE, Journey
from gnomon.worlds.traffic import Wish, set_out
from gnomon.worlds.world import World

CAMERA_M = 1.45  # above the ground: that of a driver's eyes in a van
FRAME_S = 0.5
FRAMES = (15, 21)
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
    """Journeys through a town, and where each drive's body is at every STEP_S of its time."""

    drives: tuple[Journey, ...]
    walks: tuple[Journey, ...]
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
    drives = tuple(journey for journey in made if journey.body is VEHICLE)
    tracks = []
    for journey in drives:
        times_s = np.arange(journey.start_s + WARM_S, journey.end_s - WARM_S, STEP_S)
        poses = _rider(journey).poses(times_s)
        poses[:, 2] = np.degrees(np.unwrap(np.radians(poses[:, 2])))
        tracks.append((times_s, poses))
    return Traffic(
        drives=drives,
        walks=tuple(journey for journey in made if journey.body is PEDESTRIAN),
        tracks=tuple(tracks),
    )


def _rider(journey: Journey) -> Traveller:
    return vehicle_looking("grey", Random(0), journey)


def ride(world: World, rng: Random, tour_id: str) -> Tour | None:
    """Draw a ride: first by how much it turns, evenly, then a drive that does; None where there is none."""
    traffic = traffic_of(world)
    frames, turn_deg = rng.randint(*FRAMES), rng.uniform(-WIDEST_DEG, WIDEST_DEG)
    steps = round((frames - 1) * FRAME_S / STEP_S)
    windows = []
    for number, (_, poses) in enumerate(traffic.tracks):
        if len(poses) <= steps:
            continue
        turned = poses[steps:, 2] - poses[:-steps, 2]
        gone_m = np.concatenate([[0.0], np.hypot(*np.diff(poses[:, :2], axis=0).T).cumsum()])
        goes = gone_m[steps:] - gone_m[:-steps] >= GOING_MPS * (frames - 1) * FRAME_S
        fits = np.nonzero((np.abs(turned + turn_deg) < CLOSE_DEG) & goes)[0]  # left is positive
        windows += [(number, start) for start in fits.tolist()]
    if not windows:
        return None
    number, start = rng.choice(windows)
    clock_s = float(traffic.tracks[number][0][start])
    times_s = tuple(FRAME_S * frame for frame in range(frames))
    rider = traffic.drives[number]
    at = _rider(rider).poses(clock_s + np.array(times_s))
    facing_deg = at[:, 2] + rng.uniform(-ASIDE_DEG, ASIDE_DEG)
    poses = np.column_stack([at[:, :2], np.full(frames, CAMERA_M), facing_deg, np.zeros(frames)])
    others = _others(traffic, rng, number, clock_s, times_s[-1])
    return Tour(id=tour_id, world=world, times_s=times_s, poses=poses, travellers=others, clock_s=clock_s)


def _others(
    traffic: Traffic, rng: Random, number: int, clock_s: float, lasting_s: float
) -> tuple[Traveller, ...]:
    """Those ahead of the rider on its way, then others whose ways pass near; all keep apart."""
    times_s = clock_s + np.arange(0.0, lasting_s + CHECK_S / 2, CHECK_S)
    rider = traffic.drives[number]
    own = _rider(rider).poses(times_s)
    taken: list[tuple[Traveller, Array]] = []
    paints, shirts = rng.sample(list(PAINTS), len(PAINTS)), rng.sample(list(SHIRTS), len(SHIRTS))
    ahead = [companion.journey for companion in rider.company]
    passing = [journey for other, journey in enumerate(traffic.drives) if other != number]
    for is_ahead, journeys in ((True, ahead), (False, rng.sample(passing, len(passing)))):
        for journey in journeys:
            if len(taken) == VEHICLES:
                break
            for _ in range(1 if is_ahead else TRIES):
                moved = journey if is_ahead else _passing(rng, journey, own, times_s)
                if moved is None:
                    break
                vehicle = vehicle_looking(paints[len(taken)], rng, moved)
                poses = vehicle.poses(times_s)
                rows = [own, *(placed for _, placed in taken)]
                if all(keep_apart(poses, row, ahead_m=GAP_M, aside_m=BESIDE_M) for row in rows):
                    taken.append((vehicle, poses))
                    break
    walkers: list[tuple[Traveller, Array]] = []
    for journey in rng.sample(traffic.walks, len(traffic.walks)):
        if len(walkers) == WALKERS:
            break
        moved = _passing(rng, journey, own, times_s)
        if moved is None:
            continue
        walker = person_wearing(shirts[len(walkers)], rng, moved)
        poses = walker.poses(times_s)
        apart = [(own, BESIDE_M), *((placed, BESIDE_M) for _, placed in taken)]
        apart += [(placed, ELBOW_M) for _, placed in walkers]
        if all(keep_apart(poses, row, ahead_m=least_m, aside_m=least_m) for row, least_m in apart):
            walkers.append((walker, poses))
    return tuple(traveller for traveller, _ in (*taken, *walkers))


def _passing(rng: Random, journey: Journey, own: Array, times_s: Array) -> Journey | None:
    """The journey at a time at which it is near the camera at some moment; None where it never gets near."""
    moment = rng.randrange(len(times_s))
    stretch = journey.stretches[0]
    points_m = np.array(stretch.points_m)
    away_m = np.hypot(*(points_m - own[moment, :2]).T)
    near = np.nonzero(away_m < NEAR_M)[0]
    if not len(near):
        return None
    there_s = stretch.times_s[rng.choice(near.tolist())]
    return replace(journey, company=()).later(float(times_s[moment]) - there_s)
