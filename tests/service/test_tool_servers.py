"""Jobs with tool servers over real processes: recorded, replayed without the server, and hostile ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.servers.cassette import open_cassette

SERVER = Path(__file__).parents[1] / "tools" / "servers" / "plain_server.py"
UNLIKE = ("job_id", "trial_id", "wall_s")


def gnomon(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "service.cli", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)


def reply(name: str, **arguments: object) -> dict:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def spec(folder: Path, arms: list[dict], replies: list) -> Path:
    written = {
        "benchmark": "worlds",
        "select": {"limit": 2},
        "models": [{"id": "scripted", "options": {"replies": replies}}],
        "arms": arms,
        "preflight": False,
    }
    path = folder / "spec.json"
    path.write_text(json.dumps(written))
    return path


def rows(out: Path) -> list[dict]:
    read = [json.loads(line) for line in (out / "rows.ndjson").read_text().splitlines()]
    return sorted(read, key=lambda row: (row["arm"], row["sample_id"]))


@pytest.fixture
def server(tmp_path: Path) -> dict:
    (tmp_path / "plain_server.py").write_text(SERVER.read_text())
    return {"mcp": {"command": [sys.executable, "./plain_server.py"]}}


def arms_of(server: dict, **cassette: str) -> list[dict]:
    common = {"agent": "react", "tools": ["speed", server], "cassette": cassette}
    return [
        {"name": "raw", "agent": "direct"},
        {"name": "live", **common},
        {"name": "placebo", **common, "results": "other_scene"},
    ]


def test_a_recorded_job_is_the_same_row_by_row_once_the_server_is_gone(tmp_path: Path, server: dict) -> None:
    replies = [reply("plain__measure", what="it"), reply("plain__add", a=1, b="x"), "A"]
    path = spec(tmp_path, arms_of(server, record="plain.jsonl"), replies)
    first = gnomon("run", str(path), "--data-dir", "data", "--out", "first", folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert open_cassette(tmp_path / "plain.jsonl").calls == 4
    (tmp_path / "plain_server.py").unlink()
    path = spec(tmp_path, arms_of(server, replay="plain.jsonl"), replies)
    again = gnomon("run", str(path), "--data-dir", "data", "--out", "again", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    recorded, replayed = rows(tmp_path / "first"), rows(tmp_path / "again")
    assert len(recorded) == 6
    for one, other in zip(recorded, replayed, strict=True):
        assert {key: one[key] for key in one if key not in UNLIKE} == {
            key: other[key] for key in other if key not in UNLIKE
        }
    assert "placebo:dealt" in replayed[2]["flags"]
    path = spec(tmp_path, arms_of(server, replay="plain.jsonl")[:2], [reply("plain__measure"), "A"])
    missed = gnomon("run", str(path), "--data-dir", "data", "--out", "missed", folder=tmp_path)
    assert missed.returncode == 1
    reasons = {row["arm"]: (row["outcome"], row["stop_reason"]) for row in rows(tmp_path / "missed")}
    assert reasons["live"] == ("infra_missing", "cassette:miss")


def test_hostile_servers_end_as_outcomes_of_their_trials(tmp_path: Path, server: dict) -> None:
    modes = ("dies", "hang", "big", "types")
    arms = [
        {
            "name": mode,
            "agent": "react",
            "tools": {
                "name": mode,
                "mcp": {"command": [*server["mcp"]["command"], mode]},
                "include": ["add"],
                "limits": {"call_seconds": 2},
            },
        }
        for mode in modes
    ]
    written = json.loads(spec(tmp_path, arms, ["A"]).read_text())
    written["select"] = {"limit": 1}
    calls = [reply(f"{mode}__add", a=1, b=2)["tool_calls"][0] for mode in modes]
    written["models"][0]["options"] = {"replies": [{"tool_calls": calls}, "A"]}
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(written))
    run = gnomon("run", str(path), "--data-dir", "data", "--out", "out", folder=tmp_path)
    assert run.returncode == 1, run.stderr  # the trial of the server that dies is missing
    ended = {row["arm"]: row for row in rows(tmp_path / "out")}
    assert ended["dies"]["stop_reason"] == "server:died"
    for mode, errors in (("hang", 1), ("types", 1), ("big", 0)):
        used = ended[mode]["tools_used"][f"{mode}__add"]
        assert (ended[mode]["outcome"] != "infra_missing", used["errors"]) == (True, errors), mode
