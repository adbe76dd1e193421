"""The paired comparison: levels by simulation, symmetries, and the ends of its scale."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.weightstats import ttost_paired

from bench.claims import PLANS, rates
from bench.statistics_levels import STUDIES, shares
from gnomon.statistics.bounded import BoundedLikelihood
from gnomon.statistics.design import design
from gnomon.statistics.estimate import wilson
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import Comparison, compare

DOCUMENT = Path(__file__).parents[3] / "docs" / "statistics.md"


@pytest.mark.parametrize(
    "name",
    [
        "60 independent samples",
        "28 samples in 14 subsets",
        "14 subsets of 2 to 6 samples",
        "20 videos × 7, effect differs by video",
        "60 videos × 7",
        "14 subsets × 20 in 40 videos",
        "50 single samples and one video of 30",
        "graded, 85 % zero: 60 independent samples",
        "graded, variant four times as often a fourth: 60 samples",
    ],
)
@pytest.mark.parametrize("rounds", [100, pytest.param(400, marks=pytest.mark.soak)])
def test_the_level_holds_where_there_is_no_effect(name: str, rounds: int) -> None:
    _, claimed, covered, mean_covered, _ = shares(*STUDIES[name], rounds=rounds, seed=11)
    # 3 standard errors of so many rounds, and 1 point for the giant's own bias.
    most = 0.05 + 3 * (0.05 * 0.95 / rounds) ** 0.5 + 0.01
    assert claimed < most
    assert covered > 1 - most
    assert mean_covered > 1 - most


def test_the_documented_table_is_that_of_the_bench() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("## Measured")[2].partition("## Lost trials")[0]
    rows = re.findall(r"^\| (?!Design)(.+?) \|", text, re.MULTILINE)
    assert len(rows) > 8
    assert set(rows) <= set(STUDIES)
    assert text.count(" | ") == 5 * (len(rows) + 1)


# Coverage may miss 95 % by 3 standard errors of so many jobs.
FEW = [
    ("graded, 60 questions, no effect", 12, (0.76, 1.0), (0.0, 0.24)),
    ("graded, 16 scenes of 5, +8", 12, (0.76, 1.0), (0.2, 1.0)),
    ("8 % of one arm lost, 60 clusters of 7, +0", 6, (0.68, 1.0), (0.0, 0.01)),
    ("8 % of one arm lost, 60 clusters of 7, +20", 6, (0.68, 1.0), (0.6, 1.0)),
]


@pytest.mark.parametrize(("name", "jobs", "covers", "claims"), FEW)
def test_a_report_finds_what_was_planted_and_no_more(
    name: str, jobs: int, covers: tuple[float, float], claims: tuple[float, float]
) -> None:
    claimed, _, covered = rates(PLANS[name], rounds=jobs, seed=3)
    assert covers[0] <= covered <= covers[1]
    assert claims[0] <= claimed <= claims[1]


def test_a_gain_without_losses_is_found_in_few_clusters() -> None:
    _, claimed, covered, _, _ = shares(
        *STUDIES["15 % fixed, none regressed: 20 videos × 7"], rounds=100, seed=11
    )
    assert claimed > 0.9
    assert covered > 0.9


def test_rare_flips_do_not_pass_for_no_effect() -> None:
    random, rounds, claimed = np.random.default_rng(12), 300, 0
    for _ in range(rounds):
        tools = (random.random(60) < 0.05).astype(float)  # a true effect of the margin itself
        found = compare(np.zeros(60), tools, design(np.zeros(60, dtype=np.intp), np.arange(60)))
        assert found.ci90 is not None
        claimed += found.ci90[0] > -0.05 and found.ci90[1] < 0.05
    assert claimed / rounds < 0.088  # 5 % and 3 standard errors


def test_a_gain_on_nearly_every_sample_is_covered_too() -> None:
    random, rounds, covered = np.random.default_rng(14), 200, 0
    for _ in range(rounds):
        tools = (random.random(20) < 0.93).astype(float)
        found = compare(np.zeros(20), tools, design(np.zeros(20, dtype=np.intp), np.arange(20)))
        covered += found.ci95 is not None and found.ci95[0] <= 0.93 <= found.ci95[1]
    assert covered / rounds > 0.9


def test_intervals_near_zero_cover_the_true_rate() -> None:
    random, rounds, covered = np.random.default_rng(13), 300, 0
    for _ in range(rounds):
        rate = random.beta(0.05 * 4, 0.95 * 4, 20)
        scores = (random.random(140) < np.repeat(rate, 7)).astype(float)
        ends = mean_score(scores, design(np.zeros(140, dtype=np.intp), np.repeat(np.arange(20), 7))).ci95
        covered += ends is not None and ends[0] <= 0.05 <= ends[1]
    assert covered / rounds > 0.91


def test_one_binary_sample_a_cluster_is_tested_by_mcnemar() -> None:
    raw, tools = np.array([0.0] * 12 + [1.0] * 18), np.array([1.0] * 12 + [0.0] * 4 + [1.0] * 14)
    found = compare(raw, tools, design(np.zeros(30, dtype=np.intp), np.arange(30)))
    exact = mcnemar([[0, 12], [4, 14]], exact=True).pvalue
    assert found.test == "mid-p McNemar"
    assert found.p is not None
    assert exact / 2 < found.p < exact


def test_of_few_samples_the_own_pattern_counts_whole_and_the_test_is_called_sign_flips() -> None:
    raw, tools = np.zeros(5), np.ones(5)
    found = compare(raw, tools, design(np.zeros(5, dtype=np.intp), np.arange(5)))
    assert (found.test, found.p) == ("cluster sign-flip", 2 / 2**5)  # McNemar's mid-p is half of it


def test_arms_that_agree_everywhere_are_not_certain_to() -> None:
    found = compare(np.ones(30), np.ones(30), design(np.zeros(30, dtype=np.intp), np.arange(30)))
    upper = 1 - 0.05 ** (1 / 30)  # where 30 questions show no gain in 5 % of studies
    assert (found.diff, found.p) == (0.0, 1.0)
    assert found.ci95 == pytest.approx((-upper, upper), abs=1e-5)


def test_many_equal_pairs_in_few_clusters_are_no_effect() -> None:
    clusters = np.arange(2000) % 30
    arms = (np.random.default_rng(1).random(2000) < 0.45).astype(float)
    found = compare(arms, arms, design(np.zeros_like(clusters), clusters))
    assert found.ci90 is not None
    assert found.ci95 is not None
    assert found.ci90[1] < 0.05
    assert 0.02 < found.ci95[1] < 0.03


def test_equal_pairs_whose_clusters_are_all_of_a_kind_count_as_clusters() -> None:
    clusters = np.arange(2000) % 30
    arms = (clusters < 13).astype(float)
    found = compare(arms, arms, design(np.zeros_like(clusters), clusters))
    upper = 1 - 0.05 ** (1 / 30)
    assert found.ci95 == pytest.approx((-upper, upper), abs=1e-4)


def test_losses_of_two_whole_clusters_count_as_two_and_not_as_their_samples() -> None:
    clusters = np.repeat(np.arange(40), 6)
    lost, none = np.where(clusters < 2, 0.0, 1.0), np.ones(240)
    spread = np.where(np.arange(240) % 20 == 0, 0.0, 1.0)  # as many losses, in a cluster each
    found, single = (compare(none, arm, design(np.zeros_like(clusters), clusters)) for arm in (lost, spread))
    assert found.diff == single.diff == -0.05
    assert found.reach is not None
    assert single.reach is not None
    assert found.reach.ends(0.9)[0] < -0.12 < -0.10 < single.reach.ends(0.9)[0]


def test_arms_that_differ_everywhere_are_not_certain_to() -> None:
    found = compare(np.zeros(30), np.ones(30), design(np.zeros(30, dtype=np.intp), np.arange(30)))
    assert found.diff == 1.0
    assert found.ci95 is not None
    assert 0.5 < found.ci95[0] < 1.0 == found.ci95[1]


@pytest.mark.parametrize("scores", ["binary", "graded"])
@pytest.mark.parametrize(
    "clusters", [np.arange(60), np.arange(300), np.arange(300) // 7, np.arange(60) // 12]
)
def test_one_procedure_serves_all_scores_and_clusters(scores: str, clusters: np.ndarray) -> None:
    random = np.random.default_rng(3)
    raw, tools = random.random((2, len(clusters)))
    if scores == "binary":
        raw, tools = np.round(raw), np.round(tools)
    found = compare(raw, tools, design(np.zeros_like(clusters), clusters))
    assert found.interval_method == "inverted sign-flip and bounded likelihood"
    assert found.test in ("mid-p McNemar", "cluster sign-flip", "bounded likelihood")


def test_a_regular_loss_is_not_told_from_one_that_a_rare_gain_makes_good() -> None:
    lost = compare(np.full(60, 0.2), np.full(60, 0.18), design(np.zeros(60, dtype=np.intp), np.arange(60)))
    assert lost.test == "bounded likelihood"
    assert lost.p == pytest.approx(1.02**-60)
    shared = np.repeat(np.arange(20), 10)
    lost = compare(np.full(200, 0.2), np.full(200, 0.18), design(np.zeros_like(shared), shared))
    assert lost.p == pytest.approx(1.02**-20)


def test_small_differences_that_were_seen_are_as_alike_as_they_are() -> None:
    clusters = np.repeat(np.arange(16), 5)
    d = 0.04 + 0.16 * np.tile([-1.0, -0.5, 0.0, 0.5, 1.0], 16)  # spreads in each cluster, and between none
    shared, alone = (
        BoundedLikelihood.of(np.full(80, 0.4), 0.4 + d, design(np.zeros(80, dtype=np.intp), codes))
        for codes in (clusters, np.arange(80))
    )
    assert shared.size == alone.size == alone.size_unseen == pytest.approx(80)
    assert shared.size_unseen == pytest.approx(80 / (1 + 4 * 0.05))


def test_a_gain_in_nearly_all_unequal_clusters_is_claimed() -> None:
    sizes = [40, 30, 25, 20, 16, 13, 11, 9, 7, 5, 4, 3, 2, 1, 1]
    clusters = np.repeat(np.arange(15), sizes)
    random = np.random.default_rng(4)
    raw = random.uniform(0.0, 0.7, len(clusters))
    tools = np.clip(raw + random.normal(0.2, 0.25, len(clusters)), 0, 1)
    found = compare(raw, tools, design(np.zeros_like(clusters), clusters))
    assert found.p is not None
    assert found.p < 0.01


def test_an_interval_inside_the_margin_is_what_two_one_sided_tests_find() -> None:
    random = np.random.default_rng(8)
    for shift in (0.0, 0.02, 0.04, 0.06):
        raw = random.random(250)
        tools = np.clip(raw + random.normal(shift, 0.15, 250), 0, 1)
        found = compare(raw, tools, design(np.zeros(250, dtype=np.intp), np.arange(250)))
        p = ttost_paired(tools, raw, -0.05, 0.05)[0]
        assert found.ci90 is not None
        assert (found.ci90[0] > -0.05 and found.ci90[1] < 0.05) == (p < 0.05)


def test_one_cluster_gives_a_difference_and_no_claim() -> None:
    nowhere = np.zeros(4, dtype=np.intp)
    found = compare(np.zeros(4), np.array([1.0, 1.0, 0.0, 1.0]), design(nowhere, nowhere))
    assert (found.diff, found.ci95, found.ci90, found.p) == (0.75, None, None, None)


def test_all_wrong_and_all_right_arms_have_an_interval_of_some_width() -> None:
    plain = design(np.zeros(30, dtype=np.intp), np.arange(30))
    by_six = design(np.zeros(30, dtype=np.intp), np.arange(30) // 5)
    assert mean_score(np.zeros(30), plain).ci95 == pytest.approx(wilson(0.0, 30))
    assert mean_score(np.ones(30), by_six).ci95 == pytest.approx(wilson(1.0, 30 / 1.8))


scores = st.sampled_from([0.0, 0.0, 1.0, 0.25, 0.5, 1 / 3])


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


@pytest.mark.parametrize("kind", ["pairs", "clusters", "graded"])
def test_no_interval_leaves_out_a_zero_that_its_test_keeps(kind: str) -> None:
    random = np.random.default_rng(12)
    kept = 0
    for _ in range(60):
        clusters = np.arange(40) if kind == "pairs" else np.repeat(np.arange(12), random.integers(1, 6, 12))
        baseline = (random.random(len(clusters)) < 0.4).astype(np.float64)
        variant = np.where(random.random(len(clusters)) < 0.7, baseline, random.random(len(clusters)) < 0.7)
        if kind == "graded":
            baseline, variant = 0.6 * baseline, np.clip(variant + random.normal(0, 0.2, len(clusters)), 0, 1)
        found = compare(baseline, variant, design(np.zeros_like(clusters), clusters))
        assert found.p is not None
        assert found.reach is not None
        for level in (0.9, 0.95, 1 - 0.05 / 6):
            low, high = found.reach.ends(level)
            assert low <= found.diff <= high
            if found.p >= 1 - level:
                kept += 1
                assert low <= 0 <= high
    assert kept > 10


@pytest.mark.parametrize(("clusters_n", "holds"), [(2, True), (5, True), (6, False)])
def test_few_clusters_that_all_gain_have_the_zero_in_reach_that_sign_flips_keep(
    clusters_n: int, holds: bool
) -> None:
    clusters = np.repeat(np.arange(clusters_n), 50)
    found = compare(
        np.zeros(len(clusters)), np.ones(len(clusters)), design(np.zeros_like(clusters), clusters)
    )
    assert found.p == pytest.approx(2.0 ** (1 - clusters_n))
    assert found.ci95 is not None
    assert (found.ci95[0] <= 0) is holds
