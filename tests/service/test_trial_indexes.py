"""The index of a job's trials is that of its results, while it runs, when it has ended and once resumed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gnomon.core.errors import NotFound
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.report.trial_index.filters import TrialFilter
from gnomon.report.trial_index.index import TrialIndex
from gnomon.spec.job_spec import JobSpec
from gnomon_service.derived import Derived
from gnomon_service.derived_kinds import indexes_of
from gnomon_workers.store import Store
from gnomon_workers.store.missing import missing_row
from tests.workers.conftest import BOTH, kind, new_url, url

__all__ = ["kind", "new_url", "url"]
SPEC = {
    "benchmark": "worlds",
    "models": [{"id": "scripted", "options": {"replies": ["B"]}}],
    "arms": [{"name": name, "agent": "direct"} for name in ("raw", "tools")],
}
PAIR = TrialFilter(baseline="raw", variant="tools")


def a_job(store: Store, samples: int = 4) -> str:
    refs = [SampleRef(sample_id=f"s{i}", task="T", cell="T", cluster=f"s{i}") for i in range(samples)]
    return store.create_job(JobSpec.model_validate(SPEC), refs).id


def finish(store: Store, job_id: str, count: int, outcome: Outcome = Outcome.SCORED) -> None:
    """End the next trials, all in the first shards that have some."""
    for shard in range(store.job(job_id).shards):
        leases = store.lease(job_id, shard, worker="w", ttl_s=60, limit=count)
        rows = [
            replace(
                missing_row(lease.trial, benchmark="worlds", stop_reason="answered", attempt=1),
                outcome=outcome,
                score=1.0 if outcome == Outcome.SCORED else None,
                flags=("clipped",),
                tools_used={"lookup": {"calls": 2}},
            )
            for lease in leases
        ]
        store.finish([(lease, row, {}) for lease, row in zip(leases, rows, strict=True)])
        count -= len(leases)


def ids(index: TrialIndex) -> list[str]:
    return [entry.trial_id for entry in index.trials(TrialFilter(), limit=1_000).items]


def stored_ids(store: Store, job_id: str) -> list[str]:
    return [row.trial_id for row in store.iter_rows(job_id)]


@pytest.fixture
def indexes(store: Store) -> Derived[TrialIndex]:
    return indexes_of(store)


@BOTH
def test_an_index_follows_the_results_of_a_running_job(url: str) -> None:
    store = Store(url)
    indexes, job = indexes_of(store), a_job(store)
    assert indexes.get(job).value.size == 0
    for _ in range(3):
        finish(store, job, 2)
        index = indexes.get(job).value
        assert ids(index) == stored_ids(store, job)
    assert index.facets(PAIR)["flag"] == {"clipped": 6}
    assert index.trials(TrialFilter()).items[0].tools == ("lookup",)
    store.close()


def test_results_that_a_resumed_job_gives_back_leave_the_index(
    store: Store, indexes: Derived[TrialIndex]
) -> None:
    job = a_job(store)
    finish(store, job, 2, Outcome.INFRA_MISSING)
    finish(store, job, 2)
    finish(store, job, 1, Outcome.INFRA_MISSING)
    assert indexes.get(job).value.size == 5
    store.cancel(job)
    store.resume(job)
    assert ids(indexes.get(job).value) == stored_ids(store, job)
    finish(store, job, 3)
    assert ids(indexes.get(job).value) == stored_ids(store, job)
    finish(store, job, 3)
    assert (indexes.get(job).value.size, store.job(job).status) == (8, "completed")


def test_what_came_again_while_nobody_looked_is_not_there_twice(
    store: Store, indexes: Derived[TrialIndex]
) -> None:
    job = a_job(store)
    finish(store, job, 3, Outcome.INFRA_MISSING)
    assert indexes.get(job).value.size == 3
    store.cancel(job)
    store.resume(job)
    finish(store, job, 3)
    assert ids(indexes.get(job).value) == stored_ids(store, job)


def test_the_index_of_a_job_that_has_ended_is_kept_and_read(
    store: Store, indexes: Derived[TrialIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = a_job(store)
    finish(store, job, 8)
    built = indexes.get(job).value
    monkeypatch.setattr(Store, "iter_columns", lambda *_: pytest.fail("results are read again"))
    again = indexes_of(store).get(job).value
    assert (ids(again), again.facets(PAIR)) == (ids(built), built.facets(PAIR))


def test_a_kept_index_of_other_results_is_not_read(store: Store, indexes: Derived[TrialIndex]) -> None:
    job = a_job(store)
    finish(store, job, 8)
    store.keep(job, "trials", "of-before", b"not an index")
    assert indexes.get(job).value.size == 8


def test_samples_that_a_cancelled_job_never_ran_are_among_its_pairs(
    store: Store, indexes: Derived[TrialIndex]
) -> None:
    job = a_job(store)
    finish(store, job, 3)
    assert indexes.get(job).value.pairs(PAIR).total < 4
    store.cancel(job)
    assert indexes.get(job).value.facets(PAIR)["changed"] == {"both_right": 1, "not_comparable": 3}
    assert indexes_of(store).get(job).value.pairs(PAIR) == indexes.get(job).value.pairs(PAIR)


def test_the_indexes_that_were_looked_at_last_stay(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = a_job(store), a_job(store)
    for job in (first, second):
        finish(store, job, 8)
    indexes = Derived(store, replace(indexes_of(store).kind, room=1))
    index = indexes.get(first).value
    assert indexes.get(first).value is index
    indexes.get(second)
    assert indexes.get(first).value is not index


def test_there_is_no_index_of_a_job_that_there_is_not(indexes: Derived[TrialIndex]) -> None:
    with pytest.raises(NotFound, match="no job 'j_none'"):
        indexes.get("j_none")


def first_numbers_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From where on results are read from now on, at each reading."""
    starts: list[int] = []
    read = Store.iter_columns

    def noted(store: Store, job_id: str, seq: int, names: Sequence[str]) -> Any:
        starts.append(seq)
        return read(store, job_id, seq, names)

    monkeypatch.setattr(Store, "iter_columns", noted)
    return starts


def test_the_last_results_of_a_job_are_added_to_what_was_there(
    store: Store, indexes: Derived[TrialIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = a_job(store)
    finish(store, job, 6)
    indexes.get(job)
    finish(store, job, 2)
    starts = first_numbers_read(monkeypatch)
    assert ids(indexes.get(job).value) == stored_ids(store, job)
    assert min(starts) > 0
    assert indexes_of(store).get(job).value.pairs(PAIR) == indexes.get(job).value.pairs(PAIR)
    assert len(starts) == 1


def test_a_seal_leaves_an_index_as_it_is(
    store: Store, indexes: Derived[TrialIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = a_job(store)
    finish(store, job, 8)
    indexes.get(job)
    before = store.job_state(job)
    store.seal_results(job)
    assert store.job_state(job) != before
    monkeypatch.setattr(Store, "iter_columns", lambda *_: pytest.fail("results are read again"))
    assert indexes.get(job).value.size == indexes_of(store).get(job).value.size == 8
