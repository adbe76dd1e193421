"""Specs of any size: refused where a report could not bear them, and a report ends with whoever wanted it."""

import json
import socket
import threading
import time
from collections.abc import Callable
from cProfile import Profile
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from starlette.testclient import TestClient

from gnomon.core.agent import AGENTS
from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.report.build import build_report
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.preset import PRESETS
from gnomon.spec.rules import parse_spec
from gnomon.stopping import check_wanted
from gnomon_service.api.app import create_app
from gnomon_service.serving import server_of
from gnomon_service.settings import read_settings
from gnomon_workers.store.store import Store
from tests.service.play import SPEC
from tests.workers.conftest import wait_until

ARM = {"name": "a", "agent": "direct"}


def models(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": "reference", "name": f"m{number}", **more} for number in range(count)]


def arms(count: int) -> list[dict[str, Any]]:
    return [{**ARM, "name": f"a{number}"} for number in range(count)]


def contrasts(count: int) -> list[dict[str, Any]]:
    return [{"baseline": "a0", "variant": f"a{number}"} for number in range(1, count + 1)]


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called."""
    with Profile() as profile:
        work()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize(
    ("change", "field", "allowed"),
    [
        ({"models": models(2_500)}, "models", "100"),
        ({"arms": arms(2_500)}, "arms", "256"),
        ({"models": models(50), "arms": arms(50)}, "models", "2,000"),
        ({"arms": arms(3), "analysis": {"contrasts": contrasts(1_001)}}, "analysis.contrasts", "1,000"),
        ({"models": [{"id": "m" * 1_001}]}, "models.0.id", "1,000"),
        ({"models": [{"id": "m", "options": {str(n): n for n in range(101)}}]}, "models.0.options", "100"),
        ({"models": [{"id": "m", "options": {"stop": "x" * 300_000}}]}, "models.0.options", "200,000"),
        ({"arms": [{**ARM, "tools": ["distance"] * 201}]}, "arms.0.tools", "200"),
        ({"arms": [{**ARM, "show": ["media"] * 21}]}, "arms.0.show", "20"),
        ({"select": {"tasks": ["x"] * 1_001}}, "select.tasks", "1,000"),
        ({"select": {"scenes": ["x"] * 1_001}}, "select.scenes", "1,000"),
        ({"select": {"request": {"text": "x" * 300_000}}}, "select.request", "200,000"),
        ({"decoding": {str(number): {} for number in range(101)}}, "decoding", "100"),
        ({"analysis": {"notes": ["x"] * 101}}, "analysis.notes", "100"),
        ({"analysis": {"chain": ["a"] * 257}}, "analysis.chain", "256"),
        ({"arms": {"preset": "dose", "calls": list(range(65))}}, "arms.calls", "64"),
        ({"arms": {"preset": "subsets", "groups": {str(n): [] for n in range(201)}}}, "arms.groups", "200"),
        ({"data": "x" * 5_000}, "data", "4,096"),
        ({"variant": "x" * 1_001}, "variant", "1,000"),
    ],
)  # fmt: skip
def test_what_is_too_large_is_named_with_what_is_allowed(
    change: dict[str, Any], field: str, allowed: str
) -> None:
    def refuse() -> None:
        with pytest.raises(SpecError) as refused:
            parse_spec({**SPEC, **change}, agents=AGENTS.names())
        assert (refused.value.field, allowed in refused.value.message) == (field, True), refused.value

    refuse()  # imports
    assert calls_of(refuse) < 2_000 + 10 * len(json.dumps(change)), "it grows as the spec does"


NEEDED: dict[str, dict[str, Any]] = {"matched_compute": {"tokens": 1_000}, "subsets": {"orders": 2}}


@pytest.mark.parametrize("preset", PRESETS.names())
def test_every_preset_passes_with_all_tools_and_several_models(preset: str) -> None:
    spec = {**SPEC, "models": models(10), "arms": {"preset": preset, **NEEDED.get(preset, {})}}
    assert len(parse_spec(spec, agents=AGENTS.names()).arms) <= 256


def test_a_job_that_was_stored_before_there_were_sizes_is_still_read() -> None:
    spec = JobSpec.model_validate({**SPEC, "models": models(101), "arms": arms(300)})
    assert len(JobSpec.model_validate_json(spec.model_dump_json()).arms) == 300


def test_a_report_of_four_times_the_arms_makes_about_four_times_the_calls() -> None:
    def calls(count: int) -> int:
        spec = parse_spec({**SPEC, "arms": arms(count)}, agents=AGENTS.names())
        rows = [
            Row(
                job_id="j", trial_id=f"t{arm}-{sample}", benchmark="worlds", task="T", cell="T",
                sample_id=f"s{sample}", cluster=f"c{sample}", model=spec.models[0].label, arm=f"a{arm}",
                repeat=0, outcome=Outcome.SCORED, stop_reason="answered", score=float((arm + sample) % 2),
            )
            for arm in range(count)
            for sample in range(4)
        ]  # fmt: skip
        about = {"spec": spec, "status": "completed", "rows": rows, "planned": len(rows)}
        return calls_of(lambda: build_report(job_id="j", **about))

    calls(2)  # imports
    assert calls(100) < 6 * calls(25)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Reports that take for ever, and how many are being computed and were begun."""
    at_work = {"now": 0, "begun": 0}

    def build(_: Store, __: str) -> Any:
        at_work["now"] += 1
        at_work["begun"] += 1
        try:
            while True:
                time.sleep(0.01)
                check_wanted()
        finally:
            at_work["now"] -= 1

    monkeypatch.setattr("gnomon_service.reports.report_of", build)
    return at_work


def test_a_report_ends_with_its_caller_and_with_the_server(
    endless: dict[str, int], store: Store, redis: Redis, tmp_path: Path
) -> None:
    app = create_app(read_settings({}, data_dir=tmp_path), store=store, redis=redis)
    job = TestClient(app, base_url="http://127.0.0.1:8000").post("/v1/jobs", json=SPEC).json()["id"]
    server = server_of(app)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        ask = f"GET /v1/jobs/{job}/report HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        for _ in range(2):
            with socket.create_connection(listener.getsockname()) as line:
                line.sendall(ask)
                wait_until(lambda: endless["now"] == 1)
            wait_until(lambda: endless["now"] == 0)
        lines = [socket.create_connection(listener.getsockname()) for _ in range(20)]
        for line in lines:
            line.sendall(ask)
        wait_until(lambda: endless["now"] == 1)
        health = socket.create_connection(listener.getsockname())
        health.sendall(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"200 OK" in health.recv(65_536)  # the others have threads of their own
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
        wait_until(lambda: endless["now"] == 0)
        for line in (*lines, health):
            line.close()


def test_a_spec_of_four_times_the_models_is_read_in_about_four_times_the_calls() -> None:
    def calls(count: int) -> int:
        spec = {**SPEC, "models": models(count), "arms": arms(20)}  # a hundred are the most
        return calls_of(lambda: parse_spec(spec, agents=AGENTS.names()))

    calls(1)  # imports
    assert calls(100) < 6 * calls(25)
