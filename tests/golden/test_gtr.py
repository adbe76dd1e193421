"""GTR-Bench: our official scorer equals the released one on every vector there is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon_published.benchmarks.gtr_bench import gtr_bench, official
from gnomon_published.benchmarks.gtr_bench.case import TASKS

UNITS: dict[str, Callable[..., object]] = {
    "scoring.time_to_seconds": official.seconds_of,
    "scoring.calculate_time_iou": official.point_iou,
    "scoring.calculate_time_range_iou_single": official.range_iou,
    "scoring.extract_option_letter": official.option_letter,
    "eval.extract_elements_from_string": official.extract_elements,
}


def _vectors(folder: Path, name: str) -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = json.loads((folder / name).read_text(encoding="utf-8"))
    assert vectors, f"{name} holds no vector"
    return vectors


@pytest.mark.parametrize("name", ["gtr_parse_then_score.json", "gtr_recorded_runs.json"])
def test_a_response_is_understood_and_scored_as_the_released_code_does(golden_dir: Path, name: str) -> None:
    wrong = []
    for vector in _vectors(golden_dir, name):
        given, wanted = vector["input"], vector["official_output"]
        response = given["raw_response"]
        assert given["eval_type"] == TASKS[given["case"]["task_id"]].metric
        score = gtr_bench.score_record({"case": given["case"], "response": response}, scoring="official")
        if dict(score.metrics) != pytest.approx(wanted["metrics"], abs=1e-12):
            wrong.append((vector["tag"], response, wanted["metrics"], score.metrics))
        if "raises" in wanted["parsed"]:
            assert f"official_raises:{wanted['parsed']['raises']}" in score.flags
        elif not response.startswith("Error:"):
            parsed = official.parse(response, timed=given["eval_type"] == "ST-IoU")
            if parsed != wanted["parsed"]:
                wrong.append((vector["tag"], response, wanted["parsed"], parsed))
    assert not wrong


def test_runs_recorded_by_the_authors_keep_their_numbers(golden_dir: Path) -> None:
    for vector in _vectors(golden_dir, "gtr_recorded_runs.json"):
        record = {"case": vector["input"]["case"], "response": vector["input"]["raw_response"]}
        metrics = gtr_bench.score_record(record, scoring="official").metrics
        recorded = vector["recorded_metrics"]
        assert {name: round(float(value or 0), 3) for name, value in metrics.items()} == recorded


def test_the_parts_of_the_scorer_equal_the_released_ones(golden_dir: Path) -> None:
    wrong, seen = [], set()
    for vector in _vectors(golden_dir, "gtr_units.json"):
        name = vector["function"]
        if name.startswith("metric."):  # a module that the released runner never calls
            continue
        seen.add(name)
        got = UNITS[name](*vector["input"])
        wanted = vector["official_output"]
        if got != (pytest.approx(wanted, abs=1e-12) if isinstance(wanted, float) else wanted):
            wrong.append((name, vector["input"], wanted, got))
    assert not wrong
    assert seen, "no vector of a scorer's part"
