"""The sections on blinding, sizes of requests, wording and calibration say what was planted."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gnomon.conditions.results import DOUBTS_RESULTS
from gnomon.core.row import Row
from gnomon.report.cluster_codes import plain_design
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.terminal import summary_text
from gnomon_analyses.statistics.calibration import calibration

Make = Callable[..., Any]
LIVE = {"name": "live", "agent": "react", "tools": ["bearing"]}
PLACEBO = {**LIVE, "name": "placebo", "results": "other_scene"}
RAW = {"name": "raw", "agent": "direct"}


def placebo_rows(row: Make, samples: int, *, extra_calls: float = 0.0, doubts: float = 0.0) -> Iterator[Row]:
    random = np.random.default_rng(1)
    for sample in range(samples):
        calls = int(random.integers(3, 7))
        for arm in ("live", "placebo"):
            more = extra_calls if arm == "placebo" else 0.0
            doubtful = arm == "placebo" and random.random() < doubts
            yield row(
                sample,
                arm,
                float(random.random() < 0.5),
                tools_offered=1,
                tool_calls=calls + int(random.random() < more % 1) + int(more),
                model_calls=calls + 1,
                completion_tokens=50 * calls + int(random.integers(-3, 4)),
                flags=(DOUBTS_RESULTS,) if doubtful else ("placebo:perturbed",) if arm == "placebo" else (),
            )


@pytest.fixture
def reported(report_of: Make, spec: Make) -> Callable[[list[Row], list[dict[str, Any]]], Report]:
    def build(rows: list[Row], arms: list[dict[str, Any]]) -> Report:
        contrast = {"baseline": arms[0]["name"], "variant": arms[1]["name"]}
        document: Report = report_of(rows, spec=spec(arms=arms, analysis={"contrasts": [contrast]}))
        assert render_html(document)
        assert render_markdown(document)
        return document

    return build


@pytest.mark.parametrize(
    ("planted", "verdict"),
    [({}, "held"), ({"extra_calls": 1.5}, "failed"), ({"doubts": 0.4}, "failed")],
)
def test_blinding_is_what_was_planted(
    reported: Make, row: Make, planted: dict[str, float], verdict: str
) -> None:
    document = reported(list(placebo_rows(row, 200, **planted)), [LIVE, PLACEBO])
    (blinding,) = document["blinding"]
    assert (blinding["live"], blinding["placebo"], blinding["verdict"]) == ("live", "placebo", verdict)
    assert {item["measure"] for item in blinding["measures"]} == {
        "turns",
        "tool_calls",
        "completion_tokens",
        "doubts",
    }
    assert all(item["n"] == 200 for item in blinding["measures"])
    words = {"held": "stayed unnoticed", "failed": "was noticed"}[verdict]
    assert f"“placebo” beside “live” {words}" in summary_text(document)


def test_without_a_placebo_there_is_no_blinding(reported: Make, row: Make) -> None:
    rows = [row(sample, arm) for sample in range(5) for arm in ("raw", "live")]
    document = reported(rows, [RAW, LIVE])
    assert document["blinding"] == []
    sizes = {size["arm"]: size["schema_tokens"] for size in document["arm_sizes"]}
    assert sizes["raw"] == 0
    (difference,) = document["size_differences"]
    assert difference["schema_tokens"] == sizes["live"] > 0
    assert difference["prompt_tokens"] is None


def test_schemas_of_servers_count_among_what_a_request_takes(report_of: Make, spec: Make, row: Make) -> None:
    listed = [
        {"shown": f"plain__tool{at}", "name": f"tool{at}", "description": "Adds. " * 60, "parameters": {}}
        for at in range(3)
    ]
    server = {"mcp": {"command": ["serve"]}, "listing": {"tools": listed}}
    arms = [LIVE, {**LIVE, "name": "more", "tools": ["bearing", *(each["shown"] for each in listed)]}]
    rows = [row(sample, arm["name"]) for sample in range(5) for arm in arms]
    document = report_of(rows, spec=spec(arms=arms, servers={"plain": server}))
    sizes = {size["arm"]: size["schema_tokens"] for size in document["arm_sizes"]}
    assert sizes["more"] > sizes["live"] + 250


def worded_rows(row: Make, samples: int, rates: dict[str, float], *, too_sure: float) -> Iterator[Row]:
    random = np.random.default_rng(2)
    for sample in range(samples):
        for arm, rate in rates.items():
            stated = None if sample % 10 == 0 else rate + too_sure
            yield row(sample, arm, float(random.random() < rate), metrics={"confidence": stated})


def test_a_planted_effect_of_wording_and_over_confidence_is_reported(reported: Make, row: Make) -> None:
    rates = {"original": 0.6, "plain": 0.6, "formal": 0.4}
    arms = [{**RAW, "name": name, "wording": name, "confidence": True} for name in rates]
    document = reported(list(worded_rows(row, 500, rates, too_sure=0.2)), arms)
    (spread,) = document["wording"]
    assert (spread["factor"], spread["n"]) == ("wording", 500)
    assert spread["beyond_ci95"] is not None
    assert spread["beyond_ci95"][0] < np.std(list(rates.values()), ddof=1) < spread["beyond_ci95"][1]
    for line in document["calibration"]:
        assert (line["asked"], line["stated"]) == (500, 450)
        assert line["gap_ci95"] is not None
        assert line["gap_ci95"][0] < 0.2 < line["gap_ci95"][1]
        assert line["ece"] == pytest.approx(line["gap"])  # one confidence, one bin


def test_arms_that_differ_in_more_than_wording_are_no_set(reported: Make, row: Make) -> None:
    arms = [RAW, {**LIVE, "wording": "plain"}]
    rows = [row(sample, arm) for sample in range(5) for arm in ("raw", "live")]
    document = reported(rows, arms)
    assert (document["wording"], document["calibration"]) == ([], [])


def test_answers_that_all_agree_leave_room_in_every_interval_of_calibration() -> None:
    sure, right = np.ones(40), np.ones(40)
    for score in (right, 1.0 - right):
        found = calibration(sure, score, plain_design([*map(str, range(40))]))
        assert found.ece_ci95 is not None
        assert found.ece_ci95[1] - found.ece_ci95[0] > 0.05
    parted = calibration(
        np.repeat([0.9, 0.1], 10), np.repeat([1.0, 0.0], 10), plain_design([*map(str, range(20))])
    )
    assert parted.auroc == 1.0
    assert parted.auroc_ci95 == (pytest.approx(0.722, abs=1e-3), 1.0)


def test_a_calibration_error_reaches_as_far_as_the_gap() -> None:
    found = calibration(np.array([0.9, 0.9]), np.array([1.0, 1.0]), plain_design([*map(str, range(2))]))
    assert found.gap_ci95 is not None
    assert found.ece_ci95 == (0.0, pytest.approx(-found.gap_ci95[0]))


def test_within_one_cluster_no_spread_of_wordings_is_said_to_be_beyond_chance(
    reported: Make, row: Make
) -> None:
    arms = [{**RAW, "name": name, "wording": name} for name in ("original", "formal")]
    rows = [row(sample, arm["name"], 1.0, cluster="one") for sample in range(9) for arm in arms]
    rows += [
        row(sample, arm["name"], float(arm is arms[0]), cluster="one")
        for sample in range(9, 20)
        for arm in arms
    ]
    document = reported(rows, arms)
    assert document["wording"][0]["p"] is None
    [line] = [
        line for line in render_markdown(document).splitlines() if "original 100.0, formal 45.0" in line
    ]
    assert line.endswith("| 55.0 | – | – | – | – | 20 |")
