"""Computes where a target is at every instant, in straight pieces at constant speed."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from random import Random

from gnomon_published.passages.stairs import ESCALATOR_MPS
from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.geometry.route import RouteLeg
from gnomon_tools.scene.scene import Point
from gnomon_worlds.world import Spot, World, network_of

BEND_DEG = 35.0  # a change of direction of more than this is a turn
BRAKING_M = 8.0  # a vehicle is slow for this far before and after a turn
FACING_S = 0.3  # over which a direction is taken, so that nobody turns at once
TURNING = 0.5  # share of its speed that it keeps there
CLIMBING = 0.6  # share of their speed that pedestrians keep on stairs and in lifts
UNEVEN = 0.06  # from one street or room to the next a speed varies by up to this share


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What moves: its size, its range of cruising speeds, and whether it brakes for turns."""

    kind: str
    height_m: float
    width_m: float
    length_m: float
    speed_mps: tuple[float, float]
    brakes: bool
    look: str = ""  # of its own, where there is one; else as its kind


VEHICLE = Body(kind="vehicle", height_m=1.5, width_m=1.8, length_m=4.4, speed_mps=(6.0, 14.0), brakes=True)
VAN = Body(
    kind="vehicle", height_m=2.6, width_m=2.0, length_m=5.4, speed_mps=(6.0, 14.0), brakes=True, look="van"
)  # or a lorry, a bus: what is higher than cars
PEDESTRIAN = Body(
    kind="pedestrian", height_m=1.7, width_m=0.5, length_m=0.4, speed_mps=(0.9, 1.7), brakes=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A walk or drive on one floor without a break: where the target is at each of `times_s`.

    Between two of the points it goes straight, at constant speed.
    """

    floor: int
    points_m: tuple[Point, ...]
    times_s: tuple[float, ...]

    @property
    def along_m(self) -> tuple[float, ...]:
        """How far each point is from the first, along the stretch."""
        return (0.0, *accumulate(math.dist(a, b) for a, b in pairwise(self.points_m)))

    def at(self, time_s: float) -> Point:
        """Where the target is; before the start or after the end, the nearer of both."""
        after = bisect_right(self.times_s, time_s)
        if after == 0:
            return self.points_m[0]
        if after == len(self.times_s):
            return self.points_m[-1]
        before_s, (x_m, y_m), (to_x_m, to_y_m) = (
            self.times_s[after - 1],
            self.points_m[after - 1],
            self.points_m[after],
        )
        span_s, gone_s = self.times_s[after] - before_s, time_s - before_s
        return ((to_x_m - x_m) / span_s * gone_s + x_m, (to_y_m - y_m) / span_s * gone_s + y_m)


def interpolated(at: float, places: Sequence[float], values: Sequence[float]) -> float:
    """`numpy.interp` for one number and short sequences, equal to the last bit and faster.

    >>> interpolated(1.5, (0.0, 1.0, 2.0), (0.0, 10.0, 40.0)), interpolated(9.0, (0.0, 1.0), (3.0, 4.0))
    (25.0, 4.0)
    """
    after = bisect_right(places, at)
    if after == 0:
        return values[0]
    if after == len(places):
        return values[-1]
    before = after - 1
    slope = (values[after] - values[before]) / (places[after] - places[before])
    return slope * (at - places[before]) + values[before]


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """One that goes with the target or ahead of it, so far to the right of its journey's line."""

    journey: "Journey"
    right_m: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """One target on its way; between stretches it is on stairs, a lift or an escalator, out of all views."""

    body: Body
    stretches: tuple[Stretch, ...]
    company: tuple[Companion, ...] = ()  # seen beside the target; nobody asks about them
    period_s: float = 0.0  # after which it meets the same signals again; 0: it heeds none
    turned_s: float | None = None  # when it set out on its way back; None: it does not go back

    @property
    def start_s(self) -> float:
        return self.stretches[0].times_s[0]

    @property
    def end_s(self) -> float:
        return self.stretches[-1].times_s[-1]

    def at(self, time_s: float) -> Spot:
        """Where the target is; between floors where it comes out, outside its times at the nearer end."""
        stretch = self._on(time_s)
        return Spot(xy_m=stretch.at(time_s), floor=stretch.floor)

    def xy_m_at(self, time_s: float) -> Point:
        """The same position on the plan."""
        return self._on(time_s).at(time_s)

    def _on(self, time_s: float) -> Stretch:
        for stretch in self.stretches:
            if time_s <= stretch.times_s[-1]:
                return stretch
        return self.stretches[-1]

    def later(self, by_s: float) -> "Journey":
        moved = (
            replace(stretch, times_s=tuple([time_s + by_s for time_s in stretch.times_s]))
            for stretch in self.stretches
        )
        company = tuple(
            replace(companion, journey=companion.journey.later(by_s)) for companion in self.company
        )
        turned_s = None if self.turned_s is None else self.turned_s + by_s
        return replace(self, stretches=tuple(moved), company=company, turned_s=turned_s)

    def in_step_s(self, by_s: float) -> float:
        """The nearest time by which it can be moved and still stop at red and nowhere else."""
        return round(by_s / self.period_s) * self.period_s if self.period_s else by_s

    def facing_deg(self, time_s: float, step_s: float) -> float | None:
        """The direction of travel, taken over `step_s` either way; one who stands faces as it came."""
        before, after = self.xy_m_at(time_s - step_s), self.xy_m_at(time_s + step_s)
        if before != after:
            return bearing_deg(before, after)
        stretch = self._on(time_s)
        pieces = zip(pairwise(stretch.points_m), stretch.times_s, strict=False)
        moved = [(piece, start_s) for piece, start_s in pieces if piece[0] != piece[1]]
        come = [piece for piece, start_s in moved if start_s <= time_s]
        return bearing_deg(*(come[-1] if come else moved[0][0])) if moved else None


def beside(journey: Journey, time_s: float, floor: int, right_m: float = 0.0) -> tuple[Point, float] | None:
    """Where somebody is who goes so far to the right of a journey's line, and the direction in degrees.

    None while it is not on that floor.
    """
    if not any(
        stretch.floor == floor and stretch.times_s[0] <= time_s <= stretch.times_s[-1]
        for stretch in journey.stretches
    ):
        return None
    heading_deg = journey.facing_deg(time_s, FACING_S) or 0.0
    x_m, y_m = journey.xy_m_at(time_s)
    turn = math.radians(heading_deg)
    return (x_m + right_m * math.cos(turn), y_m - right_m * math.sin(turn)), heading_deg


def journey(
    world: World,
    rng: Random,
    body: Body,
    start: Spot,
    end: Spot,
    *,
    suits: Callable[[Sequence[RouteLeg]], bool] | None = None,
) -> Journey | None:
    """A journey along the shortest way, from second 0; None where there is no way.

    None, too, where the way's legs do not suit; its lots are drawn even so.
    """
    path = network_of(world).path(start.xy_m, start.floor, end.xy_m, end.floor)
    if path is None or path.length_m == 0 or (body.brakes and not world.allows(path.legs)):
        return None
    cruise_mps = rng.uniform(*body.speed_mps)
    speeds_mps = [_speed_mps(world, rng, leg, cruise_mps) for leg in path.legs if leg.on_ground]
    if suits is not None and not suits(path.legs):
        return None
    clock_s, speeds = 0.0, iter(speeds_mps)
    stretches: list[Stretch] = []
    walked: list[tuple[RouteLeg, float]] = []  # legs of the stretch under way, with their speeds
    for leg in path.legs:
        if leg.on_ground:
            walked.append((leg, next(speeds)))
        elif leg.length_m > 0:
            if walked:
                stretches.append(_stretch(walked, body, clock_s))
                clock_s = stretches[-1].times_s[-1]
            walked = []
            clock_s += climb_s(leg, cruise_mps)
    if walked:
        stretches.append(_stretch(walked, body, clock_s))
    return Journey(body=body, stretches=tuple(stretches)) if stretches else None


def climb_s(leg: RouteLeg, cruise_mps: float) -> float:
    """How long stairs, a lift or an escalator take somebody of that speed on the level."""
    return leg.length_m / (ESCALATOR_MPS if leg.kind == "escalator" else CLIMBING * cruise_mps)


def _speed_mps(world: World, rng: Random, leg: RouteLeg, cruise_mps: float) -> float:
    own_mps = cruise_mps * rng.uniform(1 - UNEVEN, 1 + UNEVEN)
    limit_mps = world.scene.roads[leg.id].speed_mps if leg.kind == "road" else None
    return own_mps if limit_mps is None else min(own_mps, limit_mps)


def _stretch(walked: Sequence[tuple[RouteLeg, float]], body: Body, start_s: float) -> Stretch:
    pieces = [(piece, speed_mps) for leg, speed_mps in walked for piece in pairwise(leg.points_m)]
    if body.brakes:
        pieces = _braked(pieces)
    times_s = accumulate((math.dist(*piece) / speed_mps for piece, speed_mps in pieces), initial=start_s)
    points_m = (pieces[0][0][0], *(piece[1] for piece, _ in pieces))
    return Stretch(floor=walked[0][0].floor, points_m=points_m, times_s=tuple(times_s))


Piece = tuple[tuple[Point, Point], float]  # from, to, metres per second


def _braked(pieces: list[Piece]) -> list[Piece]:
    """The pieces, cut where the target brakes for a turn and where it speeds up again."""
    bends = [
        abs(turn_deg(bearing_deg(*before), bearing_deg(*after))) > BEND_DEG
        for (before, _), (after, _) in pairwise(pieces)
    ]
    cut: list[Piece] = []
    for ((start, end), speed_mps), bend_before, bend_after in zip(
        pieces, [False, *bends], [*bends, False], strict=True
    ):
        length_m = math.dist(start, end)
        slow_m = min(BRAKING_M, length_m / 2)
        marks = [0.0, slow_m * bend_before, length_m - slow_m * bend_after, length_m]
        speeds = (TURNING * speed_mps, speed_mps, TURNING * speed_mps)
        for (from_m, to_m), piece_mps in zip(pairwise(marks), speeds, strict=True):
            if to_m > from_m:
                cut.append(
                    (
                        (_between(start, end, from_m / length_m), _between(start, end, to_m / length_m)),
                        piece_mps,
                    )
                )
    return cut


def _between(start: Point, end: Point, share: float) -> Point:
    return (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
