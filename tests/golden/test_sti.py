"""STI-Bench: our official scorer equals the released one on every vector there is."""

import json
from pathlib import Path

import pytest

from gnomon_published.benchmarks.sti_bench import sti_bench
from gnomon_published.benchmarks.sti_bench.loader import scene_of
from gnomon_published.benchmarks.sti_bench.scoring import extracted, last_letter


def test_every_vector_of_the_released_code_holds(golden_dir: Path) -> None:
    vectors = json.loads((golden_dir / "sti_extract.json").read_text(encoding="utf-8"))
    assert vectors
    for vector in vectors:
        given, wanted = vector["input"], vector["official_output"]
        match vector["function"]:
            case "scene_type":
                assert scene_of(given) == wanted
            case "correct_on_stored_model_out":
                assert {gold: last_letter(given["model_out"]) == gold for gold in wanted} == wanted
            case "extract_answer_then_correct":
                assert extracted(given) == wanted["extract_answer"]
                for gold, right in wanted["correct_if_gold"].items():
                    score = sti_bench.score_record({"answer": gold, "response": given}, scoring="official")
                    assert score.metrics["extracted"] == wanted["extract_answer"]
                    if isinstance(right, dict):
                        assert score.value == 0.0
                        assert f"official_raises:{right['raises']}" in score.flags
                        with pytest.raises(IndexError):
                            last_letter(wanted["model_out"])
                    else:
                        assert score.value == float(right), (given, gold)
            case other:
                pytest.fail(f"vectors of a function that nothing here is held to: {other}")
