"""Moves vehicles along their ways: they follow one another, brake for bends and stop at red.

The Intelligent Driver Model of Treiber, Hennecke and Helbing, Congested traffic states in empirical
observations and microscopic simulations, Physical Review E 62 (2000), 1805, with the constants of its table;
a signal at red is a standing vehicle without length. Steps are ballistic, as in Treiber and Kesting, Traffic
Flow Dynamics (2013), chapter 11. All drives are moved side by side, as columns of arrays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ACCELERATION, BRAKING = 0.73, 1.67  # m/s2: the most, and comfortable
HEADWAY_S, JAM_M, CAR_M = 1.6, 2.0, 5.0
HARDEST = 5.0  # m/s2 of braking
STEP_S = 0.25
KEPT_STEPS = 4  # every which position is kept: between two of them a vehicle goes evenly
LONGEST_DRIVE_S = 900.0
CREEPING_MPS = 0.05  # slower is standing
RUNS_YELLOW = 4.0  # m/s2: who would have to brake harder goes on
NO_ONE_M = 1e6

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """A line before which vehicles stop while it is not green; times are within each cycle."""

    along_m: float
    green_s: tuple[float, float]  # when it begins, how long it lasts


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A vehicle on its way, and those before it on the same way.

    `limits_mps`: how fast one may go in each metre of the way; `eagerness`: the share of that at which each
    vehicle would go, the asked one last; `ahead_m`: where each starts, the asked one at 0; `pause`: where the
    asked one stands still for how many seconds; `lanes`: how many there are in each metre of the way, and
    `lane`: in which each starts, 0 the rightmost (with one lane only: neither).
    """

    limits_mps: Array
    halts: tuple[Halt, ...]
    cycle_s: float
    start_s: float
    eagerness: tuple[float, ...]
    ahead_m: tuple[float, ...]
    pause: tuple[float, float] | None = None
    lanes: NDArray[np.intp] | None = None
    lane: tuple[int, ...] = ()

    @property
    def length_m(self) -> float:
        return float(len(self.limits_mps))


def braking_limits(limits_mps: Array) -> Array:
    """The limits, lowered where a vehicle must already brake for a lower limit ahead."""
    squared = limits_mps**2
    rising = 2 * BRAKING * np.arange(len(limits_mps))
    # v(x)^2 <= v(y)^2 + 2 b (y - x) for every y ahead
    lowest = np.minimum.accumulate((squared + rising)[::-1])[::-1] - rising
    lowered: Array = np.sqrt(np.minimum(squared, lowest))
    return lowered


class Vehicles:
    """Drives side by side: a row for each, a column a vehicle; shorter rows begin with empty places."""

    def __init__(self, drives: Sequence[Drive]) -> None:
        most = max(len(drive.ahead_m) for drive in drives)
        self.at_m = np.array([[NO_ONE_M] * (most - len(d.ahead_m)) + list(d.ahead_m) for d in drives])
        self.is_there = self.at_m < NO_ONE_M
        self._eager = np.array([[1.0] * (most - len(d.eagerness)) + list(d.eagerness) for d in drives])
        self._cells = max(len(drive.limits_mps) for drive in drives)
        self._limits = np.stack(
            [np.pad(d.limits_mps, (0, self._cells - len(d.limits_mps)), mode="edge") for d in drives]
        )
        self._halts = max((len(drive.halts) for drive in drives), default=0) + 1
        self._lines = np.full((len(drives), self._halts), np.inf)
        self._green_at = np.zeros((len(drives), self._halts))
        self._green_for = np.full((len(drives), self._halts), np.inf)
        for row, drive in enumerate(drives):
            for column, halt in enumerate(drive.halts):
                self._lines[row, column] = halt.along_m
                self._green_at[row, column], self._green_for[row, column] = halt.green_s
        self._cycle_s = np.array([[drive.cycle_s] for drive in drives])
        self._start_s = np.array([[drive.start_s] for drive in drives])
        self._length_m = np.array([drive.length_m for drive in drives])
        self._pause_m = np.array([drive.pause[0] if drive.pause else np.inf for drive in drives])
        self._left_s = np.array([drive.pause[1] if drive.pause else 0.0 for drive in drives])
        self._rows = np.arange(len(drives))[:, None]
        self.speed_mps = self.wanted_mps()

    @property
    def is_over(self) -> bool:
        """Whether every asked vehicle has gone its whole way."""
        return bool((self.at_m[:, -1] >= self._length_m).all())

    def wanted_mps(self) -> Array:
        """How fast each vehicle would like to go where it is."""
        limits: Array = self._limits[self._rows, _cell(self.at_m, self._cells)]
        return self._eager * limits

    def barrier_m(self, step: int) -> Array:
        """How far it is to the red signal or pause ahead of each vehicle; infinite where there is none."""
        passed = sum(line[:, None] <= self.at_m for line in self._lines.T)
        coming = np.minimum(passed, self._halts - 1)
        to_line = self._lines[self._rows, coming] - self.at_m
        in_cycle = np.mod(self._start_s + step * STEP_S - self._green_at[self._rows, coming], self._cycle_s)
        is_red = in_cycle >= self._green_for[self._rows, coming]
        is_barred = is_red & (2 * RUNS_YELLOW * to_line >= self.speed_mps**2)
        barrier: Array = np.where(is_barred, to_line, np.inf)
        barrier[:, -1] = np.where(
            self._left_s > 0, np.minimum(barrier[:, -1], self._pause_m - self.at_m[:, -1]), barrier[:, -1]
        )
        return barrier

    def move(self, pull: Array) -> None:
        """Go on for a step with these accelerations."""
        after = np.maximum(0.0, self.speed_mps + STEP_S * np.maximum(pull, -HARDEST))
        after[(after < CREEPING_MPS) & (pull < CREEPING_MPS)] = 0.0
        self.at_m = self.at_m + STEP_S * (self.speed_mps + after) / 2
        is_paused = (after[:, -1] == 0) & (self._pause_m - self.at_m[:, -1] < 2 * JAM_M)
        self._left_s = np.where(is_paused, self._left_s - STEP_S, self._left_s)
        self.speed_mps = after


