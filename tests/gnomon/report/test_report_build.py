"""What a report says of given rows."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gnomon.core.benchmark import Published
from gnomon.core.row import Row
from gnomon.core.sample import DataFault
from gnomon.core.score import Outcome
from gnomon.report.contrast import ContrastReport
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.section import SECTIONS
from gnomon.report.terminal import summary_text

Maker = Callable[..., Row]
Pairs = Callable[..., Iterator[Row]]
Reporter = Callable[..., Report]


def over(report: Report, scope: str = "all", variant: str = "tools") -> ContrastReport:
    [found] = [one for one in report["contrasts"] if one["scope"] == scope and one["variant"] == variant]
    return found


def is_sound(report: Report) -> None:
    """Finite JSON, and every form of the report can be made of it."""
    json.dumps(report, allow_nan=False)
    assert render_html(report).startswith("<!doctype html>")
    assert render_markdown(report).startswith("# ")
    assert summary_text(report)


def test_a_clear_gain_helps(report_of: Reporter, pairs: Pairs) -> None:
    report = report_of(pairs([(0, 1)] * 20 + [(1, 1)] * 20 + [(1, 0)] * 2))
    found = over(report)
    assert (found["rescued"], found["broken"], found["both_right"], found["both_wrong"]) == (20, 2, 20, 0)
    assert found["diff"] == pytest.approx(18 / 42)
    assert found["p"] == found["p_adjusted"] == pytest.approx(0.0001, abs=1e-4)
    assert (found["verdict"], found["reasons"], found["test"]) == ("helps", [], "mid-p McNemar")
    assert report["summary"] == [found["verdict_text"]]
    is_sound(report)


def test_the_same_rows_with_the_arms_swapped_hurt(report_of: Reporter, pairs: Pairs) -> None:
    assert over(report_of(pairs([(1, 0)] * 20 + [(1, 1)] * 20)))["verdict"] == "hurts"


def test_enough_agreement_is_no_effect_and_little_is_undecided(report_of: Reporter, pairs: Pairs) -> None:
    many, few = (over(report_of(pairs([(1, 1), (0, 0)] * n))) for n in (40, 10))
    assert (many["verdict"], few["verdict"]) == ("no_effect", "undecided")
    assert "larger than 5 points" in few["reasons"][0]


def test_a_difference_that_is_sure_and_small_is_said_to_be_smaller_than_the_margin(
    report_of: Reporter, pairs: Pairs
) -> None:
    found = over(report_of(pairs([(1, 1), (0, 0)] * 600 + [(0, 1)] * 12)))
    assert (found["verdict"], found["below_margin"]) == ("helps", True)
    assert "50.5 % against 49.5 %, smaller than the margin of 5 points (95 %" in found["verdict_text"]


def test_few_right_answers_have_a_narrow_margin(report_of: Reporter, pairs: Pairs) -> None:
    rows = list(pairs([(1, 1)] * 20 + [(0, 0)] * 950 + [(0, 1)] * 17 + [(1, 0)] * 13))
    found = over(report_of(rows))
    assert found["margin"] == pytest.approx([-0.0165, 0.0165])
    assert (found["ci90"][1] < 0.05, found["verdict"]) == (True, "no_effect")
    assert "within 1.65 points (5, narrowed to half of the baseline's distance" in found["verdict_text"]


def test_margins_of_subsets_and_of_other_kinds_are_the_subsets_own(
    report_of: Reporter, pairs: Pairs, spec: Maker
) -> None:
    margin = {"relative": 0.1, "subsets": {"near": {"odds": 1.2}, "nowhere": 0.1}}
    report = report_of(pairs([(1, 1), (0, 0)] * 40), spec=spec(analysis={"margin": margin}))
    whole, near = report["contrasts"]
    assert whole["margin"] == pytest.approx([-0.05, 0.05])
    assert near["margin"] == pytest.approx([-1 / 22, 1 / 22])
    assert report["plan"]["deviations"] == ["margins of subsets that no sample is of: nowhere"]


def test_an_adjusted_interval_is_as_wide_as_the_number_of_comparisons_asks(
    report_of: Reporter, pairs: Pairs, spec: Maker
) -> None:
    models = [{"id": name} for name in "abcdef"]
    rows = [
        row for model in "abcdef" for row in pairs([(0, 1)] * 14 + [(1, 0)] * 4 + [(1, 1)] * 40, model=model)
    ]
    for found in report_of(rows, spec=spec(models=models))["contrasts"]:
        if found["scope"] == "all":
            assert found["p"] < 0.05 < found["p_adjusted"]
            assert found["ci95_adjusted"][0] < 0 < found["ci95"][0]
            assert found["ci95"][1] < found["ci95_adjusted"][1]


def test_a_missing_trial_is_left_out_and_a_failed_one_is_wrong(
    report_of: Reporter, pairs: Pairs, row: Maker
) -> None:
    rows = [
        *pairs([(1, 1), (0, None), (1, 1)]),
        row(3, "raw", 0.0, outcome=Outcome.MODEL_FAILED, stop_reason="no_answer"),
        row(3, "tools", 1.0),
    ]
    report = report_of(rows)
    raw, tools = report["arms"]
    assert (raw["n"], raw["mean"], tools["n"], tools["mean"]) == (4, 0.5, 3, 1.0)
    assert tools["trials"] == {
        "planned": 4,
        "finished": 4,
        "scored": 3,
        "model_failed": 0,
        "infra_missing": 1,
        "pending": 0,
    }
    assert over(report)["n"] == 3
    assert report["integrity"]["missing_by_cause"] == {"provider:rate_limit": 1}
    assert "Missing: provider:rate_limit 1." in summary_text(report)
    assert report["integrity"]["failed_by_cause"] == {"no_answer": 1}


def test_bounds_give_every_missing_trial_to_one_arm(report_of: Reporter, pairs: Pairs) -> None:
    report = report_of(pairs([(0, 1)] * 6 + [(None, 1)] + [(1, None)] + [(0, 0)] * 2))
    assert over(report)["bounds"] == pytest.approx([(6 + 0 - 1) / 10, (6 + 1 + 0) / 10])
    [bounds] = report["integrity"]["bounds"]
    assert (bounds["missing_baseline"], bounds["missing_variant"]) == (0.1, 0.1)


def test_lost_trials_that_turn_the_difference_by_their_difficulty_forbid_a_verdict(
    report_of: Reporter, pairs: Pairs
) -> None:
    lost = [(1, None)] * 15 + [(None, 0)] * 15
    found = over(report_of(pairs([(0, 1)] * 12 + [(1, 1)] * 40 + lost)))
    assert found["ci95"] is not None
    assert found["ci95"][0] > 0
    assert found["loss_p"] == 1.0
    assert found["modelled_diff"] < 0
    assert found["verdict"] == "undecided"
    assert "have no score: at worst the interval" in found["reasons"][0]
    assert not found["withheld"]


def test_one_lost_trial_voids_no_job(report_of: Reporter, pairs: Pairs) -> None:
    found = over(report_of(pairs([(0, 1)] * 27 + [(1, 1)] * 6 + [(0, 0)] * 6 + [(0, None)])))
    assert (found["n"], found["verdict"], found["reasons"]) == (39, "helps", [])
    assert found["bounds"] == pytest.approx([27 / 40, 28 / 40])
    assert 27 / 40 < found["modelled_diff"] < 28 / 40


def test_arms_that_lose_unequally_get_no_verdict_where_that_could_turn_it(
    report_of: Reporter, pairs: Pairs
) -> None:
    found = over(report_of(pairs([(0, 1)] * 14 + [(1, 0)] * 2 + [(1, 1)] * 60 + [(1, None)] * 24)))
    assert found["ci95"][0] > 0 > found["worst_ci95"][0]
    assert found["loss_p"] < 0.001
    assert (found["verdict"], found["withheld"]) == ("undecided", True)
    assert found["reasons"][0].startswith(
        "0.0 % and 24.0 % of the trials of baseline and variant have no score"
    )


def test_an_effect_larger_than_what_unequal_loss_can_do_is_claimed(report_of: Reporter, pairs: Pairs) -> None:
    found = over(report_of(pairs([(0, 1)] * 40 + [(1, 1)] * 52 + [(1, None)] * 8)))
    assert found["loss_p"] < 0.05
    assert found["worst_ci95"][0] > 0
    assert (found["verdict"], found["withheld"]) == ("helps", False)


def test_the_headline_weighs_cells_and_not_samples(report_of: Reporter, row: Maker) -> None:
    cells = ["near"] * 6 + ["far"] * 2
    rows = [
        row(n, arm, float(arm == "tools" and cell == "far"), cell=cell)
        for (n, cell), arm in product(enumerate(cells), ("raw", "tools"))
    ]
    report = report_of(rows)
    assert over(report)["diff"] == 0.5
    assert (report["arms"][1]["aggregate"], report["arms"][1]["mean"]) == (0.5, 0.25)
    assert report["arms"][1]["by_task"]["far"]["mean"] == 1.0
    assert [one["scope"] for one in report["contrasts"]] == ["all", "far", "near"]


def test_repeats_are_averaged_before_anything_is_counted(
    report_of: Reporter, row: Maker, spec: Maker
) -> None:
    rows = [
        row(n, arm, float(repeat < (2 if arm == "tools" else 1)), repeat=repeat)
        for n, arm, repeat in product(range(10), ("raw", "tools"), range(3))
    ]
    found = over(report_of(rows, spec=spec(repeats=3)))
    assert (found["n"], found["rescued"]) == (10, 10)
    assert found["diff"] == pytest.approx(1 / 3)


def test_a_sample_with_one_lost_repeat_still_counts_and_widens_the_bounds(
    report_of: Reporter, row: Maker, spec: Maker
) -> None:
    rows = [
        row(n, arm, None if n == repeat == 0 and arm == "tools" else 1.0, repeat=repeat)
        for n, arm, repeat in product(range(5), ("raw", "tools"), range(2))
    ]
    found = over(report_of(rows, spec=spec(repeats=2)))
    assert (found["n"], found["diff"]) == (5, 0.0)
    assert found["bounds"] == pytest.approx([-0.1, 0.0])


def test_the_declared_pair_is_primary_and_the_others_exploratory(
    report_of: Reporter, row: Maker, spec: Maker
) -> None:
    arms = [{"name": name, "agent": "direct"} for name in ("raw", "placebo", "tools")]
    rows = [
        row(n, arm, float(arm == "tools" or n % 2), model=model)
        for n, arm, model in product(range(12), ("raw", "placebo", "tools"), ("m", "k"))
    ]
    changes = {"models": [{"id": "m"}, {"id": "k"}], "arms": arms, "analysis": {"primary": ["raw", "tools"]}}
    report = report_of(rows, spec=spec(**changes))
    families = [(one["model"], one["variant"], one["scope"], one["family"]) for one in report["contrasts"]]
    assert families[:4] == [
        ("m", "tools", "all", "primary"),
        ("k", "tools", "all", "primary"),
        ("m", "placebo", "all", "exploratory"),
        ("k", "placebo", "all", "exploratory"),
    ]
    assert report["contrasts"][0]["p_adjusted"] == pytest.approx(2 * 0.5**6, abs=0.004)
    assert report["integrity"]["comparisons"] == 4
    assert len(report["summary"]) == 2
    is_sound(report)


def test_flips_are_named_with_their_scores_answers_and_trials(report_of: Reporter, row: Maker) -> None:
    rows = [row(0, "raw", 0.0, answer="A"), row(0, "tools", 1.0, answer="C"), row(1), row(1, "tools")]
    [flips] = report_of(rows)["flips"]
    assert flips["total"] == 1
    [flip] = flips["samples"]
    assert (flip["sample_id"], flip["kind"]) == ("s000", "rescued")
    assert (flip["baseline_answer"], flip["variant_answer"]) == ("A", "C")
    assert (flip["baseline_trial"], flip["variant_trial"]) == (rows[0].trial_id, rows[1].trial_id)


def test_tools_are_counted_with_their_denominators(report_of: Reporter, row: Maker) -> None:
    used = {"bearing": {"calls": 4, "bad_arguments": 1, "errors": 2}, "teleport": {"calls": 1, "errors": 1}}
    report = report_of([row(0), row(0, "tools", tools_used=used), row(1), row(1, "tools")])
    bearing, made_up = report["tools"]
    assert (bearing["tool"], bearing["calls"], bearing["samples_used"], bearing["samples"]) == (
        "bearing",
        4,
        1,
        2,
    )
    assert (bearing["bad_argument_rate"], bearing["error_rate"]) == (0.25, 0.5)
    assert (made_up["offered"], made_up["calls"], made_up["error_rate"]) == (False, 1, 1.0)
    assert bearing["shapley"] is None


def test_an_unknown_price_is_not_zero(report_of: Reporter, row: Maker) -> None:
    cost = report_of(
        [row(0, usd=None), row(0, "tools", usd=0.25), row(1, prompt_tokens=None), row(1, "tools")]
    )["cost"]
    assert (cost["usd"], cost["usd_unknown"], cost["known_usd"]) == (None, 1, pytest.approx(0.252))
    assert (cost["prompt_tokens"], cost["known_prompt_tokens"], cost["completion_tokens"]) == (None, 300, 40)
    assert cost["by_arm"][1]["usd"] == pytest.approx(0.251)


def test_the_integrity_box_names_what_else_differs(report_of: Reporter, pairs: Pairs, spec: Maker) -> None:
    arms = [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": ["bearing"], "show": ["media"]},
    ]
    faults = [DataFault(sample_id="s9", kind="broken_video")]
    report = report_of(pairs([(1, 1)]), spec=spec(arms=arms), faults=faults)
    [difference] = report["integrity"]["arm_differences"]
    assert difference["fields"] == ["agent", "tools", "show"]
    assert difference["besides_tools"] == ["show"]
    assert report["integrity"]["data_faults"] == {"broken_video": 1}
    assert "Not only tools" in render_html(report)


def test_the_reference_never_stands_beside_published_rows_without_its_caution(
    report_of: Reporter, pairs: Pairs, spec: Maker, quiz: Callable[..., object]
) -> None:
    published = (Published(model="GPT", group="proprietary", aggregate=0.3, by_task={"near": 0.5}),)
    rows = list(pairs([(1, 1)] * 3, model="reference"))
    report = report_of(rows, spec=spec(models=[{"id": "reference"}]), benchmark=quiz(rows=published))
    for text in (render_html(report), render_markdown(report)):
        assert "answers by rules that were made with knowledge of these kinds of questions" in text
    assert report["published"][0]["by_task"] == {"near": 0.5}
    is_sound(report)


@pytest.mark.parametrize("status", ["queued", "running", "cancelled", "failed", "completed"])
def test_a_job_without_rows_has_a_report(report_of: Reporter, status: str) -> None:
    report = report_of([], planned=8, status=status)
    assert over(report)["verdict"] == "undecided"
    assert report["arms"][0]["aggregate"] is None
    assert report["denominators"]["trials"]["pending"] == 8
    is_sound(report)


def test_a_running_job_says_that_more_will_come(report_of: Reporter, pairs: Pairs) -> None:
    report = report_of(pairs([(0, 1)] * 30), planned=100, status="running")
    assert report["summary"][0].startswith("So far: ")
    assert "60 of 100 trials have ended" in render_html(report)


def test_one_arm_alone_is_reported_without_a_comparison(report_of: Reporter, row: Maker, spec: Maker) -> None:
    report = report_of([row(0), row(1, score=0.0)], spec=spec(arms=[{"name": "raw", "agent": "direct"}]))
    assert (report["contrasts"], report["arms"][0]["mean"]) == ([], 0.5)
    assert "nothing to compare" in summary_text(report)
    is_sound(report)


def test_samples_of_one_cluster_allow_no_claim(report_of: Reporter, pairs: Pairs) -> None:
    found = over(report_of(pairs([(0, 1)] * 30, cluster="v1")))
    assert (found["ci95"], found["p"], found["verdict"]) == (None, None, "undecided")
    assert "one cluster" in found["verdict_text"]


def test_clusters_can_be_switched_off(report_of: Reporter, pairs: Pairs, spec: Maker) -> None:
    rows = list(pairs([(0, 1)] * 30, cluster="v1"))
    assert over(report_of(rows, spec=spec(analysis={"cluster": "none"})))["clusters"] == 30


def test_all_missing_is_undecided(report_of: Reporter, pairs: Pairs) -> None:
    report = report_of(pairs([(None, None)] * 3))
    assert over(report)["diff"] is None
    assert over(report)["bounds"] == [-1.0, 1.0]
    is_sound(report)


ends = st.sampled_from([None, 0.0, 1.0, 0.3])


@given(
    given_rows=st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from(["raw", "tools"]), ends, st.integers(0, 1)),
        unique_by=lambda one: (one[0], one[1], one[3]),
        max_size=40,
    ),
    headline=st.sampled_from(["mean_of_cells", "mean_of_samples"]),
)
def test_whatever_rows_there_are_a_sound_report_comes_out(
    given_rows: list[tuple[int, str, float | None, int]],
    headline: str,
    report_of: Reporter,
    row: Maker,
    spec: Maker,
    quiz: Callable[..., object],
) -> None:
    rows = [
        row(n, arm, score, repeat=repeat, cell=f"cell{n % 3}", cluster=f"v{n // 4}")
        for n, arm, score, repeat in given_rows
    ]
    report = report_of(rows, spec=spec(repeats=2), benchmark=quiz(headline=headline), planned=52)
    is_sound(report)
    answered = [score for _, arm, score, _ in given_rows if arm == "raw" and score is not None]
    assert (report["arms"][0]["mean"] is None) == (not answered)


def test_the_page_of_documentation_names_every_field(report_of: Reporter, pairs: Pairs) -> None:
    text = (Path(__file__).parents[3] / "docs" / "report.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", text))
    fields = {
        name
        for section in SECTIONS
        for shape in vars(import_module(section.compute.__module__)).values()
        if isinstance(shape, type) and hasattr(shape, "__required_keys__")
        for name in shape.__annotations__
    }
    assert len(fields) > 100
    assert fields - named == set()


def test_a_report_has_exactly_the_documented_shape(report_of: Reporter, pairs: Pairs, row: Maker) -> None:
    rows = [*pairs([(0, 1), (1, None)]), row(5, "tools", tools_used={"bearing": {"calls": 1}})]
    report = report_of(rows)
    told: dict[str, Any] = {}
    for shape in (Report, *(section.fields for section in SECTIONS)):
        told |= TypeAdapter(shape).validate_python(report, strict=True)
    assert told == report


def test_a_large_job_is_reported_from_one_pass_over_its_rows(report_of: Reporter, many: Pairs) -> None:
    report = report_of(many(samples=300, arms=("raw", "tools"), repeats=3))
    trials = report["denominators"]["trials"]
    assert trials["finished"] == trials["scored"] + trials["model_failed"] + trials["infra_missing"] == 1800
    for one in report["contrasts"]:
        assert one["rescued"] + one["broken"] + one["both_right"] + one["both_wrong"] == one["n"]
    assert sum(over(report, cell)["n"] for cell in report["arms"][0]["by_task"]) == over(report)["n"]
    assert over(report)["verdict"] == "helps"


def test_a_subset_of_all_samples_is_no_further_comparison(
    report_of: Reporter, pairs: Pairs, spec: Maker
) -> None:
    """One of two subsets is seen by the second model alone: there each has a comparison of its own."""
    scores = [(0, 1)] * 14 + [(1, 0)] * 3 + [(1, 1)] * 5
    rows = [
        *pairs(scores, model="a"),
        *pairs(scores, model="b"),
        *(replace(row, sample_id=f"far{row.sample_id}", cell="far") for row in pairs(scores, model="b")),
    ]
    report = report_of(rows, spec=spec(models=[{"id": "a"}, {"id": "b"}]))
    found = {(each["model"], each["scope"]): each for each in report["contrasts"] if each["p"] is not None}
    assert found["a", "near"] == {
        **found["a", "all"],
        "scope": "near",
        "family": "exploratory",
        "repeats_all": True,
        "verdict_text": found["a", "near"]["verdict_text"],
    }
    assert report["integrity"]["comparisons"] == 4  # two over all, and the two subsets of the second model
    assert found["b", "near"]["p_adjusted"] == found["b", "near"]["p"]  # both alike: the larger p of two
    assert "2 primary comparisons and 2 exploratory" in report["methods"]["paragraph"]
    assert "counts once" in render_markdown(report)
    assert "counts once" in render_html(report)
