"""Looks at planned points err in 5 % together, decide where the truth allows it, and depend on no order."""

import numpy as np
import pytest
from scipy.special import ndtr

from bench.tokens_to_verdict import ROWS, STUDIES, Row, shares
from gnomon.statistics.design import Floats, design
from gnomon.statistics.equivalence import Limits
from gnomon.statistics.paired import Comparison, compare
from gnomon.statistics.sequential import (
    ALPHA,
    LEAST_CLUSTERS,
    Looks,
    chances,
    expected,
    levels,
    look_points,
)

FIFTHS = (0.2, 0.4, 0.6, 0.8, 1.0)
UNEVEN = (0.07, 0.3, 0.31, 0.9, 1.0)
PLAN = Looks(clusters=(12, 24, 36, 48, 60), ended=FIFTHS, alpha=ALPHA)
MARGIN = Limits(low=-0.05, high=0.05)


def at_look(d: Floats, look: int, *, plan: Looks = PLAN) -> Comparison:
    """What a look says of these differences, a cluster each."""
    variant = np.clip(d, 0.0, 1.0)
    alone = design(np.zeros(len(d), np.intp), np.arange(len(d)))
    return plan.repeated(compare(variant - d, variant, alone), look)


@pytest.mark.parametrize(
    ("limits", "total"),
    [
        ([2.413] * 5, 0.05),  # Pocock 1977
        ([2.040 * (5 / look) ** 0.5 for look in range(1, 6)], 0.05),  # O'Brien and Fleming 1979
        ([1.960] * 5, 0.142),  # who peeks by hand: Armitage, McPherson and Rowe 1969
    ],
)
def test_the_recursion_gives_the_chances_of_published_limits(limits: list[float], total: float) -> None:
    at = [float(2 * ndtr(-limit)) for limit in limits]
    assert sum(chances(FIFTHS, at)) == pytest.approx(total, abs=5e-4)


@pytest.mark.parametrize("ended", [FIFTHS, UNEVEN, (1.0,)])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3])
def test_each_look_spends_its_part_of_the_level(ended: tuple[float, ...], alpha: float) -> None:
    spent = np.cumsum(chances(ended, [alpha * level for level in levels(ended, alpha)]))
    assert spent == pytest.approx(alpha * np.array(ended) ** 2, rel=1e-4)


@pytest.mark.parametrize("ended", [FIFTHS, UNEVEN])
def test_at_a_higher_level_than_planned_looks_err_less_often_than_that(ended: tuple[float, ...]) -> None:
    for level in (0.06, 0.1, 0.2, 0.5):
        assert sum(chances(ended, [level * each for each in levels(ended)])) < level


def test_chances_with_a_drift_are_those_of_drawn_sums() -> None:
    at, random = [ALPHA * level for level in levels(UNEVEN)], np.random.default_rng(2)
    steps = np.diff(UNEVEN, prepend=0.0)
    sums = np.cumsum(random.normal(2.5 * steps, steps**0.5, (20_000, 5)), axis=1)
    beyond = 2 * ndtr(-np.abs(sums) / np.sqrt(UNEVEN)) < at
    first = np.bincount(beyond.argmax(axis=1)[beyond.any(axis=1)], minlength=5) / len(sums)
    assert chances(UNEVEN, at, 2.5) == pytest.approx(first, abs=0.012)


def test_looks_are_at_most_ten_and_the_last_is_the_whole_plan() -> None:
    for clusters in range(1, 200):
        points = look_points(clusters)
        assert points == tuple(sorted(set(points)))
        assert (len(points) <= 10, points[0] > 0, points[-1]) == (True, True, clusters)


@pytest.mark.parametrize("clusters", [6, 7, 12, 26, 63, 150])
def test_at_no_look_is_a_rejection_out_of_reach(clusters: int) -> None:
    points = look_points(clusters)
    plan = Looks(clusters=points, ended=tuple(point / clusters for point in points), alpha=ALPHA)
    for look, point in enumerate(points, start=1):
        p = at_look(np.ones(point), look, plan=plan).p
        assert p is not None
        assert p < ALPHA


def test_the_interval_excludes_zero_just_where_p_is_below_five_percent() -> None:
    random, seen = np.random.default_rng(4), set()
    for look in [1, 2, 3, 4, 5] * 8:
        after = at_look(random.choice([-1.0, 0.0, 1.0], 12 * look, p=[0.05, 0.45, 0.5]), look)
        assert after.ci95 is not None
        assert after.p is not None
        is_clear = after.ci95[0] > 0 or after.ci95[1] < 0
        assert is_clear == (after.p < 0.05)
        seen.add(is_clear)
    assert seen == {True, False}


