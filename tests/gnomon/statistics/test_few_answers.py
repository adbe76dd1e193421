"""Where hardly anything is right: exact chances of the paired interval, and the least it can miss."""

import pytest

from tests.gnomon.statistics.few_answers import (
    bonett_price,
    difference_covered,
    ours,
    rate_covered,
    rates,
    tango,
    worst_error,
)

RATES = rates(0.05, parts=4)


@pytest.mark.parametrize("effect", [0.05, 0.1, 0.2, 0.3])
def test_an_effect_on_hardly_any_right_answer_is_covered(effect: float) -> None:
    assert 0.95 <= difference_covered(ours, 30, effect, RATES) <= 0.995


def test_rates_of_hardly_any_right_answer_are_covered_at_95_plus_minus_2_percent() -> None:
    assert 0.93 <= rate_covered(30, 0.0, rates(0.05)) <= 0.97


def test_without_an_effect_so_few_flips_cannot_be_missed_more_often() -> None:
    shares = [rate * (1 - rate) for rate in rates(0.05, parts=10)] + [0.06, 0.08, 0.1]
    assert worst_error(30, 3, shares) > 0.06, "telling arms apart at 3 : 0 would err too often"
    assert ours(4, 0, 30)[0] <= 0 < ours(5, 0, 30)[0]


def test_the_score_interval_covers_small_effects_less_often() -> None:
    assert difference_covered(tango, 30, 0.05, RATES) < 0.93
    assert difference_covered(bonett_price, 30, 0.05, RATES) > 0.95


@pytest.mark.parametrize(("rescued", "broken", "n"), [(0, 0, 30), (3, 0, 30), (5, 9, 40), (30, 0, 30)])
def test_the_score_interval_ends_where_its_test_begins_to_reject(rescued: int, broken: int, n: int) -> None:
    low, high = tango(rescued, broken, n)
    assert -1 <= low <= (rescued - broken) / n <= high <= 1
    assert tango(broken, rescued, n) == pytest.approx((-high, -low), abs=1e-6)
