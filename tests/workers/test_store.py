"""What the store promises, on a clock that the test moves."""

import json
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from sqlalchemy import func, select, update

from gnomon.core.errors import Conflict, NotFound, SpecError
from gnomon.core.row import Row
from gnomon.core.sample import DataFault, SampleRef
from gnomon.core.score import Outcome
from gnomon.core.trace import ReplyStep, Trace
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store import JobRecord, Lease, Store
from gnomon_workers.store.schema import job_counts, jobs, results, traces, trials
from tests.workers.conftest import ALL, TRACE, Clock, create, make_row, make_spec
from tests.workers.tiny_worker import refs

pytestmark = ALL
TTL_S = 10.0


def lease_all(store: Store, job: JobRecord, *, worker: str = "w") -> list[Lease]:
    shards = store.unfinished_shards(job.id)
    return [one for _, shard in shards for one in store.lease(job.id, shard, worker=worker, ttl_s=TTL_S)]


def finish_all(store: Store, job: JobRecord, **changes: object) -> None:
    leases = lease_all(store, job)
    assert store.finish([(lease, make_row(lease, **changes), TRACE) for lease in leases]) == set()


def test_a_new_job_has_every_trial_planned_and_its_faults_kept(store: Store) -> None:
    fault = DataFault(sample_id="s0", kind="missing_media", detail="clip")
    job = store.create_job(make_spec(3), refs(3), faults=[fault])
    assert (job.status, job.counts.planned, job.faults) == ("queued", 6, (fault,))
    assert job.created_at == "1970-01-01T00:16:40.000Z"
    assert store.job(job.id) == job


def test_the_same_key_gives_the_same_job_and_another_spec_under_it_is_a_conflict(store: Store) -> None:
    first = store.create_job(make_spec(), refs(4), idempotency_key="k")
    assert store.create_job(make_spec(), refs(4), idempotency_key="k").id == first.id
    with pytest.raises(Conflict, match="another spec"):
        store.create_job(make_spec(name="other"), refs(4), idempotency_key="k")


def test_the_same_key_gives_the_same_job_though_specs_have_gained_fields_since(store: Store) -> None:
    first = store.create_job(make_spec(), refs(4), idempotency_key="k")
    with store.writing() as db:
        stored = json.loads(db.execute(select(jobs.c.spec)).scalar_one())
        del stored["cache"]  # as an older version wrote it, with the hash that it then had
        db.execute(update(jobs).values(spec=json.dumps(stored), spec_hash="of an older version"))
    again = store.create_job(make_spec(), refs(4), idempotency_key="k")
    assert (again.id, again.spec_hash) == (first.id, "of an older version")


def test_the_same_key_with_a_number_that_json_cannot_hold_gives_the_same_job(store: Store) -> None:
    models = [{"id": "scripted", "options": {"replies": ["A"], "stop": float("inf")}}]
    first = store.create_job(make_spec(models=models), refs(4), idempotency_key="k")
    assert store.create_job(make_spec(models=models), refs(4), idempotency_key="k").id == first.id
    models[0]["options"] = {"replies": ["A"], "stop": True}
    with pytest.raises(Conflict, match="another spec"):
        store.create_job(make_spec(models=models), refs(4), idempotency_key="k")


def test_a_job_without_samples_or_with_one_twice_is_refused(store: Store) -> None:
    with pytest.raises(SpecError, match="nothing is selected"):
        store.create_job(make_spec(), [])
    twice = SampleRef(sample_id="s", task="T", cell="T", cluster="c")
    with pytest.raises(SpecError, match="twice"):
        store.create_job(make_spec(), [twice, twice])


class Watched(list[SampleRef]):
    """References that call `halfway` when half of them were asked for."""

    def __init__(self, count: int, halfway: Callable[[], object]) -> None:
        super().__init__(refs(count))
        self.halfway = halfway

    def __iter__(self) -> Iterator[SampleRef]:
        for index in range(len(self)):
            if index == len(self) // 2:
                self.halfway()
            yield self[index]


