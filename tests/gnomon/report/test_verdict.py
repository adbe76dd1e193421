"""The rules of the verdict, literally, over whatever numbers a comparison may have."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.report.verdict import judge
from gnomon.statistics.paired import Comparison

MARGIN = 0.05
ends = st.tuples(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2)).map(lambda pair: tuple(sorted(pair)))
p_values = st.sampled_from([0.001, 0.049, 0.05, 0.3])


def comparison(
    diff: float, ci95: tuple[float, float], *, p: float = 0.01, check_p: float | None
) -> Comparison:
    """A comparison whose 90 % interval is half as wide as its 95 % one."""
    ci90 = ((ci95[0] + diff) / 2, (ci95[1] + diff) / 2)
    return Comparison(
        diff=diff,
        ci95=ci95,
        ci90=ci90,
        interval_method="t",
        p=p,
        test="t",
        check_p=check_p,
        mde=0.1,
        n=40,
        clusters=40,
    )


@settings(deadline=None, max_examples=500)
@given(
    st.tuples(ends, st.floats(0, 1)),
    p_values,
    st.none() | p_values,
    st.tuples(ends, st.floats(0, 1)),
    st.sampled_from([(0.0, 0.0), (0.01, 0.03), (0.01, 0.04)]),
)
def test_a_verdict_keeps_every_one_of_its_rules(
    interval: tuple[tuple[float, float], float],
    p_adjusted: float,
    check_p: float | None,
    reach: tuple[tuple[float, float], float],
    missing: tuple[float, float],
) -> None:
    (low, high), share = interval
    found = comparison(low + share * (high - low), (low, high), check_p=check_p)
    bounds = reach[0]
    verdict, reasons = judge(found, p_adjusted=p_adjusted, bounds=bounds, missing=missing, margin=MARGIN)
    is_sure = p_adjusted < 0.05 and (check_p is None or check_p < 0.05)
    is_even = missing != (0.01, 0.04)
    ci90 = found.ci90 or (-1.0, 1.0)
    is_small = all(abs(end) < MARGIN for end in (*ci90, *bounds))
    expected = "undecided"
    if is_even and is_sure and low > 0 and bounds[0] > 0:
        expected = "helps"
    elif is_even and is_sure and high < 0 and bounds[1] < 0:
        expected = "hurts"
    elif is_even and is_small:
        expected = "no_effect"
    assert verdict == expected
    assert bool(reasons) == (verdict == "undecided")


def test_a_small_difference_that_is_not_sure_may_still_be_no_effect() -> None:
    found = comparison(0.02, (0.001, 0.039), check_p=0.06)
    assert judge(found, p_adjusted=0.04, bounds=(0.02, 0.02), missing=(0, 0), margin=MARGIN) == (
        "no_effect",
        [],
    )


def test_bounds_on_the_other_side_of_zero_forbid_a_verdict() -> None:
    found = comparison(0.3, (0.1, 0.5), check_p=None)
    verdict, reasons = judge(found, p_adjusted=0.01, bounds=(-0.3, -0.1), missing=(0, 0), margin=MARGIN)
    assert verdict == "undecided"
    assert "missing trials could undo it" in reasons[0]


def test_an_effect_that_is_only_significant_before_adjusting_is_undecided() -> None:
    found = comparison(0.3, (0.1, 0.5), p=0.03, check_p=None)
    verdict, reasons = judge(found, p_adjusted=0.06, bounds=(0.3, 0.3), missing=(0, 0), margin=MARGIN)
    assert (verdict, reasons) == ("undecided", ["p is 0.060 after adjusting for the number of comparisons"])
