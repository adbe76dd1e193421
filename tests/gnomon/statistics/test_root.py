"""Brent's method beside SciPy's."""

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from gnomon.statistics.dirichlet import _below, _flipped
from gnomon.statistics.root import root

numbers = st.floats(-2.0, 2.0)


def scipys(function: Callable[[float], float], low: float, high: float, *, xtol: float) -> float:
    """SciPy's zero; it says in another way that a hundred steps found none."""
    try:
        return brentq(function, low, high, xtol=xtol)
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def agree(function: Callable[[float], float], low: float, high: float, *, xtol: float = 1e-10) -> bool:
    """Whether both find the same zero, to the last digit, or none."""
    zeros: list[float | None] = []
    for find in (root, scipys):
        try:
            zeros.append(find(function, low, high, xtol=xtol))
        except ValueError:
            zeros.append(None)
    return zeros[0] == zeros[1]


@given(st.lists(numbers, min_size=2, max_size=6), st.sampled_from([1e-10, 1e-3]))
@example([0.0, 1.0], 1e-10)
@example([1e-300, 0.0, 0.0, 0.0, 0.0, 1.0], 1e-10)
def test_the_zero_of_a_polynomial_is_that_of_scipy_to_the_last_digit(coefficients, xtol):
    def polynomial(x: float) -> float:
        return sum(factor * x**power for power, factor in enumerate(coefficients))

    assert agree(polynomial, -1.5, 1.25, xtol=xtol)


@given(st.floats(-0.9, 0.9), st.floats(0.1, 1000.0))
def test_so_is_that_of_a_step_and_of_a_steep_curve(place, steepness):
    for function in (lambda x: math.copysign(1.0, x - place), lambda x: math.tanh(steepness * (x - place))):
        assert agree(function, -1.0, 1.0)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5000), st.sampled_from([0.025, 0.975]))
def test_so_is_a_quantile_of_flipped_pairs(rescued, broken, same, share):
    flipped = _flipped(rescued + broken, rescued + broken + same + 1)

    def beyond(at: float) -> float:
        return _below(at, flipped, rescued, broken) - share

    assert agree(beyond, -1.0, 1.0)


def test_one_sign_at_both_ends_is_an_error():
    with pytest.raises(ValueError, match=r"one sign at -1\.0 and 1\.0"):
        root(lambda x: x * x + 1.0, -1.0, 1.0, xtol=1e-10)
