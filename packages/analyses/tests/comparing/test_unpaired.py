"""The interval of two independent means, as of jobs without a question in common."""

from typing import Any

import pytest

from gnomon_analyses.comparing.unpaired import mover


def test_the_interval_of_two_independent_means_is_wider_than_either() -> None:
    low, high = mover((0.5, (0.4, 0.6)), (0.5, (0.4, 0.6))) or (0.0, 0.0)
    assert (low, high) == (pytest.approx(-(0.02**0.5)), pytest.approx(0.02**0.5))
    assert mover((0.5, None), (0.5, (0.4, 0.6))) is None
    assert mover((1.0, (0.2, 1.0)), (0.0, (0.0, 0.9))) == [
        pytest.approx(-1.0),
        pytest.approx(0.2042, abs=1e-3),
    ]


def test_a_wider_input_gives_a_wider_interval() -> None:
    def width(ends: tuple[float, float]) -> float:
        made: Any = mover((0.5, ends), (0.6, (0.5, 0.7)))
        return float(made[1] - made[0])

    assert width((0.4, 0.6)) < width((0.3, 0.7))
