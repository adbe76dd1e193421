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
LONGEST_S = 900.0
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
    asked one stands still for how many seconds.
    """

    limits_mps: Array
    halts: tuple[Halt, ...]
    cycle_s: float
    start_s: float
    eagerness: tuple[float, ...]
    ahead_m: tuple[float, ...]
    pause: tuple[float, float] | None = None

    @property
    def length_m(self) -> float:
        return float(len(self.limits_mps))


def braking_limits(limits_mps: Array) -> Array:
    """The limits, lowered where one has to brake already for a lower one ahead."""
    squared = limits_mps**2
    rising = 2 * BRAKING * np.arange(len(limits_mps))
    # v(x)^2 <= v(y)^2 + 2 b (y - x) for every y ahead
    lowest = np.minimum.accumulate((squared + rising)[::-1])[::-1] - rising
    lowered: Array = np.sqrt(np.minimum(squared, lowest))
    return lowered


def driven_m(drives: Sequence[Drive]) -> list[Array]:
    """For each drive how far its vehicles are along the way: a row for each kept moment, a column each.

    Rows are KEPT_STEPS * STEP_S apart and begin at the drive's start; the last is the first in which the
    asked vehicle, the last column, has gone the whole way, or that of LONGEST_S.
    """
    if not drives:
        return []
    most = max(len(drive.ahead_m) for drive in drives)
    at_m = np.array([[NO_ONE_M] * (most - len(d.ahead_m)) + list(d.ahead_m) for d in drives])
    eager = np.array([[1.0] * (most - len(d.eagerness)) + list(d.eagerness) for d in drives])
    cells = max(len(drive.limits_mps) for drive in drives)
    limits = np.stack([np.pad(d.limits_mps, (0, cells - len(d.limits_mps)), mode="edge") for d in drives])
    halts = max((len(drive.halts) for drive in drives), default=0) + 1
    lines = np.full((len(drives), halts), np.inf)
    green_at, green_for = np.zeros((len(drives), halts)), np.full((len(drives), halts), np.inf)
    for row, drive in enumerate(drives):
        for column, halt in enumerate(drive.halts):
            lines[row, column] = halt.along_m
            green_at[row, column], green_for[row, column] = halt.green_s
    cycle_s = np.array([[drive.cycle_s] for drive in drives])
    start_s = np.array([[drive.start_s] for drive in drives])
    length_m = np.array([drive.length_m for drive in drives])
    pause_m = np.array([drive.pause[0] if drive.pause else np.inf for drive in drives])
    left_s = np.array([drive.pause[1] if drive.pause else 0.0 for drive in drives])
    rows, is_there = np.arange(len(drives))[:, None], at_m < NO_ONE_M
    speed = eager * limits[rows, _cell(at_m, cells)]
    kept = [at_m.copy()]
    for step in range(round(LONGEST_S / STEP_S)):
        if step % KEPT_STEPS == 0 and step and (at_m[:, -1] >= length_m).all():
            break
        wanted = eager * limits[rows, _cell(at_m, cells)]
        ahead = np.full_like(at_m, np.inf)
        ahead[:, 1:] = np.where(is_there[:, :-1], at_m[:, :-1] - CAR_M - at_m[:, 1:], np.inf)
        closing = np.zeros_like(at_m)
        closing[:, 1:] = speed[:, 1:] - speed[:, :-1]
        coming = (lines[:, None, :] <= at_m[:, :, None]).sum(axis=2)
        coming = np.minimum(coming, halts - 1)
        to_line = lines[rows, coming] - at_m
        in_cycle = np.mod(start_s + step * STEP_S - green_at[rows, coming], cycle_s)
        is_barred = (in_cycle >= green_for[rows, coming]) & (2 * RUNS_YELLOW * to_line >= speed**2)
        barrier = np.where(is_barred, to_line, np.inf)
        barrier[:, -1] = np.where(
            left_s > 0, np.minimum(barrier[:, -1], pause_m - at_m[:, -1]), barrier[:, -1]
        )
        pull = np.minimum(
            _acceleration(speed, wanted, ahead, closing), _acceleration(speed, wanted, barrier, speed)
        )
        after = np.maximum(0.0, speed + STEP_S * np.maximum(pull, -HARDEST))
        after[(after < CREEPING_MPS) & (pull < CREEPING_MPS)] = 0.0
        at_m = at_m + STEP_S * (speed + after) / 2
        is_paused = (after[:, -1] == 0) & (pause_m - at_m[:, -1] < 2 * JAM_M)
        left_s = np.where(is_paused, left_s - STEP_S, left_s)
        speed = after
        if (step + 1) % KEPT_STEPS == 0:
            kept.append(at_m.copy())
    moments = np.stack(kept)
    return [_until_there(moments[:, row, -len(d.ahead_m) :], d.length_m) for row, d in enumerate(drives)]


def _until_there(at_m: Array, length_m: float) -> Array:
    is_there = at_m[:, -1] >= length_m
    last = int(is_there.argmax()) if is_there.any() else len(at_m) - 1
    return at_m[: last + 1]


def _cell(at_m: Array, cells: int) -> NDArray[np.intp]:
    return np.minimum(at_m, cells - 1).astype(np.intp)


def _acceleration(speed: Array, wanted: Array, gap_m: Array, closing: Array) -> Array:
    share = speed / wanted
    squared = share * share
    sought = JAM_M + np.maximum(
        0.0, speed * HEADWAY_S + speed * closing / (2 * math.sqrt(ACCELERATION * BRAKING))
    )
    near = sought / np.maximum(gap_m, 0.1)
    result: Array = ACCELERATION * (1 - squared * squared - near * near)
    return result
