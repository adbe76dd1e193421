"""What there is, how it is, and tools called over REST."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from redis import Redis
from starlette.testclient import TestClient

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS
from gnomon.spec.preset import PRESETS
from gnomon_service.api.app import create_app
from gnomon_service.settings import read_settings
from gnomon_tools.core.toolbox import TOOLS
from gnomon_workers.queue import client_of
from gnomon_workers.store.store import Store
from tests.service.play import OpenApi, finish_all, post

ARROW = "application/vnd.apache.arrow.stream"
SCENE_FILE = Path(__file__).parents[2] / "examples" / "scenes" / "small.geojson"


@pytest.fixture(scope="module")
def scene() -> dict[str, Any]:
    scene: dict[str, Any] = json.loads(SCENE_FILE.read_text())
    return scene


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/v1/benchmarks", BENCHMARKS.names),
        ("/v1/tools", TOOLS.names),
        ("/v1/agents", AGENTS.names),
        ("/v1/arms/presets", PRESETS.names),
    ],
)
def test_the_catalog_lists_what_the_registries_find(api: TestClient, path: str, names: Any) -> None:
    said = api.get(path).json()
    assert set(said) == {"items", "next_cursor"}
    assert tuple(item["name"] for item in said["items"]) == names()
    assert all(item["description"] for item in said["items"])


def test_a_tool_answers_over_rest(api: TestClient, scene: dict[str, Any]) -> None:
    args = {"start": {"camera": "c1"}, "end": {"camera": "c2"}}
    response = api.post("/v1/tools/distance", json={"scene": scene, "args": args})
    assert response.status_code == 200
    assert response.json()["straight_m"] > 0
    assert api.post("/v1/tools/list_cameras", json={"scene": scene}).status_code == 200


def test_a_tool_of_its_arguments_alone_needs_no_scene_over_rest(api: TestClient) -> None:
    args = {"positions_m": [[0, 0], [3, 4]], "tolerance_m": 0.1}
    made = api.post("/v1/tools/describe_path", json={"args": args})
    assert made.status_code == 200, made.text
    refused = api.post("/v1/tools/list_cameras", json={"args": {}})
    assert (refused.status_code, refused.json()["field"]) == (422, "scene")
    assert refused.json()["detail"] == "list_cameras needs a scene"


@pytest.mark.parametrize(
    ("name", "changes", "status", "field"),
    [
        ("fly", {}, 404, "name"),
        ("distance", {"args": {}}, 422, "args"),
        ("distance", {"args": []}, 422, "args"),
        ("distance", {"args": {"start": {"camera": "c1"}, "end": {"camera": "nowhere"}}}, 422, "args"),
        ("distance", {"scene": None}, 422, "scene"),
        ("distance", {"scene": 7}, 422, "scene"),
        ("distance", {"scene": "small.geojson"}, 422, "scene"),
        ("distance", {"scene": "/etc/passwd"}, 422, "scene"),
        ("distance", {"scene": {"type": "Feature"}}, 422, "scene"),
        ("distance", {"speed": 1}, 422, "speed"),
    ],
)
def test_a_bad_call_is_named(
    api: TestClient, scene: dict[str, Any], name: str, changes: dict[str, Any], status: int, field: str
) -> None:
    response = api.post(f"/v1/tools/{name}", json={"scene": scene, "args": {}, **changes})
    assert response.status_code == status
    assert response.json()["field"].startswith(field)


def test_a_batch_answers_in_columns(api: TestClient, scene: dict[str, Any]) -> None:
    body = {"scene": scene, "args": {"start": [[0, 0], [3, 4]], "end": [3, 4]}}
    response = api.post("/v1/tools/bearing/batch", json=body)
    assert response.status_code == 200
    angles = response.json()["bearing_deg"]
    assert angles == [pytest.approx(36.87, abs=0.01), None]  # a point has no bearing to itself
    arrow = api.post("/v1/tools/bearing/batch", json=body, headers={"Accept": ARROW})
    assert arrow.headers["content-type"] == ARROW
    assert pa.ipc.open_stream(arrow.content).read_all()["bearing_deg"].to_pylist() == angles
    refused = api.post("/v1/tools/bearing/batch", json=body, headers={"Accept": "text/csv"})
    assert refused.status_code == 406


@pytest.mark.parametrize(
    ("name", "args", "status", "field"),
    [
        ("fly", {}, 404, "name"),
        ("list_cameras", {}, 422, "name"),
        ("distance", [], 422, "args"),
        ("distance", {"start": [0, 0]}, 422, "args.end"),
        ("distance", {"start": [[0, 0], [0, 2e6]], "end": [0, 0]}, 422, "args.start.1"),
        ("cameras_seeing", {"points": [[0, 0]] * 1_000_001}, 422, "args.points"),
    ],
)
def test_a_bad_batch_is_named_by_column_and_row(
    api: TestClient, scene: dict[str, Any], name: str, args: object, status: int, field: str
) -> None:
    response = api.post(f"/v1/tools/{name}/batch", json={"scene": scene, "args": args})
    assert (response.status_code, response.json()["field"]) == (status, field)
    assert response.headers["content-type"] == "application/problem+json"


def test_a_batch_may_be_larger_than_other_bodies_but_not_of_any_size(
    api: TestClient, scene: dict[str, Any]
) -> None:
    body = json.dumps({"scene": scene, "args": {"start": [[0.5, 0.5]] * 1_000, "end": [3, 4]}})
    large, told = body + " " * 1_000_000, {"Content-Type": "application/json"}
    answer = api.post("/v1/tools/distance/batch", content=large, headers=told)
    assert len(answer.json()["straight_m"]) == 1_000
    assert api.post("/v1/tools/distance", content=large, headers=told).status_code == 413
    told["Content-Length"] = "64000001"
    assert api.post("/v1/tools/distance/batch", content=b"{}", headers=told).status_code == 413


def test_a_batch_of_too_many_values_is_refused_before_it_is_decoded(api: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    content = b"[" + b"[],[]," * 2_000_001
    response = api.post("/v1/tools/distance/batch", content=content, headers=headers)
    assert (response.status_code, response.json()["field"]) == (413, "body")


@pytest.mark.parametrize(
    ("route", "content", "status", "allowed"),
    [
        ("/v1/jobs", b"[" * 101, 422, "nested 100 deep"),
        ("/v1/jobs", b'{"a":' * 101, 422, "nested 100 deep"),
        ("/v1/itineraries/check", b"[" + b"[]," * 300_001, 413, "300,000 values"),
        ("/v1/tools/distance", b"[" + b"0," * 300_001, 413, "300,000 values"),
    ],
)
def test_a_body_has_a_bounded_number_of_values_and_a_bounded_depth(
    api: TestClient, route: str, content: bytes, status: int, allowed: str
) -> None:
    response = api.post(route, content=content, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["field"]) == (status, "body")
    assert allowed in response.json()["detail"]


def test_brackets_in_texts_are_texts(api: TestClient) -> None:
    body = {"scene": None, "args": '\\"' + "[" * 500 + "\\"}
    assert api.post("/v1/tools/distance", json=body).status_code == 422


def test_a_scene_may_be_a_path_below_the_media_roots(open_api: OpenApi) -> None:
    api = open_api(GNOMON_MEDIA_ROOTS=str(SCENE_FILE.parent))
    for path in ("small.geojson", str(SCENE_FILE)):
        assert api.post("/v1/tools/list_cameras", json={"scene": path}).status_code == 200
    outside = api.post("/v1/tools/list_cameras", json={"scene": "../demo.yaml"})
    assert (outside.status_code, outside.json()["field"]) == (422, "scene")


@pytest.fixture
def queueless(store: Store, tmp_path: Path) -> Iterator[TestClient]:
    """An API whose Redis is away."""
    with client_of(f"unix://{tmp_path}/nowhere.sock") as redis:
        app = create_app(read_settings({}, data_dir=tmp_path), store=store, redis=redis)
        with TestClient(app, base_url="http://localhost") as client:
            yield client


def test_ready_means_store_and_queue_answer(api: TestClient) -> None:
    assert api.get("/healthz").json() == {"status": "ok"}
    ready = api.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["store"].startswith("sqlite 3.")


def test_a_queue_that_is_away_is_told_without_its_address(queueless: TestClient) -> None:
    away = queueless.get("/readyz")
    assert away.status_code == 503
    assert away.json()["redis"] == "ConnectionError"
    assert "nowhere" not in away.text


def test_a_job_is_taken_while_the_queue_is_away(queueless: TestClient, store: Store) -> None:
    assert store.unfinished_shards(post(queueless))
    assert queueless.get("/metrics").status_code == 200


def test_metrics_count_jobs_trials_workers_and_shards(api: TestClient, store: Store) -> None:
    finish_all(store, post(api))
    post(api)
    store.record_heartbeat("w1", host="h", pid=1, state="busy")
    lines = api.get("/metrics").text.splitlines()
    assert 'gnomon_jobs{status="completed"} 1' in lines
    assert 'gnomon_jobs{status="queued"} 1' in lines
    assert 'gnomon_trials{outcome="scored"} 12' in lines
    assert 'gnomon_workers{state="busy"} 1' in lines
    assert any(line.startswith('gnomon_queue_shards{queue="gnomon.default.normal"} ') for line in lines)


def test_metrics_tell_what_is_spent_leased_and_held_back(api: TestClient, store: Store, redis: Redis) -> None:
    finish_all(store, post(api))
    store.lease(post(api), 0, worker="w", ttl_s=60, limit=5)
    redis.hset("gnomon:limit:{openai/ab12}:state", mapping={"granted": 7, "put_off": 2})
    lines = api.get("/metrics").text.splitlines()
    assert {"gnomon_leases 5", "gnomon_usd_unknown 0"} <= set(lines)
    assert 'gnomon_limit_granted{key="openai/ab12"} 7' in lines
    assert 'gnomon_limit_put_off{key="openai/ab12"} 2' in lines
    assert 'gnomon_limit_throttled{key="openai/ab12"} 0' in lines


def test_workers_are_listed(api: TestClient, store: Store) -> None:
    store.record_heartbeat("w1", host="h", pid=1, state="busy", shard="j/0")
    (worker,) = api.get("/v1/workers").json()
    assert {key: worker[key] for key in ("name", "host", "pid", "state", "shard")} == {
        "name": "w1", "host": "h", "pid": 1, "state": "busy", "shard": "j/0",
    }  # fmt: skip


def test_the_docs_page_names_every_route_and_loads_nothing_from_elsewhere(api: TestClient) -> None:
    response = api.get("/docs")
    for path in api.get("/openapi.json").json()["paths"]:
        assert path in response.text
    assert "style-src 'self';" in response.headers["Content-Security-Policy"]
    assert " style=" not in response.text
    assert re.findall(r'(?:src|href)="(?!/|#)', response.text) == []


def test_every_route_is_documented(api: TestClient) -> None:
    text = (SCENE_FILE.parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    for path in api.get("/openapi.json").json()["paths"]:
        assert path.replace("{job_id}", "{id}").replace("{trial_id}", "{id}").removeprefix("/v1") in text


def test_every_reference_of_the_openapi_document_leads_somewhere(api: TestClient) -> None:
    document = api.get("/openapi.json").json()
    text = json.dumps(document)
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    parts = {"ArmSpec", "FaultsSpec", "SelectSpec", "ContrastSpec", "AnalysisSpec", "ModelSpec"}
    assert {"JobSpec", "Problem"} | parts <= names
    assert all(document["components"]["schemas"][name]["title"] == name for name in parts)
    assert names <= set(document["components"]["schemas"])
    assert "HTTPValidationError" not in text
