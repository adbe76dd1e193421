"""What the API says while its store cannot be written: a problem that may be tried again, and not ready."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from starlette.testclient import TestClient

from gnomon_service.api.app import create_app
from gnomon_service.settings import read_settings
from gnomon_workers.store import sqlite
from tests.service.play import SPEC
from tests.workers.broken_store import Breakage, BrokenStore
from tests.workers.faults import fill, small_disk

ONCE = {"Idempotency-Key": "once"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(8) as disk:
        if disk is None:
            pytest.skip("this user may not mount a disk")
        yield disk


def api_over(folder: Path, redis: Redis) -> TestClient:
    store = BrokenStore(f"sqlite:///{folder}/gnomon.db", Breakage(folder))
    app = create_app(read_settings({}, data_dir=folder), store=store, redis=redis)
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


def test_a_job_whose_commit_failed_unheard_is_there_once_when_posted_again(
    tmp_path: Path, redis: Redis
) -> None:
    breakage = Breakage(tmp_path)
    with api_over(tmp_path, redis) as api:
        breakage.set(lost_answers=1.0)
        refused = api.post("/v1/jobs", json=SPEC, headers=ONCE)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert refused.headers["content-type"] == "application/problem+json"
        breakage.set(lost_answers=0.0)
        taken = api.post("/v1/jobs", json=SPEC, headers=ONCE)
        assert taken.status_code == 202
        assert [job["id"] for job in api.get("/v1/jobs").json()["items"]] == [taken.json()["id"]]


def test_a_full_disk_is_not_ready_takes_no_job_in_and_loses_none(disk: Path, redis: Redis) -> None:
    with api_over(disk, redis) as api:
        kept = api.post("/v1/jobs", json=SPEC).json()["id"]
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file:
            fill(file)
        ready = api.get("/readyz")
        assert (ready.status_code, ready.json()["store"]) == (503, "Unavailable")
        refused = api.post("/v1/jobs", json=SPEC, headers=ONCE)
        assert (refused.status_code, refused.json()["title"]) == (503, "Not available")
        assert "disk" in refused.json()["detail"]
        assert api.get(f"/v1/jobs/{kept}").json()["counts"]["planned"] > 0
        filler.unlink()
        assert api.get("/readyz").status_code == 200
        assert api.post("/v1/jobs", json=SPEC, headers=ONCE).status_code == 202


def test_a_store_that_takes_nothing_is_not_ready_though_it_is_read(tmp_path: Path, redis: Redis) -> None:
    with api_over(tmp_path, redis) as api, sqlite3.connect(tmp_path / "gnomon.db") as db:
        refuses = "BEFORE {} ON lease_holders BEGIN SELECT RAISE(FAIL, 'disk I/O error'); END"
        for verb in ("INSERT", "UPDATE"):
            db.execute(f"CREATE TRIGGER no_{verb} {refuses.format(verb)}")
        db.commit()
        ready = api.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
        assert api.get("/v1/jobs").status_code == 200
        for verb in ("INSERT", "UPDATE"):
            db.execute(f"DROP TRIGGER no_{verb}")
        db.commit()
        assert api.get("/readyz").status_code == 200


def test_readiness_shows_the_version_of_sqlite_and_whether_it_has_the_race(
    tmp_path: Path, redis: Redis
) -> None:
    with api_over(tmp_path, redis) as api:
        ready = api.get("/readyz").json()
    assert ready["store"] == f"sqlite {ready['sqlite_version']}"
    assert (ready["sqlite_wal_race"] == "fixed") == (sqlite.library().sqlite_version_info >= (3, 51, 3))
