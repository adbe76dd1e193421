"""The slope over difficulty against statsmodels and SciPy, and where there is none."""

import numpy as np
import pytest
from scipy.stats import ttest_ind
from statsmodels.regression.linear_model import OLS
from statsmodels.tools.tools import add_constant

from gnomon_analyses.statistics.dose_response import slope


def test_of_single_items_its_error_is_that_of_hc2() -> None:
    random = np.random.default_rng(0)
    x = random.random(40)
    y = 0.3 * x + random.normal(0, 0.1 + x / 3)
    line, regression = slope(x, y, np.arange(40)), OLS(y, add_constant(x)).fit(cov_type="HC2")
    assert (line.value, line.se) == pytest.approx((regression.params[1], regression.bse[1]))


def test_of_two_levels_it_is_welchs_t() -> None:
    y = np.random.default_rng(1).normal(size=19)
    x = (np.arange(19) < 7).astype(float)
    line, welch = slope(x, y, np.arange(19)), ttest_ind(y[:7], y[7:], equal_var=False)
    assert line.value / line.se == pytest.approx(welch.statistic)
    sizes = np.array([7.0, 12.0])
    assert line.df == pytest.approx(np.sum(1 / sizes) ** 2 / np.sum(1 / sizes**2 / (sizes - 1)))


def test_whole_clusters_count_once() -> None:
    random = np.random.default_rng(2)
    x, y = random.random(24), random.normal(size=24)
    once = slope(x, y, np.arange(24))
    twice = slope(np.tile(x, 2), np.tile(y, 2), np.tile(np.arange(24), 2))
    assert twice.value == pytest.approx(once.value)
    assert twice.se == pytest.approx(once.se, rel=0.02)
    assert twice.df == pytest.approx(once.df, rel=0.05)


def test_levels_of_groups_are_taken_out() -> None:
    random = np.random.default_rng(3)
    groups = np.repeat([0, 1], 30)
    x = random.random(60) + groups
    y = 0.5 * x - 2 * groups + random.normal(0, 0.05, 60)
    assert slope(x, y, np.arange(60), groups).value == pytest.approx(0.5, abs=0.1)
    assert slope(x, y, np.arange(60)).value < 0


@pytest.mark.parametrize(
    ("x", "clusters", "says"),
    [
        (np.full(10, 0.5), np.arange(10), "equally hard"),
        (np.array([1.0, *[0.0] * 9]), np.arange(10), "too few"),
    ],
)
def test_where_items_do_not_differ_there_is_no_slope(x: np.ndarray, clusters: np.ndarray, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        slope(x, np.random.default_rng(4).normal(size=10), clusters)
