"""The rules of the verdict, literally, over whatever numbers a comparison may have."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.simulated import compared
from gnomon.report.adjustment import adjusted_alone
from gnomon.report.compared_pair import PairResult
from gnomon.report.comparing import rulings
from gnomon.report.verdict import Ruling, is_withheld, judge, rests_on_the_rest
from gnomon.statistics.estimate import Ends
from gnomon.statistics.loss import Loss
from gnomon.statistics.paired import Comparison
from gnomon.statistics.reach import Reach

MARGIN = 0.05
ends = st.tuples(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2)).map(lambda pair: tuple(sorted(pair)))
p_values = st.sampled_from([0.001, 0.049, 0.05, 0.3])


@dataclass
class Given:
    """A reach whose 90 % interval is half as wide as its 95 % one."""

    diff: float
    ci95: Ends

    def ends(self, level: float) -> Ends:
        low, high = self.ci95
        return self.ci95 if level >= 0.95 else ((low + self.diff) / 2, (high + self.diff) / 2)


def comparison(diff: float, ci95: Ends, *, p: float = 0.01) -> Comparison:
    reach = cast("Reach", Given(diff, ci95))
    return Comparison(diff=diff, interval_method="t", p=p, test="t", n=40, clusters=40, se=0.1, reach=reach)


def a_loss(modelled: float) -> Loss:
    """Lost trials that move a difference of 0 to `modelled`, and add no error of their own."""
    return Loss(shares=(0.01, 0.04), surplus=(), observed=0.0, modelled=modelled, se=0.0)


@settings(deadline=None, max_examples=500)
@given(st.tuples(ends, st.floats(0, 1)), p_values, st.none() | st.floats(-0.2, 0.2))
def test_a_verdict_keeps_every_one_of_its_rules(
    interval: tuple[Ends, float], p_adjusted: float, modelled: float | None
) -> None:
    (low, high), share = interval
    p = 0.001 if low > 0 or high < 0 else 0.3
    p_adjusted = max(p, p_adjusted)
    found = comparison(low + share * (high - low), (low, high), p=p)
    loss = None if modelled is None else a_loss(modelled)
    shifts = [0.0] if modelled is None else [0.0, modelled]
    verdict, reasons = judge(found, p_adjusted=p_adjusted, loss=loss, margin=(-MARGIN, MARGIN))
    ci90 = found.ci90 or (-1.0, 1.0)
    expected = "undecided"
    if p_adjusted < 0.05 and all(low + shift > 0 for shift in shifts):
        expected = "helps"
    elif p_adjusted < 0.05 and all(high + shift < 0 for shift in shifts):
        expected = "hurts"
    elif all(ci90[0] + shift > -MARGIN and ci90[1] + shift < MARGIN for shift in shifts):
        expected = "no_effect"
    assert verdict == expected
    assert bool(reasons) == (verdict == "undecided")


def test_the_model_of_lost_trials_may_forbid_a_claim() -> None:
    found = comparison(0.3, (0.1, 0.5))
    loss = a_loss(-0.2)
    verdict, [reason] = judge(found, p_adjusted=0.01, loss=loss, margin=(-MARGIN, MARGIN))
    assert verdict == "undecided"
    assert "modelled on their items' difficulty" in reason


def lost_of(shares: tuple[int, int], *, n: int = 300, gain: int = 60) -> PairResult:
    """A tenth of `n` single questions or more gained, and so many trials of each arm lost."""
    scores = np.zeros((2, n))
    scores[:, n // 2 :] = 1.0
    scores[1, :gain] = 1.0
    for arm, lost in enumerate(shares):
        scores[arm, -1 - arm - 2 * np.arange(lost)] = np.nan
    return compared(scores, np.arange(n))


def ruled(result: PairResult) -> tuple[Ruling, Ruling]:
    return rulings(result, adjusted_alone(result))


def test_a_claim_that_holds_whatever_was_lost_says_nothing_of_it() -> None:
    result = lost_of((12, 12))
    scored, judged = ruled(result)
    assert judged == scored == ("helps", [])
    text = rests_on_the_rest(result, "helps", is_claimed=True, margin=(-MARGIN, MARGIN))
    assert text == " This holds whatever the 4.0 % and 4.0 % of their trials that have no score had scored."


def test_a_claim_that_lost_trials_could_undo_is_withheld_and_says_what_it_would_rest_on() -> None:
    result = lost_of((18, 18), gain=24)
    scored, (verdict, [why]) = ruled(result)
    assert scored == ("helps", [])
    assert verdict == "undecided"
    assert why.startswith(
        "6.0 % and 6.0 % of the trials of baseline and variant have no score: at worst the interval"
    )
    assert not is_withheld(result)
    text = rests_on_the_rest(result, "helps", is_claimed=False, margin=(-MARGIN, MARGIN))
    assert (
        "If the 6.0 % and 6.0 % of their trials that have no score are like the rest, it does better" in text
    )


def test_a_claim_may_rest_on_hardly_a_lost_trial_and_says_so() -> None:
    result = lost_of((3, 3), gain=7)
    scored, judged = ruled(result)
    assert judged == scored == ("helps", [])
    text = rests_on_the_rest(result, "helps", is_claimed=True, margin=(-MARGIN, MARGIN))
    assert text == " This holds if the 1.0 % and 1.0 % of their trials that have no score are like the rest."


def test_no_figure_is_named_where_unequal_loss_could_turn_the_difference() -> None:
    assert is_withheld(lost_of((0, 30), gain=24))
    assert not is_withheld(lost_of((0, 30), gain=90))


def test_an_effect_that_is_only_significant_before_adjusting_is_undecided() -> None:
    found = comparison(0.3, (0.1, 0.5), p=0.03)
    verdict, reasons = judge(found, p_adjusted=0.06, loss=None, margin=(-MARGIN, MARGIN))
    assert (verdict, reasons) == ("undecided", ["p is 0.060 after adjusting for the number of comparisons"])


def test_equivalence_that_is_only_shown_before_adjusting_is_undecided() -> None:
    found = comparison(0.0, (-0.03, 0.03), p=0.9)
    verdict, reasons = judge(found, p_adjusted=0.9, loss=None, margin=(-MARGIN, MARGIN), equivalence_p=0.06)
    assert verdict == "undecided"
    assert reasons[-1] == "p of equivalence is 0.060 after adjusting for the number of comparisons"


@pytest.mark.parametrize(("alpha", "verdict"), [(0.05, "undecided"), (0.1, "helps")])
def test_a_comparison_at_worst_is_read_at_its_own_level(alpha: float, verdict: str) -> None:
    found = comparison(0.1, (-0.01, 0.21), p=0.07)
    assert judge(found, p_adjusted=0.07, loss=None, margin=(-MARGIN, MARGIN), alpha=alpha)[0] == verdict


def test_no_reason_speaks_of_effects_larger_than_a_margin_of_nothing() -> None:
    found = comparison(0.0, (-0.1, 0.1), p=1.0)
    assert judge(found, p_adjusted=1.0, loss=None, margin=(0.0, 0.0))[1] == ["the interval holds zero"]
