"""Moves vehicles in several lanes: they follow those ahead in their lane, and overtake.

Lanes are changed by MOBIL (Kesting, Treiber and Helbing, General lane-changing model MOBIL for car-following
models, Transportation Research Record 1999 (2007), 86-94), by its symmetric rule: a change must not make the
new follower brake harder than SAFE, and has to bring more than THRESHOLD, with a share of what others gain or
lose. All accelerations are those of the car-following model. While a vehicle changes it is in both lanes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnomon_worlds.car_following import (
    CAR_M,
    KEPT_STEPS,
    STEP_S,
    Array,
    Drive,
    Vehicles,
    acceleration,
    until_there,
)

LONGEST_IN_LANES_S = 300.0  # who is not there by then has found no gap to leave a lane that ends
SIDES = (-1, 1)
SAFE = 4.0  # m/s2 of braking that a change may cost the new follower
THRESHOLD = 0.1  # m/s2
POLITENESS = 0.5  # share of what others gain or lose that counts
CHANGE_S = 5.0  # from lane to lane
ROOM_M = 60.0  # that a lane goes on for whoever changes to it: nobody stops between a lane and one that ends
STEERING_MPS = 1.0  # slower than this it takes longer: nobody moves sideways alone

Flags = NDArray[np.bool_]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moved:
    """A drive's vehicles at its kept moments: a row each, a column for each vehicle, the asked one last.

    `at_m`: how far along the way; `lane`: 0 the rightmost, between two while one changes; `speed_mps`.
    """

    at_m: Array
    lane: Array
    speed_mps: Array


class _Lanes:
    """The lane of each vehicle, the lane that it comes from, and what lies ahead in each lane."""

    def __init__(self, drives: Sequence[Drive], cars: Vehicles) -> None:
        self._cars = cars
        most = cars.at_m.shape[1]
        self.lane = np.array([[0] * (most - len(d.lane)) + list(d.lane) for d in drives], dtype=np.intp)
        self._from = self.lane.copy()
        self._gone = np.ones(self.lane.shape)  # share of the way from lane to lane
        counts = [np.ones(1, np.intp) if d.lanes is None else d.lanes for d in drives]
        self._cells = max(map(len, counts))
        self._counts = np.stack([np.pad(c, (0, self._cells - len(c)), mode="edge") for c in counts])
        self._ends = np.stack([_ends_m(self._counts, lane) for lane in range(self._counts.max())])
        self._rows = np.arange(len(drives))[:, None]

    @property
    def between(self) -> Array:
        """The lane of each vehicle; a fraction while it changes."""
        return np.asarray(self.lane + (1 - self._gone) * (self._from - self.lane))

    @property
    def is_free(self) -> Flags:
        """Which vehicles are in one lane alone, where there are several or where theirs has ended."""
        count = self.count()
        return (self._gone >= 1) & self._cars.is_there & ((count > 1) | (self.lane >= count))

    def _cell(self) -> Numbers:
        return np.asarray(np.minimum(self._cars.at_m, self._cells - 1).astype(np.intp))

    def count(self) -> Numbers:
        """How many lanes there are where each is."""
        return self._counts[self._rows, self._cell()]

    def to_end_m(self) -> Array:
        """How far it is for each until its lane ends; infinite where it goes on."""
        return np.asarray(self._ends[self.lane, self._rows, self._cell()] - self._cars.at_m)

    def ends_ahead_m(self, rows: Numbers, car: Numbers, lane: Numbers) -> Array:
        """The same for one vehicle of each row, as if it were in that lane."""
        number = np.clip(lane, 0, len(self._ends) - 1)
        return np.asarray(self._ends[number, rows, self._cell()[rows, car]] - self._cars.at_m[rows, car])

    def gaps_m(self) -> tuple[Array, Numbers]:
        """How far it is for each to the one ahead, bumper to bumper, and which column that is."""
        at_m, there = self._cars.at_m, self._cars.is_there
        low, high = np.minimum(self.lane, self._from), np.maximum(self.lane, self._from)
        low, high = np.where(self._gone < 1, low, self.lane), np.where(self._gone < 1, high, self.lane)
        shares = (low[:, :, None] <= high[:, None, :]) & (low[:, None, :] <= high[:, :, None])
        gap_m = at_m[:, None, :] - at_m[:, :, None] - CAR_M
        gap_m = np.where(shares & there[:, None, :] & (gap_m > -CAR_M), gap_m, np.inf)
        nearest = gap_m.argmin(axis=2)
        return np.take_along_axis(gap_m, nearest[:, :, None], axis=2)[:, :, 0], nearest

    def neighbours(self, rows: Numbers, car: Numbers, lane: Numbers) -> tuple[Numbers, Array, Numbers, Array]:
        """Who would be ahead of and behind these vehicles in those lanes, and the gaps; infinite: nobody."""
        at_m = self._cars.at_m[rows]
        is_leaving = (self._from[rows] == lane[:, None]) & (self._gone[rows] < 1)
        is_in = (self.lane[rows] == lane[:, None]) | is_leaving
        is_in &= self._cars.is_there[rows]
        is_in[np.arange(len(rows)), car] = False
        off_m = at_m - at_m[np.arange(len(rows)), car][:, None]
        ahead = np.where(is_in & (off_m >= 0), off_m - CAR_M, np.inf)
        behind = np.where(is_in & (off_m < 0), -off_m - CAR_M, np.inf)
        first, last = ahead.argmin(axis=1), behind.argmin(axis=1)
        each = np.arange(len(rows))
        return first, ahead[each, first], last, behind[each, last]

    def change(self, rows: Numbers, car: Numbers, lane: Numbers) -> None:
        """Set out for another lane."""
        self._from[rows, car], self.lane[rows, car], self._gone[rows, car] = self.lane[rows, car], lane, 0.0

    def steer(self) -> None:
        """Move sideways for a step; a vehicle that stands does not."""
        moving = np.minimum(1.0, self._cars.speed_mps / STEERING_MPS)
        self._gone = np.minimum(1.0, self._gone + moving * STEP_S / CHANGE_S)


def _ends_m(counts: Numbers, lane: int) -> Array:
    """For each metre of each way where the lane next ends; infinite where it does not."""
    cells = np.arange(counts.shape[1], dtype=np.float64)
    ends = np.where(counts <= lane, cells, np.inf)
    return np.asarray(np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1])


def driven_in_lanes(drives: Sequence[Drive]) -> list[Moved]:
    """Move the vehicles of each drive, as `driven_m` does, with lanes. Changes begin at kept moments."""
    if not drives:
        return []
    cars = Vehicles(drives)
    lanes = _Lanes(drives, cars)
    kept = [(cars.at_m.copy(), lanes.between, cars.speed_mps.copy())]
    for step in range(round(LONGEST_IN_LANES_S / STEP_S)):
        if step % KEPT_STEPS == 0 and step and cars.is_over:
            break
        wanted, barrier = cars.wanted_mps(), cars.barrier_m(step)
        if step % KEPT_STEPS == 0:
            _change_lanes(cars, lanes, wanted, barrier)
        gap_m, nearest = lanes.gaps_m()
        cars.move(_pull(cars, lanes, wanted, barrier, gap_m, nearest))
        lanes.steer()
        if (step + 1) % KEPT_STEPS == 0:
            kept.append((cars.at_m.copy(), lanes.between, cars.speed_mps.copy()))
    at_m, lane, speed = (np.stack([moment[part] for moment in kept]) for part in range(3))
    moved = []
    for row, drive in enumerate(drives):
        own = slice(-len(drive.ahead_m), None)
        parts = until_there(at_m[:, row, own], drive.length_m, lane[:, row, own], speed[:, row, own])
        moved.append(Moved(at_m=parts[0], lane=parts[1], speed_mps=parts[2]))
    return moved


def _pull(
    cars: Vehicles, lanes: _Lanes, wanted: Array, barrier: Array, gap_m: Array, nearest: Numbers
) -> Array:
    """Each one's acceleration in its lane."""
    speed = cars.speed_mps
    closing = speed - np.take_along_axis(speed, nearest, axis=1)
    stop_m = np.minimum(barrier, lanes.to_end_m())
    return np.minimum(acceleration(speed, wanted, gap_m, closing), acceleration(speed, wanted, stop_m, speed))