def test_while_a_large_job_is_stored_others_write_and_none_sees_it(
    store: Store, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon_workers.store.jobs.INSERT_BATCH", 4)
    other = Store(url)
    seen: list[str] = []

    def meanwhile() -> None:
        seen.append(create(other, 1).id)
        assert [job.id for job in other.jobs().items] == seen

    job = store.create_job(make_spec(20), Watched(20, meanwhile))
    assert [one.id for one in other.jobs().items] == [job.id, *seen]
    assert len(lease_all(other, job)) == job.counts.planned == 40
    other.close()


def test_of_a_job_that_could_not_be_stored_whole_nothing_is_left(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon_workers.store.jobs.INSERT_BATCH", 4)
    with pytest.raises(ZeroDivisionError):
        store.create_job(make_spec(20), Watched(20, lambda: 1 // 0))
    with store.reading() as db:
        assert db.execute(select(func.count()).select_from(trials)).scalar_one() == 0


def test_a_key_that_comes_twice_at_once_gives_one_job(store: Store) -> None:
    def again() -> None:
        store.create_job(make_spec(), refs(4), idempotency_key="k")

    job = store.create_job(make_spec(), Watched(4, again), idempotency_key="k")
    assert [one.id for one in store.jobs().items] == [job.id]
    with store.reading() as db:
        assert db.execute(select(func.count()).select_from(trials)).scalar_one() == job.counts.planned


def test_jobs_come_newest_first_in_pages(store: Store) -> None:
    made = [create(store).id for _ in range(3)]
    first = store.jobs(limit=2)
    rest = store.jobs(cursor=first.next_cursor, limit=2)
    assert [job.id for job in (*first.items, *rest.items)] == made[::-1]
    assert rest.next_cursor is None
    with pytest.raises(SpecError, match="cursor"):
        store.jobs(cursor="x")


def test_leases_follow_the_plan_and_never_hand_a_trial_out_twice(store: Store) -> None:
    job = create(store)
    first = store.lease(job.id, 0, worker="a", ttl_s=TTL_S, limit=3)
    second = store.lease(job.id, 0, worker="b", ttl_s=TTL_S)
    names = [(lease.trial.ref.sample_id, lease.trial.arm) for lease in (*first, *second)]
    assert names == [("s0", "raw"), ("s0", "tools"), ("s1", "raw"), ("s1", "tools")]
    assert store.job(job.id).status == "running"
    assert store.job(job.id).counts.running == 4


def test_a_row_comes_back_as_it_was_written(store: Store) -> None:
    job = create(store, 1)
    leases = lease_all(store, job)
    rows = [make_row(lease, answer="é\u2028 =1+1") for lease in leases]
    store.finish([(lease, row, TRACE) for lease, row in zip(leases, rows, strict=True)])
    assert list(store.iter_rows(job.id)) == rows
    found = store.trial(rows[0].trial_id)
    assert (found.row, found.trace, found.state) == (rows[0], TRACE, "done")
    record = store.job(job.id)
    assert (record.status, record.usd, record.tokens) == ("completed", 1.0, 24)
    assert record.finished_at is not None


def test_an_unknown_price_makes_the_sum_unknown_but_not_the_known_part(store: Store) -> None:
    job = create(store, 1)
    leases = lease_all(store, job)
    store.finish([(leases[0], make_row(leases[0], usd=None), TRACE), (leases[1], make_row(leases[1]), TRACE)])
    record = store.job(job.id)
    assert (record.usd, record.known_usd, record.tokens) == (None, 0.5, 24)


def test_a_job_whose_last_worker_died_before_it_saw_that_is_ended_by_the_sweeper(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(store, 1)
    with monkeypatch.context() as dying:
        dying.setattr(Store, "adding_results", lambda store, _: store.writing())
        finish_all(store, job)
    assert (store.job(job.id).status, store.job(job.id).counts.scored) == ("running", 2)
    store.sweep()
    assert store.job(job.id).status == "completed"


def test_counts_are_the_same_wherever_they_wait(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon_workers.store.job_ends.MAX_CHANGES", 3)
    job = create(store, 5, concurrency=64)
    leases = lease_all(store, job)
    for done, lease in enumerate(leases, start=1):
        store.finish([(lease, make_row(lease), TRACE)])
        record = store.job(job.id)
        assert (record.counts.scored, record.counts.running) == (done, len(leases) - done)
        assert (record.usd, record.tokens) == (0.5 * done, 12 * done)
        assert store.job_state(job.id).done == store.digests(limit=1)[0].processed == done
    assert store.totals()["known_tokens"] == 12 * len(leases)
    with store.reading() as db:
        assert db.execute(select(func.count()).select_from(job_counts)).scalar_one() == 0
        assert db.execute(select(jobs.c.scored)).scalar_one() == len(leases)


def test_a_zombie_is_refused_and_its_spending_is_counted(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    zombie = lease_all(store, job, worker="zombie")
    clock.now_s += TTL_S + 1
    assert store.sweep() == [(job.id, 0)]
    fresh = lease_all(store, job, worker="fresh")
    refused = store.finish([(lease, make_row(lease, answer="late"), TRACE) for lease in zombie])
    assert refused == {lease.trial.trial_id for lease in zombie}
    assert store.renew("zombie", ttl_s=TTL_S) == set()
    store.finish([(lease, make_row(lease), TRACE) for lease in fresh])
    assert {row.answer for row in store.iter_rows(job.id)} == {"A"}
    assert store.job(job.id).usd == pytest.approx(2.0)


def test_the_same_result_written_twice_counts_once(store: Store) -> None:
    job = create(store, 1)
    batch = [(lease, make_row(lease), TRACE) for lease in lease_all(store, job)]
    assert store.finish(batch) == set()
    assert store.finish(batch) == set()
    assert store.job(job.id).counts.scored == 2
    assert store.job(job.id).usd == 1.0


def test_a_renewed_lease_outlives_its_first_end(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    leases = lease_all(store, job)
    clock.now_s += TTL_S - 1
    assert store.renew("w", ttl_s=TTL_S) == {(lease.trial.trial_id, lease.token) for lease in leases}
    clock.now_s += 2
    assert store.sweep() == []


def test_a_lease_given_back_counts_as_no_attempt(store: Store) -> None:
    job = create(store, 1)
    first = lease_all(store, job)
    store.release(first)
    again = lease_all(store, job)
    assert [lease.attempt for lease in again] == [1, 1]
    assert store.finish([(first[0], make_row(first[0]), TRACE)]) == {first[0].trial.trial_id}


def test_a_trial_is_set_aside_after_two_deaths_among_others_and_three_isolated(
    store: Store, clock: Clock
) -> None:
    job = create(store, 1)
    for _ in range(2):
        assert len(lease_all(store, job)) == 2
        clock.now_s += TTL_S + 1
        store.sweep()
    for attempt in (3, 4, 5):
        assert lease_all(store, job) == []
        (isolated,) = store.lease(job.id, 0, worker="w", ttl_s=TTL_S, isolated=True)
        assert isolated.attempt == attempt
        assert store.job(job.id).counts.done == 0
        clock.now_s += TTL_S + 1
        store.sweep()
    lost = store.trial(isolated.trial.trial_id).row
    assert lost is not None
    assert (lost.outcome, lost.stop_reason, lost.score) == (Outcome.INFRA_MISSING, "worker_lost", None)
    assert store.finish([(isolated, make_row(isolated), TRACE)]) == {isolated.trial.trial_id}
    assert store.job(job.id).counts.infra_missing == 1


@pytest.mark.parametrize(
    ("poison", "reason", "usd", "tokens"),
    [
        ({"answer": "\ud800"}, "surrogates", 2.0, 48),
        ({"answer": object()}, "", 2.0, 48),
        ({"metrics": {"m": float("nan")}}, "Out of range float", 2.0, 48),
        ({"score": float("nan")}, "score is nan", 2.0, 48),
        ({"usd": float("inf")}, "usd is inf", 1.5, 48),
        ({"prompt_tokens": 10**30}, "prompt_tokens is 1000", 2.0, 36),
        ({"completion_tokens": -5}, "completion_tokens is -5", 2.0, 36),
        ({"model_calls": 10**30}, "", 2.0, 48),
    ],
)
def test_a_result_that_cannot_be_stored_takes_no_other_along(
    store: Store, poison: dict[str, object], reason: str, usd: float, tokens: int
) -> None:
    job = create(store, 2, concurrency=1)
    leases = lease_all(store, job)
    batch = [
        (lease, make_row(lease, **(poison if at == 1 else {})), TRACE) for at, lease in enumerate(leases)
    ]
    assert store.finish(batch) == set()
    ends = [row.stop_reason for row in store.iter_rows(job.id)]
    assert sorted(ends) == ["answered"] * 3 + ["internal:unstorable"]
    record = store.job(job.id)
    assert record.status == "completed"
    assert (record.known_usd, record.known_tokens) == (usd, tokens), "what was charged is charged"
    trace = store.trial(leases[1].trial.trial_id).trace
    assert trace is not None
    assert trace["steps"][0]["text"] == "played"
    assert reason in trace["steps"][1]["text"]


def test_counts_of_a_plug_in_may_be_numbers_of_numpy(store: Store) -> None:
    job = create(store, 1)
    first, second = lease_all(store, job)
    counted = make_row(first, prompt_tokens=np.int64(7), usd=np.float64(0.25))
    assert store.finish([(first, counted, TRACE), (second, make_row(second), TRACE)]) == set()
    kept = {row.trial_id: row for row in store.iter_rows(job.id)}[first.trial.trial_id]
    assert (kept.prompt_tokens, kept.usd, kept.stop_reason) == (7, 0.25, "answered")


def test_an_import_that_breaks_off_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon_workers.store.finished_jobs.BATCH", 2)
    leases = lease_all(store, create(store, 4))

    def ended() -> Iterator[tuple[Row, dict[str, object]]]:
        yield from ((make_row(lease), TRACE) for lease in leases[:5])
        raise ValueError("the file ends here")

    with pytest.raises(ValueError, match="the file ends here"):
        store.insert_finished_job(make_spec(4), refs(4), ended())
    with store.reading() as db:
        for table in (results, traces):
            assert db.scalar(select(func.count()).select_from(table)) == 0
        assert db.scalar(select(func.count()).select_from(trials)) == len(leases)


def test_a_trace_that_cannot_be_stored_costs_its_own_trial(store: Store) -> None:
    job = create(store, 1)
    leases = lease_all(store, job)
    unwritable = {"prompt": [], "steps": [{"kind": "note", "text": object()}]}
    store.finish([(leases[0], make_row(leases[0]), unwritable), (leases[1], make_row(leases[1]), TRACE)])
    assert sorted(row.stop_reason for row in store.iter_rows(job.id)) == ["answered", "internal:unstorable"]
    trace = store.trial(leases[0].trial.trial_id).trace
    assert trace is not None
    assert "not JSON serializable" in trace["steps"][0]["text"]


def test_broken_off_trials_with_usage_beyond_reason_are_charged_as_far_as_it_can_be_counted(
    store: Store,
) -> None:
    job = create(store, 1)
    trace = Trace()
    for prompt in (10**30, 7):
        step = ReplyStep(
            text="",
            tool_calls=(),
            finish_reason="stop",
            prompt_tokens=prompt,
            completion_tokens=0,
            usd=0.5,
            cached=False,
            wall_s=0.0,
            tries=1,
        )
        trace.add(step)
    store.charge(job.id, [Usage.by(trace)])
    assert (store.job(job.id).known_usd, store.job(job.id).tokens) == (1.0, None)


def test_cancelling_lets_running_trials_finish_and_starts_no_other(store: Store) -> None:
    job = create(store, 4)
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S, limit=2)
    assert store.cancel(job.id).status == "cancelled"
    assert store.lease(job.id, 0, worker="w", ttl_s=TTL_S) == []
    assert store.unfinished_shards() == []
    assert store.finish([(lease, make_row(lease), TRACE) for lease in leases]) == set()
    record = store.job(job.id)
    assert (record.status, record.counts.scored) == ("cancelled", 2)


def test_an_ended_job_stays_what_it_is_when_cancelled(store: Store) -> None:
    job = create(store, 1)
    finish_all(store, job)
    assert store.cancel(job.id).status == "completed"


def test_resuming_runs_only_what_is_missing(store: Store) -> None:
    job = create(store, 2)
    leases = lease_all(store, job)
    rows = [make_row(lease) for lease in leases]
    gone = {"outcome": Outcome.INFRA_MISSING, "stop_reason": "provider:down", "score": None}
    rows[2] = make_row(leases[2], **gone)
    store.finish([(lease, row, TRACE) for lease, row in zip(leases, rows, strict=True)])
    assert store.job(job.id).counts.infra_missing == 1
    resumed = store.resume(job.id)
    assert (resumed.status, resumed.counts.infra_missing, resumed.finished_at) == ("queued", 0, None)
    assert [lease.trial for lease in lease_all(store, job)] == [leases[2].trial]
    assert store.trial(leases[2].trial.trial_id).row is None


def test_resuming_a_whole_job_changes_nothing(store: Store) -> None:
    job = create(store, 1)
    finish_all(store, job)
    before = store.job(job.id)
    assert store.resume(job.id) == before


def test_a_used_up_budget_ends_whole_samples_only(store: Store) -> None:
    job = create(store, 4, limits={"usd": 1.0}, concurrency=64)
    first = store.lease(job.id, 0, worker="w", ttl_s=TTL_S, limit=3)
    store.finish([(lease, make_row(lease), TRACE) for lease in first])  # 1.5 dollars
    rest = lease_all(store, job)
    assert [(lease.trial.ref.sample_id, lease.trial.arm) for lease in rest] == [("s1", "tools")]
    store.finish([(lease, make_row(lease), TRACE) for lease in rest])
    rows = list(store.iter_rows(job.id))
    arms = {arm: {row.sample_id for row in rows if row.arm == arm and row.score} for arm in ("raw", "tools")}
    assert arms["raw"] == arms["tools"] == {"s0", "s1"}
    assert {row.stop_reason for row in rows if row.outcome is Outcome.INFRA_MISSING} == {"budget"}
    assert store.job(job.id).status == "completed"


def test_a_used_up_budget_ends_whole_samples_of_the_models_that_are_left(store: Store) -> None:
    models = [{"id": "scripted-a"}, {"id": "scripted-b"}]
    job = create(store, 4, models=models, limits={"usd": 1.0}, concurrency=64)
    store.stop_model(job.id, "scripted-a", cause="auth", error="no key")
    first = store.lease(job.id, 0, worker="w", ttl_s=TTL_S, limit=3)
    store.finish([(lease, make_row(lease), TRACE) for lease in first])  # 1.5 dollars
    rest = lease_all(store, job)
    assert [(lease.trial.ref.sample_id, lease.trial.arm) for lease in rest] == [("s1", "tools")]
    ended = [row.stop_reason for row in store.iter_rows(job.id) if row.model == "scripted-b"]
    assert sorted(ended) == ["answered"] * 3 + ["budget"] * 4


def test_a_failed_job_says_why_and_ends_every_trial(store: Store) -> None:
    job = create(store, 2)
    failed = store.fail(job.id, "data: gone")
    assert (failed.status, failed.error, failed.counts.infra_missing) == ("failed", "data: gone", 4)
    assert store.resume(job.id).status == "queued"


def test_a_job_that_one_worker_cannot_set_up_waits_while_another_may(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    store.record_setup_failure(job.id, "no data", patience_s=30.0)
    clock.now_s += 29
    store.record_setup_failure(job.id, "no data", patience_s=30.0)
    leases = lease_all(store, job)
    clock.now_s += 2
    store.record_setup_failure(job.id, "no data", patience_s=30.0)
    store.release(leases)
    store.record_setup_failure(job.id, "no data", patience_s=30.0)
    assert (store.job(job.id).status, store.job(job.id).error) == ("running", "")
    clock.now_s += 31
    store.record_setup_failure(job.id, "no data", patience_s=30.0)
    assert (store.job(job.id).status, store.job(job.id).error) == ("failed", "no data")
    store.resume(job.id)
    store.record_setup_failure(job.id, "no data", patience_s=30.0)
    assert store.job(job.id).status == "queued"


def test_what_was_broken_off_is_paid_for(store: Store) -> None:
    job = create(store, 1)
    store.charge(job.id, [Usage(0.25, 7)])
    assert (store.job(job.id).usd, store.job(job.id).tokens) == (0.25, 7)


def test_rows_are_filtered_and_paged_in_the_order_they_came(store: Store) -> None:
    job = create(store, 6)
    finish_all(store, job)
    first = store.rows(job.id, arm="tools", limit=4)
    rest = store.rows(job.id, arm="tools", limit=4, cursor=first.next_cursor)
    assert [row.sample_id for row in (*first.items, *rest.items)] == [f"s{i}" for i in range(6)]
    assert rest.next_cursor is None
    assert store.rows(job.id, outcome="infra_missing").items == ()
    assert store.rows(job.id, task="T", model="scripted", limit=1).next_cursor is not None
    numbered = store.rows_after(job.id, 0, 100)
    assert store.rows_after(job.id, numbered[4][0], 100) == numbered[5:]


def test_batches_hold_the_rows_in_the_order_they_came(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = create(store, 6)
    finish_all(store, job)
    monkeypatch.setattr("gnomon.core.row_batch.SIZE", 5)
    batches = list(store.iter_batches(job.id))
    assert [len(batch) for batch in batches] == [5, 5, 2]
    assert [row for batch in batches for row in batch.rows()] == list(store.iter_rows(job.id))


def test_batches_hold_what_is_unknown_and_texts_with_any_character(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(store, 8)
    monkeypatch.setattr("gnomon.core.row_batch.SIZE", 3)
    reasons = ("", "in two\x1fparts", "ünïcode\n", "'quoted', \"twice\" %s :name \\")
    unknown = {"tool_calls": None, "model_calls": None, "tools_offered": None}
    leases = lease_all(store, job)
    ended = [
        (lease, make_row(lease, stop_reason=reasons[n % 4], **(unknown if n % 3 else {})), TRACE)
        for n, lease in enumerate(leases)
    ]
    assert store.finish(ended) == set()
    rows = [row for batch in store.iter_batches(job.id) for row in batch.rows()]
    assert rows == list(store.iter_rows(job.id))
    assert {row.stop_reason for row in rows} == set(reasons)


def test_what_is_not_there_is_not_found(store: Store) -> None:
    for ask in (store.job, store.trial, store.cancel, store.resume, store.rows):
        with pytest.raises(NotFound):
            ask("nothing")


def test_workers_are_listed_while_they_are_seen(store: Store, clock: Clock) -> None:
    store.record_heartbeat("w1", host="h", pid=1, state="busy", shard="j/0")
    store.record_heartbeat("w2", host="h", pid=2, state="idle")
    clock.now_s += 50
    store.record_heartbeat("w1", host="h", pid=1, state="idle")
    clock.now_s += 20
    assert [(worker.name, worker.state, worker.shard) for worker in store.workers()] == [("w1", "idle", None)]
    store.remove_worker("w1")
    assert store.workers() == []


def test_the_counts_of_all_jobs_are_told(store: Store) -> None:
    finish_all(store, create(store, 1))
    create(store, 1)
    assert store.count_jobs() == {"completed": 1, "queued": 1}
    assert store.count_outcomes() == {"scored": 2, "model_failed": 0, "infra_missing": 0}
    assert store.ping().startswith(("sqlite 3.", "postgresql 18."))


def test_a_trace_with_lone_surrogates_survives(store: Store) -> None:
    job = create(store, 1)
    leases = lease_all(store, job)
    trace = json.loads('{"prompt": [], "steps": [{"text": "\\ud800"}]}')
    store.finish([(leases[0], make_row(leases[0]), trace)])
    assert store.trial(leases[0].trial.trial_id).trace == trace


def test_what_a_dead_process_held_runs_out_at_once_and_nothing_else(store: Store) -> None:
    job = create(store, 2, concurrency=64)
    dead = store.lease(job.id, 0, worker="w_1/77/ab", ttl_s=TTL_S, limit=1)
    for other in ("w_1/7/ab", "wx1/77/ab"):
        store.lease(job.id, 0, worker=other, ttl_s=TTL_S, limit=1)
    store.expire("w_1/77/")
    assert store.sweep() == [(job.id, 0)]
    again = store.lease(job.id, 0, worker="next", ttl_s=TTL_S)
    assert {one.trial.trial_id for one in again} >= {one.trial.trial_id for one in dead}
    assert sum(one.attempt == 2 for one in again) == 1


def test_a_job_that_fails_ends_all_its_trials_in_batches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon_workers.store.missing.BATCH", 10)
    job = create(store, 12)
    assert job.counts.planned == 24
    failed = store.fail(job.id, "it cannot run")
    assert (failed.status, failed.counts.infra_missing) == ("failed", job.counts.planned)
    assert len({row.trial_id for row in store.iter_rows(job.id)}) == job.counts.planned
