"""Margins and the test of equivalence, against statsmodels and the intervals that they must agree with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import ttost_paired

from gnomon.statistics.design import design
from gnomon.statistics.equivalence import Limits, Margin
from gnomon.statistics.paired import compare


@pytest.mark.parametrize(
    ("baseline", "reach"),
    [(0.5, 0.05), (0.1, 0.05), (0.05, 0.025), (0.02, 0.01), (0.0, 0.01), (0.98, 0.01), (0.94, 0.03)],
)
def test_an_absolute_margin_is_narrower_near_the_ends(baseline: float, reach: float) -> None:
    limits = Margin(kind="absolute", size=0.05).around(baseline)
    assert limits.ends == pytest.approx((-reach, reach))
    assert bool(limits.why) == (reach < 0.05)


@given(
    st.sampled_from([("absolute", 0.05), ("relative", 0.1), ("odds", 1.2)]),
    st.floats(0.001, 0.999),
)
def test_the_slopes_are_those_of_the_limits(kind: tuple[str, float], baseline: float) -> None:
    margin = Margin(kind=kind[0], size=kind[1])  # type: ignore[arg-type]
    step = 1e-7
    before, after = margin.around(baseline - step), margin.around(baseline + step)
    at = margin.around(baseline)
    if (
        before.why != after.why
        or before.low_slope * after.low_slope < 0
        or (kind[0] == "absolute" and abs(before.low_slope - after.low_slope) > 0)
    ):
        return  # a corner of the absolute margin
    assert at.low_slope == pytest.approx((after.low - before.low) / (2 * step), abs=1e-4)
    assert at.high_slope == pytest.approx((after.high - before.high) / (2 * step), abs=1e-4)


def test_odds_are_as_many_times_as_high_at_the_limit() -> None:
    limits = Margin(kind="odds", size=1.5).around(0.2)
    for value, ratio in ((0.2 + limits.high, 1.5), (0.2 + limits.low, 1 / 1.5)):
        assert value / (1 - value) / (0.2 / 0.8) == pytest.approx(ratio)


def test_p_of_equivalence_is_no_less_than_that_of_two_one_sided_t_tests() -> None:
    random = np.random.default_rng(8)
    raw = random.random(250)
    tools = np.clip(raw + random.normal(0.02, 0.15, 250), 0, 1)
    found = compare(raw, tools, design(np.zeros(250, dtype=np.intp), np.arange(250)))
    assert found.reach is not None
    by_t = ttost_paired(tools, raw, -0.05, 0.05)[0]
    assert by_t < found.reach.outside(Limits(low=-0.05, high=0.05)) < 0.01


@pytest.mark.parametrize("kind", ["pairs", "few flips", "clusters", "graded", "equal"])
def test_p_of_equivalence_is_below_5_percent_just_where_the_90_percent_interval_is_inside(kind: str) -> None:
    random = np.random.default_rng(9)
    clusters = np.arange(140) if kind == "pairs" else np.arange(140) // 7
    raw = np.round(random.random(140))
    tools = np.where(random.random(140) < (0.01 if kind == "few flips" else 0.2), 1 - raw, raw)
    if kind == "graded":
        raw, tools = random.random((2, 140))
    if kind == "equal":
        tools = raw
    found = compare(raw, tools, design(np.zeros(140, dtype=np.intp), clusters))
    assert found.reach is not None
    assert found.ci90 is not None
    reach = max(abs(end) for end in found.ci90)
    inside, outside = (Limits(low=-reach * scale, high=reach * scale) for scale in (1.05, 0.95))
    assert found.reach.outside(outside) > 0.05 > found.reach.outside(inside)


def test_a_margin_that_moves_with_the_baseline_counts_its_error_too() -> None:
    arms = (np.arange(400) < 80).astype(float)
    found = compare(arms, arms, design(np.zeros(400, dtype=np.intp), np.arange(400)))
    assert found.reach is not None
    fixed = found.reach.outside(Limits(low=-0.02, high=0.02))
    moving = found.reach.outside(Limits(low=-0.02, high=0.02, low_slope=-1.0, high_slope=1.0))
    assert fixed < moving < 0.5
