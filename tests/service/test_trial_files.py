"""A stored trial as a file: tried again, continued from a step, continued with another result."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.errors import Conflict, SpecError
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.spec_file import load_yaml
from gnomon.trials.trial_file import is_trial_file, read_trial_file, trial_file, trial_file_text
from gnomon.trials.trial_plan import Trial, expand_trials
from gnomon_service.cli.main import main
from gnomon_workbench.dry_run import pick, run_once
from gnomon_workers.open_job import open_spec
from gnomon_workers.store.store import Store
from tests.service.play import SPEC


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    return int(end.value.code or 0)


@pytest.fixture
def spec() -> JobSpec:
    return JobSpec.model_validate(SPEC)


@pytest.fixture
def stored(spec: JobSpec, store: Store, tmp_path: Path) -> str:
    """A job that the reference model has run: the id of a trial with several calls of tools."""
    job = open_spec(spec, MediaStore(tmp_path / "media"))
    ended = []
    for trial in expand_trials("", spec, job.samples.refs):
        picked = pick(job, sample_id=trial.ref.sample_id, arm=trial.arm, model=None)
        row, trace = asyncio.run(run_once(picked, watch=lambda _: None))
        ended.append((row, trace.to_json()))
    job_id = store.insert_finished_job(spec, job.samples.refs, ended)
    rows = [row for row in store.iter_rows(job_id) if row.tool_calls > 1]
    return rows[0].trial_id


def steps_of(store: Store, trial_id: str) -> list[dict[str, Any]]:
    return list((store.trace(trial_id) or {})["steps"])


def tried(document: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    path = tmp_path / "trial.yaml"
    path.write_text(document if isinstance(document, str) else trial_file_text(document, "yaml"))
    code = gnomon("try", str(path), "--json")
    return code, json.loads(capsys.readouterr().out)


def test_a_trial_that_continues_unchanged_from_any_step_ends_as_the_stored_one(
    stored: str, store: Store, api: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = store.trial(stored).row
    assert row is not None
    steps = steps_of(store, stored)
    for number in (1, 2, len(steps)):
        text = api.get(f"/v1/trials/{stored}/file?from_step={number}").text
        code, ended = tried(text, tmp_path, capsys)
        assert code == 0
        assert (ended["row"]["answer"], ended["row"]["score"]) == (row.answer, row.score)
        recorded = [step for step in ended["trace"]["steps"] if "recorded" in step.get("flags", ())]
        assert len(recorded) == sum(step["kind"] == "reply" for step in steps[:number])
        assert [step.get("observation") for step in ended["trace"]["steps"]] == [
            step.get("observation") for step in steps
        ]


def test_a_trial_without_recorded_steps_is_tried_again_from_its_start(
    stored: str, store: Store, api: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = api.get(f"/v1/trials/{stored}/file?format=json")
    assert answer.headers["content-type"] == "application/json"
    assert "recorded" not in answer.json()
    code, ended = tried(answer.text, tmp_path, capsys)
    assert code == 0
    row = store.trial(stored).row
    assert row is not None
    assert ended["row"]["answer"] == row.answer
    assert not any(step.get("flags") for step in ended["trace"]["steps"])


def test_another_result_changes_what_follows(
    stored: str, store: Store, api: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = steps_of(store, stored)
    number = max(at for at, step in enumerate(steps, start=1) if step["kind"] == "tool")
    body = {"from_step": number, "result": {"error": "The sensor is away."}}
    answer = api.post(f"/v1/trials/{stored}/file", json=body)
    assert answer.headers["content-type"] == "application/yaml"
    _, ended = tried(answer.text, tmp_path, capsys)
    after = ended["trace"]["steps"]
    assert after[number - 1]["observation"] == '{"error": "The sensor is away."}'
    follow = [(step["kind"], step.get("text"), step.get("observation")) for step in after[number:]]
    assert follow != [(step["kind"], step.get("text"), step.get("observation")) for step in steps[number:]]


def test_a_call_that_is_not_the_recorded_one_ends_the_trial_with_a_clear_message(
    stored: str, store: Store, api: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = steps_of(store, stored)
    document = api.get(f"/v1/trials/{stored}/file?from_step={len(steps)}&format=json").json()
    document["recorded"]["results"][0]["name"] = "fly"
    code, ended = tried(document, tmp_path, capsys)
    assert code == 1
    assert ended["row"]["outcome"] == Outcome.INFRA_MISSING
    assert "no longer fits the record" in ended["row"]["error"]


def test_steps_that_are_never_reached_and_another_prompt_end_the_trial_too(
    stored: str, store: Store, api: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = steps_of(store, stored)
    whole = api.get(f"/v1/trials/{stored}/file?from_step={len(steps)}&format=json").json()
    left = {**whole, "recorded": {**whole["recorded"], "replies": whole["recorded"]["replies"] * 2}}
    _, ended = tried(left, tmp_path, capsys)
    assert "recorded steps left" in ended["row"]["error"]
    other = {**whole, "recorded": {**whole["recorded"], "prompt": "0"}}
    _, ended = tried(other, tmp_path, capsys)
    assert "the prompt is not the recorded one" in ended["row"]["error"]


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [("from_step=0", 422, "from_step"), ("from_step=999", 422, "from_step"), ("format=xml", 422, "format")],
)
def test_a_step_or_format_that_is_not_there_is_refused(
    query: str, status: int, field: str, stored: str, api: TestClient
) -> None:
    answer = api.get(f"/v1/trials/{stored}/file?{query}")
    assert (answer.status_code, answer.json()["field"]) == (status, field)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], "body"),
        ({"from_step": "1", "result": "x"}, "from_step"),
        ({"from_step": 1}, "result"),
        ({"from_step": 1, "result": "x"}, "from_step"),  # the first step is a reply
        ({"from_step": 1, "result": "x", "more": 1}, "more"),
    ],
)
def test_a_result_that_does_not_fit_is_refused(body: Any, field: str, stored: str, api: TestClient) -> None:
    answer = api.post(f"/v1/trials/{stored}/file", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_a_trial_without_a_trace_can_only_be_tried_again(spec: JobSpec, tmp_path: Path) -> None:
    ref = open_spec(spec, MediaStore(tmp_path)).samples.refs[0]
    trial = Trial(trial_id="t", job_id="j", ref=ref, model="reference", arm="raw", repeat=0)
    assert trial_file(spec, trial, None)["sample"] == ref.sample_id
    with pytest.raises(Conflict):
        trial_file(spec, trial, None, from_step=1)
    with pytest.raises(SpecError, match="from_step"):
        trial_file(spec, trial, None, result="x")


def test_a_trial_file_with_an_unknown_field_is_refused() -> None:
    assert is_trial_file({"spec": {}, "sample": "1", "arm": "raw"})
    with pytest.raises(SpecError, match="sampel"):
        read_trial_file({"spec": {}, "sample": "1", "arm": "raw", "sampel": 1})


def test_yaml_of_a_trial_file_holds_no_aliases(spec: JobSpec) -> None:
    same = {"a": 1}
    assert load_yaml(trial_file_text({"spec": {"x": same, "y": same}}, "yaml")) == {
        "spec": {"x": same, "y": same}
    }


def test_a_fault_that_hits_by_number_of_calls_hits_the_same_calls_after_recorded_ones(
    spec: JobSpec, tmp_path: Path
) -> None:
    faults = {"kind": "explicit", "lasting": "transient", "rate": 0.5}
    arm = {"name": "tools", "agent": "react", "tools": "all", "faults": faults}
    faulty = JobSpec.model_validate({**SPEC, "arms": [arm]})
    job = open_spec(faulty, MediaStore(tmp_path))
    checked = 0
    for trial in expand_trials("j", faulty, job.samples.refs):
        picked = pick(job, sample_id=trial.ref.sample_id, arm="tools", model=None)
        row, trace = asyncio.run(run_once(picked, watch=lambda _: None))
        at = next((n for n, step in enumerate(trace.steps, start=1) if step.kind == "tool"), None)
        if at is None:
            continue
        document = read_trial_file(trial_file(faulty, trial, trace.to_json(), from_step=at))
        again = pick(job, sample_id=trial.ref.sample_id, arm="tools", model=None, recorded=document.recorded)
        same, later = asyncio.run(run_once(again, watch=lambda _: None))
        assert [step.injected for step in later.tool_steps] == [step.injected for step in trace.tool_steps]
        assert (same.outcome, same.answer) == (row.outcome, row.answer)
        checked += 1
    assert checked > 0
