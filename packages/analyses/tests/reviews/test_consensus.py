"""Golds that several models confirm, and those that a person must look at."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import DataError, SpecError
from gnomon.spec.preset import plan_arms
from gnomon_analyses.reviews.consensus import consensus_of
from gnomon_analyses.reviews.decisions import queue_lines, read_decisions
from gnomon_published.benchmarks.escherverse.reviewed import by_index, read_questions, write_reviewed
from gnomon_service.cli.main import main
from tests.published_graphs import ESCHER_ROWS, publish_escher

MODELS = ("a", "b", "c")


def rows(sample_id: str, *answers: str, gold: str = "B") -> list[dict[str, Any]]:
    """Rounds of each model: a letter is its reply in a round, `-` a fault, `.` silence."""
    rounds = []
    for model, told in zip(MODELS, answers, strict=True):
        for repeat, answer in enumerate(told):
            score = None if answer == "-" else float(answer == gold)
            rounds.append(
                {
                    "benchmark": "escherverse",
                    "task": "ego_allo",
                    "sample_id": sample_id,
                    "cluster": "v",
                    "model": model,
                    "arm": "consensus",
                    "repeat": repeat,
                    "outcome": "infra_missing" if score is None else "scored",
                    "score": score,
                    "answer": None if answer in "-." else answer,
                }
            )
    return rounds


ALL = [
    *rows("11", "BBB", "BAB", "B-B"),
    *rows("12", "CCC", "CCC", "CCA"),
    *rows("13", "BBB", "AAA", "BBB"),
    *rows("14", "BBB", "ABC", "BBB"),
    *rows("15", "BBB", "...", "BBB"),
]


def test_only_what_every_model_votes_for_is_agreed_and_the_worst_comes_first() -> None:
    questions = consensus_of(ALL)
    assert [(question.sample_id, question.standing) for question in questions] == [
        ("12", "gold_doubtful"),
        ("13", "split"),
        ("14", "unstable"),
        ("15", "unanswered"),
        ("11", "agreed"),
    ]
    assert questions[-1].agreement == pytest.approx(7 / 8)
    assert questions[0].votes[2].answers == {"c": 2, "a": 1}


def test_a_providers_fault_is_no_round() -> None:
    one = consensus_of(rows("1", "BBB", "B--", "BB-"))[0]
    assert (one.standing, one.agreement) == ("agreed", 1.0)
    assert consensus_of(rows("1", "BBB", "---", "BBB"))[0].standing == "unanswered"


def test_one_model_is_no_consensus() -> None:
    with pytest.raises(DataError, match="several"):
        consensus_of([row for row in ALL if row["model"] == "a"])


def test_the_preset_shows_everything_to_one_arm() -> None:
    plan = plan_arms("consensus", {}, benchmark="escherverse")
    assert [(arm.name, arm.agent, arm.tools) for arm in plan.arms] == [("consensus", "direct", ())]


def test_the_queue_holds_the_question_and_waits_for_a_decision(tmp_path: Path) -> None:
    data = publish_escher(tmp_path / "escher", clips=False)
    lines = [json.loads(line) for line in queue_lines(consensus_of(ALL), by_index(read_questions(data)))]
    assert [line["sample_id"] for line in lines] == ["12", "13", "14", "15"]
    assert lines[0]["Q"] == ESCHER_ROWS[1]["Q"]
    assert {line["decision"] for line in lines} == {None}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"sample_id": "12", "decision": "fix"}', "answer"),
        ('{"sample_id": "12", "decision": "keep", "answer": "B"}', "answer"),
        ('{"sample_id": "12", "decision": "maybe"}', "decision"),
        ("nothing", "line 1"),
        ('{"decision": "keep"}', "sample_id"),
    ],
)
def test_a_decision_that_is_none_is_refused_by_line_and_field(
    tmp_path: Path, line: str, message: str
) -> None:
    path = tmp_path / "review.ndjson"
    path.write_text(line)
    with pytest.raises(DataError, match=message):
        read_decisions(path)


def run(*args: str, capfd: pytest.CaptureFixture[str]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end:
        main(["consensus", *args])
    told = capfd.readouterr()
    return end.value.code, told.out + told.err


def test_from_rows_to_the_file_that_is_left(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = publish_escher(tmp_path / "escher", clips=False)
    (data / "videos").mkdir()
    found = tmp_path / "rows.ndjson"
    found.write_text("\n".join(json.dumps(row) for row in ALL if row["sample_id"] != "15"))
    queue = tmp_path / "queue"
    code, told = run(str(found), "--data", str(data), "--out", str(queue), capfd=capfd)
    assert (code, told.partition(":")[0]) == (0, "1 of 4 agreed, 3 for a person to decide")
    assert len((queue / "consensus.ndjson").read_text().splitlines()) == 4

    lines = [json.loads(line) for line in (queue / "review.ndjson").read_text().splitlines()]
    lines[0] |= {"decision": "fix", "answer": "C", "note": "the chair moves too"}
    lines[1] |= {"decision": "drop"}
    (queue / "review.ndjson").write_text("\n".join(map(json.dumps, lines)))
    arguments = (str(found), "--data", str(data), "--decisions", str(queue / "review.ndjson"))
    code, told = run(*arguments, "--out", str(tmp_path / "left"), capfd=capfd)
    assert (code, told.partition(":")[0]) == (0, "agreed 1, keep 0, fix 1, drop 1, undecided 1")
    left = json.loads((tmp_path / "left" / "Escher-Bench.json").read_text())
    assert [(entry["index"], entry["A"]) for entry in left] == [(12, "C"), (11, "B")]
    assert (tmp_path / "left" / "videos").is_symlink()
    code, told = run(*arguments, "--out", str(tmp_path / "left"), capfd=capfd)
    assert code == 2
    assert "not a new or empty folder" in told


def test_a_folder_in_use_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(SpecError, match="--out"):
        write_reviewed([], {}, data=tmp_path, out=tmp_path)