def _change_lanes(cars: Vehicles, lanes: _Lanes, wanted: Array, barrier: Array) -> None:
    """In each drive, begin the one lane change that gains most, where it is safe and pays."""
    rows, car = np.nonzero(lanes.is_free)
    if not rows.size:
        return
    pull = _pull(cars, lanes, wanted, barrier, *lanes.gaps_m())
    gains = np.full((*lanes.lane.shape, 2), -np.inf)
    for number, side in enumerate(SIDES):
        lane = lanes.lane[rows, car] + side
        gain = _gain(cars, lanes, wanted, barrier, pull, rows, car, lane)
        goes_on = (lane < lanes.count()[rows, car]) & (lanes.ends_ahead_m(rows, car, lane) >= ROOM_M)
        is_there = (lane >= 0) & ((side < 0) | goes_on)
        gains[rows, car, number] = np.where(is_there, gain, -np.inf)
    flat = gains.reshape(len(gains), -1)
    best = flat.argmax(axis=1)
    goes = np.flatnonzero(flat[np.arange(len(flat)), best] > THRESHOLD)
    who, number = np.divmod(best[goes], len(SIDES))
    lanes.change(goes, who, lanes.lane[goes, who] + np.array(SIDES)[number])


def _gain(
    cars: Vehicles,
    lanes: _Lanes,
    wanted: Array,
    barrier: Array,
    pull: Array,
    rows: Numbers,
    car: Numbers,
    lane: Numbers,
) -> Array:
    """The gain of these lane changes, in m/s2; minus infinity where a change is not safe."""
    speed = cars.speed_mps
    own, own_wanted, was = speed[rows, car], wanted[rows, car], lanes.lane[rows, car]

    def following(who: Numbers, gap_m: Array, leader: Array) -> Array:
        return acceleration(speed[rows, who], wanted[rows, who], gap_m, speed[rows, who] - leader)

    first, first_m, last, last_m = lanes.neighbours(rows, car, lane)
    stop_m = np.minimum(barrier[rows, car], lanes.ends_ahead_m(rows, car, lane))
    mine = np.minimum(following(car, first_m, speed[rows, first]), acceleration(own, own_wanted, stop_m, own))
    follower = np.minimum(pull[rows, last], following(last, last_m, own))
    lost = np.where(np.isfinite(last_m), follower - pull[rows, last], 0.0)
    leader, leader_m, left, left_m = lanes.neighbours(rows, car, was)
    stop_m = np.minimum(barrier[rows, left], lanes.ends_ahead_m(rows, left, was))
    freed = np.minimum(
        following(left, leader_m + CAR_M + left_m, speed[rows, leader]),
        acceleration(speed[rows, left], wanted[rows, left], stop_m, speed[rows, left]),
    )
    # one behind in both lanes stays behind
    is_freed = np.isfinite(left_m) & ((left != last) | np.isinf(last_m))
    won = np.where(is_freed, freed - pull[rows, left], 0.0)
    is_safe = (first_m > 0) & (last_m > 0) & (mine >= -SAFE)
    is_safe &= (follower >= -SAFE) | np.isinf(last_m)
    return np.where(is_safe, mine - pull[rows, car] + POLITENESS * (lost + won), -np.inf)