def driven_m(drives: Sequence[Drive]) -> list[Array]:
    """For each drive, how far its vehicles are along the way: a row for each kept moment, a column each.

    Rows are KEPT_STEPS * STEP_S apart and begin at the drive's start; the last is the first in which the
    asked vehicle, the last column, has gone the whole way, or that of LONGEST_DRIVE_S.
    """
    if not drives:
        return []
    cars = Vehicles(drives)
    kept = [cars.at_m.copy()]
    for step in range(round(LONGEST_DRIVE_S / STEP_S)):
        if step % KEPT_STEPS == 0 and step and cars.is_over:
            break
        at_m, speed, wanted = cars.at_m, cars.speed_mps, cars.wanted_mps()
        ahead = np.full_like(at_m, np.inf)
        ahead[:, 1:] = np.where(cars.is_there[:, :-1], at_m[:, :-1] - CAR_M - at_m[:, 1:], np.inf)
        closing = np.zeros_like(at_m)
        closing[:, 1:] = speed[:, 1:] - speed[:, :-1]
        barrier = cars.barrier_m(step)
        cars.move(
            np.minimum(
                acceleration(speed, wanted, ahead, closing), acceleration(speed, wanted, barrier, speed)
            )
        )
        if (step + 1) % KEPT_STEPS == 0:
            kept.append(cars.at_m.copy())
    moments = np.stack(kept)
    return [until_there(moments[:, row, -len(d.ahead_m) :], d.length_m)[0] for row, d in enumerate(drives)]


def until_there(at_m: Array, length_m: float, *alongside: Array) -> list[Array]:
    """All arrays, cut after the first row in which the asked vehicle has gone the whole way."""
    is_there = at_m[:, -1] >= length_m
    last = int(is_there.argmax()) if is_there.any() else len(at_m) - 1
    return [rows[: last + 1] for rows in (at_m, *alongside)]


def _cell(at_m: Array, cells: int) -> NDArray[np.intp]:
    return np.minimum(at_m, cells - 1).astype(np.intp)


def acceleration(speed: Array, wanted: Array, gap_m: Array, closing: Array) -> Array:
    """The acceleration of the Intelligent Driver Model, in m/s2."""
    share = speed / wanted
    squared = share * share
    sought = JAM_M + np.maximum(
        0.0, speed * HEADWAY_S + speed * closing / (2 * math.sqrt(ACCELERATION * BRAKING))
    )
    near = sought / np.maximum(gap_m, 0.1)
    result: Array = ACCELERATION * (1 - squared * squared - near * near)
    return result
