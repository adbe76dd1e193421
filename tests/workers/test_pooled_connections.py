"""Workers reach PostgreSQL through PgBouncer, which lends connections by transactions."""

import os
import signal
from typing import Any

import pytest
from sqlalchemy import text

from gnomon_workers.store import Store
from gnomon_workers.store.database import IS_POOLED, STALLED_S
from gnomon_workers.store.sqlite import BUSY_TIMEOUT_S
from tests.workers.chaos import count
from tests.workers.conftest import TRACE, Plant, children_of, create, make_row, wait_until
from tests.workers.pgbouncer import POOL, PgBouncer, pooling
from tests.workers.postgresql import PostgreSQL

POOLED = pytest.mark.parametrize("kind", ["pgbouncer"], indirect=True)
SLOW = {"id": "scripted", "options": {"replies": ["A"], "delay_s": 0.1}}
TIMEOUTS = "SELECT current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')"


@POOLED
def test_a_job_ends_though_a_worker_and_the_pooler_are_killed_while_it_runs(
    plant: Plant, pooler: PgBouncer
) -> None:
    plant.start(2)
    job = plant.post(200, models=[SLOW], concurrency=8)
    wait_until(lambda: plant.store.job(job.id).counts.done > 40)
    victim = next(pid for name, pid in plant.supervisor.pids().items() if name != "sweeper")
    for pid in (*children_of(victim), victim):
        os.kill(pid, signal.SIGKILL)
    pooler.kill()
    pooler.start()
    ended = plant.end_of(job)
    damage = count("pooler killed", list(plant.store.iter_rows(job.id)), ended, 0.0)
    assert (ended.status, damage.lost, damage.duplicated, damage.missing) == ("completed", 0, 0, 0)
    assert sum(number for name, number in pooler.pools().items() if name.startswith("sv_")) <= POOL


@pytest.mark.parametrize("kind", ["postgresql", "pgbouncer"], indirect=True)
def test_each_transaction_has_its_timeouts_on_whichever_connection_it_runs(
    real_store: Store, postgres: PostgreSQL
) -> None:
    wanted = (f"{BUSY_TIMEOUT_S:.0f}s", f"{STALLED_S:.0f}s")
    for opened in (real_store.reading, real_store.writing, real_store.reading):
        with opened() as db:
            assert db.execute(text(TIMEOUTS)).one() == wanted
        postgres.cut_connections()  # the next transaction gets a new one
    with postgres.connect() as plain:
        assert plain.execute(TIMEOUTS).fetchone() == ("0", "0")


@pytest.mark.parametrize(
    ("kind", "is_pooled"), [("postgresql", False), ("pgbouncer", True)], indirect=["kind"]
)
def test_a_pooler_is_noticed_and_without_one_statements_are_prepared(
    real_store: Store, is_pooled: bool
) -> None:
    prepared = text("SELECT count(*) FROM pg_prepared_statements")
    for opened in (real_store.reading, real_store.writing):
        with opened() as db:
            assert db.info[IS_POOLED] is is_pooled
            for _ in range(10):
                db.execute(text("SELECT 1"))
            assert (db.execute(prepared).scalar_one() == 0) is is_pooled


@POOLED
def test_a_connection_on_which_a_job_was_ended_begins_as_before(real_store: Store) -> None:
    job = create(real_store, 1)
    notices: list[str] = []
    for lease in real_store.lease(job.id, 0, worker="w", ttl_s=60.0):
        real_store.finish([(lease, make_row(lease), TRACE)])
    for opened in (real_store.reading, real_store.writing):
        with opened() as db:
            raw: Any = db.connection.dbapi_connection
            raw.add_notice_handler(lambda notice: notices.append(notice.message_primary))
            db.execute(text(TIMEOUTS))
            assert raw.autocommit, "else the driver begins a transaction, and we begin it again"
    assert notices == []
    assert real_store.job(job.id).status == "completed"


@pytest.mark.parametrize("kind", ["postgresql", "pgbouncer"], indirect=True)
def test_readers_see_one_state_and_writers_the_latest_whatever_stands_between(real_store: Store) -> None:
    isolation = text("SHOW transaction_isolation")
    for opened, level in (
        (real_store.reading, "repeatable read"),
        (real_store.writing, "read committed"),
        (real_store.reading, "repeatable read"),
    ):
        with opened() as db:
            assert db.execute(isolation).scalar_one() == level


@pytest.mark.usefixtures("pooler")
def test_two_clients_share_one_connection_to_the_server(postgres: PostgreSQL) -> None:
    with pooling(postgres, pool=1) as narrow:
        first, second = Store(narrow.emptied()), Store(narrow.url)
        for number in range(20):  # a driver prepares what it is asked often
            for store in (first, second):
                store.record_heartbeat(f"w{number}", host="h", pid=1, state="idle")
        assert len(first.workers()) == len(second.workers()) == 20
        assert narrow.pools()["cl_active"] >= 2
        first.close()
        second.close()
