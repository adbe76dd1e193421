"""UrbanVideo-Bench: our official scorer equals the released one on every vector there is."""

import ast
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from gnomon_published.benchmarks.urbanvideo_bench import urbanvideo_bench
from gnomon_published.benchmarks.urbanvideo_bench.scoring import option_letter


def _vectors(folder: Path, name: str) -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = json.loads((folder / name).read_text(encoding="utf-8"))
    assert vectors, f"{name} holds no vector"
    return vectors


def _plain(given: Any) -> Any:
    return ast.literal_eval(given["python_repr"]) if isinstance(given, dict) else given


def test_an_option_is_read_as_the_released_code_reads_it(golden_dir: Path) -> None:
    for vector in _vectors(golden_dir, "urbanvideo_extract.json"):
        response, wanted = _plain(vector["input"]), vector["official_output"]
        score = urbanvideo_bench.score_record({"answer": "B", "response": response}, scoring="official")
        if isinstance(wanted, dict):
            with pytest.raises(IndexError):
                option_letter(response)
            assert f"official_raises:{wanted['raises']}" in score.flags
            continue
        assert option_letter(response) == score.metrics["option"] == wanted
        if score.value is None:
            assert wanted is None or response in ("None", "nan")
        else:
            assert score.value == float(wanted == "B")


def test_whole_tables_are_the_released_ones(golden_dir: Path) -> None:
    for vector in _vectors(golden_dir, "urbanvideo_aggregate.json"):
        kept: dict[str, list[float]] = defaultdict(list)
        for row in vector["input"]:
            record = {"answer": row["answer"], "response": row["Output"]}
            value = urbanvideo_bench.score_record(record, scoring="official").value
            if value is not None:
                kept[row["question_category"]].append(value)
        table = {row["Category"]: row for row in vector["official_output"]}
        total = table.pop("Total")
        assert {name: len(values) for name, values in kept.items()} == {
            name: row["Num"] for name, row in table.items()
        }
        for name, values in kept.items():
            assert sum(values) / len(values) == pytest.approx(table[name]["Accuracy"])
        everything = [value for values in kept.values() for value in values]
        accuracy = sum(everything) / len(everything) if everything else None
        assert accuracy == (total["Accuracy"] and pytest.approx(total["Accuracy"]))
