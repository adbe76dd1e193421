"""The questions of `make cards`: their truths hold by a second way, without the servers."""

import json
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gnomon.spec.spec_file import read_spec

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "cards"
SERVERS = ("calculator", "time", "units", "files", "sqlite", "git")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cards")
    subprocess.run([sys.executable, EXAMPLES / "write_questions.py", "--seed", "3", "--out", out], check=True)
    return out


def calls(folder: Path, server: str) -> Iterator[dict[str, Any]]:
    for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines():
        if (call := json.loads(line))["id"].startswith(f"{server}-"):
            yield call


def found(call: dict[str, Any], text: str) -> str:
    """What the rules read off a result."""
    match = re.search(call["found"], text)
    assert match is not None, call["question"]
    return match[1]


@pytest.mark.parametrize("server", SERVERS)
def test_each_server_has_forty_questions_of_at_least_four_kinds_and_none_twice(
    folder: Path, server: str
) -> None:
    rows = [
        json.loads(line) for line in (folder / f"{server}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len({row["question"] for row in rows}) == len(rows) == 40
    assert len(Counter(row["task"] for row in rows)) >= 4
    offered = read_spec(EXAMPLES / f"{server}.yaml")["arms"]["tools"][0].get("include")
    assert offered is None or {call["tool"] for call in calls(folder, server)} <= set(offered)


def test_a_database_gives_the_answers_that_were_counted_from_the_rows(folder: Path) -> None:
    with sqlite3.connect(folder / "sightings.db") as database:
        for call in calls(folder, "sqlite"):
            [[value]] = database.execute(call["arguments"]["query"])
            assert str(value) == call["answer"]


def test_notes_hold_the_answers_in_the_files_that_the_calls_name(folder: Path) -> None:
    for call in calls(folder, "files"):
        if call["tool"] == "read_text_file":
            text = (folder / "notes" / call["arguments"]["path"]).read_text(encoding="utf-8")
        else:
            text = "\n".join(map(str, (folder / "notes").glob(call["arguments"]["pattern"])))
        assert found(call, text) == call["answer"]


def test_git_tells_what_the_questions_hold(folder: Path) -> None:
    form = "--format=Author: %an%nDate: %cd%nMessage: %s%n"
    for call in calls(folder, "git"):
        what = ["log"] if call["tool"] == "git_log" else ["show", call["arguments"]["revision"]]
        command = ["git", "-C", str(folder / "repository"), *what, form, "--date=iso"]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert found(call, told.replace(" +0000\n", "\n")) == call["answer"]


def test_sums_hold_as_fractions(folder: Path) -> None:
    from fractions import Fraction

    for call in calls(folder, "calculator"):
        exact = re.sub(r"[\d.]+", lambda match: f"Fraction('{match[0]}')", call["arguments"]["expression"])
        value = eval(exact, {"Fraction": Fraction})
        assert float(value) == pytest.approx(float(call["answer"]))
