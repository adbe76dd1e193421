"""What PostgreSQL does where two transactions meet, and what is said to it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, select, text, update
from sqlalchemy.exc import OperationalError

from gnomon_workers.store import JobRecord, Lease, Store
from gnomon_workers.store.database import MAKING_TABLES, insert_all
from gnomon_workers.store.job_counters import lock_jobs
from gnomon_workers.store.leases import MAX_ATTEMPTS, held_by, unlocked
from gnomon_workers.store.records import Counts
from gnomon_workers.store.results import Ended, Written, write_unlocked
from gnomon_workers.store.schema import lease_holders, results, trials, workers
from gnomon_workers.store.serialization import pack, row_values
from gnomon_workers.store.worker_registry import REMEMBERED_FOR_S
from tests.workers.conftest import Clock, create, make_row, wait_until
from tests.workers.postgresql import PostgreSQL

pytestmark = pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
TTL_S = 10.0


def wait_for_rows(server: PostgreSQL, count: int) -> Callable[[], bool]:
    def look() -> bool:
        with server.connect() as db:
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            found: Any = db.execute(waiting).fetchone()
        return bool(found[0] == count)

    return look


def test_a_trial_that_is_renewed_while_it_is_swept_goes_on(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    (first, _) = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    with store.writing() as db:
        db.execute(update(trials).values(attempt=MAX_ATTEMPTS))
    clock.now_s += TTL_S + 1
    with ThreadPoolExecutor(1) as pool, store.writing() as db:
        db.execute(update(lease_holders).values(lease_until=clock.now_s + TTL_S))
        assert pool.submit(store.sweep).result(30) == []
    assert list(store.iter_rows(job.id)) == []
    assert store.job(job.id).counts.running == 2
    assert store.finish([(first, make_row(first), {})]) == set()


def lease_all(store: Store, job: JobRecord) -> list[Lease]:
    shards = range(job.shards)
    return [lease for shard in shards for lease in store.lease(job.id, shard, worker="w", ttl_s=TTL_S)]


def write_results(db: Connection, job_id: str, leases: Sequence[Lease]) -> None:
    """What a worker does that ends trials, up to its commit."""
    rows = [make_row(lease) for lease in leases]
    ended = [
        Written((lease, row, {}), row_values(row), pack({})) for lease, row in zip(leases, rows, strict=True)
    ]
    assert write_unlocked(db, ended) == (set(), set())


def test_results_of_a_job_are_written_side_by_side_and_beside_whoever_has_the_job(store: Store) -> None:
    job = create(store, 2, concurrency=64)
    (first, second, *_) = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    with ThreadPoolExecutor(1) as pool, store.writing() as db, store.writing() as other:
        lock_jobs(other, [job.id])
        write_results(db, job.id, [first])
        finish = pool.submit(store.finish, [(second, make_row(second), {})])
        assert finish.result(30) == set()
    assert store.job(job.id).counts == Counts(planned=4, scored=2, model_failed=0, infra_missing=0, running=0)


def test_results_of_a_job_are_read_in_the_order_of_their_numbers_and_none_is_left_out(store: Store) -> None:
    job = create(store, 1)
    (first, second) = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    with store.writing() as db:
        write_results(db, job.id, [first])
        store.finish([(second, make_row(second), {})])
        assert store.rows_after(job.id, 0, 10) == [], "the other one has a smaller number"
        page = store.rows(job.id, limit=10)
        assert (page.items, page.next_cursor) == ((), "0"), "more will follow"
        assert list(store.iter_columns(job.id, 0, ["seq"])) == []
        assert (store.job_state(job.id).done, store.job_state(job.id).last_seq) == (0, 0)
        assert (store.job(job.id).counts.done, store.job(job.id).status) == (1, "running")
        assert [row.trial_id for row in store.iter_rows(job.id)] == [second.trial.trial_id]
    store.end_if_over(job.id)
    assert [row.trial_id for _, row in store.rows_after(job.id, 0, 10)] == [
        first.trial.trial_id,
        second.trial.trial_id,
    ]
    assert store.job(job.id).status == "completed"
    assert store.job_state(job.id).done == 2


def test_whoever_has_the_job_passes_over_a_result_that_is_being_written(
    store: Store, postgres: PostgreSQL
) -> None:
    job = create(store, 1)
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    with ThreadPoolExecutor(1) as pool:
        with store.writing() as db:
            lock_jobs(db, [job.id])
            finish = pool.submit(store.finish, [(lease, make_row(lease), {}) for lease in leases])
            wait_until(wait_for_rows(postgres, 1))
            back = update(trials).values(state="pending").returning(trials.c.trial_id)
            assert db.execute(back.where(unlocked(held_by(db, leases)))).all() == []
        assert finish.result(30) == set()
    assert (store.job(job.id).status, store.job(job.id).counts.running) == ("completed", 0)


@pytest.mark.parametrize("number", [0, 1])
def test_a_worker_that_has_lost_a_trial_keeps_none_locked_while_it_waits_for_that_one(
    store: Store, number: int
) -> None:
    job = create(store, 1)
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    lost, own = leases[number], leases[1 - number]
    back = update(trials).values(state="pending", worker=None).returning(trials.c.trial_id)
    with ThreadPoolExecutor(1) as pool:
        with store.writing() as db:
            lock_jobs(db, [job.id])
            db.execute(back.where(held_by(db, [lost])))
            finish = pool.submit(store.finish, [(lease, make_row(lease), {}) for lease in (lost, own)])
            wait_until(lambda: len(list(store.iter_rows(job.id))) == 1)
            mine = select(trials.c.trial_id).where(trials.c.trial_id == own.trial.trial_id)
            assert db.execute(mine.with_for_update(nowait=True)).scalar_one() == own.trial.trial_id
        assert finish.result(30) == {lost.trial.trial_id}
    assert [row.trial_id for row in store.iter_rows(job.id)] == [own.trial.trial_id]


def test_what_a_refused_result_has_cost_counts_once_though_the_rest_of_its_batch_fails_at_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(store, 2, concurrency=64)
    (lost, locked, own, _) = lease_all(store, job)
    store.release([lost])
    batch: list[Ended] = [(lease, make_row(lease, usd=0.5), {}) for lease in (lost, locked, own)]
    rounds = iter((write_unlocked, fail))
    monkeypatch.setattr("gnomon_workers.store.results.write_unlocked", lambda *about: next(rounds)(*about))
    with store.writing() as db:
        here = select(trials.c.trial_id).where(trials.c.trial_id == locked.trial.trial_id)
        db.execute(here.with_for_update())
        with pytest.raises(OperationalError):
            store.finish(batch)
    monkeypatch.undo()
    assert store.finish(batch) == {lost.trial.trial_id}
    assert [row.trial_id for row in store.iter_rows(job.id)] == [own.trial.trial_id, locked.trial.trial_id]
    assert store.job(job.id).usd == 1.5


def fail(*_: object) -> Any:
    raise OperationalError("COMMIT", None, Exception("the database is away"))


def test_a_batch_is_looked_up_by_its_keys_though_the_planner_believes_the_table_empty(store: Store) -> None:
    job = create(store, 60, concurrency=64)
    with store.writing() as db:
        db.execute(text("ANALYZE trials"))  # when nothing was leased
    leases = lease_all(store, job)
    plans: list[str] = []
    with store.writing() as db:
        db.execute(text("LOAD 'auto_explain'"))
        for name, value in (("log_min_duration", "0"), ("log_level", "'notice'")):
            db.execute(text(f"SET LOCAL auto_explain.{name} = {value}"))
        raw: Any = db.connection.dbapi_connection
        raw.add_notice_handler(lambda notice: plans.append(notice.message_primary))
        write_results(db, job.id, leases)
    [plan] = [plan for plan in plans if "UPDATE trials" in plan]
    assert "Seq Scan on trials" not in plan
    assert plan.count("Index Scan using trials_pkey on trials") == 2
    assert not any(index in plan for index in ("trials_leased", "trials_by_worker", "trials_pending"))


def test_what_is_given_back_while_its_result_is_written_is_ended_once(
    store: Store, postgres: PostgreSQL
) -> None:
    job = create(store, 1)
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    with ThreadPoolExecutor(2) as pool:
        with store.writing() as db:
            lock_jobs(db, [job.id])
            finish = pool.submit(store.finish, [(lease, make_row(lease), {}) for lease in leases])
            wait_until(wait_for_rows(postgres, 1))
            release = pool.submit(store.release, leases)
            wait_until(wait_for_rows(postgres, 2))
        assert (finish.result(30), release.result(30)) == (set(), None)
    assert store.job(job.id).counts == Counts(planned=2, scored=2, model_failed=0, infra_missing=0, running=0)


def test_no_row_of_many_is_sent_back(store: Store) -> None:
    job, said = create(store, 1), []
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    event.listen(store._engine, "before_cursor_execute", lambda *about: said.append(about[2]))
    with store.writing() as db:
        insert_all(db, results, [row_values(make_row(lease)) for lease in leases])
    assert not any("RETURNING" in one for one in said)
    assert len(list(store.iter_rows(job.id))) == 2


def test_workers_that_come_back_after_a_long_silence_do_not_wait_for_each_other(
    store: Store, clock: Clock
) -> None:
    for name in ("first", "second"):
        store.record_heartbeat(name, host="h", pid=1, state="idle")
    clock.now_s += REMEMBERED_FOR_S + 1
    with ThreadPoolExecutor(1) as pool, store.writing() as db:
        db.execute(update(workers).where(workers.c.name == "first").values(seen_at=clock.now_s))
        beat = pool.submit(store.record_heartbeat, "second", host="h", pid=1, state="idle")
        beat.result(10)
    assert [worker.name for worker in store.workers()] == ["first", "second"]


def test_a_worker_that_starts_waits_for_no_other_that_starts(store: Store) -> None:
    with ThreadPoolExecutor(1) as pool, store.writing() as db:
        db.execute(select(func.pg_advisory_xact_lock(MAKING_TABLES)))
        pool.submit(Store, store.url).result(10).close()
