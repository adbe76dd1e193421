"""Jobs on clips, from published files to the report: what a provider really gets under raw and tools."""

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon_service.cli.main import main
from tests.chat_provider import ChatProvider
from tests.numbered import number_of
from tests.published_clips import publish_sti, publish_urban

RunJob = Callable[[dict[str, Any]], dict[str, Any]]
Gnomon = Callable[..., "subprocess.CompletedProcess[str]"]
CLIPS = {
    "urbanvideo-bench": (publish_urban, {"limit": 2, "tasks": ["Proximity", "Action Generation"]}),
    "sti-bench": (publish_sti, {}),
}


class Seeing(ChatProvider):
    """A provider that looks at 0.55 s if it may, answers A, and keeps the pictures that it was sent."""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        names = [tool["function"]["name"] for tool in request.get("tools", ())]
        looked = any(message["role"] == "tool" for message in request["messages"])
        if "look_at_frame" in names and not looked:
            call = {"name": "look_at_frame", "arguments": '{"time_s": 0.55}'}
            calls = [{"id": "c1", "type": "function", "function": call}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        return {"role": "assistant", "content": "Option: A; Reason: it looks so."}


@pytest.fixture
def seeing() -> Iterator[Seeing]:
    with Seeing() as provider:
        yield provider


def pictures(message: dict[str, Any]) -> list[int]:
    """The numbers that the frames of a message carry."""
    blocks = message["content"] if isinstance(message["content"], list) else []
    urls = [block["image_url"]["url"] for block in blocks if block["type"] == "image_url"]
    return [number_of(base64.b64decode(url.partition("base64,")[2])) for url in urls]


@pytest.mark.parametrize("name", list(CLIPS))
def test_a_job_on_clips_runs_under_raw_and_tools(
    tmp_path: Path,
    name: str,
    seeing: Seeing,
    run_job: RunJob,
) -> None:
    publish, select = CLIPS[name]
    spec = {
        "benchmark": name,
        "data": str(publish(tmp_path / "published")),
        "select": select,
        "protocol": "guarded",
        "models": [{"id": "openai/m", "api_base": seeing.url}],
        "preflight": False,  # calls are counted
        "arms": [
            {"name": "raw", "agent": "direct"},
            {"name": "tools", "agent": "react", "tools": "all"},
            {"name": "blind", "agent": "direct", "show": []},
        ],
    }
    report = run_job(spec)
    assert {arm["arm"]: arm["n"] for arm in report["arms"]} == {"raw": 2, "tools": 2, "blind": 2}
    assert any(row["model"].startswith("Qwen") for row in report["published"])

    first = [request for request in seeing.requests if len(request["messages"]) == 1]
    sent = sorted(pictures(request["messages"][0]) for request in first)
    even = sorted(
        [int((step + 0.5) * frames / count + 1e-6) for step in range(count)]
        for frames, count in {"urbanvideo-bench": [(70, 32), (33, 32)], "sti-bench": [(59, 30), (95, 30)]}[
            name
        ]
    )
    assert sent == sorted([[], [], *even, *even])
    again = [request["messages"] for request in seeing.requests if len(request["messages"]) > 1]
    assert len(again) == 2
    for prompt, called, told, shown in again:
        assert (prompt["role"], called["role"], told["role"], shown["role"]) == (
            "user",
            "assistant",
            "tool",
            "user",
        )
        assert json.loads(told["content"])["times_s"] == [0.5]
        assert pictures(shown) == [5]
    offered = {tool["function"]["name"] for request in seeing.requests for tool in request.get("tools", ())}
    assert {"look_at_frame", "look_closer", "look_between", "measure_motion", "pinhole"} <= offered
    assert "list_cameras" not in offered


def test_the_official_decoding_travels_with_every_call_of_every_arm(
    tmp_path: Path, seeing: Seeing, run_job: RunJob
) -> None:
    spec = {
        "benchmark": "sti-bench",
        "data": str(publish_sti(tmp_path / "published")),
        "select": {"frames": 8},
        "protocol": "official",
        "scoring": "official",
        "preflight": False,  # calls are counted
        "models": [
            {"id": "openai/m", "api_base": seeing.url},
            {"id": "openai/m", "name": "longer", "api_base": seeing.url, "max_tokens": 900},
        ],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
    }
    report = run_job(spec)
    assert report["integrity"]["decoding"] == {"all": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 100}}
    assert {request["temperature"] for request in seeing.requests} == {0.0}
    limits = [request["max_tokens"] for request in seeing.requests]
    assert limits.count(100) == limits.count(900) == len(limits) / 2 == 6  # 2 samples, once and twice
    first = [request["messages"][0] for request in seeing.requests if len(request["messages"]) == 1]
    strides = {tuple(range(0, 56, 7)), tuple(range(0, 88, 11))}  # ⌊59 / 8⌋ and ⌊95 / 8⌋
    assert {tuple(pictures(message)) for message in first} == strides


def run(run_gnomon: Gnomon, folder: Path, name: str, spec: dict[str, Any]) -> Path:
    """Run a job to its end; its result rows."""
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(spec))
    done = run_gnomon("run", str(path), "--out", str(folder / name), "--workers", "1")
    assert done.returncode == 0, done.stderr
    return folder / name / "rows.ndjson"


def command(*args: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    assert end.value.code == 0


def test_questions_are_written_harvested_and_filtered_blind(
    tmp_path: Path,
    run_gnomon: Gnomon,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    data = publish_urban(tmp_path / "published")
    question = "Question: How far is {} now?\nChoices:\nA. Farther\nB. Nearer\nC. As before\nAnswer: B"
    texts = ["It starts.", "{}", question.format("it")]
    authoring = {
        "benchmark": "urbanvideo-authoring",
        "data": str(data),
        "select": {"tasks": ["Proximity", "Causal"]},
        "models": [{"id": "scripted", "options": {"replies": texts}}],
        "arms": {"preset": "authoring"},
    }
    rows = run(run_gnomon, tmp_path, "authoring", authoring)
    command("generate", "questions", str(rows), "--data", str(data), "--out", str(tmp_path / "written"))
    assert "2 questions of 4 answers" in capfd.readouterr().out  # three options are none of «Causal»

    def guesses(name: str, letter_of: str) -> dict[str, Any]:
        return {"id": "scripted", "name": name, "options": {"replies": [letter_of]}}

    blind = {
        "benchmark": "urbanvideo-bench",
        "data": str(tmp_path / "written"),
        "models": [guesses("one", "Nearer"), guesses("two", "Nearer")],
        "arms": {"preset": "blind_filter"},
    }
    rows = run(run_gnomon, tmp_path, "blind", blind)
    command(
        "generate",
        "filtered",
        str(rows),
        "--data",
        str(tmp_path / "written"),
        "--out",
        str(tmp_path / "left"),
    )
    assert "2 of 2 dropped: all 2 models were right" in capfd.readouterr().out


def test_recorded_motion_becomes_questions(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pose = {"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    frames = [{"time_s": at, "camera": {"position_m": [2 * at, 0, 0], **pose}} for at in (0.0, 1.0, 2.0)]
    recording = {"format": "gnomon-motion/1", "id": "r", "clip": "c.mp4", "scene": "indoor", "frames": frames}
    file = tmp_path / "r.json"
    file.write_text(json.dumps({**recording, "camera_forward": "x", "camera_up": "z"}))
    command("generate", "motion", str(file), "--out", str(tmp_path / "out"))
    assert "6 questions" in capfd.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(["generate", "motion", str(file), "--out", str(tmp_path / "out")])
    assert end.value.code == 2
