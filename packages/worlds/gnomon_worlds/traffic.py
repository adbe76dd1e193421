"""Moves targets as in life: vehicles queue at signals, walkers go in groups and stop on their way.

Speeds and sizes are fitted to published counts:

- Vehicles would go at a normally distributed share of the limit, 1.03 +- 0.19: at 30 mph cars average 31 mph,
  and 6 % go faster than 40 mph (Department for Transport, Vehicle speed compliance statistics for Great
  Britain, 2019: free flow).
- Walkers alone: normal, 1.34 +- 0.26 m/s (Weidmann, Transporttechnik der Fussgaenger, 1993).
- Groups: of a zero-truncated Poisson size; every further member costs 0.04 m/s (Moussaid and others, The
  walking behaviour of pedestrian social groups, PLoS ONE 5(4), 2010, e10047).

In crowded worlds
- a fifth of the other vehicles are vans, lorries or buses: vans and lorries drove 67.9 of 328.9 billion
  vehicle miles (Department for Transport, Provisional road traffic estimates, Great Britain: April 2018 to
  March 2019);
- some walkers go in a crowd, the slower the denser it is: v = v0 (1 - exp(-1.913 (1/density - 1/5.4))) at so
  many persons per square metre (Weidmann).

How often somebody stops, makes a detour, goes back or goes in a crowd, and for how long, are choices of ours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from random import Random

import numpy as np
from numpy.typing import NDArray

from gnomon_published.passages.stairs import WALKING_MPS
from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import Path, RouteLeg
from gnomon_tools.scene.scene import Point
from gnomon_worlds.car_following import KEPT_STEPS, STEP_S, Drive, Halt, braking_limits, driven_m
from gnomon_worlds.lane_changing import Moved, driven_in_lanes
from gnomon_worlds.lanes import LaneWay, lane_way
from gnomon_worlds.movement import (
    BEND_DEG,
    UNEVEN,
    VAN,
    Body,
    Companion,
    Journey,
    Stretch,
    climb_s,
)
from gnomon_worlds.signals import Signals
from gnomon_worlds.world import Spot, World

SHARE_OF_LIMIT, SHARE_SPREAD, SHARES = 1.03, 0.19, (0.6, 1.5)
WALKING_SPREAD, WALKERS_MPS = 0.26, (0.7, 2.1)  # about WALKING_MPS
GROUP_RATE, GROUP_COST_MPS, GROUP_MOST = 0.83, 0.04, 5
ABREAST_M = 0.75
QUEUED = (0, 3)  # vehicles before the asked one
GAP_M = (12.0, 45.0)  # from one to the next at the start
TURNING_MPS = 5.5
STOP_LINE_M = 7.0  # before a junction's middle
# share of journeys by way of another place; their length over the shortest
DETOUR, LONGEST_DETOUR = 0.25, 1.7
DWELLING, DWELL_S, DWELL_SPREAD, DWELLS_S = 0.3, 14.0, 0.7, (4.0, 90.0)  # share; log-normal: median, spread
HIGH = 0.21  # share of the other vehicles that are higher than cars
CROWDED, DENSITY, SLOWING, JAMMED = 0.35, (0.3, 1.6), 1.913, 5.4  # share of walkers; persons per square metre
CROWD_M = (7.0, 2.0)  # of a crowd about a walker: along its way, across it
RETURNING, TURNING_BACK = 0.4, 0.7  # share of journeys that lead back; of these those that turn on the way
TURN_S = (1.0, 3.0)  # of standing before one turns back
BACK_M = {"outdoor": 100.0, "indoor": 15.0}  # gone before one turns back, at least
ON_WAY_M = 0.5  # by which a way over a point may be longer than the shortest and still be that
IN_LANES = (1, 5)  # vehicles before the asked one, where there are lanes
LANE_GAP_M = (6.0, 30.0)  # from one to the next at the start; in one lane at least GAP_M's
SAME_S = 1e-9
LIFT_WAIT_S = (0.0, 40.0)  # until a lift comes: uniform, as calls come at any time of its round

Floats = NDArray[np.float64]
Wish = tuple[Body, Spot, Spot]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """The legs of a journey, and the number of legs before its detour or its return."""

    legs: tuple[RouteLeg, ...]
    via: int | None = None
    back: int | None = None
    stand_s: float = 0.0  # before it goes back


def set_out(world: World, signals: Signals, rng: Random, wishes: Sequence[Wish]) -> list[Journey | None]:
    """A journey for each wish, from some second of the first cycle; None where there is no way."""
    made: list[Journey | None] = [None] * len(wishes)
    drives: list[tuple[int, Body, _Course, Drive, list[Body]]] = []
    for number, (body, start, end) in enumerate(wishes):
        way = _way(world, rng, start, end)
        if way is None or (body.brakes and not world.allows(way.legs)):
            continue
        if body.brakes:
            course, drive = _drive(world, signals, rng, way)
            highs = [world.is_crowded and rng.random() < HIGH for _ in drive.ahead_m[:-1]]
            drives.append((number, body, course, drive, [VAN if high else body for high in highs]))
        else:
            walked = _walk(rng, body, _on_pavement(world, way) if world.lanes else way)
            is_joined = walked and world.is_crowded and way.back is None
            made[number] = _in_crowd(rng, walked) if walked and is_joined else walked
    asked = [drive for *_, drive, _ in drives]
    moved: Sequence[Moved | Floats] = driven_in_lanes(asked) if world.lanes else driven_m(asked)
    for (number, body, course, drive, others), gone in zip(drives, moved, strict=True):
        made[number] = _driven(body, course, drive, gone, others)
    return made


def _way(world: World, rng: Random, start: Spot, end: Spot) -> _Way | None:
    """The shortest way, or by lot one past another place that does not turn back on itself there."""
    network = Network.of(world.scene)
    direct = network.path(start.xy_m, start.floor, end.xy_m, end.floor)
    via, is_wanted = rng.choice(world.ends), rng.random() < DETOUR
    if direct is None or direct.length_m == 0:
        return None
    if is_wanted and via not in (start, end):
        there = network.path(start.xy_m, start.floor, via.xy_m, via.floor)
        on = network.path(via.xy_m, via.floor, end.xy_m, end.floor)
        if there and on and there.legs[-1].id != on.legs[0].id:
            longest_m = LONGEST_DETOUR * direct.length_m
            if direct.length_m < there.length_m + on.length_m <= longest_m:
                return _Way(legs=(*there.legs, *on.legs), via=len(there.legs))
    if world.is_returning and rng.random() < RETURNING:
        return _returning(world, rng, direct, start, end) or _Way(legs=direct.legs)
    return _Way(legs=direct.legs)


def _returning(world: World, rng: Random, direct: Path, start: Spot, end: Spot) -> _Way | None:
    """The way there and back: from its end, or from a place on it that a camera sees."""
    network = Network.of(world.scene)
    turns_at, stand_s = end, _dwell_s(rng)
    if rng.random() < TURNING_BACK:
        on_way = [
            spot
            for spots in world.spots.values()
            for spot in spots
            if _is_on(world, direct, start, end, spot)
        ]
        if not on_way:
            return None
        turns_at, stand_s = rng.choice(on_way), rng.uniform(*TURN_S)
    there = network.path(start.xy_m, start.floor, turns_at.xy_m, turns_at.floor)
    back = network.path(turns_at.xy_m, turns_at.floor, start.xy_m, start.floor)
    if there is None or back is None:
        return None
    last, first = there.legs[-1], back.legs[0]
    if (last.id, last.points_m[-2:]) != (first.id, first.points_m[1::-1]):
        return None  # a one-way street, or another way out: nobody turns there
    return _Way(legs=(*there.legs, *back.legs), back=len(there.legs), stand_s=stand_s)


def _is_on(world: World, direct: Path, start: Spot, end: Spot, spot: Spot) -> bool:
    """Whether the shortest way leads past a spot, far enough from its start."""
    there_m = world.way_m(start, spot)
    if not BACK_M[world.scene.kind] <= there_m < direct.length_m:
        return False
    return there_m + world.way_m(spot, end) <= direct.length_m + ON_WAY_M


def _dwell_s(rng: Random) -> float:
    low_s, high_s = DWELLS_S
    return min(high_s, max(low_s, DWELL_S * math.exp(rng.gauss(0, DWELL_SPREAD))))


def _within(rng: Random, mean: float, spread: float, bounds: tuple[float, float]) -> float:
    return min(bounds[1], max(bounds[0], rng.gauss(mean, spread)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Course:
    """The line that a drive follows: its corners, how far along it they are, and its lanes if any.

    `back_m`: how far along it the drive turns back.
    """

    points_m: Sequence[Point]
    along_m: Sequence[float]
    lanes: LaneWay | None = None
    back_m: float | None = None


def _drive(world: World, signals: Signals, rng: Random, way: _Way) -> tuple[_Course, Drive]:
    """Make the way's line, and the drive along it."""
    points_m = [way.legs[0].points_m[0]]
    ends: list[int] = []  # of each leg, the number of its last point
    untils_m: list[float] = []
    for leg in way.legs:
        points_m += [point for point in leg.points_m if point != points_m[-1]]
        ends.append(len(points_m) - 1)
        untils_m.append(math.fsum(math.dist(a, b) for a, b in pairwise(points_m)))
    along = list(accumulate((math.dist(a, b) for a, b in pairwise(points_m)), initial=0.0))
    lanes = lane_way(way.legs, world.scene.roads, world.lanes) if world.lanes else None
    if lanes is not None:
        along = lanes.corners_m.tolist()
        untils_m = [along[end] for end in ends]
    cells = np.empty(max(2, math.ceil(along[-1])))
    before_m = 0.0
    for leg, until_m in zip(way.legs, untils_m, strict=True):
        limit_mps = world.scene.roads[leg.id].speed_mps or TURNING_MPS
        cells[math.floor(before_m) : math.ceil(until_m)] = limit_mps
        before_m = until_m
    halts = []
    for ((a, b), (_, c)), at_m in zip(pairwise(pairwise(points_m)), along[1:-1], strict=True):
        if abs(turn_deg(bearing_deg(a, b), bearing_deg(b, c))) > BEND_DEG:
            slow = cells[max(0, math.floor(at_m - 4)) : math.ceil(at_m + 4)]
            np.minimum(slow, TURNING_MPS, out=slow)
        green_s = signals.green_s(b, bearing_deg(a, b))
        if green_s and at_m > STOP_LINE_M:
            halts.append(Halt(along_m=at_m - STOP_LINE_M, green_s=green_s))
    back_m = along[ends[way.back - 1]] if way.back else None
    ahead_m, lane, eagerness = _others(rng, way, lanes)
    dwell_s, dwells = _dwell_s(rng), rng.random() < DWELLING
    start_s = rng.uniform(0, signals.cycle_s)
    pause = None
    if back_m is not None:
        is_junction = way.back is not None and points_m[ends[way.back - 1]] in {
            spot.xy_m for spot in world.ends
        }
        pause = (back_m - (2 * STOP_LINE_M if is_junction else 0.0), way.stand_s)
    elif dwells and way.via is not None:
        pause = (untils_m[way.via - 1] - 2 * STOP_LINE_M, dwell_s)
    course = _Course(points_m=points_m, along_m=along, lanes=lanes, back_m=back_m)
    return course, Drive(
        limits_mps=braking_limits(cells),
        halts=tuple(halts),
        cycle_s=signals.cycle_s,
        start_s=start_s,
        eagerness=eagerness,
        ahead_m=ahead_m,
        pause=pause if pause is not None and pause[0] > 0 else None,
        lanes=lanes.counts if lanes is not None else None,
        lane=lane,
    )