def test_an_early_look_asks_for_more_and_says_which_it_is() -> None:
    d = np.array([0.9, 0.4, 0.1] * 6 + [-0.3] * 6)
    early, late = (at_look(d, look) for look in (1, 5))
    assert early.ci95 is not None
    assert late.ci95 is not None
    assert early.ci95[0] < late.ci95[0] < late.ci95[1] < early.ci95[1]
    assert early.interval_method == "repeated interval at look 1 of 5"
    assert early.test.endswith(", look 1 of 5")


def test_order_changes_nothing_and_swapped_arms_mirror_the_interval() -> None:
    random = np.random.default_rng(5)
    d = random.uniform(-0.4, 1.0, 12)
    one, other, swapped = at_look(d, 2), at_look(random.permutation(d), 2), at_look(-d, 2)
    assert one.ci95 is not None
    assert swapped.ci95 is not None
    assert other.ci95 == pytest.approx(one.ci95, abs=1e-5)
    assert swapped.ci95 == pytest.approx((-one.ci95[1], -one.ci95[0]), abs=1e-5)
    assert swapped.p == pytest.approx(one.p)


def test_as_many_clusters_as_are_asked_for_can_decide_and_fewer_cannot() -> None:
    for clusters in (LEAST_CLUSTERS - 1, LEAST_CLUSTERS):
        points = look_points(clusters)
        plan = Looks(clusters=points, ended=tuple(point / clusters for point in points), alpha=ALPHA)
        last = at_look(np.ones(clusters), len(points), plan=plan)
        assert last.p is not None
        assert (last.p < ALPHA) == (clusters == LEAST_CLUSTERS)


def test_a_plan_is_hopeless_once_half_has_shown_nothing_and_no_equality_is_in_reach() -> None:
    nothing, much = np.tile([1.0, -1.0], 18), np.array([1.0] * 18 + [0.0] * 9 + [-1.0] * 9)
    assert PLAN.is_hopeless(at_look(nothing, 3), 3, MARGIN)
    assert not PLAN.is_hopeless(at_look(much, 3), 3, MARGIN)
    assert not PLAN.is_hopeless(at_look(nothing[:12], 1), 1, MARGIN)
    assert not PLAN.is_hopeless(at_look(np.tile([1.0, -1.0], 30), 5), 5, MARGIN)
    assert not PLAN.is_hopeless(at_look(0.1 * nothing, 3), 3, MARGIN)


def test_several_comparisons_take_longer_than_one_and_need_the_same_effect() -> None:
    one, three = expected(100), expected(100, 3)
    assert one.share < three.share < 1.0
    assert 1.0 < one.larger == pytest.approx(three.larger, abs=0.005)


@pytest.mark.parametrize(
    ("planned", "rounds"), [(0.2, 40), pytest.param(0.1, 300, marks=pytest.mark.soak)]
)  # a job made for 20 points is small
@pytest.mark.parametrize("name", STUDIES)
def test_simulated_jobs_without_a_difference_seldom_claim_one_at_any_look(
    name: str, planned: float, rounds: int
) -> None:
    most = 0.05 + 3 * (0.05 * 0.95 / rounds) ** 0.5
    found = shares(Row(STUDIES[name], 0.0, planned), rounds=rounds, seed=11)
    for how, (spent, claimed, covered) in found.items():
        assert claimed <= most
        assert covered >= 1 - most
        assert spent < 0.95 or how == "fixed"


def test_a_clear_effect_needs_less_than_half_of_the_tokens() -> None:
    of_jobs = shares(ROWS["single, 0 or 1, +20, made for 10"], rounds=30, seed=1)
    assert {claimed for _, claimed, _ in of_jobs.values()} == {1.0}
    assert all(spent < 0.5 for how, (spent, *_) in of_jobs.items() if how != "fixed")


def test_an_effect_as_planned_is_found_as_often_as_by_the_fixed_job_and_for_less() -> None:
    of_jobs = shares(ROWS["single, 0 or 1, +10, made for 10"], rounds=60, seed=2)
    assert of_jobs["sequential"][1] >= of_jobs["fixed"][1] - 0.05
    assert of_jobs["sequential"][0] < 0.85
