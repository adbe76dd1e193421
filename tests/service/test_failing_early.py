"""A job that cannot work says so at once, in the provider's words: in terminals, over REST, in its report."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from gnomon_workers.store.store import Store
from tests.agents.conftest import FakeProvider, serving
from tests.service.endpoints import CallsAsText, Slow
from tests.service.play import SPEC, post

KEY = "sk-abcdefghijklmnop"
SAID = "HTTP 401: Incorrect API key provided: [secret]"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with serving() as fake:
        fake.answers(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
        yield fake


@pytest.fixture
def command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"],
) -> Command:
    """Run a command on a spec: its exit code, and what it said."""
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))

    def run(verb: str, models: list[dict[str, Any]], *more: str) -> tuple[int, str, str]:
        path = tmp_path / "spec.yaml"
        path.write_text(yaml.safe_dump({**SPEC, "models": models}))
        done = run_gnomon(verb, str(path), *more)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_refused_key_is_said_in_the_terminal_the_rows_and_on_page_one(
    tmp_path: Path, command: Command, provider: FakeProvider
) -> None:
    out_dir = tmp_path / "out"
    model = {"id": "openai/m", "api_base": provider.url}
    code, out, err = command("run", [model], "--out", str(out_dir), "--workers", "2")
    assert (code, len(provider.requests)) == (1, 1)
    assert "! The job failed. openai/m: 12 of 12 trials are missing, provider:auth" in out
    assert SAID in out
    assert "Check the key" in out
    assert "failed: 0 of 12 trials have a result, 12 missing" in err
    assert "cannot be told" not in out
    rows = [json.loads(line) for line in (out_dir / "rows.ndjson").read_text().splitlines()]
    assert {(row["stop_reason"], row["error"]) for row in rows} == {("provider:auth", SAID)}
    assert len({row["trial_id"] for row in rows}) == len(rows) == 12
    report = json.loads((out_dir / "report.json").read_text())
    assert SAID in report["alerts"][0]["text"]
    assert report["integrity"]["missing_by_cause"] == {"provider:auth": 12}
    assert report["integrity"]["missing"] == [
        {"model": "openai/m", "cause": "provider:auth", "trials": 12, "planned": 12, "error": SAID}
    ]
    page = (out_dir / "report.html").read_text()
    assert page.index(SAID) < page.index("Findings")
    assert "\nThe job failed. openai/m" in (out_dir / "report.md").read_text()
    everything = "".join(path.read_text() for path in out_dir.iterdir()) + out + err
    assert KEY not in everything


def test_an_endpoint_that_is_not_fit_is_told_everywhere_and_its_job_runs(
    tmp_path: Path, command: Command
) -> None:
    out_dir = tmp_path / "out"
    with CallsAsText() as endpoint:
        model = {"id": "openai/m", "api_base": endpoint.url}
        code, out, err = command("run", [model], "--out", str(out_dir))
    assert code == 1, out + err  # no reply can be read
    told = "openai/m is not fit (tool_call); not fit for native tools."
    assert err.count(f"preflight: {told} Such replies count as `call_in_text`.") == 1
    [check] = json.loads((out_dir / "report.json").read_text())["preflights"]
    assert (check["state"], check["calls"], check["fitness"]["native_tools"]) == ("passed", 2, "unfit")
    page = (out_dir / "report.html").read_text()
    assert told.rstrip(".") in page
    assert "<summary>What the preflight of openai/m found</summary>" in page


def test_a_preflight_that_takes_its_time_says_what_it_waits_for(command: Command) -> None:
    with Slow() as endpoint:
        endpoint.slow_calls, endpoint.seconds = 1, 8.0
        code, _, err = command("run", [{"id": "openai/m", "api_base": endpoint.url}], "--workers", "1")
    assert code == 1  # no reply can be read
    assert "waiting for openai/m: first reply, " in err


def test_one_trial_that_is_tried_says_it_too(
    tmp_path: Path, command: Command, provider: FakeProvider, api: TestClient, store: Store
) -> None:
    sample = store.refs(post(api))[0].sample_id
    model = {"id": "openai/m", "api_base": provider.url}
    code, out, _ = command("try", [model], "--sample", sample, "--arm", "raw")
    assert (code, len(provider.requests)) == (1, 1)
    assert f"{SAID}\nCheck the key" in out


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"id": "nope"}, "'nope' names no provider"),
        ({"id": "gpt4"}, "did you mean openai/gpt-4 or"),
        ({"id": "opnai/gpt-4o"}, "did you mean openai/gpt-4o?"),
        ({"id": "Qwen/Qwen3", "api_base": "http://127.0.0.1:9/v1"}, "did you mean openai/Qwen/Qwen3?"),
        ({"id": "openai/"}, "'openai/' names no provider"),
    ],
)
def test_a_model_that_nobody_can_resolve_is_refused_with_the_spec(
    api: TestClient, command: Command, model: dict[str, Any], told: str
) -> None:
    answer = api.post("/v1/jobs", json={**SPEC, "models": [model]})
    assert (answer.status_code, answer.json()["field"]) == (422, "models.0.id")
    assert told in answer.json()["detail"]
    code, _, err = command("plan", [model])
    assert code == 2
    assert err.startswith("gnomon: models.0.id: ")
    assert told in err


@pytest.mark.parametrize(
    "name", ["openai/x", "gpt-4o", "claude-sonnet-9", "hosted_vllm/a/b", "ollama/llama3"]
)
def test_a_model_that_can_be_resolved_is_taken(api: TestClient, name: str) -> None:
    assert api.post("/v1/jobs", json={**SPEC, "models": [{"id": name}]}).status_code == 202


def test_a_failed_job_says_over_rest_what_its_models_were_told(api: TestClient, store: Store) -> None:
    job_id = post(api)
    store.stop_model(job_id, "reference", cause="quota", error="no credit left")
    job = api.get(f"/v1/jobs/{job_id}").json()
    assert job["status"] == "failed"
    assert job["error"].startswith(
        "reference: 12 of 12 trials are missing, provider:quota: “no credit left”."
    )
    assert [(one["model"], one["state"], one["cause"]) for one in job["preflights"]] == [
        ("reference", "stopped", "quota")
    ]
    report = api.get(f"/v1/jobs/{job_id}/report", headers={"Accept": "application/json"}).json()
    [alert] = report["alerts"]
    assert alert["text"].startswith(f"The job failed. {job['error']}")
    trial = api.get(f"/v1/jobs/{job_id}/trials?limit=1").json()["items"][0]
    assert (trial["stop_reason"], trial["error"]) == ("provider:quota", "no credit left")
