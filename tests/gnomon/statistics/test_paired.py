"""The paired comparison: levels by simulation, symmetries, and the ends of its scale."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator
from statsmodels.stats.contingency_tables import mcnemar

from gnomon.statistics.design import Design, design
from gnomon.statistics.estimate import wilson
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import Comparison, compare

Arms = tuple[np.ndarray, np.ndarray, Design]


def independent(n: int, *, only_one: float, cells: int = 1) -> Callable[[Generator], Arms]:
    """0/1 scores of two equally good arms that differ on a share `only_one` of independent samples."""

    def draw(random: Generator) -> Arms:
        kind, both = random.random(n), (random.random(n) < 0.4).astype(float)
        raw = np.where(kind < only_one / 2, 0.0, np.where(kind > 1 - only_one / 2, 1.0, both))
        tools = np.where(kind < only_one / 2, 1.0, np.where(kind > 1 - only_one / 2, 0.0, both))
        return raw, tools, design(np.arange(n) % cells, np.arange(n))

    return draw


def clustered(sizes: list[int], *, cells: int = 1) -> Callable[[Generator], Arms]:
    """0/1 scores of two arms equally good on average, better or worse by the cluster."""

    def draw(random: Generator) -> Arms:
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        n = len(clusters)
        shift = random.normal(0.0, 0.2, len(sizes))[clusters]
        raw, tools = random.random(n) < 0.45, random.random(n) < 0.45 + shift
        return raw.astype(float), tools.astype(float), design(np.arange(n) % cells, clusters)

    return draw


@pytest.mark.parametrize(
    "draw",
    [
        independent(60, only_one=0.2),
        independent(30, only_one=0.1),
        independent(28, only_one=0.4, cells=14),
        clustered([7] * 20),
        clustered([7] * 60),
        clustered([7] * 20, cells=5),
        clustered([1] * 50 + [30]),
    ],
    ids=["independent", "few flips", "two a cell", "20 videos", "60 videos", "cells across", "one giant"],
)
def test_the_level_holds_where_there_is_no_effect(draw: Callable[[Generator], Arms]) -> None:
    random, rounds, rejected, missed = np.random.default_rng(11), 400, 0, 0
    for _ in range(rounds):
        found = compare(*draw(random))
        assert found.p is not None
        assert found.ci95 is not None
        rejected += found.p < 0.05
        missed += not found.ci95[0] <= 0 <= found.ci95[1]
    # 0.05 and 3 standard errors of 400 rounds, and 1 point for the giant's own bias.
    assert rejected / rounds < 0.093
    assert missed / rounds < 0.093


def test_rare_flips_do_not_pass_for_no_effect() -> None:
    random, rounds, claimed = np.random.default_rng(12), 600, 0
    for _ in range(rounds):
        tools = (random.random(60) < 0.05).astype(float)  # a true effect of the margin itself
        found = compare(np.zeros(60), tools, design(np.zeros(60, dtype=np.intp), np.arange(60)))
        assert found.ci90 is not None
        claimed += found.ci90[0] > -0.05 and found.ci90[1] < 0.05
    assert claimed / rounds < 0.077


def test_a_gain_on_nearly_every_sample_is_covered_too() -> None:
    random, rounds, covered = np.random.default_rng(14), 400, 0
    for _ in range(rounds):
        tools = (random.random(20) < 0.93).astype(float)
        found = compare(np.zeros(20), tools, design(np.zeros(20, dtype=np.intp), np.arange(20)))
        covered += found.ci95 is not None and found.ci95[0] <= 0.93 <= found.ci95[1]
    assert covered / rounds > 0.92


def test_intervals_near_zero_cover_the_true_rate() -> None:
    random, rounds, covered = np.random.default_rng(13), 600, 0
    for _ in range(rounds):
        rate = random.beta(0.05 * 4, 0.95 * 4, 20)
        scores = (random.random(140) < np.repeat(rate, 7)).astype(float)
        ends = mean_score(scores, design(np.zeros(140, dtype=np.intp), np.repeat(np.arange(20), 7))).ci95
        covered += ends is not None and ends[0] <= 0.05 <= ends[1]
    assert covered / rounds > 0.92


def test_one_binary_sample_a_cluster_is_tested_by_mcnemar() -> None:
    raw, tools = np.array([0.0] * 12 + [1.0] * 18), np.array([1.0] * 12 + [0.0] * 4 + [1.0] * 14)
    found = compare(raw, tools, design(np.zeros(30, dtype=np.intp), np.arange(30)))
    exact = mcnemar([[0, 12], [4, 14]], exact=True).pvalue
    assert found.test == "mid-p McNemar"
    assert found.p is not None
    assert exact / 2 < found.p < exact


def test_arms_that_agree_everywhere_are_not_certain_to() -> None:
    found = compare(np.ones(30), np.ones(30), design(np.zeros(30, dtype=np.intp), np.arange(30)))
    upper = wilson(0.0, 30)[1]
    assert (found.diff, found.p) == (0.0, 1.0)
    assert found.ci95 == pytest.approx((-upper, upper))
    assert found.mde is not None
    assert found.mde > 0.1


def test_arms_that_differ_everywhere_are_not_certain_to() -> None:
    found = compare(np.zeros(30), np.ones(30), design(np.zeros(30, dtype=np.intp), np.arange(30)))
    assert found.diff == 1.0
    assert found.ci95 is not None
    assert 0.5 < found.ci95[0] < 1.0 == found.ci95[1]


def test_few_clusters_are_checked_by_sign_flips() -> None:
    random = np.random.default_rng(2)
    few = compare(random.random(40), random.random(40), design(np.zeros(40, dtype=np.intp), np.arange(40)))
    many = compare(random.random(60), random.random(60), design(np.zeros(60, dtype=np.intp), np.arange(60)))
    assert few.test == many.test == "cluster-robust t"
    assert few.check_p == pytest.approx(few.p, abs=0.05)
    assert many.check_p is None


def test_one_cluster_gives_a_difference_and_no_claim() -> None:
    nowhere = np.zeros(4, dtype=np.intp)
    found = compare(np.zeros(4), np.array([1.0, 1.0, 0.0, 1.0]), design(nowhere, nowhere))
    assert (found.diff, found.ci95, found.ci90, found.p, found.mde) == (0.75, None, None, None, None)


def test_all_wrong_and_all_right_arms_have_an_interval_of_some_width() -> None:
    plain = design(np.zeros(30, dtype=np.intp), np.arange(30))
    by_six = design(np.zeros(30, dtype=np.intp), np.arange(30) // 5)
    assert mean_score(np.zeros(30), plain).ci95 == pytest.approx(wilson(0.0, 30))
    assert mean_score(np.ones(30), by_six).ci95 == pytest.approx(wilson(1.0, 6))


scores = st.sampled_from([0.0, 0.0, 1.0, 0.25, 0.5, 1 / 3])


@settings(deadline=None)
@given(st.lists(st.tuples(scores, scores, st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=40))
def test_swapping_the_arms_turns_every_sign(given_rows: list[tuple[float, float, int, int]]) -> None:
    raw, tools, cells, clusters = (np.array(column) for column in zip(*given_rows, strict=True))
    grouping = design(cells, clusters)
    one, other = compare(raw, tools, grouping), compare(tools, raw, grouping)
    assert one.diff == pytest.approx(-other.diff)
    _has_no_nonsense(one)
    assert (one.p is None) == (other.p is None)
    if one.p is not None and one.ci95 is not None and other.ci95 is not None:
        assert one.p == pytest.approx(other.p, abs=1e-6)
        assert one.ci95 == pytest.approx((-other.ci95[1], -other.ci95[0]), abs=1e-9)


def _has_no_nonsense(found: Comparison) -> None:
    assert -1 <= found.diff <= 1
    assert (found.ci95 is None) == (found.clusters < 2)
    if found.ci95 is not None and found.ci90 is not None:
        assert found.p is not None
        assert 0 < found.p <= 1
        assert -1 <= found.ci95[0] <= found.ci90[0] <= found.diff + 1e-9
        assert found.diff - 1e-9 <= found.ci90[1] <= found.ci95[1] <= 1
        assert found.ci95[0] < found.ci95[1]
        assert found.mde is not None
        assert 0 < found.mde <= 1
