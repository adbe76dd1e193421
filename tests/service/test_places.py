"""Heavy routes have places; what is cheap has none, and no connection left is told as such."""

import inspect
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from redis import Redis
from starlette.testclient import TestClient

from gnomon_service.api import app
from gnomon_service.extension import EXTENSIONS
from gnomon_service.settings import read_settings
from gnomon_workers.store import sqlite
from gnomon_workers.store.store import Store

TWINS = ("", ".json", ".md")
# Each answers from memory or from a few rows by their keys.
CHEAP = {
    *("/", "/index.json", "/index.md", "/metrics", "/healthz", "/readyz", "/ui/picked", "/ui/compare/ticked"),
    *("/v1/jobs", "/v1/jobs/{job_id}", "/v1/jobs/{job_id}/cancel", "/v1/jobs/{job_id}/seal"),
    *("/v1/jobs/{job_id}/trials", "/v1/jobs/{job_id}/events", "/v1/trials/{trial_id}", "/v1/workers"),
    *("/v1/keys", "/v1/benchmarks", "/v1/tools", "/v1/agents", "/v1/arms/presets", "/v1/reviews/{queue}"),
    *(
        "/ui/jobs/{job_id}/cancel",
        "/ui/new/check",
        "/ui/new/endpoint",
        "/ui/new/upload",
        "/ui/static/{name}",
        "/ui/sign-out",
    ),
    *("/ui/sign-out", "/ui/review/name", "/ui/review/{queue}/undo", "/ui/review/{queue}/decisions.jsonl"),
    *("/ui/review/{queue}/decisions.csv", "/ui/review/{queue}/answers.jsonl"),
    *(f"{page}{twin}" for page in ("/docs", "/ui/workers", "/ui/keys", "/ui/sign-in") for twin in TWINS),
}


def test_every_route_takes_a_place_or_is_named_as_cheap() -> None:
    ours = (*app.our_routers("router"), *app.our_routers("open_router"))
    routers = [*ours, *(router for extension in EXTENSIONS for router in extension.routers())]
    placeless = {
        route.path
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and not inspect.iscoroutinefunction(route.endpoint)
    }
    assert placeless - CHEAP == set()


def test_a_pool_without_a_connection_left_is_told_with_503(
    tmp_path: Path, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "POOL", {**sqlite.POOL, "pool_timeout": 0.2})
    with closing(Store(f"sqlite:///{tmp_path / 'gnomon.db'}")) as store, ExitStack() as others:
        served = app.create_app(read_settings({}, data_dir=tmp_path), store=store, redis=redis)
        api = others.enter_context(TestClient(served, base_url="http://127.0.0.1:8000"))
        taken = others.enter_context(ExitStack())
        for _ in range(sqlite.POOL["pool_size"] + sqlite.POOL["max_overflow"]):
            taken.enter_context(store.reading())
        refused = api.get("/v1/jobs")
        taken.close()
        assert api.get("/v1/jobs").status_code == 200
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert refused.json()["detail"] == "all connections to the store are in use; try again"
