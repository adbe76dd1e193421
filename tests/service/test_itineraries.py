"""Itineraries over REST and from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_service.cli.main import main
from gnomon_trips.benchmarks.itinerary import itinerary
from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.itinerary.problem import problem_of
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.solve import draft_of, solve
from gnomon_workers.store.store import Store
from tests.service.play import finish_all

REQUEST: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-11",
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma"],
}


def answer() -> str:
    """What a finished trial of that request holds."""
    task = request_task(REQUEST)
    problem = answered(problem_of(task.trip), is_local=True)
    rounds = solve(problem).rounds
    assert rounds is not None
    return score(task, draft_of(problem, rounds).model_dump_json()).answer or ""


def test_a_request_is_queued_and_its_plan_comes_in_the_form_that_is_wanted(
    api: TestClient, store: Store
) -> None:
    posted = api.post("/v1/itineraries", json=REQUEST)
    assert posted.status_code == 202, posted.text
    job = posted.json()
    where = posted.headers["location"]
    assert where == f"/v1/itineraries/{job['id']}"
    assert job["events"] == f"/v1/jobs/{job['id']}/events"
    assert api.get(where).json() == {"id": job["id"], "status": "queued", "reason": None}
    assert api.get(where, headers={"Accept": "text/html"}).status_code == 409

    finish_all(store, job["id"], answer=answer())
    told = api.get(where).json()
    assert told["status"] == "completed"
    assert told["verification"]["passes"] is True
    assert len(told["plan"]["days"][0]["visits"]) == 2
    for kind, word in (
        ("text/html", "<svg"),
        ("text/markdown", "# Helsinki, 1 day"),
        ("text/calendar", "BEGIN:VEVENT"),
        ("application/geo+json", "FeatureCollection"),
    ):
        reply = api.get(where, headers={"Accept": kind})
        assert reply.headers["content-type"].startswith(kind)
        assert word in reply.text
    page = api.get(where, headers={"Accept": "text/html"})
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert api.get(where, headers={"Accept": "image/png"}).status_code == 406


def test_a_trial_without_a_plan_says_why(api: TestClient, store: Store) -> None:
    job = api.post("/v1/itineraries", json=REQUEST).json()
    finish_all(store, job["id"], answer=None, score=0.0, stop_reason="no_answer")
    told = api.get(f"/v1/itineraries/{job['id']}").json()
    assert "no plan was made" in told["reason"]
    assert "no_answer" in told["reason"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], "body"),
        ({}, "request"),
        ({**REQUEST, "area": "Atlantis"}, "request"),
        ({**REQUEST, "days": 99}, "request"),
        ({**REQUEST, "colour": "red"}, "request"),
        ({**REQUEST, "model": 7}, "model"),
        ({**REQUEST, "model": {"id": "reference", "options": 3}}, "models.0.options"),
    ],
)
def test_what_is_no_request_is_refused_by_its_field(body: Any, field: str, api: TestClient) -> None:
    reply = api.post("/v1/itineraries", json=body)
    assert reply.status_code == 422, reply.text
    assert reply.headers["content-type"].startswith("application/problem+json")
    assert reply.json()["field"] == field


def test_a_job_that_plans_nothing_and_one_that_is_not_there_are_not_found(api: TestClient) -> None:
    spec = {"benchmark": "worlds", "select": {"limit": 1}, "models": [{"id": "reference"}]}
    job = api.post("/v1/jobs", json={**spec, "arms": [{"name": "raw", "agent": "direct"}]}).json()
    assert api.get(f"/v1/itineraries/{job['id']}").status_code == 404
    assert api.get("/v1/itineraries/j_none").status_code == 404


def test_a_request_in_a_job_of_another_benchmark_is_refused(api: TestClient) -> None:
    spec = {"benchmark": "worlds", "select": {"request": REQUEST}, "models": [{"id": "reference"}]}
    reply = api.post("/v1/jobs", json={**spec, "arms": [{"name": "raw", "agent": "direct"}]})
    assert reply.json()["field"] == "select.request"


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["itinerary", *args])
    return int(ended.value.code or 0)


@pytest.fixture
def request_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "request.json"
    file.write_text(json.dumps(REQUEST))
    return file


def test_the_command_plans_verifies_and_writes_every_form(
    request_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"trip{ending}" for ending in (".json", ".html", ".md", ".ics", ".geojson")]
    outs = [part for name in names for part in ("--out", name)]
    assert run(str(request_file), *outs, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verification"] == {
        "passes": True,
        "violations": [],
        "unchecked": [],
        "verified_by": told["verification"]["verified_by"],
    }
    for name in names:
        assert (request_file.parent / name).stat().st_size > 300
    assert json.loads((request_file.parent / "trip.json").read_text()) == told


@pytest.mark.parametrize(
    ("request_", "options", "word"),
    [
        ({"area": "helsinki"}, [], "start_date"),
        ({**REQUEST, "area": "Atlantis"}, [], "there are: helsinki"),
        (REQUEST, ["--out", "trip.pdf"], "allowed: .json"),
        (REQUEST, ["--model", ""], "models.0.id"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_two(
    request_: dict[str, Any],
    options: list[str],
    word: str,
    request_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    request_file.write_text(json.dumps(request_))
    assert run(str(request_file), *options) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert word in said


def test_a_refusal_that_is_proven_ends_well_and_names_the_reason(
    request_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request_file.write_text(json.dumps({**REQUEST, "start_date": "2026-06-08"}))
    assert run(str(request_file)) == 0
    assert "closed" in capsys.readouterr().out


def test_the_examples_are_requests(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "examples" / "itineraries"
    for file in folder.glob("*.json"):
        select = Select(request=json.loads(file.read_text()))
        samples = itinerary.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
        assert samples.get("request").target["task"].trip.lost == {}
