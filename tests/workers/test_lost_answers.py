"""Operations of the store whose commit fails, or succeeds unheard: what a second try makes of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from gnomon_workers.store import JobRecord, Store
from gnomon_workers.store.schema import trials
from tests.workers.conftest import BOTH, TRACE, Clock, create, make_row, make_spec
from tests.workers.tiny_worker import refs

TTL_S = 10.0


class Unheard(Store):
    """Of the transactions that follow `break_after(n)`, the n-th fails: before its commit, or after it."""

    left: int | None = None
    is_done = False

    def break_after(self, count: int, *, is_done: bool) -> None:
        self.left, self.is_done = count, is_done

    @contextmanager
    def writing(self, on: Connection | None = None) -> Iterator[Connection]:
        self.left = None if self.left is None else self.left - 1
        breaks = self.left == 0
        with super().writing(on) as db:
            yield db
            if breaks and not self.is_done:
                raise OperationalError("COMMIT", None, Exception("refused"))
        if breaks:
            raise OperationalError("COMMIT", None, Exception("unheard"))


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Unheard]:
    store = Unheard(url, clock=clock)
    yield store
    store.close()


def again(store: Unheard, operation: Callable[[], object], *, breaks: int, is_done: bool) -> None:
    """Do what the caller of an operation does whose transaction failed: the same once more."""
    store.break_after(breaks, is_done=is_done)
    try:
        operation()
    except OperationalError:
        operation()
    store.left = None


def finish_all(store: Store, job: JobRecord) -> None:
    for shard in range(job.shards):
        leases = store.lease(job.id, shard, worker="w", ttl_s=TTL_S)
        store.finish([(lease, make_row(lease), TRACE) for lease in leases])


@BOTH
@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("breaks", [1, 2, 3, 4])
def test_a_job_posted_again_with_its_key_is_there_once_and_whole(
    store: Unheard, breaks: int, is_done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon_workers.store.jobs.INSERT_BATCH", 4)

    def post() -> None:
        store.create_job(make_spec(6), refs(6), idempotency_key="k")

    again(store, post, breaks=breaks, is_done=is_done)
    (job,) = store.jobs().items
    with store.reading() as db:
        kept = db.execute(select(func.count()).select_from(trials)).scalar_one()
    assert kept == job.counts.planned == 12
    finish_all(store, job)
    assert store.job(job.id).status == "completed"


@BOTH
@pytest.mark.parametrize("is_done", [False, True])
def test_a_result_written_again_counts_once(store: Unheard, is_done: bool) -> None:
    job = create(store, 1)
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    batch = [(lease, make_row(lease), TRACE) for lease in leases]
    again(store, lambda: store.finish(batch), breaks=1, is_done=is_done)
    assert (store.job(job.id).counts.scored, store.job(job.id).usd) == (2, 1.0)


@BOTH
def test_what_was_leased_unheard_is_given_back_and_counts_as_no_attempt(store: Unheard) -> None:
    job = create(store, 2, concurrency=64)
    known = store.lease(job.id, 0, worker="w", ttl_s=TTL_S, limit=1)
    store.break_after(1, is_done=True)
    with pytest.raises(OperationalError):
        store.lease(job.id, 0, worker="w", ttl_s=TTL_S, limit=2)
    assert len(store.renew("w", ttl_s=TTL_S)) == 2
    store.release_all_but("w", known)
    assert store.renew("w", ttl_s=TTL_S) == {(known[0].trial.trial_id, known[0].token)}
    rest = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    assert [lease.attempt for lease in rest] == [1]


@BOTH
@pytest.mark.parametrize("is_done", [False, True])
def test_sweeping_cancelling_resuming_and_giving_back_may_be_done_again(
    store: Unheard, clock: Clock, is_done: bool
) -> None:
    job = create(store, 1)
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S)
    clock.now_s += TTL_S + 1
    again(store, store.sweep, breaks=1, is_done=is_done)
    again(store, lambda: store.release(leases), breaks=1, is_done=is_done)
    again(store, lambda: store.cancel(job.id), breaks=1, is_done=is_done)
    again(store, lambda: store.resume(job.id), breaks=1, is_done=is_done)
    finish_all(store, job)
    assert (store.job(job.id).status, store.job(job.id).counts.scored) == ("completed", 2)


@BOTH
@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("breaks", [1, 2, 3])
def test_a_job_filed_with_its_results_is_there_whole_or_not_at_all(
    store: Unheard, breaks: int, is_done: bool
) -> None:
    job = create(store, 2)
    finish_all(store, job)
    rows = list(store.iter_rows(job.id))
    store.break_after(breaks, is_done=is_done)
    filed = None
    try:
        filed = store.insert_finished_job(job.spec, refs(2), [(row, TRACE) for row in rows])
    except OperationalError:
        assert [one.id for one in store.jobs().items] == [job.id]
    if filed is not None:
        assert len(list(store.iter_rows(filed))) == store.job(filed).counts.scored == 4
