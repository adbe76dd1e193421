"""Whole jobs over real processes, a real Redis and a real database."""

import os
import signal

from redis import Redis

from tests.workers.conftest import StartWorkers, children_of, ended, make_spec, wait_until
from tests.workers.tiny_worker import refs
from workers.queue import enqueue_shards
from workers.store import JobRecord, Store

SLOW = [{"id": "scripted", "options": {"replies": ["A"], "delay_s": 0.3}}]


def start_job(store: Store, redis: Redis, samples: int, **changes: object) -> JobRecord:
    job = store.create_job(make_spec(samples, **changes), refs(samples))
    enqueue_shards(redis, job)
    return job


def test_every_trial_of_a_job_ends_once_over_two_workers(
    real_store: Store, redis: Redis, start_workers: StartWorkers
) -> None:
    start_workers(2)
    job = start_job(real_store, redis, 60, concurrency=8)
    wait_until(lambda: ended(real_store, job))
    rows = list(real_store.iter_rows(job.id))
    assert len(rows) == len({row.trial_id for row in rows}) == 120
    assert {row.score for row in rows} == {1.0}
    counts = real_store.job(job.id).counts
    assert (counts.scored, counts.running, real_store.job(job.id).status) == (120, 0, "completed")
    assert len(real_store.workers()) == 2


def test_a_killed_worker_loses_no_trial_and_doubles_none(
    real_store: Store, redis: Redis, start_workers: StartWorkers
) -> None:
    supervisor = start_workers(2)
    job = start_job(real_store, redis, 30, models=SLOW, concurrency=4)
    wait_until(lambda: real_store.job(job.id).counts.done > 4)
    worker = supervisor.pids()["worker-0"]
    for pid in [*children_of(worker), worker]:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: ended(real_store, job))
    rows = list(real_store.iter_rows(job.id))
    assert len(rows) == len({row.trial_id for row in rows}) == 60
    assert {row.outcome.value for row in rows} == {"scored"}
    assert max(row.attempt for row in rows) == 2  # what the dead one held, and only that, ran again


def test_a_worker_told_to_stop_gives_back_what_it_cannot_finish(
    real_store: Store, redis: Redis, start_workers: StartWorkers
) -> None:
    supervisor = start_workers(1, sweeper=False)
    slow = [{"id": "scripted", "options": {"replies": ["A"], "delay_s": 60}}]
    job = start_job(real_store, redis, 4, models=slow)
    wait_until(lambda: real_store.job(job.id).counts.running == 4)
    supervisor.stop()
    assert real_store.job(job.id).counts.running == 0
    leases = real_store.lease(job.id, 0, worker="next", ttl_s=60)
    assert {lease.attempt for lease in leases} == {1}
    assert {lease.token for lease in leases} == {2}


def test_a_sample_that_kills_its_worker_takes_no_other_along(
    real_store: Store, redis: Redis, start_workers: StartWorkers
) -> None:
    rules = [{"contains": "Question s3:", "replies": ["KILL"]}]
    deadly = [{"id": "scripted", "options": {"replies": ["A"], "rules": rules, "delay_s": 0.05}}]
    start_workers(1)
    job = start_job(real_store, redis, 6, models=deadly, concurrency=4)
    wait_until(lambda: ended(real_store, job), within_s=60)
    missing = {row.sample_id for row in real_store.iter_rows(job.id) if row.stop_reason == "worker_lost"}
    assert missing == {"s3"}
    counts = real_store.job(job.id).counts
    assert (counts.scored, counts.infra_missing, counts.planned) == (10, 2, 12)


def test_cancelling_keeps_what_is_done_and_resuming_runs_only_the_rest(
    real_store: Store, redis: Redis, start_workers: StartWorkers
) -> None:
    start_workers(2)
    job = start_job(real_store, redis, 16, models=SLOW, concurrency=2)
    wait_until(lambda: real_store.job(job.id).counts.done >= 6)
    real_store.cancel(job.id)
    wait_until(lambda: real_store.job(job.id).counts.running == 0)
    kept = {row.trial_id: row for row in real_store.iter_rows(job.id)}
    assert 6 <= len(kept) < 32
    resumed = real_store.resume(job.id)
    assert resumed.status == "queued"
    wait_until(lambda: ended(real_store, job))
    rows = {row.trial_id: row for row in real_store.iter_rows(job.id)}
    assert len(rows) == 32
    assert {trial_id: rows[trial_id] for trial_id in kept} == kept


def test_a_queue_that_forgot_everything_is_built_again_from_the_store(
    real_store: Store, redis: Redis, start_workers: StartWorkers
) -> None:
    job = start_job(real_store, redis, 4)
    redis.flushall()
    start_workers(1)
    wait_until(lambda: ended(real_store, job))
    assert real_store.job(job.id).counts.scored == 8


def test_a_job_that_cannot_be_set_up_fails_with_the_reason(
    real_store: Store, redis: Redis, start_workers: StartWorkers
) -> None:
    start_workers(1)
    job = start_job(real_store, redis, 4, select={"limit": 4, "seed": 13})
    wait_until(lambda: ended(real_store, job))
    record = real_store.job(job.id)
    assert (record.status, record.error) == ("failed", "data: the folder is not there")
    assert record.counts.infra_missing == record.counts.planned == 8
