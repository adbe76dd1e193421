"""Arms whose replies cannot be read are told while a job runs, once, and the command fails."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.reply_state import ReplyState
from gnomon_service.reply_watch import ReplyWatch
from gnomon_workers.store.store import Store
from tests.service.play import finish_all, post

CALL = '<tool_call>{"name": "speed", "arguments": {}}'


@pytest.fixture
def job_id(api: TestClient, store: Store) -> str:
    return post(api)


def test_an_arm_is_told_with_the_beginning_of_a_reply(api: TestClient, store: Store, job_id: str) -> None:
    watch = ReplyWatch(store)
    assert watch.unread(job_id) == []
    finish_all(store, job_id, response=CALL + "\n" * 9 + "x" * 90, reply_state=ReplyState.CUT)
    raw, tools = watch.unread(job_id)
    assert (raw.arm, tools.arm, raw.state, raw.read, raw.ended) == ("raw", "tools", "cut", 0, 6)
    assert raw.sentence.startswith(
        f"reference: 0 of 6 replies of “raw” could be read (cut), e.g. “{CALL} xxx"
    )
    assert raw.sentence.endswith("x…”")
    assert watch.unread(job_id) == [raw, tools]
    assert [alert["arm"] for alert in api.get(f"/v1/jobs/{job_id}").json()["alerts"]] == ["raw", "tools"]


@pytest.mark.parametrize("state", [ReplyState.READ, ReplyState.READ_CUT, ReplyState.MISSING, None])
def test_what_is_read_or_missing_or_not_recorded_is_no_alert(
    store: Store, job_id: str, state: ReplyState | None
) -> None:
    finish_all(store, job_id, reply_state=state)
    assert ReplyWatch(store).unread(job_id) == []


def test_the_events_of_a_job_tell_each_arm_once(api: TestClient, store: Store, job_id: str) -> None:
    finish_all(store, job_id, reply_state=ReplyState.THOUGHT_ONLY)
    with api.stream("GET", f"/v1/jobs/{job_id}/events?only=progress") as stream:
        lines = list(stream.iter_lines())
    named = [line for line in lines if line.startswith("event: ")]
    assert named == ["event: progress", "event: alert", "event: alert", "event: done"]
    told = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert (told[1]["kind"], told[1]["share"], told[1]["n"]) == ("thought_only", 1.0, 6)
    assert told[-1]["alerts"] == told[1:3]


def test_rows_and_trials_can_be_chosen_by_what_became_of_the_reply(
    api: TestClient, store: Store, job_id: str
) -> None:
    finish_all(store, job_id, reply_state=ReplyState.CUT)
    path = f"/v1/jobs/{job_id}/trials?reply_state"
    assert len(api.get(f"{path}=cut").json()["items"]) == 12
    assert api.get(f"{path}=read").json()["items"] == []
    assert api.get(f"{path}=soon").status_code == 422
    page = api.get(f"/ui/jobs/{job_id}/trials.json?reply_state=cut&view=trials").json()
    assert page["total"] == 12
    assert {row["reply_state"] for row in page["rows"]} == {"cut"}


def a_job(folder: Path, reply: str) -> str:
    questions = ["id,question,A,B,answer", *(f"q{n},Which way?,left,right,B" for n in range(6))]
    (folder / "q.csv").write_text("\n".join(questions))
    spec: dict[str, Any] = {
        "benchmark": "questions",
        "data": str(folder / "q.csv"),
        "models": [{"id": "scripted", "options": {"replies": [reply]}}],
        "arms": [{"name": "raw", "agent": "direct"}],
    }
    (folder / "spec.yaml").write_text(json.dumps(spec))
    return str(folder / "spec.yaml")


def test_a_run_of_which_nothing_can_be_read_says_so_and_fails(
    tmp_path: Path, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    reply = "The van turned."
    data = tmp_path / "data"
    ended = run_gnomon("run", a_job(tmp_path, reply), "--data-dir", str(data), "--workers", "1")
    assert ended.returncode == 1
    said = ended.stderr
    told = f"warning: scripted: 0 of 6 replies of “raw” could be read (unreadable), e.g. “{reply}”"
    assert said.count(told) == 1
    why = "exit code 1: no reply of scripted in “raw” could be read; `gnomon trace` shows what it wrote"
    assert said.splitlines().count(why) == 1
