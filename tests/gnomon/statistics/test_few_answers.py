"""Where hardly anything is right: exact chances of the paired interval, and the least it can miss."""

import pytest

from bench.few_answers import bonett_price, difference_covered, rate_covered, rates, tango, worst_error
from gnomon.statistics.dirichlet import dirichlet_interval

RATES = rates(0.05, parts=4)


@pytest.mark.parametrize("effect", [0.05, 0.1, 0.2, 0.3])
def test_an_effect_on_hardly_any_right_answer_is_covered_at_95_plus_minus_2_percent(effect: float) -> None:
    assert 0.93 <= difference_covered(dirichlet_interval, 30, effect, RATES) <= 0.97


def test_rates_of_hardly_any_right_answer_are_covered_at_95_plus_minus_2_percent() -> None:
    assert 0.93 <= rate_covered(30, 0.0, rates(0.05)) <= 0.97


def test_without_an_effect_so_few_flips_cannot_be_missed_more_often() -> None:
    shares = [rate * (1 - rate) for rate in rates(0.05, parts=10)] + [0.06, 0.08, 0.1]
    assert worst_error(30, 3, shares) > 0.06, "telling arms apart at 3 : 0 would err too often"
    assert worst_error(30, 4, shares) < 0.06
    low, _ = dirichlet_interval(4, 0, 30)
    assert low > 0, "at 4 : 0 the interval does tell them apart"
    assert dirichlet_interval(3, 0, 30)[0] < 0


def test_other_intervals_do_no_better() -> None:
    ours, *others = (
        [abs(difference_covered(method, 30, effect, RATES) - 0.95) for effect in (0.05, 0.3)]
        for method in (dirichlet_interval, tango, bonett_price)
    )
    assert all(max(ours) < max(theirs) for theirs in others)


@pytest.mark.parametrize(("rescued", "broken", "n"), [(0, 0, 30), (3, 0, 30), (5, 9, 40), (30, 0, 30)])
def test_the_score_interval_ends_where_its_test_begins_to_reject(rescued: int, broken: int, n: int) -> None:
    low, high = tango(rescued, broken, n)
    assert -1 <= low <= (rescued - broken) / n <= high <= 1
    assert tango(broken, rescued, n) == pytest.approx((-high, -low), abs=1e-6)
