"""Which databases there may be, and how each is set up."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from gnomon.core.errors import SpecError
from gnomon_workers.store import Store
from gnomon_workers.store.shard_sizes import shard_size
from tests.workers.conftest import BOTH, create, make_spec


def test_arms_of_a_sample_share_a_shard() -> None:
    for planned in (2, 6, 70, 1_000, 100_000):
        assert shard_size(make_spec(), planned) % 2 == 0


@pytest.mark.parametrize("url", ["sqlite://", "nosuch://x", "postgresql+nosuch://x", "no url"])
def test_a_database_in_memory_or_of_an_unknown_kind_is_refused(url: str) -> None:
    with pytest.raises(SpecError, match=r"GNOMON_DATABASE_URL: .*allowed: "):
        Store(url)


@BOTH
def test_processes_that_start_together_make_the_tables_once(bare_url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(Store, [bare_url] * 8))
    assert create(stores[0]).id == stores[7].jobs().items[0].id
    for store in stores:
        store.close()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
def test_every_form_of_a_postgresql_url_opens_it(url: str, scheme: str) -> None:
    store = Store(url.replace("postgresql", scheme, 1))
    assert store.ping().startswith("postgresql ")
    store.close()


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (
            "SELECT 1 FROM trials WHERE job_id = :job AND shard = 1 AND state = 'pending' ORDER BY ordinal",
            "trials_pending",
        ),
        ("SELECT count(*) FROM trials WHERE job_id = :job AND state = 'leased'", "trials_leased"),
        ("SELECT 1 FROM lease_holders NATURAL JOIN trials WHERE state = 'leased'", "trials_by_worker"),
        ("SELECT trial_id FROM trials WHERE state = 'leased' AND worker = 'w'", "trials_by_worker"),
        ("SELECT * FROM results WHERE job_id = :job AND seq > 7 ORDER BY seq LIMIT 100", "results_by_job"),
    ],
)
def test_what_workers_and_pages_ask_needs_no_full_scan(store: Store, statement: str, index: str) -> None:
    job = create(store)
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
