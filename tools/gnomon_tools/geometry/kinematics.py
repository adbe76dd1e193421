"""Kinematics of sampled positions: displacement, path length, speed, acceleration.

Formulas: STI-Bench (2025), appendix A.2.2, equations 6 to 8. Positions are n × 2 or n × 3, in metres.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def step_lengths_m(positions_m: Array) -> Array:
    """Distance from each position to the next (n − 1)."""
    return np.asarray(np.linalg.norm(np.diff(positions_m, axis=0), axis=1), dtype=np.float64)


def displacement_m(positions_m: Array) -> float:
    """Straight distance from the first position to the last (equation 6).

    >>> displacement_m(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    0.0
    """
    return float(np.linalg.norm(positions_m[-1] - positions_m[0]))


def path_length_m(positions_m: Array) -> float:
    """Sum of the distances between neighbours in time (equation 7); never below the displacement.

    >>> path_length_m(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    2.0
    """
    return float(step_lengths_m(positions_m).sum())


def speeds_mps(positions_m: Array, times_s: Array) -> Array:
    """v_i = d_i / Δt_i for each step (n − 1); times must rise (equation 8)."""
    return step_lengths_m(positions_m) / np.diff(times_s)


def accelerations_mps2(positions_m: Array, times_s: Array) -> Array:
    """a_i = (v_i − v_{i−1}) / Δt_i for each step but the first (n − 2); negative when slowing (equation 8).

    >>> times_s = np.array([0.0, 1.0, 2.0])
    >>> accelerations_mps2(np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]), times_s).tolist()
    [1.0]
    """
    return np.diff(speeds_mps(positions_m, times_s)) / np.diff(times_s)[1:]
