"""Jobs that are accepted first and whose trials are made afterwards, on SQLite and PostgreSQL."""

import pytest

from gnomon.core.errors import Conflict, SpecError
from gnomon.core.sample import DataFault
from gnomon.stopping import Unwanted, stoppable
from gnomon.trials.trial_plan import expand_trials
from gnomon_workers.store import JobRecord, Store
from tests.workers.conftest import ALL, Clock, create, make_spec
from tests.workers.tiny_worker import refs

pytestmark = ALL
TTL_S = 10.0


def accept(store: Store, samples: int = 3) -> JobRecord:
    return store.accept_job(make_spec(samples), planned=2 * samples)


def prepare(store: Store, job: JobRecord, holder: str) -> None:
    store.prepare(job.id, holder, job.spec, refs(3), [])


def claim(store: Store, job: JobRecord, worker: str = "w") -> str:
    holder = store.claim_preparation(job.id, worker=worker, ttl_s=TTL_S)
    assert holder is not None
    return holder


def test_an_accepted_job_is_seen_at_once_and_runs_once_it_is_prepared(store: Store) -> None:
    job = accept(store)
    assert (job.status, job.counts.planned, store.unprepared()) == ("preparing", 6, [job.id])
    assert store.unfinished_shards(job.id) == []
    fault = DataFault(sample_id="s0", kind="missing_media", detail="clip")
    store.prepare(job.id, claim(store, job), job.spec, refs(3), [fault])
    prepared, alike = store.job(job.id), create(store, 3)
    assert (prepared.status, prepared.counts, prepared.faults) == ("queued", alike.counts, (fault,))
    assert prepared.shards == alike.shards
    assert len(store.unfinished_shards(job.id)) == len(store.unfinished_shards(alike.id))
    assert [line.text.partition('"kind"')[2][:12] for line in store.seal(job.id)] == [
        line.text.partition('"kind"')[2][:12] for line in store.seal(alike.id)
    ]


def test_a_job_is_prepared_by_one_worker_until_that_is_silent(store: Store, clock: Clock) -> None:
    job = accept(store)
    first = claim(store, job, "first")
    assert store.claim_preparation(job.id, worker="second", ttl_s=TTL_S) is None
    assert store.unprepared() == []
    clock.now_s += TTL_S + 1
    assert store.unprepared() == [job.id]
    second = claim(store, job, "second")
    with pytest.raises(Unwanted):
        prepare(store, job, first)  # it wakes up late
    prepare(store, job, second)
    assert store.job(job.id).counts.planned == 6
    assert store.claim_preparation(job.id, worker="third", ttl_s=TTL_S) is None


def test_what_a_dead_worker_has_made_is_made_anew_and_nothing_twice(store: Store) -> None:
    job = accept(store)
    holder = claim(store, job, "dead/1/x")
    store.insert_trials(expand_trials(job.id, job.spec, refs(3)), 2)
    store.expire("dead/1/")
    prepare(store, job, claim(store, job, "alive"))
    leased = [store.lease(job.id, shard, worker="w", ttl_s=TTL_S) for shard in range(6)]
    assert sum(map(len, leased)) == 6
    with pytest.raises(Unwanted):
        prepare(store, job, holder)


def test_a_cancelled_job_is_not_prepared_and_is_when_it_is_resumed(store: Store) -> None:
    job = accept(store)
    holder = claim(store, job)
    assert store.cancel(job.id).status == "cancelled"
    with pytest.raises(Unwanted):
        prepare(store, job, holder)
    store.end_preparation(job.id, holder)
    assert (store.unprepared(), store.jobs_to_seal()) == ([], [])
    assert store.resume(job.id).status == "preparing"
    prepare(store, job, claim(store, job))
    assert store.job(job.id).status == "queued"


def test_a_job_that_cannot_be_prepared_fails_with_the_reason(store: Store) -> None:
    job = accept(store)
    store.end_preparation(job.id, claim(store, job), error="data: gone")
    assert (store.job(job.id).status, store.job(job.id).error) == ("failed", "data: gone")


def test_the_same_key_is_the_same_job_while_it_is_prepared(store: Store) -> None:
    first = store.accept_job(make_spec(), planned=8, idempotency_key="k")
    assert store.accept_job(make_spec(), planned=8, idempotency_key="k").id == first.id
    with pytest.raises(Conflict):
        store.accept_job(make_spec(name="other"), planned=8, idempotency_key="k")


def test_nothing_is_stored_of_a_job_whose_client_has_gone(store: Store) -> None:
    with stoppable(lambda: False), pytest.raises(Unwanted):
        create(store)
    assert store.jobs().items == ()


def test_trials_that_are_being_made_are_no_workers_yet(store: Store) -> None:
    job = accept(store)
    holder = claim(store, job)
    store.insert_trials(expand_trials(job.id, job.spec, refs(3)), 2)
    assert store.unfinished_shards() == []
    assert [store.lease(job.id, shard, worker="w", ttl_s=TTL_S) for shard in range(3)] == [[], [], []]
    assert store.job(job.id).status == "preparing"
    prepare(store, job, holder)
    assert len(store.unfinished_shards()) == store.job(job.id).shards


def test_a_job_without_samples_is_refused_and_one_is_not_deleted_while_it_is_prepared(store: Store) -> None:
    job = accept(store)
    holder = claim(store, job)
    with pytest.raises(SpecError, match="nothing is selected"):
        store.prepare(job.id, holder, job.spec, [], [])
    store.cancel(job.id)
    with pytest.raises(Conflict, match="still being prepared"):
        store.delete_job(job.id, by="me")
    store.end_preparation(job.id, holder)
    store.delete_job(job.id, by="me")
