"""Jobs over REST: posted, refused, listed, cancelled, resumed."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from redis import Redis
from starlette.testclient import TestClient

from gnomon.core.score import Outcome
from gnomon_workers.queue import queue_name, waiting_ids
from gnomon_workers.store.store import Store
from tests.service.play import SPEC, OpenApi, finish_all, post

JSON = {"Content-Type": "application/json"}
ARM = SPEC["arms"][0]


def refusal(response: Any) -> dict[str, Any]:
    """The problem in a response, checked for its form."""
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == response.status_code
    assert problem["type"].startswith("urn:gnomon:problem:")
    assert problem["title"]
    assert problem["detail"]
    assert "Traceback" not in response.text
    return problem


def test_a_posted_job_is_stored_queued_and_where_location_says(api: TestClient, redis: Redis) -> None:
    response = api.post("/v1/jobs", json=SPEC)
    assert response.status_code == 202
    said = response.json()
    assert said["status"] == "queued"
    assert said["planned_trials"] == 12
    assert said["estimate"]["samples"] == 6
    assert said["estimate"]["usd"] == 0.0
    job = api.get(response.headers["location"]).json()
    assert job["id"] == said["id"]
    assert job["counts"] == {
        "planned": 12, "scored": 0, "model_failed": 0, "infra_missing": 0, "running": 0,
    }  # fmt: skip
    waiting = waiting_ids(redis, queue_name("default", "normal"))
    assert waiting
    assert all(message.startswith(said["id"]) for message in waiting)


def test_the_price_of_a_foreign_model_is_unknown_not_zero(api: TestClient) -> None:
    spec = {**SPEC, "models": [{"id": "openai/x", "api_base": "http://127.0.0.1:1/v1", "api_key_env": "ANY"}]}
    assert api.post("/v1/jobs", json=spec).json()["estimate"]["usd"] is None


def test_the_estimate_has_the_dollars_that_a_plan_expects(api: TestClient) -> None:
    model = {"id": "openai/x", "api_base": "http://127.0.0.1:1/v1", "api_key_env": "ANY"}
    spec = {**SPEC, "models": [{**model, "price": {"input": 1.0, "output": 2.0}}]}
    assert api.post("/v1/jobs", json=spec).json()["estimate"]["usd"] > 0


def test_the_same_idempotency_key_gives_the_same_job(api: TestClient) -> None:
    first = post(api, **{"Idempotency-Key": "k1"})
    assert post(api, **{"Idempotency-Key": "k1"}) == first
    assert post(api, **{"Idempotency-Key": "k2"}) != first
    other = api.post("/v1/jobs", json={**SPEC, "repeats": 2}, headers={"Idempotency-Key": "k1"})
    assert other.status_code == 409
    assert refusal(other)["field"] == "Idempotency-Key"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"benchmark": "nope"}, "benchmark"),
        ({"benchmark": None}, "benchmark"),
        ({"benchmark": "gtr-bench"}, "data"),
        ({"benchmark": "gtr-bench", "data": "/etc"}, "data"),
        ({"benchmark": "gtr-bench", "data": "../../etc"}, "data"),
        ({"select": {"limit": 0}}, "select.limit"),
        ({"select": {"tasks": ["Cooking"]}}, "select.tasks"),
        ({"select": {"scenes": ["space"]}}, "select.scenes"),
        ({"select": {"seed": -1}}, "select.seed"),
        ({"protocol": "secret"}, "protocol"),
        ({"scoring": "kind"}, "scoring"),
        ({"variant": "v9"}, "variant"),
        ({"models": []}, "models"),
        ({"models": [{"id": ""}]}, "models.0.id"),
        ({"models": [{"id": "x/y", "api_base": "https://example.org"}]}, "models.0.api_base"),
        ({"models": [{"id": "x/y", "options": {"api_key": "sk"}}]}, "models.0.options.api_key"),
        ({"models": [{"id": "x/y", "temperature": 3}]}, "models.0.temperature"),
        ({"arms": []}, "arms"),
        ({"arms": [{**ARM, "agent": "magic"}]}, "arms.0.agent"),
        ({"arms": [{**ARM, "tools": ["fly"]}]}, "arms.0.tools"),
        ({"arms": [{**ARM, "max_turns": 0}]}, "arms.0.max_turns"),
        ({"arms": {"preset": "lader"}}, "arms.preset"),
        ({"repeats": 0}, "repeats"),
        ({"select": {"limit": 5_000_001}}, "select.limit"),
        ({"repeats": 1000, "arms": [{**ARM, "name": f"arm {i}"} for i in range(2000)]}, "arms"),
        ({"select": {"limit": 10**30}}, "select.limit"),
        ({"concurrency": "many"}, "concurrency"),
        ({"queue": "../x"}, "queue"),
        ({"priority": "urgent"}, "priority"),
        ({"limits": {"usd": -1}}, "limits.usd"),
        ({"limits": {"usd": 1}, "models": [{"id": "openai/no-such-model"}]}, "models.0.price"),
        ({"analysis": {"primary": ["raw", "cooked"]}}, "analysis.primary"),
        ({"analysis": {"margin": 1}}, "analysis.margin"),
        ({"speed": 9}, "speed"),
        ({"name": "\ud800"}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"models": [{"id": "openai/m", "options": {"a": "b\0"}}]}, "spec"),
    ],
)  # fmt: skip
def test_a_bad_spec_is_422_with_its_field(api: TestClient, changes: dict[str, Any], field: str) -> None:
    response = api.post("/v1/jobs", content=json.dumps({**SPEC, **changes}), headers=JSON)
    assert response.status_code == 422
    assert refusal(response)["field"] == field
    assert api.get("/v1/jobs").json()["items"] == []


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("arms", "missing; allowed: a list of arms, each {name: …, agent: …, tools: …}, or a preset"),
        ("models", "missing; allowed: a list of models, each {id: …}"),
        ("benchmark", "missing; allowed: the name of a benchmark"),
    ],
)
def test_a_field_that_a_spec_lacks_is_named_with_what_it_may_be(
    api: TestClient, field: str, says: str
) -> None:
    spec = {name: value for name, value in SPEC.items() if name != field}
    problem = refusal(api.post("/v1/jobs", content=json.dumps(spec), headers=JSON))
    assert problem["field"] == field
    assert problem["detail"].startswith(says)


@pytest.mark.parametrize("kind", ["application/yaml", "application/x-yaml", "text/yaml; charset=utf-8"])
def test_a_spec_may_be_sent_as_yaml(api: TestClient, kind: str) -> None:
    response = api.post("/v1/jobs", content=yaml.safe_dump(SPEC), headers={"Content-Type": kind})
    assert response.status_code == 202
    spec = api.get(f"/v1/jobs/{response.json()['id']}").json()["spec"]
    assert spec["select"]["limit"] == SPEC["select"]["limit"]


def test_yaml_as_json_is_answered_with_how_to_send_it(api: TestClient) -> None:
    response = api.post("/v1/jobs", content=yaml.safe_dump(SPEC), headers=JSON)
    assert response.status_code == 422
    assert "YAML is sent as application/yaml" in refusal(response)["detail"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ("a: &x [1]\nb: *x", 422, "aliases"),
        ("repeats: 1\nrepeats: 2", 422, "given twice"),
        ("repeats: .inf", 422, "JSON"),
        ("1: 2", 422, "allowed: a text"),
        ("a: !!binary aGk=", 422, "JSON"),
        ("a: !!python/object:os.system x", 422, "not valid YAML"),
        ("[" * 20_000, 422, "not valid YAML"),
        ("a: " + "x" * 200_000, 413, "200,000 bytes"),
        ("a: \xff", 422, "UTF-8"),
    ],
)
def test_yaml_that_is_no_plain_data_is_refused(api: TestClient, body: str, status: int, says: str) -> None:
    headers = {"Content-Type": "application/yaml"}
    response = api.post("/v1/jobs", content=body.encode("latin-1"), headers=headers)
    assert response.status_code == status
    assert says in refusal(response)["detail"]


@pytest.mark.parametrize(
    "body",
    [
        "", "{", "[]", "null", '"text"', "nan", '{"repeats": NaN}', '{"limits": {"usd": Infinity}}',
        "[" * 100_000, "\xff",
    ],
)  # fmt: skip
def test_a_body_that_is_no_spec_is_422(api: TestClient, body: str) -> None:
    response = api.post("/v1/jobs", content=body.encode("latin-1"), headers=JSON)
    assert response.status_code == 422
    assert refusal(response)["field"] in {"body", "spec"}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "form/yaml", ""])
def test_types_that_a_form_may_have_are_refused(api: TestClient, kind: str) -> None:
    response = api.post("/v1/jobs", content=json.dumps(SPEC), headers={"Content-Type": kind})
    assert response.status_code == 415
    refusal(response)


@pytest.mark.parametrize(
    ("verb", "path", "status"),
    [
        ("GET", "/v1/jobs/j_none", 404),
        ("POST", "/v1/jobs/j_none/cancel", 404),
        ("POST", "/v1/jobs/j_none/resume", 404),
        ("GET", "/v1/jobs/j_none/events", 404),
        ("GET", "/v1/jobs/j_none/trials", 404),
        ("GET", "/v1/jobs/j_none/report", 404),
        ("GET", "/v1/trials/t_none", 404),
        ("GET", "/v2", 404),
        ("DELETE", "/v1/jobs", 405),
        ("GET", "/v1/jobs?limit=0", 422),
        ("GET", "/v1/jobs?limit=10001", 422),
        ("GET", "/v1/jobs?cursor=abc", 422),
    ],
)
def test_every_error_is_a_problem(api: TestClient, verb: str, path: str, status: int) -> None:
    response = api.request(verb, path)
    assert response.status_code == status
    problem = refusal(response)
    if status == 422:
        assert problem["field"] in path


def test_a_fault_of_ours_tells_nothing_of_our_insides(api: TestClient, store: Store) -> None:
    store.close()
    (path,) = Path(store.url.removeprefix("sqlite:///")).parent.glob("gnomon.db")
    path.write_bytes(b"no database" * 100)
    response = api.get("/v1/jobs")
    assert response.status_code == 500
    assert "sqlite" not in response.text.lower()
    refusal(response)


def test_jobs_are_listed_newest_first_page_by_page(api: TestClient) -> None:
    ids = [post(api) for _ in range(3)]
    first = api.get("/v1/jobs?limit=2").json()
    assert [job["id"] for job in first["items"]] == [ids[2], ids[1]]
    second = api.get(f"/v1/jobs?limit=2&cursor={first['next_cursor']}").json()
    assert [job["id"] for job in second["items"]] == [ids[0]]
    assert second["next_cursor"] is None


def test_a_cancelled_job_keeps_finished_trials_and_resumes_what_is_missing(
    api: TestClient, store: Store, redis: Redis
) -> None:
    job_id = post(api)
    assert api.post(f"/v1/jobs/{job_id}/cancel").json()["status"] == "cancelled"
    redis.flushall()
    resumed = api.post(f"/v1/jobs/{job_id}/resume").json()
    assert resumed["status"] == "queued"
    assert waiting_ids(redis, queue_name("default", "normal"))
    assert finish_all(store, job_id, outcome=Outcome.INFRA_MISSING, score=None) == 12
    assert api.get(f"/v1/jobs/{job_id}").json()["status"] == "failed", "nothing has a result"
    api.post(f"/v1/jobs/{job_id}/resume")
    assert finish_all(store, job_id) == 12
    done = api.post(f"/v1/jobs/{job_id}/resume").json()
    assert (done["status"], done["counts"]["scored"]) == ("completed", 12)
    assert finish_all(store, job_id) == 0


def test_data_is_read_below_the_media_roots_only(open_api: OpenApi, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    api = open_api(GNOMON_MEDIA_ROOTS=str(tmp_path / "inside"))
    for data in (str(tmp_path / "outside"), "../outside"):
        response = api.post("/v1/jobs", json={**SPEC, "benchmark": "gtr-bench", "data": data})
        assert refusal(response)["detail"].endswith("GNOMON_MEDIA_ROOTS")
    empty = api.post("/v1/jobs", json={**SPEC, "benchmark": "gtr-bench", "data": "."})
    assert refusal(empty)["title"] == "Unusable data"
    assert refusal(empty)["field"] == "data"


def test_no_refusal_tells_which_folders_a_server_has(open_api: OpenApi, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    api = open_api(GNOMON_MEDIA_ROOTS=str(tmp_path / "inside"))
    probed = (Path.cwd(), Path.home(), tmp_path, tmp_path / "inside" / "absent", Path("/nowhere/at/all"))
    told = {
        refusal(api.post("/v1/jobs", json={**SPEC, "benchmark": "gtr-bench", "data": f"{folder}"}))["detail"]
        for folder in probed
    }
    assert told == {"there is no such path under GNOMON_MEDIA_ROOTS"}
