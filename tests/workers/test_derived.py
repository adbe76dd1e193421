"""Documents made of results are kept by job and kind, and given out only for what they were made of."""

from gnomon_workers.store import Store
from gnomon_workers.store.derived import MAX_BYTES
from gnomon_workers.store.records import JobState
from tests.workers.conftest import BOTH, create


@BOTH
def test_a_document_is_read_by_the_stamp_it_was_kept_with(store: Store) -> None:
    store.keep("j", "report", "1", b"first")
    store.keep("j", "trials", "1", b"\x00\xff")
    assert (store.kept("j", "report", "1"), store.kept("j", "trials", "1")) == (b"first", b"\x00\xff")
    assert (store.kept("j", "report", "2"), store.kept("k", "report", "1")) == (None, None)


@BOTH
def test_a_later_document_takes_the_place_of_the_last_one(store: Store) -> None:
    store.keep("j", "report", "1", b"first")
    store.keep("j", "report", "2", b"second")
    assert (store.kept("j", "report", "1"), store.kept("j", "report", "2")) == (None, b"second")


@BOTH
def test_documents_of_many_jobs_are_read_at_once(store: Store) -> None:
    names = [f"j{number}" for number in range(1_100)]
    for name in names[::100]:
        store.keep(name, "headline", "1", name.encode())
    store.keep("j1", "report", "1", b"other")
    kept = store.kept_of(names, "headline")
    assert kept == {name: ("1", name.encode()) for name in names[::100]}


def test_a_very_large_document_is_not_kept(store: Store) -> None:
    store.keep("j", "trials", "1", bytes(MAX_BYTES + 1))
    assert store.kept("j", "trials", "1") is None


@BOTH
def test_the_state_of_a_job_changes_with_its_results_and_checks(store: Store) -> None:
    job = create(store)
    assert store.job_state(job.id) == JobState("queued", 0, 0, 0, seal_lines=1)
    store.begin_check(job.id, "m", holder="w", ttl_s=9.0)
    assert store.job_state(job.id).open_checks == 1
    assert store.job_states([job.id, "j_none"]).keys() == {job.id}
