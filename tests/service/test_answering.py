"""Answers of people: scored as a job scores, beside its models."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon_service.cli.main import main
from tests.published_clips import publish_sti

SPEED, BAG = "camera_7.mp4|3|1.0|3.5", "000123.mp4|3|0.0|2.0"  # gold: D, A


def command(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> Path:
    root = tmp_path_factory.mktemp("answering")
    spec: dict[str, Any] = {
        "benchmark": "sti-bench",
        "data": str(publish_sti(root / "published")),
        "select": {"frames": 2},
        "protocol": "official",
        "models": [{"id": "scripted", "options": {"replies": ["A"]}}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
        "repeats": 2,
    }
    (root / "spec.yaml").write_text(yaml.safe_dump(spec))
    told = ("--out", str(root / "out"), "--data-dir", str(root / "data"), "--workers", "1")
    done = run_gnomon("run", str(root / "spec.yaml"), *told)
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(folder / "data"))
    return str(json.loads((folder / "out" / "report.json").read_text())["job"]["id"])


def test_people_stand_beside_the_models_and_what_they_left_open_is_missing(
    job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(f"sample_id,answer,repeat\n{SPEED},The answer is D,0\n{BAG},,0\n{BAG},(B) or so,1\n")
    assert command("import", str(file), "--into", job) == 0
    made = re.search(r"job (j_\w+):", capsys.readouterr().out)
    assert made
    assert made[1] != job
    assert command("report", made[1], "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    arms = {(arm["model"], arm["arm"]): arm for arm in report["arms"]}
    assert (arms["human", "raw"]["n"], arms["human", "raw"]["mean"]) == (2, 0.5)
    [line] = report["people"]
    assert (line["name"], line["people"], line["n"], line["mean"]) == ("human", 2, 2, 0.5)
    versus = {(row["model"], row["arm"]): (row["n"], row["arm_mean"], row["diff"]) for row in line["arms"]}
    assert versus == {("scripted", "raw"): (2, 0.5, 0.0), ("scripted", "tools"): (2, 0.5, 0.0)}
    assert arms["human", "tools"]["n"] == 0
    assert (arms["scripted", "raw"]["n"], arms["scripted", "raw"]["mean"]) == (2, 0.5)
    assert report["integrity"]["missing_by_cause"] == {"imported:missing": 1}
    assert command("rescore", made[1], "--scoring", "official", "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rescored"] == 10  # 8 of the model, 2 of people


@pytest.mark.parametrize(
    ("text", "more", "says"),
    [
        ("sample_id,answer\nnobody,A\n", (), "the job has no sample 'nobody'"),
        (f"sample_id,answer\n{BAG},A\n{BAG},B\n", (), "line 3: human answers"),
        (f"sample_id,answer,colour\n{BAG},A,red\n", (), "allowed: sample_id, answer, model, repeat"),
        (f"sample_id,answer,model\n{BAG},A,scripted\n", (), "the job has a model called 'scripted'"),
        (f"sample_id,answer,repeat\n{BAG},A,2\n", (), "repeat 2 of an arm with 2 repeats"),
        (f"sample_id,answer\n{BAG},A\n", ("--arm", "other"), "no arm 'other'; there are: raw, tools"),
        ("sample_id,answer\n", (), "holds no answers"),
    ],
)
def test_what_cannot_be_answers_is_refused_in_a_line(
    job: str, tmp_path: Path, text: str, more: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text)
    assert command("import", str(file), "--into", job, *more) == 2
    assert says in capsys.readouterr().err


def test_an_arm_without_a_job_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("import", str(tmp_path / "a.csv"), "--arm", "raw") == 2
    assert "is for --into only" in capsys.readouterr().err


def test_traces_are_written_as_chat_lines(job: str, tmp_path: Path) -> None:
    assert command("export", job, "--format", "chat", "--out", str(tmp_path / "out")) == 0
    lines = [json.loads(line) for line in (tmp_path / "out" / "chat.jsonl").read_text().splitlines()]
    assert len(lines) == 8
    assert {(line["arm"], line["model"]) for line in lines} == {("raw", "scripted"), ("tools", "scripted")}
    for line in lines:
        assert [message["role"] for message in line["messages"]] == ["user", "assistant"]
        assert line["messages"][-1]["content"] == "A"
        assert line["score"] == float(line["sample_id"] == BAG)
