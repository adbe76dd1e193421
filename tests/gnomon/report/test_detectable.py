"""The detectable effect: what the whole rule claims in 8 of 10 simulated studies, or that it never can."""

from dataclasses import replace

import numpy as np
import pytest

from bench.detectable_effects import PLANS, Plan, right_or_wrong, share_claimed
from gnomon.report.build import build_report
from gnomon.report.comparing import rule_of
from gnomon.report.detectable import share_claimed as share_claimed_in
from gnomon.report.detectable import smallest_effect, within_share
from gnomon.statistics.design import design
from gnomon.statistics.power import PlantedStudy, Spread, spread_of
from gnomon.statistics.power import right_or_wrong as differing
from tests.gnomon.report.conftest import Quiz, a_row, a_spec

ONE = rule_of("primary", looks=1)


def study(*sizes: int, discordant: float = 0.3, icc: float = 0.2) -> PlantedStudy:
    """Right-or-wrong scores in clusters of these sizes."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    spread = differing(discordant, icc=icc, persistence=1.0)
    return PlantedStudy(grouping=design(np.zeros_like(clusters), clusters), spread=spread)


def test_five_clusters_can_never_claim_and_six_can() -> None:
    never = smallest_effect(study(*[20] * 5), ONE)
    assert never.effect is None
    assert never.note.startswith("This design can never claim a difference: even if every sample went from")
    assert "the interval holds zero" in never.note
    six = smallest_effect(study(*[20] * 6), ONE)
    assert six.effect is not None
    assert 0.25 < six.effect < 0.6


@pytest.mark.parametrize("sizes", [(7,) * 20, (3, 5, 8, 10, 12, 20, 30, 52), (1,) * 300])
def test_the_effect_is_claimed_in_eight_of_ten_other_draws(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = study(*sizes)
    effect = smallest_effect(planted, ONE).effect
    assert effect is not None
    monkeypatch.setattr("gnomon.report.detectable.SEED", 5)
    assert share_claimed_in(planted, ONE, effect, draws=200) == pytest.approx(0.8, abs=0.09)


def test_an_effect_planted_by_another_generator_is_found_as_often() -> None:
    plan = Plan(sizes=(7,) * 20, draw=right_or_wrong(0.15))
    spread = Spread(sizes=(0.0, 1.0), shares=(0.53, 0.47), icc=0.017)
    effect = smallest_effect(replace(study(*plan.sizes), spread=spread), ONE).effect
    assert effect is not None
    share = share_claimed(plan, effect, jobs=200, random=np.random.default_rng(2))
    assert share == pytest.approx(0.8, abs=0.1)


def test_the_same_study_always_has_the_same_effect() -> None:
    assert smallest_effect(study(*[7] * 9), ONE) == smallest_effect(study(*[7] * 9), ONE)


def test_more_comparisons_and_shared_clusters_each_ask_for_a_larger_effect_and_equal_losses_hardly() -> None:
    plain = smallest_effect(study(*[7] * 20), ONE).effect
    assert plain is not None
    six = smallest_effect(study(*[7] * 20), rule_of("primary", looks=6), looks=6)
    lossy = smallest_effect(replace(study(*[7] * 20), lost=(0.01, 0.01)), ONE)
    alike = smallest_effect(study(*[7] * 20, icc=0.5), ONE)
    for harder in (six, alike):
        assert harder.effect is None or harder.effect > 1.05 * plain
    assert lossy.effect == pytest.approx(plain, rel=0.08)


def test_repeats_shorten_only_what_chance_adds() -> None:
    rule = rule_of("primary", looks=1)
    spread = differing(0.3, icc=0.0)
    once = smallest_effect(replace(study(*[1] * 80), spread=spread), ONE).effect
    often = smallest_effect(replace(study(*[1] * 80), spread=spread, repeats=8), rule).effect
    assert once is not None
    assert often is not None
    assert 0.65 * once < often < 0.9 * once  # √(1/2 + 1/16) = 0.75


def test_losses_that_forbid_most_verdicts_are_said_in_percent() -> None:
    some = smallest_effect(replace(study(*[7] * 12), lost=(0.0, 0.2)), ONE)
    assert some.effect is not None
    assert some.effect > 0.25
    unequal = smallest_effect(replace(study(*[7] * 12), lost=(0.9, 0.9)), ONE)
    assert unequal.effect is None
    assert unequal.note.startswith("None of such studies would claim a true difference, where 80 % should")
    assert unequal.note.endswith(": however large it is, as trials are lost.")


def test_of_very_many_samples_few_lost_trials_stop_no_strong_effect_and_half_of_all_do() -> None:
    many = study(*[1] * 3_000)
    few = replace(many, lost=(0.1, 0.12))
    assert share_claimed_in(few, ONE, 0.8, draws=4) == 1.0
    assert smallest_effect(few, ONE).effect is not None
    half = replace(many, lost=(0.45, 0.45))
    assert share_claimed_in(half, ONE, 0.8, draws=4) == 0.0
    assert smallest_effect(half, ONE).effect is None


def test_a_cell_that_can_never_claim_has_no_number() -> None:
    rule = rule_of("exploratory", looks=100)
    five = smallest_effect(study(*[1] * 5), rule, looks=100)
    assert five.effect is None
    assert five.note.startswith("This design can never claim")
    thirty = smallest_effect(study(*[1] * 30), rule, looks=100)
    only = rule_of("exploratory", looks=1)
    alone = smallest_effect(study(*[1] * 30), only, looks=1)
    assert thirty.effect is not None
    assert alone.effect is not None
    assert thirty.effect > 1.3 * alone.effect


@pytest.mark.parametrize(
    ("name", "spread"),
    [
        ("a cell of 30 among 14", Spread(sizes=(0.0, 1.0), shares=(0.42, 0.58))),
        ("a cell of 60 in 20 clusters among 14", Spread(sizes=(0.0, 1.0), shares=(0.46, 0.54), icc=0.015)),
        ("a cell of 100 in 10 clusters among 14", Spread(sizes=(0.0, 1.0), shares=(0.45, 0.55), icc=0.015)),
    ],
)
def test_what_a_cell_is_promised_is_claimed_in_eight_of_ten(name: str, spread: Spread) -> None:
    plan = PLANS[name]
    planted = PlantedStudy(grouping=plan.grouping(), spread=spread)
    effect = smallest_effect(planted, rule_of("exploratory", looks=plan.looks), looks=plan.looks).effect
    assert effect is not None
    share = share_claimed(plan, effect, jobs=150, random=np.random.default_rng(3))
    assert share == pytest.approx(0.8, abs=0.1)


def test_samples_that_are_kin_by_two_factors_ask_for_a_larger_effect() -> None:
    scenes = study(*[6] * 15, icc=0.1)
    grouping = scenes.grouping
    templates = np.arange(grouping.n) % 6
    crossed = replace(scenes, grouping=design(grouping.strata, grouping.clusters, templates))
    alone, both = (smallest_effect(each, ONE).effect for each in (scenes, crossed))
    assert alone is not None
    assert both is not None
    assert both > 1.15 * alone
    d = crossed.differences(0.1, 200, np.random.default_rng(1))[:, :, 0]
    assert d.mean(axis=1).std() == pytest.approx(crossed.error(0.1), rel=0.12)


def test_no_difference_is_larger_than_the_share_that_differs() -> None:
    detectable = smallest_effect(study(*[1] * 14, discordant=0.1), ONE)
    assert detectable.effect is not None
    assert within_share(detectable, 0.9, None) == detectable
    bound = within_share(detectable, 0.1, 0.02)
    assert bound.effect is None
    assert bound.note.startswith(
        "At most 2 % of such studies would claim a true difference, where 80 % should: a claim takes "
    )


@pytest.mark.parametrize("effect", [0.0, 0.15, 0.6])
def test_planted_differences_have_the_mean_the_variance_and_the_correlation_they_should(
    effect: float,
) -> None:
    planted = study(*[5] * 400, icc=0.3)
    d = planted.differences(effect, 20, np.random.default_rng(1))[:, :, 0]
    assert d.mean() == pytest.approx(effect, abs=0.02)
    assert d.var() == pytest.approx(planted.spread.variance(effect), rel=0.04)
    assert planted.spread.variance(effect) == pytest.approx(max(0.3, effect) - effect**2)
    means = d.reshape(20, 400, 5).mean(axis=2)
    shared = (means.var() / d.var() - 0.2) / 0.8
    assert shared == pytest.approx(0.3, abs=0.04)


def test_the_spread_of_graded_differences_is_that_of_the_data() -> None:
    random = np.random.default_rng(4)
    clusters = np.repeat(np.arange(30), 6)
    d = np.clip(random.normal(0, 0.1, 30)[clusters] + random.normal(0, 0.2, 180), -1, 1)
    grouping = design(np.zeros_like(clusters), clusters)
    se = grouping.estimate(d, limits=(-1, 1)).se
    spread = spread_of(d, grouping, se=se)
    assert spread.moments[1] == pytest.approx(np.mean(d**2), rel=0.02)
    assert 0.1 < spread.icc < 0.35
    planted = PlantedStudy(grouping=grouping, spread=spread)
    assert planted.error(abs(float(d.mean()))) == pytest.approx(se, rel=0.05)


def test_a_report_says_why_nothing_could_be_found() -> None:
    rows = [
        a_row(sample, arm, float(arm == "tools"), cluster=f"v{sample % 5}")
        for sample in range(20)
        for arm in ("raw", "tools")
    ]
    quiz = Quiz(headline="mean_of_samples")
    report = build_report(
        job_id="j", spec=a_spec(), status="completed", rows=rows, planned=40, benchmark=quiz
    )
    contrast = report["contrasts"][0]
    assert (contrast["mde"], contrast["verdict"]) == (None, "undecided")
    assert contrast["mde_note"].startswith("This design can never claim a difference")
    assert contrast["verdict_text"].endswith(contrast["mde_note"])


def test_scores_that_a_cluster_shares_make_rare_losses_weigh_more() -> None:
    singles = study(*[10] * 30, discordant=0.1, icc=0.1)
    alone, shared = (smallest_effect(replace(singles, alike=alike), ONE).effect for alike in (0.0, 1.0))
    assert alone is not None
    assert shared is not None
    assert shared > alone
