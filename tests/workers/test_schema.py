"""The same tables and statements on PostgreSQL; SQLite uses the indexes that were made for it."""

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from tests.workers.conftest import make_spec
from tests.workers.tiny_worker import refs
from workers.store import Store
from workers.store.schema import metadata


def test_the_tables_can_be_made_on_postgresql() -> None:
    dialect = postgresql.dialect()
    for table in metadata.sorted_tables:
        assert str(CreateTable(table).compile(dialect=dialect))
    partial = {
        str(CreateIndex(index).compile(dialect=dialect)).partition("WHERE ")[2]
        for index in metadata.tables["trials"].indexes
    }
    assert partial == {"state = 'pending'", "state = 'leased'"}


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (
            "SELECT 1 FROM trials WHERE job_id = :job AND shard = 1 AND state = 'pending' ORDER BY ordinal",
            "trials_pending",
        ),
        ("SELECT count(*) FROM trials WHERE job_id = :job AND state = 'leased'", "trials_leased"),
        ("SELECT trial_id FROM trials WHERE state = 'leased' AND lease_until < 5", "trials_leased"),
        ("SELECT * FROM results WHERE job_id = :job AND seq > 7 ORDER BY seq LIMIT 100", "results_by_job"),
    ],
)
def test_what_workers_and_pages_ask_needs_no_full_scan(store: Store, statement: str, index: str) -> None:
    job = store.create_job(make_spec(), refs(4))
    with store.reading() as db:
        plan = db.execute(text("EXPLAIN QUERY PLAN " + statement), {"job": job.id}).all()
    assert index in " ".join(str(row[-1]) for row in plan)


def test_sqlite_is_set_up_for_many_processes(store: Store) -> None:
    with store.reading() as db:
        told = {
            name: db.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert told == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 30_000}