def _others(
    rng: Random, way: _Way, lanes: LaneWay | None
) -> tuple[tuple[float, ...], tuple[int, ...], tuple[float, ...]]:
    """The start, lane and eagerness of each vehicle of a drive; the asked one last."""
    others = rng.randint(*QUEUED) if lanes is None else rng.randint(*IN_LANES)
    if way.back is not None:
        others = 0  # they would come back before it does
    eagerness = [_within(rng, SHARE_OF_LIMIT, SHARE_SPREAD, SHARES) for _ in range(others + 1)]
    ahead_m, lane = [0.0], [0]
    if lanes is None:
        for _ in range(others):
            ahead_m.insert(0, ahead_m[0] + rng.uniform(*GAP_M))
        return tuple(ahead_m), (), tuple(eagerness)
    lane = [rng.randrange(int(lanes.counts[0]))]
    for _ in range(others):
        at_m = ahead_m[0] + rng.uniform(*LANE_GAP_M)
        its_lane = rng.randrange(_going_on(lanes, at_m))
        while at_m < (last_m := _last_in(its_lane, ahead_m, lane)) + GAP_M[0]:
            at_m = last_m + rng.uniform(*GAP_M)
            its_lane = min(its_lane, _going_on(lanes, at_m) - 1)
        ahead_m.insert(0, at_m)
        lane.insert(0, its_lane)
    return tuple(ahead_m), tuple(lane), tuple(eagerness)


