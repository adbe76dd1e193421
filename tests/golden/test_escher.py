"""EscherVerse: both official evaluators equal the released ones on every vector there is."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon_published.benchmarks.escherverse import escherverse
from gnomon_published.benchmarks.escherverse.item import SINGLE
from gnomon_published.benchmarks.escherverse.scoring import extract, judge, similarity, statistics_of


def _vectors(folder: Path, name: str) -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = json.loads((folder / name).read_text(encoding="utf-8"))
    assert vectors, f"{name} holds no vector"
    return vectors


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_a_response_is_read_and_judged_as_the_released_evaluator_does(golden_dir: Path, variant: str) -> None:
    wrong = []
    for vector in _vectors(golden_dir, "escher_extract_then_evaluate.json"):
        given, wanted = vector["input"], vector["official_output"][variant]
        answer = extract(given["raw_response"], variant)
        verdict = judge(answer, given["ground_truth"], given["question_type"], variant=variant)
        got = {
            "is_correct": verdict.is_correct,
            "score": verdict.score,
            "prediction_clean": verdict.prediction,
            "ground_truth_clean": verdict.gold,
            "eval_method": verdict.method,
        }
        if verdict.similarity is not None:
            got["similarity"] = pytest.approx(verdict.similarity, abs=1e-12)
        if answer != wanted["extracted"] or got != wanted["result"]:
            wrong.append((given, wanted, got))
    assert not wrong


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_a_record_scores_as_its_vector(golden_dir: Path, variant: str) -> None:
    wrong = []
    for vector in _vectors(golden_dir, "escher_extract_then_evaluate.json"):
        given, wanted = vector["input"], vector["official_output"][variant]["result"]
        record = {
            "question_type": given["question_type"],
            "answer": given["ground_truth"],
            "response": given["raw_response"],
        }
        score = escherverse.score_record(record, scoring="official", variant=variant)
        if (score.value, score.metrics["is_correct"]) != (wanted["score"], wanted["is_correct"]):
            wrong.append((given, wanted, score))
    assert not wrong


def test_the_parts_equal_the_released_ones(golden_dir: Path) -> None:
    seen = set()
    for vector in _vectors(golden_dir, "escher_units.json"):
        seen.add(vector["function"])
        if vector["function"] == "calculate_similarity":
            got: object = pytest.approx(similarity(*vector["input"]), abs=1e-12)
        else:
            got = statistics_of(vector["input"])
        assert got == vector["official_output"], vector
    assert seen >= {"calculate_similarity", "calculate_statistics"}


def test_the_first_evaluator_is_the_default() -> None:
    record = {"question_type": SINGLE, "answer": "B", "response": "<answer>the best option</answer>"}
    assert escherverse.score_record(record, scoring="official").value == 1.0
    assert escherverse.score_record(record, scoring="official", variant="v2").value == 0.0
