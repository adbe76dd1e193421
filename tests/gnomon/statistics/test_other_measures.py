"""Relative risk, odds ratio, gain over headroom and the test over subsets: by hand, and by simulation."""

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import Table2x2

from gnomon.statistics.design import Design, design
from gnomon_analyses.statistics.heterogeneity import heterogeneity
from gnomon_analyses.statistics.relative_effect import headroom_gain, odds_ratio, relative_risk


def alone(n: int) -> Design:
    return design(np.zeros(n, np.intp), np.arange(n))


def scores(right: int, n: int) -> np.ndarray:
    return np.repeat([1.0, 0.0], [right, n - right])


def test_unrelated_arms_have_the_ratios_of_a_table_of_two_by_two() -> None:
    # Every pair of answers as often as if the arms had nothing to do with each other.
    baseline, variant = np.repeat([1.0, 0.0], [400, 600]), np.tile(scores(6, 10), 100)
    table = Table2x2(np.array([[600, 400], [400, 600]]))
    odds, risk = odds_ratio(baseline, variant, alone(1000)), relative_risk(baseline, variant, alone(1000))
    assert odds.value == pytest.approx(table.oddsratio)
    assert odds.ci95 == pytest.approx(table.oddsratio_confint(), rel=0.01)
    assert risk.value == pytest.approx(1.5)
    assert risk.ci95 == pytest.approx(table.riskratio_confint(), rel=0.01)


def test_samples_said_twice_in_a_cluster_make_no_interval_shorter() -> None:
    random = np.random.default_rng(0)
    baseline, variant = (random.random((2, 60)) < [[0.4], [0.6]]).astype(np.float64)
    clusters = np.repeat(np.arange(60), 2)
    twice = design(np.zeros(120, np.intp), clusters)
    for measure in (relative_risk, odds_ratio, headroom_gain):
        once = measure(baseline, variant, alone(60))
        again = measure(baseline.repeat(2), variant.repeat(2), twice)
        assert once.value == pytest.approx(again.value)
        assert once.ci95 == pytest.approx(again.ci95, rel=0.02)


def test_gain_over_headroom_is_a_share_of_what_was_wrong() -> None:
    gain = headroom_gain(scores(60, 100), scores(80, 100), alone(100))
    assert gain.value == pytest.approx(0.5)
    assert gain.ci95 is not None
    assert 0 < gain.ci95[0] < 0.5 < gain.ci95[1] < 1


@pytest.mark.parametrize(
    ("before", "after", "undefined"),
    [
        (0, 5, {"risk", "odds"}),
        (10, 5, {"odds", "headroom"}),
        (5, 10, {"odds"}),
    ],
)
def test_where_a_measure_is_undefined_it_has_no_value(before: int, after: int, undefined: set[str]) -> None:
    pair = scores(before, 10), scores(after, 10)
    measures = {
        "risk": relative_risk(*pair, alone(10)),
        "odds": odds_ratio(*pair, alone(10)),
        "headroom": headroom_gain(*pair, alone(10)),
    }
    assert {name for name, measure in measures.items() if measure.value is None} == undefined


def test_few_right_answers_give_a_ratio_and_no_interval() -> None:
    risk = relative_risk(scores(2, 40), scores(4, 40), alone(40))
    assert (risk.value, risk.ci95) == (2.0, None)


@pytest.mark.parametrize("subsets", [4, 10])
def test_equal_subsets_are_seldom_told_apart(subsets: int) -> None:
    """Clusters that cross the subsets or lie in one, unequal ones, and gains that are rare."""
    random = np.random.default_rng(subsets)
    found = tried = 0
    for draw in range(120):
        sizes = random.integers(2, 9, 5 * subsets)
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        crossed = np.arange(len(clusters)) % subsets
        cells = crossed if draw % 2 else clusters % subsets
        shared = random.normal(0, 0.2, len(sizes))[clusters]
        gains = (random.random(len(clusters)) < np.clip(0.3 + shared, 0.05, 1)).astype(np.float64)
        tested = heterogeneity(gains, cells, design(np.zeros(len(cells), np.intp), clusters))
        assert tested.p is not None
        found, tried = found + (tested.p < 0.05), tried + 1
    assert found / tried <= 0.1  # of a level of 5 %: of 120 draws 12 and more in 2 of 100 series


def test_a_subset_apart_is_told_and_one_whose_samples_agree_is_not_taken_as_exact() -> None:
    cells = np.repeat(np.arange(4), 30)
    apart = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], 120)
    tested = heterogeneity(np.where(cells == 0, 1.0, apart), cells, alone(120))
    assert tested.p is not None
    assert tested.p < 0.01
    rare = np.zeros(120)
    rare[[5, 40]] = 1.0  # a gain in two of four subsets, none in the others
    assert (heterogeneity(rare, cells, alone(120)).p or 0) > 0.2


def test_too_few_clusters_or_one_subset_have_no_test() -> None:
    d = np.array([0.0, 1.0] * 6)
    few = design(np.zeros(12, np.intp), np.arange(12) % 5)
    assert heterogeneity(d, np.arange(12) % 3, few).p is None
    assert heterogeneity(d, np.zeros(12, np.intp), alone(12)).p is None


def test_many_clusters_are_drawn_from_a_normal_distribution_and_tell_the_same() -> None:
    random = np.random.default_rng(2)
    cells = np.arange(1500) % 3
    d = random.choice([-1.0, 0.0, 1.0], 1500)
    many = heterogeneity(d, cells, alone(1500))
    half = heterogeneity(d, cells, design(np.zeros(1500, np.intp), np.arange(1500) // 2))
    assert many.p == pytest.approx(half.p, abs=0.1)