def _going_on(lanes: LaneWay, at_m: float) -> int:
    """The number of lanes that go on from there for most of GAP_M."""
    first = min(len(lanes.counts) - 1, math.floor(at_m))
    return int(lanes.counts[first:][: math.ceil(GAP_M[1])].min())


def _last_in(lane: int, ahead_m: Sequence[float], lanes: Sequence[int]) -> float:
    """How far ahead the foremost vehicle of a lane is; minus infinity where the lane is empty."""
    return max(
        (at_m for at_m, its_lane in zip(ahead_m, lanes, strict=True) if its_lane == lane), default=-math.inf
    )


def _driven(
    body: Body, course: _Course, drive: Drive, gone: Moved | Floats, others: Sequence[Body]
) -> Journey | None:
    at_m = gone.at_m if isinstance(gone, Moved) else gone
    times_s = [drive.start_s + KEPT_STEPS * STEP_S * row for row in range(len(at_m))]
    if at_m[-1, -1] < course.along_m[-1]:
        return None  # it is still on its way after the longest time
    if isinstance(gone, Moved) and course.lanes is not None:
        tracks = [
            _lane_track(course.lanes, np.array(times_s), at_m[:, column], gone.lane[:, column])
            for column in range(at_m.shape[1])
        ]
    else:
        tracks = [
            _track(course.points_m, course.along_m, times_s, at_m[:, column].tolist())
            for column in range(at_m.shape[1])
        ]
    ahead = [
        Journey(body=its_body, stretches=(track,))
        for its_body, track in zip(others, tracks[:-1], strict=True)
        if track
    ]
    if tracks[-1] is None:
        return None
    company = tuple(Companion(journey=journey) for journey in ahead)
    turned_s = None if course.back_m is None else float(np.interp(course.back_m, at_m[:, -1], times_s))
    return Journey(
        body=body, stretches=(tracks[-1],), company=company, period_s=drive.cycle_s, turned_s=turned_s
    )


