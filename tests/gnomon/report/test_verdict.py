"""The rules of the verdict, literally, over whatever numbers a comparison may have."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.report.verdict import is_withheld, judge
from gnomon.statistics.loss import Loss
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
        n=40,
        clusters=40,
        se=0.1,
    )


def a_loss(*, p: float, modelled: float, worst: tuple[float, float]) -> Loss:
    """Lost trials that move a difference of 0 to `modelled`, and add no error of their own."""
    return Loss(shares=(0.01, 0.04), p=p, observed=0.0, modelled=modelled, worst=worst, se=0.0)


@settings(deadline=None, max_examples=500)
@given(
    st.tuples(ends, st.floats(0, 1)),
    p_values,
    st.none() | p_values,
    st.tuples(ends, st.floats(0, 1)),
    st.sampled_from([None, 0.049, 0.05, 1.0]),
)
def test_a_verdict_keeps_every_one_of_its_rules(
    interval: tuple[tuple[float, float], float],
    p_adjusted: float,
    check_p: float | None,
    reach: tuple[tuple[float, float], float],
    loss_p: float | None,
) -> None:
    (low, high), share = interval
    (least, most), between = reach
    found = comparison(low + share * (high - low), (low, high), check_p=check_p)
    modelled = least + between * (most - least)
    loss = None if loss_p is None else a_loss(p=loss_p, modelled=modelled, worst=(least, most))
    shifts = [(0.0, 0.0)]
    if loss_p is not None:
        shifts.append((modelled, modelled))
    if loss_p == 0.049:
        shifts.append((least, most))
    verdict, reasons = judge(found, p_adjusted=p_adjusted, loss=loss, margin=(-MARGIN, MARGIN))
    is_sure = p_adjusted < 0.05 and (check_p is None or check_p < 0.05)
    ci90 = found.ci90 or (-1.0, 1.0)
    expected = "undecided"
    if is_sure and low > 0 and all(low + shift[0] > 0 for shift in shifts):
        expected = "helps"
    elif is_sure and high < 0 and all(high + shift[1] < 0 for shift in shifts):
        expected = "hurts"
    elif all(ci90[0] + shift[0] > -MARGIN and ci90[1] + shift[1] < MARGIN for shift in shifts):
        expected = "no_effect"
    assert verdict == expected
    assert bool(reasons) == (verdict == "undecided")


def test_a_small_difference_that_is_not_sure_may_still_be_no_effect() -> None:
    found = comparison(0.02, (0.001, 0.039), check_p=0.06)
    assert judge(found, p_adjusted=0.04, loss=None, margin=(-MARGIN, MARGIN)) == ("no_effect", [])


@pytest.mark.parametrize(
    ("loss", "says", "withheld"),
    [
        (a_loss(p=0.01, modelled=0.0, worst=(-0.2, 0.0)), "the arms lost trials unequally", True),
        (a_loss(p=0.2, modelled=-0.2, worst=(-0.2, -0.2)), "modelled on their items' difficulty", False),
    ],
)
def test_a_withheld_claim_says_which_rule_on_lost_trials_forbids_it(
    loss: Loss, says: str, withheld: bool
) -> None:
    found = comparison(0.3, (0.1, 0.5), check_p=None)
    verdict, [reason] = judge(found, p_adjusted=0.01, loss=loss, margin=(-MARGIN, MARGIN))
    assert verdict == "undecided"
    assert says in reason
    assert is_withheld(found, loss) is withheld


def test_unequal_loss_that_cannot_turn_the_difference_forbids_nothing() -> None:
    found = comparison(0.3, (0.1, 0.5), check_p=None)
    loss = a_loss(p=0.001, modelled=0.0, worst=(-0.05, 0.05))
    assert judge(found, p_adjusted=0.01, loss=loss, margin=(-MARGIN, MARGIN)) == ("helps", [])
    assert not is_withheld(found, loss)


def test_an_effect_that_is_only_significant_before_adjusting_is_undecided() -> None:
    found = comparison(0.3, (0.1, 0.5), p=0.03, check_p=None)
    verdict, reasons = judge(found, p_adjusted=0.06, loss=None, margin=(-MARGIN, MARGIN))
    assert (verdict, reasons) == ("undecided", ["p is 0.060 after adjusting for the number of comparisons"])


def test_equivalence_that_is_only_shown_before_adjusting_is_undecided() -> None:
    found = comparison(0.0, (-0.03, 0.03), p=0.9, check_p=None)
    verdict, reasons = judge(found, p_adjusted=0.9, loss=None, margin=(-MARGIN, MARGIN), equivalence_p=0.06)
    assert verdict == "undecided"
    assert reasons[-1] == "p of equivalence is 0.060 after adjusting for the number of comparisons"


def test_a_large_difference_is_not_excused_by_its_p_of_equivalence() -> None:
    found = comparison(0.3, (0.1, 0.5), check_p=0.0625)
    _, reasons = judge(found, p_adjusted=0.01, loss=None, margin=(-MARGIN, MARGIN), equivalence_p=1.0)
    assert reasons == ["the sign-flip check over clusters does not agree (p 0.062)"]


def test_an_interval_that_is_wider_than_its_p_says_so() -> None:
    found = comparison(0.1, (-0.1, 0.3), p=0.006, check_p=None)
    _, reasons = judge(found, p_adjusted=0.006, loss=None, margin=(-MARGIN, MARGIN))
    assert reasons == ["the interval holds zero, though p is 0.006, and also effects larger than 5 points"]


def test_an_interval_that_ends_at_the_zero_its_p_keeps_names_the_p() -> None:
    found = comparison(1.0, (0.0, 1.0), p=0.0625, check_p=None)
    _, reasons = judge(found, p_adjusted=0.0625, loss=None, margin=(-MARGIN, MARGIN), equivalence_p=1.0)
    assert reasons == ["p is 0.062 after adjusting for the number of comparisons"]


def test_no_reason_speaks_of_effects_larger_than_a_margin_of_nothing() -> None:
    found = comparison(0.0, (-0.1, 0.1), p=1.0, check_p=None)
    assert judge(found, p_adjusted=1.0, loss=None, margin=(0.0, 0.0))[1] == ["the interval holds zero"]


def test_trials_that_have_not_run_yet_are_not_called_lost() -> None:
    found = comparison(0.3, (0.1, 0.5), check_p=None)
    loss = a_loss(p=0.01, modelled=0.0, worst=(-0.2, 0.0))
    _, [reason] = judge(found, p_adjusted=0.01, loss=loss, margin=(-MARGIN, MARGIN), interim=True)
    assert reason.startswith(
        "the arms are not equally far (1.0% and 4.0% of baseline and variant are missing"
    )
    assert "or not run yet" in reason
