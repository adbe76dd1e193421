"""Whole jobs over real processes, a real Redis and a real database."""

import os
import signal

import pytest

from tests.workers.conftest import Plant, children_of, wait_until

SLOW = [{"id": "scripted", "options": {"replies": ["A"], "delay_s": 0.3}}]


def check_that_every_trial_ends_once(plant: Plant) -> None:
    job = plant.end_of(plant.post(60, concurrency=8))
    rows = list(plant.store.iter_rows(job.id))
    assert len(rows) == len({row.trial_id for row in rows}) == 120
    assert {row.score for row in rows} == {1.0}
    assert (job.counts.scored, job.counts.running, job.status) == (120, 0, "completed")


def test_every_trial_of_a_job_ends_once_over_two_workers(two_workers: Plant) -> None:
    check_that_every_trial_ends_once(two_workers)


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
def test_workers_on_postgresql_end_every_trial_once(plant: Plant) -> None:
    plant.start(2)
    wait_until(lambda: len(plant.store.workers()) == 2)
    check_that_every_trial_ends_once(plant)


def test_a_killed_worker_loses_no_trial_and_doubles_none(two_workers: Plant) -> None:
    store = two_workers.store
    wait_until(lambda: len(store.workers()) >= 2)
    job = two_workers.post(30, models=SLOW, concurrency=4)
    wait_until(lambda: store.job(job.id).counts.done > 4)
    worker = two_workers.supervisor.pids()["worker-0"]
    for pid in [*children_of(worker), worker]:
        os.kill(pid, signal.SIGKILL)
    two_workers.end_of(job)
    rows = list(store.iter_rows(job.id))
    assert len(rows) == len({row.trial_id for row in rows}) == 60
    assert {row.outcome.value for row in rows} == {"scored"}
    assert max(row.attempt for row in rows) == 2  # what the dead one held, and only that, ran again


def test_a_worker_told_to_stop_gives_back_what_it_cannot_finish(plant: Plant) -> None:
    plant.start(1, sweeper=False)
    job = plant.post(4, models=[{"id": "scripted", "options": {"replies": ["A"], "delay_s": 60}}])
    wait_until(lambda: plant.store.job(job.id).counts.running == 8)
    plant.supervisor.stop()
    assert plant.store.job(job.id).counts.running == 0
    leases = plant.store.lease(job.id, 0, worker="next", ttl_s=60)
    assert {lease.attempt for lease in leases} == {1}
    assert {lease.token for lease in leases} == {2}


def test_a_sample_that_kills_its_worker_takes_no_other_along(two_workers: Plant) -> None:
    rules = [{"contains": "Question s3:", "replies": ["KILL"]}]
    deadly = [{"id": "scripted", "options": {"replies": ["A"], "rules": rules, "delay_s": 0.05}}]
    job = two_workers.end_of(two_workers.post(6, models=deadly, concurrency=4))
    lost = {row.sample_id for row in two_workers.store.iter_rows(job.id) if row.stop_reason == "worker_lost"}
    assert lost == {"s3"}
    assert (job.counts.scored, job.counts.infra_missing, job.counts.planned) == (10, 2, 12)


def test_cancelling_keeps_what_is_done_and_resuming_runs_only_the_rest(two_workers: Plant) -> None:
    store = two_workers.store
    job = two_workers.post(16, models=SLOW, concurrency=2)
    wait_until(lambda: store.job(job.id).counts.done >= 6)
    store.cancel(job.id)
    wait_until(lambda: store.job(job.id).counts.running == 0)
    kept = {row.trial_id: row for row in store.iter_rows(job.id)}
    assert 6 <= len(kept) < 32
    assert store.resume(job.id).status == "queued"
    two_workers.end_of(job)
    rows = {row.trial_id: row for row in store.iter_rows(job.id)}
    assert len(rows) == 32
    assert {trial_id: rows[trial_id] for trial_id in kept} == kept


def test_a_queue_that_forgets_everything_is_built_again_from_the_store(two_workers: Plant) -> None:
    job = two_workers.post(8, models=SLOW, concurrency=1)
    wait_until(lambda: two_workers.store.job(job.id).counts.running > 0)
    two_workers.redis.flushall()
    assert two_workers.end_of(job).counts.scored == 16


def test_a_job_fails_for_lack_of_data_only_where_every_worker_lacks_it(plant: Plant) -> None:
    plant.start(1, "--lacks-data")
    job = plant.end_of(plant.post(4))
    assert (job.status, job.error) == ("failed", "data: the folder is not there")
    assert job.counts.infra_missing == job.counts.planned == 8
    plant.start(1)
    wait_until(lambda: len(plant.store.workers()) == 2)
    job = plant.end_of(plant.post(8, models=SLOW, concurrency=1))
    assert (job.status, job.counts.scored, job.error) == ("completed", 16, "")