def _lane_track(way: LaneWay, times_s: Floats, at_m: Floats, lane: Floats) -> Stretch | None:
    """Where a vehicle is in its lanes: at every kept moment and at every corner, up to the end of the way."""
    at_m = np.round(at_m, 3)
    corners_m = way.course.along_m
    corners_m = corners_m[(corners_m > at_m[0]) & (corners_m <= at_m[-1]) & ~np.isin(corners_m, at_m)]
    passed_s = np.interp(corners_m, at_m, times_s)
    order = np.argsort(np.concatenate([times_s, passed_s]), kind="stable")
    moments_s = np.concatenate([times_s, passed_s])[order]
    along_m = np.concatenate([at_m, corners_m])[order]
    lanes = np.concatenate([lane, np.interp(passed_s, times_s, lane)])[order]
    is_kept = (along_m <= way.length_m) & np.append(True, np.diff(moments_s) > SAME_S)
    if is_kept.sum() < 2:
        return None
    places = way.points_m(along_m[is_kept], lanes[is_kept])
    return Stretch(
        floor=0,
        points_m=tuple((x, y) for x, y in places.tolist()),
        times_s=tuple(moments_s[is_kept].tolist()),
    )


def _track(
    points_m: Sequence[Point], along_m: Sequence[float], times_s: Sequence[float], at_m: Sequence[float]
) -> Stretch | None:
    """Where a vehicle is, from its start to the end of the way: at every kept moment and at every corner."""
    marks: list[tuple[float, float]] = []  # when, how far
    corner = 1
    for (time_s, here_m), (next_s, there_m) in pairwise(
        zip(times_s, [round(m, 3) for m in at_m], strict=True)
    ):
        marks.append((time_s, here_m))
        while corner < len(along_m) and along_m[corner] <= there_m:
            if here_m < along_m[corner] < there_m:
                share = (along_m[corner] - here_m) / (there_m - here_m)
                marks.append((time_s + share * (next_s - time_s), along_m[corner]))
            corner += 1
        if corner == len(along_m):
            break
    marks = [mark for mark in marks if mark[1] <= along_m[-1]]
    if len(marks) < 2:
        return None
    marked_m = [m for _, m in marks]
    places = (
        np.interp(marked_m, along_m, coordinates).tolist() for coordinates in zip(*points_m, strict=True)
    )
    return Stretch(
        floor=0, points_m=tuple(zip(*places, strict=True)), times_s=tuple([time_s for time_s, _ in marks])
    )


def _group_size(rng: Random) -> int:
    """Draw from a zero-truncated Poisson distribution."""
    lot, size = rng.random() * (1 - math.exp(-GROUP_RATE)), 1
    chance = GROUP_RATE * math.exp(-GROUP_RATE)
    while lot > chance and size < GROUP_MOST:
        lot -= chance
        size += 1
        chance *= GROUP_RATE / size
    return size


