"""Confidence sequences cover at every look, are decided where the truth allows it, and depend on no order."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from bench.sequential_levels import DESIGNS, EFFECTS, SequentialDesign, rates
from gnomon.statistics.design import Floats
from gnomon.statistics.estimate import Ends, Estimate
from gnomon.statistics.reach import Reach
from gnomon.statistics.sequential import BettingSequence, least_effect, log_wealth_path

ROUNDS = 200


@dataclass(frozen=True)
class Look:
    value: float
    p: float
    ci95: Ends
    ci90: Ends


def look(sums: Floats, weights: Floats, *, largest: float) -> Look:
    """What a job knows after these clusters."""
    sequence, n = BettingSequence.of(sums, weights, largest=largest), len(sums)
    estimate = Estimate(
        value=sequence.value,
        se=0.1,
        df=n - 1,
        n=n,
        clusters=n,
        effective_clusters=n,
        effective_samples=n,
        limits=(-1.0, 1.0),
    )
    reach = Reach(parts=[sequence], estimate=estimate, baseline_variance=0.0, covariance=0.0)
    return Look(sequence.value, reach.p(), reach.ends(0.95), reach.ends(0.9))


def named(name: str) -> SequentialDesign:
    return next(design for design in (*DESIGNS, *EFFECTS) if design.name == name)


def test_the_wealth_on_a_fair_game_is_one_on_average() -> None:
    games = np.array(list(product([-1.0, 1.0], repeat=10)))
    wealth = np.exp(log_wealth_path(games, np.ones_like(games), largest=1.0))
    assert wealth.mean(axis=0) == pytest.approx(np.ones(10))


def test_a_fair_game_reaches_forty_in_fewer_than_one_of_forty() -> None:
    games = np.array(list(product([-1.0, 1.0], repeat=12)))
    wealth = np.exp(log_wealth_path(games, np.ones_like(games), largest=1.0))
    assert 0 < (wealth >= 40).any(axis=1).mean() <= 1 / 40


def test_ends_of_the_interval_are_where_the_wealth_crosses() -> None:
    random = np.random.default_rng(3)
    weights = random.integers(1, 9, 40).astype(np.float64)
    sums = weights * random.uniform(-0.5, 1.0, 40)
    after = look(sums, weights, largest=9.0)
    low, high = after.ci95
    at_low = log_wealth_path(sums, weights, largest=9.0, mean=low)[-1]
    at_high = log_wealth_path(-sums, weights, largest=9.0, mean=-high)[-1]
    assert (at_low, at_high) == pytest.approx((np.log(40), np.log(40)), abs=1e-3)
    assert low < after.ci90[0] < after.value < after.ci90[1] < high
    assert after.value == pytest.approx(sums.sum() / weights.sum())


def test_the_interval_excludes_zero_just_where_p_is_below_five_percent() -> None:
    random = np.random.default_rng(4)
    seen = set()
    for _ in range(60):
        sums = random.choice([-1.0, 0.0, 1.0], 60, p=[0.1, 0.6, 0.3])
        after = look(sums, np.ones(60), largest=1.0)
        is_clear = after.ci95[0] > 0 or after.ci95[1] < 0
        assert is_clear == (after.p < 0.05)
        seen.add(is_clear)
    assert seen == {True, False}


def test_order_and_scale_of_the_weights_change_nothing() -> None:
    random = np.random.default_rng(5)
    weights = random.uniform(0.1, 1.0, 30)
    sums = weights * random.uniform(-1, 1, 30)
    order = random.permutation(30)
    one = look(sums, weights, largest=1.0)
    other = look(7 * sums[order], 7 * weights[order], largest=7.0)
    assert (one.p, *one.ci95) == pytest.approx((other.p, *other.ci95), abs=1e-6)


def test_swapped_arms_mirror_the_interval() -> None:
    sums = np.array([0.5, 1.0, -0.2, 0.9, 1.0, 0.7, 0.3])
    ahead, behind = (look(side * sums, np.ones(7), largest=1.0) for side in (1, -1))
    assert ahead.ci95 == pytest.approx((-behind.ci95[1], -behind.ci95[0]))
    assert ahead.p == behind.p


def test_the_least_effect_is_decided_by_all_clusters_and_one_below_it_is_not() -> None:
    weights = np.array([1.0, 2.0, 3.0] * 20)
    least = least_effect(weights)
    assert least is not None
    above, below = (look(effect * weights, weights, largest=3.0).p for effect in (least + 1e-4, least - 1e-4))
    assert above < 0.05 < below
    assert least_effect(np.ones(7)) is None


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_simulated_jobs_are_covered_at_every_look(design: SequentialDesign) -> None:
    rate = rates(design, rounds=40, seed=11)
    assert rate.covered >= 0.875  # of 40 jobs at 95 % at least: fewer than 35 come in 1 of 400 draws
    assert max(rate.wrong, rate.equal) <= 0.125


def test_who_peeks_by_hand_is_wrong_far_more_often() -> None:
    rate = rates(named("1,000 independent"), rounds=ROUNDS, seed=1)
    assert rate.peeking > 0.3
    assert rate.wrong < 0.08


def test_a_clear_effect_needs_a_tenth_of_the_samples() -> None:
    rate = rates(named("1,000 independent, +20"), rounds=ROUNDS, seed=1)
    assert rate.decided == rate.fixed == 1.0
    assert rate.samples < 0.15
