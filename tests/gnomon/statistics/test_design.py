"""The aggregate and its error, against statsmodels and under the symmetries they must keep."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.weightstats import DescrStatsW

from gnomon.statistics.design import Design, design, strata_of

LIMITS = (-1e9, 1e9)


@st.composite
def samples(draw: st.DrawFn) -> tuple[Design, np.ndarray]:
    n = draw(st.integers(4, 30))
    whole = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    clusters = np.array(draw(whole)) % max(2, n // 2)
    clusters[:2] = (0, 1)
    values = np.array(draw(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=n, max_size=n)))
    return design(np.array(draw(whole)) % 3, clusters), values


def test_equal_clusters_have_the_cluster_robust_error_of_statsmodels() -> None:
    random = np.random.default_rng(3)
    clusters = np.repeat(np.arange(12), 5)
    values = random.normal(size=len(clusters)) + random.normal(size=12)[clusters]
    found = design(np.zeros_like(clusters), clusters).estimate(values, limits=LIMITS)
    fit = OLS(values, np.ones_like(values)).fit(
        cov_type="cluster",
        cov_kwds={"groups": clusters, "use_correction": False},
        use_t=True,
    )
    assert found.value == pytest.approx(fit.params[0])
    assert found.se == pytest.approx(fit.bse[0] * np.sqrt(12 / 11))
    assert found.df == pytest.approx(11)


@pytest.mark.parametrize("icc", [0.0, 0.3, 1.0])
def test_unequal_clusters_have_the_error_and_degrees_of_freedom_of_cr2(icc: float) -> None:
    random = np.random.default_rng(6)
    clusters = np.repeat(np.arange(7), [9, 2, 2, 5, 1, 3, 4])
    strata = np.concatenate([np.arange(24) % 2, [0, 1]])
    values = random.normal(size=26) + random.normal(size=7)[clusters]
    x = np.eye(2)[strata]
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    residuals = values - hat @ values
    rows = []
    for cluster in range(7):
        of = clusters == cluster
        weights, vectors = np.linalg.eigh(np.eye(of.sum()) - hat[np.ix_(of, of)])
        adjusted = vectors @ np.diag(weights**-0.5) @ vectors.T
        load = (x[of] @ np.linalg.inv(x.T @ x) @ np.array([0.5, 0.5])) @ adjusted
        rows.append(load @ (np.eye(26) - hat)[of])
    covariance = (1 - icc) * np.eye(26) + icc * (clusters[:, None] == clusters[None, :])
    gamma = np.array(rows) @ covariance @ np.array(rows).T
    grouping = design(strata, clusters)
    assert np.sum(grouping.influence(values) ** 2) == pytest.approx(np.sum((np.array(rows) @ residuals) ** 2))
    expected = np.trace(gamma) ** 2 / np.trace(gamma @ gamma)
    assert grouping.degrees_of_freedom(icc) == pytest.approx(expected)


def test_kin_are_as_alike_as_was_planted_and_worth_as_much() -> None:
    random = np.random.default_rng(7)
    clusters = np.repeat(np.arange(400), random.integers(2, 12, 400))
    values = random.normal(scale=0.3**0.5, size=400)[clusters] + random.normal(
        scale=0.7**0.5, size=len(clusters)
    )
    grouping = design(np.zeros_like(clusters), clusters)
    assert grouping.icc(values) == pytest.approx(0.3, abs=0.06)
    assert grouping.effective_samples(0.0) == pytest.approx(grouping.n)
    assert grouping.effective_samples(1.0) == pytest.approx(grouping.effective_clusters)
    equal = design(np.zeros(60, dtype=np.intp), np.arange(60) // 6)
    assert equal.effective_samples(0.2) == pytest.approx(60 / (1 + 5 * 0.2))


def test_independent_samples_have_the_error_of_the_plain_mean() -> None:
    values = np.random.default_rng(4).random(25)
    found = design(np.zeros(25, dtype=np.intp), np.arange(25)).estimate(values, limits=LIMITS)
    assert found.se == pytest.approx(DescrStatsW(values).std_mean)
    assert found.df == 24


def test_the_mean_of_cells_has_the_textbook_error_of_a_stratified_sample() -> None:
    random = np.random.default_rng(5)
    strata = np.repeat([0, 1, 2], [4, 9, 20])
    values = random.normal(size=33) * (1 + strata)
    found = design(strata, np.arange(33)).estimate(values, limits=LIMITS)
    cells = [values[strata == code] for code in range(3)]
    assert found.value == pytest.approx(np.mean([cell.mean() for cell in cells]))
    variance = sum(cell.var(ddof=1) / len(cell) for cell in cells) / 9
    assert found.se == pytest.approx(np.sqrt(variance))


def test_equal_cells_of_independent_samples_cost_a_degree_of_freedom_each() -> None:
    found = design(np.repeat(np.arange(14), 3), np.arange(42)).estimate(np.arange(42.0), limits=LIMITS)
    assert found.df == pytest.approx(42 - 14)


def test_a_tiny_cell_that_makes_the_noise_leaves_few_degrees_of_freedom() -> None:
    strata = np.repeat([0, 1], [3, 200])
    found = design(strata, np.arange(203)).estimate(np.arange(203.0), limits=LIMITS)
    assert found.df is not None
    assert found.df < 3


def test_a_cluster_that_dominates_leaves_few_degrees_of_freedom() -> None:
    clusters = np.array([0] * 60 + list(range(1, 41)))
    found = design(np.zeros_like(clusters), clusters).estimate(np.arange(100.0), limits=LIMITS)
    assert found.df is not None
    assert found.df < 5


def test_a_cell_within_one_cluster_is_not_taken_for_certain() -> None:
    strata, clusters = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    found = design(strata, clusters).estimate(np.array([1.0, 1.0, 0.0, 0.0]), limits=(0, 1))
    assert found.se is not None
    assert found.se > 0.3


def test_one_cluster_says_nothing_about_chance() -> None:
    found = design(np.zeros(5, dtype=np.intp), np.zeros(5, dtype=np.intp)).estimate(
        np.arange(5.0), limits=LIMITS
    )
    assert (found.value, found.se, found.interval(), found.p_value()) == (2.0, None, None, None)


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        design(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


def test_the_headline_decides_what_is_averaged() -> None:
    cells, values = np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 0.0])
    by_headline = {
        headline: design(strata_of(cells, headline), np.arange(4)).mean(values)
        for headline in ("mean_of_cells", "mean_of_samples")
    }
    assert by_headline == {"mean_of_cells": 0.5, "mean_of_samples": 0.75}


@given(samples(), st.floats(-3, 3), st.floats(0.1, 3))
def test_shifting_moves_the_mean_alone_and_scaling_scales_both(
    given_samples: tuple[Design, np.ndarray], shift: float, scale: float
) -> None:
    grouping, values = given_samples
    before = grouping.estimate(values, limits=LIMITS)
    after = grouping.estimate(scale * values + shift, limits=LIMITS)
    assert after.value == pytest.approx(scale * before.value + shift, abs=1e-9)
    assert after.se == pytest.approx(scale * (before.se or 0.0), abs=1e-9)
    assert after.df == pytest.approx(before.df)


@given(samples(), st.randoms(use_true_random=False))
def test_the_order_and_the_names_of_cells_and_clusters_do_not_matter(
    given_samples: tuple[Design, np.ndarray], random: Random
) -> None:
    grouping, values = given_samples
    order = list(range(len(values)))
    random.shuffle(order)
    shuffled = design(7 - grouping.strata[order], 90 - grouping.clusters[order])
    before = grouping.estimate(values, limits=LIMITS)
    after = shuffled.estimate(values[order], limits=LIMITS)
    assert after.value == pytest.approx(before.value, abs=1e-9)
    assert after.se == pytest.approx(before.se, abs=1e-9)
    assert after.df == pytest.approx(before.df)


@given(samples())
def test_the_weights_add_up_to_one(given_samples: tuple[Design, np.ndarray]) -> None:
    grouping, _ = given_samples
    assert grouping.weights.sum() == pytest.approx(1.0)
    assert 1.0 <= grouping.effective_clusters <= grouping.clusters_n + 1e-9
