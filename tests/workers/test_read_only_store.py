"""Where a store can only be read, what is to be written waits, and what is wrong is said."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from starlette.testclient import TestClient

from gnomon.core.errors import SpecError
from gnomon_service.api.app import create_app
from gnomon_service.settings import read_settings
from gnomon_workers.store import Store
from gnomon_workers.store.database import ReadOnly
from gnomon_workers.store.responses import CachedResponse
from gnomon_workers.store.store import open_store
from tests.service.play import SPEC
from tests.workers.conftest import BOTH, TRACE, create, make_row
from tests.workers.faults import small_disk


@pytest.fixture
def reader(real_store: Store, kind: str) -> Iterator[Store]:
    """The same database through sessions that may only read, as those of a replica or of a full account."""
    options = "&options=-c%20default_transaction_read_only%3Don" if kind == "postgresql" else ""
    with Store(real_store.url + options) as reader:
        if not options:
            with reader.reading() as db:
                db.exec_driver_sql("PRAGMA query_only=ON")
        yield reader


@BOTH
def test_results_that_cannot_be_written_now_are_kept_for_later(real_store: Store, reader: Store) -> None:
    job = create(real_store, 1)
    leases = real_store.lease(job.id, 0, worker="w", ttl_s=60.0)
    batch = [(lease, make_row(lease), TRACE) for lease in leases]
    for write in (
        lambda: reader.finish(batch),
        lambda: create(reader),
        lambda: reader.lease(job.id, 0, worker="v", ttl_s=9.0),
        lambda: reader.renew("w", ttl_s=9.0),
        lambda: reader.insert_responses([CachedResponse(b"k", b"s", "{}")]),
        reader.ping,
    ):
        with pytest.raises(ReadOnly):
            write()
    assert reader.job(job.id).counts.running == 2
    assert real_store.finish(batch) == set()
    assert real_store.job(job.id).counts.scored == 2


@BOTH
def test_the_api_over_a_store_that_can_only_be_read_shows_jobs_and_is_not_ready(
    real_store: Store, reader: Store, redis: Redis, tmp_path: Path
) -> None:
    job = create(real_store)
    app = create_app(read_settings({}, data_dir=tmp_path), store=reader, redis=redis)
    with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as api:
        ready, refused = api.get("/readyz"), api.post("/v1/jobs", json=SPEC)
        assert (ready.status_code, ready.json()["store"]) == (503, "ReadOnly")
        assert (refused.status_code, refused.json()["detail"]) == (
            503,
            "the store can only be read; try again",
        )
        assert api.get(f"/v1/jobs/{job.id}").status_code == 200


def test_a_file_on_a_disk_that_can_only_be_read_is_refused_in_words() -> None:
    with small_disk(8) as disk:
        if disk is None:
            pytest.skip("this user may not mount a disk")
        url = f"sqlite:///{disk}/gnomon.db"
        Store(url).close()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(SpecError, match="does not open: OperationalError: unable to open database file"):
            open_store(url)
