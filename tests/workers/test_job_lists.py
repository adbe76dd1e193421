"""Lists of many jobs, on both databases."""

from gnomon.core.score import Outcome
from gnomon_workers.store.store import Store
from tests.workers.conftest import BOTH, TRACE, Clock, create, make_row


@BOTH
def test_the_newest_and_all_open_jobs_are_listed(store: Store) -> None:
    first, *others = (create(store, 1, name=f"job {number}") for number in range(4))
    for job in others:
        store.cancel(job.id)
    assert [job.name for job in store.digests(limit=2)] == ["job 3", "job 2", "job 0"]
    assert [job.is_open for job in store.digests(limit=1)] == [False, True]
    assert [job.id for job in store.jobs_of([first.id, "j_none", others[0].id])] == [first.id, others[0].id]


@BOTH
def test_words_are_sought_in_names_and_models_as_they_are_written(store: Store) -> None:
    create(store, 1, name="Half_done 50%")
    create(store, 1, models=[{"id": "scripted-b", "name": "Wasp"}])
    found = {
        words: len(store.digests(limit=9, words=words))
        for words in ("f_D", "0%", "wasp TINY", "max_turns", "%")
    }
    assert found == {"f_D": 1, "0%": 1, "wasp TINY": 1, "max_turns": 0, "%": 1}


@BOTH
def test_missing_trials_are_counted_by_cause(store: Store, clock: Clock) -> None:
    job = create(store, 3)
    leases = store.lease(job.id, 0, worker="w", ttl_s=30)
    causes = ["provider:timeout", "provider:auth", "provider:timeout"]
    lost = {"outcome": Outcome.INFRA_MISSING, "score": None, "error": "said"}
    ended = [
        (lease, make_row(lease, stop_reason=cause, **lost), TRACE)
        for lease, cause in zip(leases, causes, strict=False)
    ]
    store.finish(ended)
    missing = store.missing_trials([job.id])
    assert [(cause.cause, cause.trials, cause.error) for cause in missing] == [
        ("provider:timeout", 2, "said"),
        ("provider:auth", 1, "said"),
    ]
    assert missing[1].trial_id == leases[1].trial.trial_id


@BOTH
def test_models_that_are_called_no_more_are_listed_with_their_job(store: Store) -> None:
    job = create(store, 1, name="refused")
    store.stop_model(job.id, "scripted", cause="auth", error="no such key")
    stopped = store.stopped_models(limit=5)
    assert [(each.job_name, each.model, each.cause, each.error) for each in stopped] == [
        ("refused", "scripted", "auth", "no such key")
    ]
