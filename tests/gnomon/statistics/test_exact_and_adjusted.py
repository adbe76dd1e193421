"""Exact tests, adjustments, Wilson's interval and planning, against SciPy and statsmodels."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from gnomon.statistics.design import design
from gnomon.statistics.estimate import wilson
from gnomon.statistics.multiple_testing import benjamini_hochberg, holm
from gnomon.statistics.permutation import SignFlips, sign_flip_p

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def of_pairs(rescued: int, broken: int, n: int) -> SignFlips:
    """The test of so many single questions that became right, and wrong."""
    d = np.array([1.0] * rescued + [-1.0] * broken + [0.0] * (n - rescued - broken))
    return SignFlips.of(d, design(np.zeros(n, dtype=np.intp), np.arange(n)))


def mcnemar_midp(rescued: int, broken: int) -> float:
    """The exact test less half the chance of what was seen."""
    n = rescued + broken
    exact = binomtest(rescued, n).pvalue if n else 1.0
    return 1.0 if rescued == broken else float(exact - binom.pmf(min(rescued, broken), n, 0.5))


@given(st.integers(0, 7), st.integers(0, 7))
def test_sign_flips_of_single_answers_are_mcnemars_mid_p(rescued: int, broken: int) -> None:
    own = 0.5**14  # what is seen counts whole
    assert of_pairs(rescued, broken, 14).p() == pytest.approx(min(1, mcnemar_midp(rescued, broken) + own))
    assert of_pairs(rescued, broken, 14).p() == of_pairs(broken, rescued, 14).p()


@pytest.mark.parametrize(("rescued", "broken"), [(5, 0), (9, 3), (20, 8), (14, 14)])
def test_drawn_sign_flips_come_close_to_mcnemars_mid_p(rescued: int, broken: int) -> None:
    assert of_pairs(rescued, broken, 60).p() == pytest.approx(mcnemar_midp(rescued, broken), abs=0.01)


def test_fewer_than_five_one_sided_flips_never_reach_five_percent() -> None:
    assert [of_pairs(n, 0, 60).p() < 0.05 for n in range(1, 7)] == [False] * 4 + [True] * 2


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_sign_flips_count_every_pattern(sums: list[int]) -> None:
    observed = abs(sum(sums))
    patterns = [
        abs(sum(s * v for s, v in zip(signs, sums, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    expected = np.mean([value >= observed for value in patterns])
    assert sign_flip_p(np.array(sums, dtype=np.float64)) == pytest.approx(expected)


def test_drawn_sign_flips_agree_with_the_normal_limit_and_repeat() -> None:
    sums = np.random.default_rng(0).normal(0.4, 1.0, 40)
    z = abs(sums.sum()) / np.sqrt(np.sum(sums**2))
    assert sign_flip_p(sums) == pytest.approx(2 * norm.sf(z), abs=0.01)
    assert sign_flip_p(sums) == sign_flip_p(sums)


@settings(deadline=None, max_examples=20)
@given(p_lists)
def test_adjusted_p_values_are_those_of_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())
    assert benjamini_hochberg(p_values) == pytest.approx(multipletests(p_values, method="fdr_bh")[1].tolist())


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_statsmodels(hits_of: tuple[int, int]) -> None:
    hits, n = hits_of
    assert wilson(hits / n, n) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)