@dataclass(slots=True)
class _Steps:
    """Where a walker has been on the floor under way, and before."""

    points_m: list[Point] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    clock_s: float = 0.0

    def go(self, leg: RouteLeg, speed_mps: float, *, stand_s: float) -> None:
        """Go to the end of the leg, and stand so long in the middle of its last piece, if at all."""
        for point in leg.points_m[:-1]:
            self._step(point, speed_mps)
        if stand_s:
            (ax_m, ay_m), (bx_m, by_m) = leg.points_m[-2:]
            self._step(((ax_m + bx_m) / 2, (ay_m + by_m) / 2), speed_mps)
            self.stand(stand_s)
        self._step(leg.points_m[-1], speed_mps)

    def stand(self, stand_s: float) -> None:
        self.clock_s += stand_s
        self.points_m.append(self.points_m[-1])
        self.times_s.append(self.clock_s)

    def _step(self, point: Point, speed_mps: float) -> None:
        if self.points_m and point == self.points_m[-1]:
            return
        if self.points_m:
            self.clock_s += math.dist(self.points_m[-1], point) / speed_mps
        self.points_m.append(point)
        self.times_s.append(self.clock_s)

    def leave(self, floor: int) -> None:
        """Go out of view, to another floor or for good."""
        if len(self.points_m) > 1:
            walked = Stretch(floor=floor, points_m=tuple(self.points_m), times_s=tuple(self.times_s))
            self.stretches.append(walked)
        self.points_m, self.times_s = [], []


def _on_pavement(world: World, way: _Way) -> _Way:
    """The way beside the carriageway, on its right."""
    lanes = lane_way(way.legs, world.scene.roads, world.lanes)
    count = 0
    legs: list[RouteLeg] = []
    before = way.legs[0].points_m[0]
    for leg in way.legs:
        added = 0
        for point in leg.points_m:
            added += point != before
            before = point
        if added:
            points_m = lanes.pavement_m(count, count + added)
        else:
            here = legs[-1].points_m[-1] if legs else lanes.pavement_m(0, 0)[0]
            points_m = (here,) * len(leg.points_m)
        legs.append(replace(leg, points_m=points_m))
        count += added
    return replace(way, legs=tuple(legs))


def _walk(rng: Random, body: Body, way: _Way) -> Journey | None:
    members = _group_size(rng)
    alone_mps = rng.gauss(WALKING_MPS, WALKING_SPREAD) - GROUP_COST_MPS * (members - 1)
    cruise_mps = min(WALKERS_MPS[1], max(WALKERS_MPS[0], alone_mps))
    stops_after = {way.via} if way.via else set()
    if rng.random() < DWELLING:
        stops_after.add(rng.randint(1, len(way.legs)))
    steps, floor, turned_s = _Steps(), way.legs[0].floor, None
    for number, leg in enumerate(way.legs, start=1):
        speed_mps = cruise_mps * rng.uniform(1 - UNEVEN, 1 + UNEVEN)
        if leg.on_ground:
            floor = leg.floor
            steps.go(leg, speed_mps, stand_s=_dwell_s(rng) if number in stops_after else 0.0)
        elif leg.length_m > 0:
            steps.leave(floor)
            wait_s = rng.uniform(*LIFT_WAIT_S) if leg.kind == "lift" else 0.0
            steps.clock_s += wait_s + climb_s(leg, cruise_mps)
        if number == way.back:
            steps.stand(way.stand_s)
            turned_s = steps.clock_s
    steps.leave(floor)
    if not steps.stretches:
        return None
    alone = Journey(body=body, stretches=tuple(steps.stretches), turned_s=turned_s)
    beside = [side * ABREAST_M for side in (1, -1, 2, -2)[: members - 1]]
    return replace(alone, company=tuple(Companion(journey=alone, right_m=right_m) for right_m in beside))


def _in_crowd(rng: Random, walked: Journey) -> Journey:
    """The same walk, by lot in a crowd: slower, with others ahead, beside and behind."""
    if rng.random() >= CROWDED:
        return walked
    density = rng.uniform(*DENSITY)
    share = 1 - math.exp(-SLOWING * (1 / density - 1 / JAMMED))
    start_s = walked.start_s
    slower = tuple(
        replace(stretch, times_s=tuple(start_s + (time_s - start_s) / share for time_s in stretch.times_s))
        for stretch in walked.stretches
    )
    alone = Journey(body=walked.body, stretches=slower)
    along_m, across_m = CROWD_M
    others = []
    for _ in range(round(density * along_m * across_m)):
        ahead_s = rng.uniform(-along_m / 2, along_m / 2) / (WALKING_MPS * share)
        right_m = rng.uniform(-across_m / 2, across_m / 2)
        others.append(Companion(journey=alone.later(-ahead_s), right_m=right_m))
    return replace(alone, company=tuple(others))
