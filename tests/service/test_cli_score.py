"""`gnomon score`: NDJSON in, NDJSON out."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gnomon_service.cli.main import main

CASE = {
    "task_id": "GeoLocation",
    "choices": ["A. c037", "B. c049", "C. c043", "D. c098"],
    "ground_truth": "A. c037",
}
RIGHT = {"id": 7, "case": CASE, "response": '{"answer": "A. c037"}'}


class Stdin:
    """Standard input with bytes to read."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def score(monkeypatch: pytest.MonkeyPatch, data: bytes, *args: str, benchmark: str = "gtr-bench") -> int:
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    with pytest.raises(SystemExit) as end:
        main(["score", "--benchmark", benchmark, *args])
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize("mode", ["official", "strict"])
def test_lines_keep_order_and_id(
    mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        RIGHT,
        {**RIGHT, "id": "two", "response": '{"answer": "B. c049"}'},
        {**RIGHT, "response": None},
    ]
    data = b"\n\n".join(json.dumps(record).encode() for record in records)
    assert score(monkeypatch, data, "--mode", mode) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["id"] for line in found] == [7, "two", 7]
    assert [line["score"] for line in found] == [1.0, 0.0, 0.0]
    assert all({"id", "score", "metrics", "flags"} <= set(line) for line in found)


@pytest.mark.parametrize("bad", [b"{", b"[]", b"\xff", b'{"id": 1}', b'{"id": 1, "case": 3, "response": ""}'])
def test_a_bad_line_ends_it_and_is_numbered(
    bad: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(monkeypatch, json.dumps(RIGHT).encode() + b"\n" + bad) == 2
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1  # the good line before it was scored
    assert "line 2" in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_half_a_character_in_a_response_harms_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.dumps({**RIGHT, "id": "\ud800", "response": "\ud800 A"}).encode()
    assert score(monkeypatch, data) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "\ud800"


def test_lines_are_answered_before_the_input_ends() -> None:
    command = [sys.executable, "-m", "gnomon_service.cli", "score", "--benchmark", "gtr-bench"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(json.dumps({**RIGHT, "id": number}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number


def test_a_golden_vector_scores_as_the_official_code_did(
    golden_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors: list[Any] = json.loads((golden_dir / "gtr_parse_then_score.json").read_text())[:200]
    records = [
        {"id": number, "case": vector["input"]["case"], "response": vector["input"]["raw_response"]}
        for number, vector in enumerate(vectors)
    ]
    assert score(monkeypatch, b"\n".join(json.dumps(r).encode() for r in records), "--mode", "official") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(found) == len(vectors)
    for line, vector in zip(found, vectors, strict=True):
        official = vector["official_output"]
        if "metrics" in official:
            assert line["metrics"]["score"] == pytest.approx(official["metrics"]["score"])
