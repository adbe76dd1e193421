"""Samples without their video are told of before anything is spent; where all are, nothing is."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from tests.published_clips import publish_urban

SPEC: dict[str, Any] = {
    "benchmark": "urbanvideo-bench",
    "models": [{"id": "scripted", "options": {"replies": ["Option: A"]}}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "blind", "agent": "direct", "show": []}],
}
PARTLY = "1 of 2 samples are without their video: 1 of 2 videos are absent, first fly_2.mp4; looked in"

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"],
) -> Command:
    """Run a command on a spec: its exit code, and what it said."""
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))

    def run(verb: str, data: Path, *more: str, **changes: Any) -> tuple[int, str, str]:
        path = tmp_path / "spec.yaml"
        path.write_text(yaml.safe_dump({**SPEC, "data": str(data), **changes}))
        done = run_gnomon(verb, str(path), *more)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_job_none_of_whose_videos_is_there_is_refused(tmp_path: Path, command: Command, verb: str) -> None:
    data = publish_urban(tmp_path / "published", clips=False)
    code, _, err = command(verb, data)
    assert code == 2
    assert err.startswith(
        "gnomon: data: none of the 2 samples has its video; looked in videos/, video/, clips/"
    )
    assert "`show: []` in every arm" in err


def test_a_job_that_shows_none_on_purpose_needs_none(tmp_path: Path, command: Command) -> None:
    data = publish_urban(tmp_path / "published", clips=False)
    code, out, err = command("plan", data, "--json", arms=[SPEC["arms"][1]])
    assert (code, err, json.loads(out)["warnings"]) == (0, "", [])


def test_some_absent_videos_are_counted_by_every_command_and_on_page_one(
    tmp_path: Path, command: Command
) -> None:
    data = publish_urban(tmp_path / "published")
    (data / "videos" / "fly_2.mp4").unlink()
    assert command("plan", data)[1].startswith(f"Warning: {PARTLY}")
    assert command("show", data, "--sample", "0", "--arm", "raw")[2].startswith(f"warning: {PARTLY}")
    code, out, err = command("run", data, "--out", str(tmp_path / "out"), "--workers", "1")
    assert code == 1
    assert err.startswith(f"warning: {PARTLY}")
    assert f"! {PARTLY}" in out
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.index(PARTLY) < page.index("Findings")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    lost = report["integrity"]["missing"]
    assert [(row["cause"], row["trials"], row["planned"]) for row in lost] == [("data", 1, 4)]
    assert "fly_2.mp4" in lost[0]["error"]


def test_over_rest_the_answer_tells_of_absent_videos(
    tmp_path: Path, open_api: Callable[..., TestClient]
) -> None:
    data = publish_urban(tmp_path / "published")
    api = open_api(GNOMON_MEDIA_ROOTS=str(data))
    (data / "videos" / "fly_2.mp4").unlink()
    assert api.post("/v1/jobs", json={**SPEC, "data": str(data)}).json()["warnings"][0].startswith(PARTLY)
    (data / "videos" / "fly_1.mp4").unlink()
    refused = api.post("/v1/jobs", json={**SPEC, "data": str(data)})
    assert (refused.status_code, refused.json()["field"]) == (422, "data")
