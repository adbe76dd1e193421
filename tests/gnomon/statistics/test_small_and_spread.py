"""Small samples, reliability, spread, pooling and agreement, against draws, enumeration and statsmodels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels
from statsmodels.stats.meta_analysis import combine_effects

from gnomon_analyses.statistics.agreement import cluster_counts, cohen_kappa, fleiss_kappa
from gnomon_analyses.statistics.pooling import partial_pooling
from gnomon_analyses.statistics.reliability import pass_hat_k
from gnomon_analyses.statistics.variance_components import variance_split


def test_clusters_are_drawn_whole() -> None:
    assert np.all(cluster_counts(4).sum(axis=1) == 4)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, 7))))
def test_pass_k_counts_every_choice_of_tries(case: tuple[int, int, int]) -> None:
    successes, tries, k = case
    found = float(pass_hat_k(np.array([successes]), np.array([tries]), k)[0])
    if k > tries:
        assert np.isnan(found)
        return
    choices = list(itertools.combinations([True] * successes + [False] * (tries - successes), k))
    assert found == pytest.approx(np.mean([all(c) for c in choices]))


def test_the_variance_split_finds_what_was_planted() -> None:
    random, n, repeats = np.random.default_rng(5), 4000, 4
    effect = random.normal(0.1, 0.2, n)
    raw = random.normal(0.0, 0.3, (repeats, n))
    tools = effect + random.normal(0.0, 0.1, (repeats, n))
    tries = np.full(n, float(repeats))
    split = variance_split(
        raw.var(axis=0, ddof=1), tools.var(axis=0, ddof=1), tries, tries, (tools - raw).mean(axis=0)
    )
    assert split is not None
    assert split.between == pytest.approx(0.04, rel=0.15)
    assert split.within == pytest.approx(0.10, rel=0.05)
    assert split.se(samples=n, repeats=4) == pytest.approx(
        np.std((tools - raw).mean(axis=0)) / n**0.5, rel=0.02
    )
    assert split.advice == "more samples"


def test_one_repeat_cannot_be_split() -> None:
    ones, unknown = np.ones(9), np.full(9, np.nan)
    assert variance_split(unknown, unknown, ones, ones, np.arange(9.0)) is None


def test_pooling_agrees_with_the_random_effects_of_statsmodels() -> None:
    random = np.random.default_rng(6)
    errors = random.uniform(0.03, 0.12, 14)
    values = random.normal(0.1, 0.1, 14) + random.normal(0, errors)
    mine = partial_pooling(values.tolist(), errors.tolist())
    theirs = combine_effects(values, errors**2, method_re="iterated")
    assert mine is not None
    assert mine.tau**2 == pytest.approx(theirs.tau2, rel=1e-3)
    assert mine.mean == pytest.approx(theirs.mean_effect_re, rel=1e-4)
    assert mine.mean_se == pytest.approx(theirs.sd_eff_w_re, rel=1e-3)


@given(st.lists(st.tuples(st.floats(-0.5, 0.5), st.floats(0.02, 0.3)), min_size=3, max_size=15))
def test_pooling_moves_every_cell_towards_the_mean_and_never_past_it(
    cells: list[tuple[float, float]],
) -> None:
    values, errors = [list(column) for column in zip(*cells, strict=True)]
    pooled = partial_pooling(values, errors)
    assert pooled is not None
    for value, calmed, (low, high) in zip(values, pooled.values, pooled.ci95, strict=True):
        assert min(value, pooled.mean) - 1e-9 <= calmed <= max(value, pooled.mean) + 1e-9
        assert low <= calmed <= high


@pytest.mark.parametrize("tau", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("errors", [[0.1] * 4, [0.05, 0.1, 0.2, 0.1, 0.05, 0.3, 0.1], [0.1, 0.2] * 7])
def test_pooled_intervals_hold_the_cells_own_effects(errors: list[float], tau: float) -> None:
    random, held, widths = np.random.default_rng(8), [], []
    for _ in range(75):
        effects = random.normal(0.1, tau, len(errors))
        pooled = partial_pooling((effects + random.normal(0, errors)).tolist(), errors)
        assert pooled is not None
        held += [low <= effect <= high for effect, (low, high) in zip(effects, pooled.ci95, strict=True)]
        widths += [(high - low) / error for error, (low, high) in zip(errors, pooled.ci95, strict=True)]
    assert np.mean(held) >= 0.935
    assert np.mean(widths) <= 2 * 1.96 * 1.02


def test_two_cells_are_not_pooled() -> None:
    assert partial_pooling([0.1, 0.2], [0.1, 0.1]) is None
    assert partial_pooling([0.1, 0.2, 0.3], [0.1, 0.0, 0.1]) is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=40))
def test_kappa_is_that_of_statsmodels(labels: list[tuple[str, str]]) -> None:
    one, other = [a for a, _ in labels], [b for _, b in labels]
    table = np.array([[labels.count((a, b)) for b in "abc"] for a in "abc"])
    mine = cohen_kappa(one, other)
    if mine is None:
        assert len(set(one + other)) == 1
        return
    assert mine == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-9)


@given(st.lists(st.lists(st.sampled_from([0, 1, 2]), min_size=3, max_size=3), min_size=2, max_size=20))
def test_fleiss_kappa_is_that_of_statsmodels(labels: list[list[int]]) -> None:
    counts = [[item.count(label) for label in range(3)] for item in labels]
    mine = fleiss_kappa(counts)
    if mine is not None:
        assert mine == pytest.approx(fleiss_of_statsmodels(counts), abs=1e-9)


def test_judges_that_judged_different_items_have_no_kappa() -> None:
    with pytest.raises(ValueError, match="same items, got 1 and 2"):
        cohen_kappa("a", "ab")
    with pytest.raises(ValueError, match="same number of judges"):
        fleiss_kappa([[2, 0], [1, 0]])
