"""Finds where a function of one number is zero, by Brent's method.

SciPy has the same, and gives the same to the last digit; loading it takes longer than most reports to make.
"""

import math
from collections.abc import Callable

RTOL = 2.0**-50  # of the place of the root
MOST_STEPS = 100
Point = tuple[float, float]  # a place and the function's value there


def root(function: Callable[[float], float], low: float, high: float, *, xtol: float) -> float:
    """A zero of a continuous function between two places where it has different signs, to within `xtol`.

    Each step goes to the zero of a curve through the last places, or to the middle of what is left where that
    would go too far (Brent 1973, Algorithms for Minimization without Derivatives, chapter 4).

    >>> round(root(lambda x: x * x - 2.0, 0.0, 2.0, xtol=1e-10), 9)
    1.414213562

    Raises:
        ValueError: the signs are the same, or no zero is found in a hundred steps.
    """
    last, f_last = low, function(low)
    best, f_best = high, function(high)
    for place, value in ((last, f_last), (best, f_best)):
        if value == 0:
            return place
    if (f_last < 0) == (f_best < 0):
        raise ValueError(f"the function has one sign at {low} and {high}")
    across, f_across, step, step_before = last, f_last, 0.0, 0.0  # `across`: where the sign is the other
    for _ in range(MOST_STEPS):
        if f_last != 0 and (f_last < 0) != (f_best < 0):
            across, f_across = last, f_last
            step = step_before = best - last
        if abs(f_across) < abs(f_best):
            last, best, across = best, across, best
            f_last, f_best, f_across = f_best, f_across, f_best
        tolerance = (xtol + RTOL * abs(best)) / 2
        half = (across - best) / 2
        if f_best == 0 or abs(half) < tolerance:
            return best
        curved = math.inf
        if abs(step_before) > tolerance and abs(f_best) < abs(f_last):
            curved = _curved_step((last, f_last), (best, f_best), (across, f_across))
        if 2 * abs(curved) < min(abs(step_before), 3 * abs(half) - tolerance):
            step_before, step = step, curved
        else:
            step_before = step = half
        last, f_last = best, f_best
        best += step if abs(step) > tolerance else math.copysign(tolerance, half)
        f_best = function(best)
    raise ValueError(f"no zero is found in {MOST_STEPS} steps")


def _curved_step(last: Point, best: Point, across: Point) -> float:
    """The step from the best point to the zero of the curve through three points, or the line through two."""
    (x_last, f_last), (x_best, f_best), (x_across, f_across) = last, best, across
    if x_last == x_across:
        return -f_best * (x_best - x_last) / (f_best - f_last)
    to_last = (f_last - f_best) / (x_last - x_best)
    to_across = (f_across - f_best) / (x_across - x_best)
    bend = to_across * to_last * (f_across - f_last)
    return -f_best * (f_across * to_across - f_last * to_last) / bend if bend else math.inf
