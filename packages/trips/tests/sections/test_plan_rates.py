"""Rates of plans and kinds of errors: what each row adds, by which clusters, and where it leads to."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gnomon.core.benchmark import ABILITIES, JudgesPlans
from gnomon.core.plan_row import ERROR_KINDS, NOT_DELIVERED, RATES
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.report.html import render_html, render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.terminal import summary_text
from gnomon.statistics.design import design
from gnomon.statistics.mean import mean_score, ratio_score
from gnomon_trips.benchmarks.itinerary import plan_row as trips
from gnomon_trips.benchmarks.itinerary.benchmark import itinerary
from gnomon_trips.benchmarks.travelplanner import scoring as travel
from gnomon_trips.benchmarks.travelplanner.benchmark import travelplanner
from gnomon_trips.benchmarks.travelplanner.loader import task_of
from gnomon_trips.benchmarks.travelplanner.scoring import score_plan, score_response
from gnomon_trips.itinerary.verify.check_kinds import check_kinds
from gnomon_trips.sandbox.rules import COMMONSENSE, HARD
from gnomon_trips.sections.plan_rates import TITLES
from tests.published_trips import GOOD_PLAN, rows

Reporter = Callable[..., Report]
MakeRow = Callable[..., Row]


def kept(commonsense: int, hard: tuple[int, int], **changes: Any) -> dict[str, Any]:
    """The metrics of a delivered plan of TravelPlanner."""
    is_final = commonsense == 8 and hard[0] == hard[1]
    return {
        "delivered": 1.0,
        "commonsense_micro": commonsense / 8,
        "commonsense_macro": float(commonsense == 8),
        "hard_passed": float(hard[0]),
        "hard_asked": float(hard[1]),
        "hard_macro": float(hard[0] == hard[1]),
        "final_pass": float(is_final),
        **changes,
    }


def travel_rows(row: MakeRow) -> Iterator[Row]:
    """Three tasks under two arms: one faulty plan, one without a plan, one that passes; then all pass."""
    yield row(0, "raw", 0.0, task="easy", metrics=kept(7, (1, 1)), flags=("breaks:minimum_nights",))
    yield row(1, "raw", 0.0, task="hard", outcome=Outcome.MODEL_FAILED, stop_reason="max_turns")
    yield row(2, "raw", 1.0, task="hard", metrics=kept(8, (4, 4)))
    for sample, asked in enumerate((1, 3, 4)):
        yield row(sample, "tools", 1.0, task="hard", metrics=kept(8, (asked, asked)))


def rate_of(report: Report, rate: str, arm: str) -> Any:
    [found] = [row for row in report["plan_rates"] if (row["rate"], row["arm"]) == (rate, arm)]
    return found


def kind_of(report: Report, kind: str, arm: str) -> Any:
    [found] = [row for row in report["error_kinds"] if (row["kind"], row["arm"]) == (kind, arm)]
    return found


def test_every_code_of_the_verifier_is_of_one_kind() -> None:
    own = {
        NOT_DELIVERED,
        trips.UNPROVEN,
        trips.WRONG_ORDER,
        trips.WRONG_INCLUSIONS,
        trips.WRONG_TRANSITIONS,
        "not_understood",
    }
    assert set(trips.error_kinds()) == {*check_kinds(), *own}
    assert set(trips.error_kinds().values()) == set(ERROR_KINDS)


def test_every_rule_of_travelplanner_is_of_one_kind() -> None:
    assert set(travel.RULE_KINDS) == {*COMMONSENSE, *HARD}
    assert {f"breaks:{rule}" for rule in travel.RULE_KINDS} < set(travel.KINDS)
    assert set(travel.KINDS.values()) <= set(ERROR_KINDS)


def test_both_benchmarks_of_plans_have_the_ability() -> None:
    assert isinstance(itinerary, JudgesPlans)
    assert isinstance(travelplanner, JudgesPlans)
    assert JudgesPlans in ABILITIES
    assert set(TITLES) == set(RATES)


def test_the_hard_micro_rate_is_a_ratio_of_sums(report_of: Reporter, row: MakeRow) -> None:
    report = report_of(travel_rows(row), benchmark=travelplanner)
    hard = rate_of(report, "hard_micro", "raw")
    assert (hard["passed"], hard["of"]) == (5.0, 8.0)  # 1 of 1, none of 3, 4 of 4
    assert hard["value"] == pytest.approx(5 / 8)
    assert hard["ci95"][0] < 5 / 8 < hard["ci95"][1]
    macro = rate_of(report, "hard_macro", "raw")
    assert (macro["passed"], macro["of"]) == (2.0, 3.0)


def test_what_is_not_delivered_keeps_nothing_and_is_an_error_of_form(
    report_of: Reporter, row: MakeRow
) -> None:
    report = report_of(travel_rows(row), benchmark=travelplanner)
    delivery = rate_of(report, "delivery", "raw")
    assert (delivery["passed"], delivery["of"]) == (2.0, 3.0)
    micro = rate_of(report, "commonsense_micro", "raw")
    assert (micro["passed"], micro["of"]) == (15.0, 24.0)
    form = kind_of(report, "form", "raw")
    assert (form["trials"], form["of"], form["flags"]) == (1, 3, {"not_delivered: max_turns": 1})
    assert kind_of(report, "constraints", "raw")["flags"] == {"breaks:minimum_nights": 1}
    assert kind_of(report, "constraints", "tools")["trials"] == 0


def test_changes_of_rates_and_kinds_are_paired(report_of: Reporter, row: MakeRow) -> None:
    report = report_of(travel_rows(row), benchmark=travelplanner)
    by_rate = {row["rate"]: row for row in report["plan_rate_differences"]}
    assert by_rate["hard_micro"]["diff"] == pytest.approx(1 - 5 / 8)
    assert by_rate["final_pass"]["diff"] == pytest.approx(2 / 3)
    assert by_rate["final_pass"]["n"] == 3
    by_kind = {row["kind"]: row for row in report["error_kind_changes"]}
    assert by_kind["form"]["diff"] == pytest.approx(-1 / 3)
    assert (by_kind["form"]["baseline_share"], by_kind["form"]["variant_share"]) == (pytest.approx(1 / 3), 0)


def test_a_lost_trial_counts_nowhere(report_of: Reporter, row: MakeRow) -> None:
    rows = [row(0, "raw", 1.0, metrics=kept(8, (1, 1))), row(1, "raw", None)]
    assert rate_of(report_of(rows, benchmark=travelplanner), "delivery", "raw")["of"] == 1.0


def trip(row: MakeRow, sample: int, metrics: dict[str, Any], *flags: str, task: str = "city-day") -> Row:
    score = metrics.get("final_pass", 0.0)
    return row(sample, "raw", score, task=task, metrics={"delivered": 1.0, **metrics}, flags=flags)


def test_rates_are_the_papers_over_all_samples(row: MakeRow) -> None:
    sandboxes = [task_of(published).sandbox for published in rows()[:2]]
    good = score_plan(sandboxes[0], GOOD_PLAN, scoring="strict").metrics
    nothing = score_response(sandboxes[1], "I cannot.", scoring="strict").metrics
    judged = [travelplanner.plan_row(row(0, "raw", 0.0, metrics=metrics)) for metrics in (good, nothing)]
    shares = [[one.rates[rate] for one in judged] for rate in judged[0].rates]
    rates = [sum(part for part, _ in each) / sum(whole or 0.0 for _, whole in each) for each in shares]
    # Of the hard demands one of one is kept, and none of five.
    assert dict(zip(judged[0].rates, rates, strict=True)) == {
        "delivery": 0.5,
        "commonsense_micro": 0.5,
        "commonsense_macro": 0.5,
        "hard_micro": 1 / 6,
        "hard_macro": 0.5,
        "final_pass": 0.5,
    }


def test_refusals_have_precision_recall_and_proof(report_of: Reporter, row: MakeRow) -> None:
    impossible, possible = {"refusal_recall": 0.0}, {"refusal_recall": None}
    refused = {"refused": 1.0, "conflict_proven": 1.0}
    rows = [
        trip(row, 0, {**refused, "refusal_precision": 1.0, "refusal_recall": 1.0}, task="must-refuse"),
        trip(row, 1, {**impossible}, "PLANNED_BUT_INFEASIBLE", task="must-refuse"),
        trip(
            row,
            2,
            {**refused, **possible, "conflict_proven": 0.0, "refusal_precision": 0.0},
            "REFUSED_BUT_FEASIBLE",
            "refusal_unproven",
        ),
        trip(row, 3, {**possible, "final_pass": 1.0, "common_macro": 1.0, "hard_macro": 1.0}),
    ]
    report = report_of(rows, benchmark=itinerary)
    counts = {
        rate: (rate_of(report, rate, "raw")["passed"], rate_of(report, rate, "raw")["of"])
        for rate in ("refusal_precision", "refusal_recall", "refusal_proven", "final_pass", "delivery")
    }
    assert counts == {
        "refusal_precision": (1, 2),
        "refusal_recall": (1, 2),
        "refusal_proven": (1, 2),
        "final_pass": (1, 2),  # of the two that can be planned
        "delivery": (4, 4),
    }
    assert kind_of(report, "refusals", "raw")["trials"] == 2


def test_remarks_and_what_was_not_checked_are_no_errors(row: MakeRow) -> None:
    judged = trips.plan_row(trip(row, 0, {}, "remark:LONG_WALK", "unchecked:OPEN_HOURS"))
    assert judged.errors == {}


def test_rows_of_older_versions_count_each_plan_once(report_of: Reporter, row: MakeRow) -> None:
    rows = [trip(row, 0, {"common_micro": 0.5}), trip(row, 1, {"common_micro": 1.0})]
    micro = rate_of(report_of(rows, benchmark=itinerary), "commonsense_micro", "raw")
    assert (micro["passed"], micro["of"]) == (1.5, 2.0)


def test_intervals_widen_where_samples_share_clusters(report_of: Reporter, row: MakeRow) -> None:
    def width(clusters: int) -> float:
        rows = [
            row(n, "raw", 0.0, metrics=kept(8, (n // 8 % 2 * 2, 2)), cluster=f"c{n // (32 // clusters)}")
            for n in range(32)
        ]
        low, high = rate_of(report_of(rows, benchmark=travelplanner), "hard_micro", "raw")["ci95"]
        return float(high - low)

    assert width(4) > 1.5 * width(32)


def test_every_form_shows_rates_and_kinds(report_of: Reporter, row: MakeRow) -> None:
    report = report_of(travel_rows(row), benchmark=travelplanner)
    page, text = render_html(report), render_markdown(report)
    assert "Rates of plans" in page
    assert "Where plans err" in page
    assert "62.5 %" in text
    lines = summary_text(report)
    assert "m / raw: delivery 66.7 % (2 of 3)" in lines
    assert "m / raw: trials with errors of 3: constraints 1, form 1 (no plan: max_turns 1)" in lines


def test_a_count_leads_to_its_trials_on_the_page_of_a_job_alone(report_of: Reporter, row: MakeRow) -> None:
    report = report_of(travel_rows(row), benchmark=travelplanner)
    link = 'href="/ui/jobs/j/trials?model=m&amp;arm=raw&amp;flag=breaks%3Aminimum_nights&amp;view=trials"'
    assert link in render_section(report, "error_kinds", trials_page="/ui/jobs/j/trials")
    assert "href=" not in render_section(report, "error_kinds")


def test_other_benchmarks_have_neither(report_of: Reporter, many: Callable[..., Iterator[Row]]) -> None:
    report = report_of(many(samples=5, arms=("raw", "tools")))
    assert report["plan_rates"] == report["plan_rate_differences"] == []
    assert report["error_kinds"] == report["error_kind_changes"] == []
    assert "Rates of plans" not in render_html(report)


def test_a_ratio_over_equal_counts_is_the_mean() -> None:
    chance = np.random.default_rng(1)
    passed, clusters = chance.integers(0, 2, 40).astype(float), np.arange(40) // 4
    grouping = design(np.zeros(40, dtype=np.intp), clusters)
    assert ratio_score(3 * passed, np.full(40, 3.0), grouping) == mean_score(passed, grouping)


def test_intervals_of_a_ratio_of_sums_hold_the_truth_as_often_as_they_say() -> None:
    chance = np.random.default_rng(7)
    truth, held, studies = 0.7, 0, 400
    for _ in range(studies):
        sizes = chance.integers(1, 6, 30)
        levels = np.repeat(chance.beta(7, 3, 15), 2)  # two samples a cluster, independent of sizes
        passed = chance.binomial(sizes, levels).astype(float)
        grouping = design(np.zeros(30, dtype=np.intp), np.repeat(np.arange(15), 2))
        ends = ratio_score(passed, sizes.astype(float), grouping).ci95
        held += ends is not None and ends[0] <= truth <= ends[1]
    assert 0.92 <= held / studies <= 0.985


def test_a_share_of_nothing_is_refused() -> None:
    grouping = design(np.zeros(2, dtype=np.intp), np.arange(2))
    with pytest.raises(ValueError, match="share of nothing"):
        ratio_score(np.zeros(2), np.zeros(2), grouping)
