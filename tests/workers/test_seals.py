"""A job's seal fixes its plan before any trial runs, and its results each time the job has ended."""

import hashlib
import json

import pytest

from gnomon.core.seal import chain_faults
from gnomon.report.row_formats import ndjson_line
from gnomon_workers.store import Store
from tests.workers.conftest import ALL, create, make_row


def run_all(store: Store, job_id: str, **changes: object) -> None:
    """End every pending trial."""
    for job, shard in store.unfinished_shards(job_id):
        leases = store.lease(job, shard, worker="w", ttl_s=60.0)
        store.finish([(lease, make_row(lease, **changes), {}) for lease in leases])


@ALL
def test_the_plan_is_sealed_with_the_job_and_before_any_trial(store: Store) -> None:
    job = create(store)
    [plan] = store.seal(job.id)
    assert plan.kind == "planned"
    assert plan.body["spec"] == job.spec.model_dump(mode="json")
    assert (plan.body["job"], plan.body["trials"], plan.body["samples"]) == (job.id, 8, 4)
    assert plan.body["at"] == job.created_at
    assert store.jobs_to_seal() == []
    store.seal_results(job.id)
    assert len(store.seal(job.id)) == 1, "a job that runs has no results to seal"


@ALL
def test_the_sealed_digest_is_that_of_the_sorted_lines_of_the_row_file(store: Store) -> None:
    job = create(store)
    run_all(store, job.id, answer="日本 \ud800 \u2028")
    assert store.jobs_to_seal() == [job.id]
    store.seal_results(job.id)
    lines = store.seal(job.id)
    written = sorted(ndjson_line(row) for row in store.iter_rows(job.id))
    assert lines[-1].body["rows_sha256"] == hashlib.sha256("".join(written).encode()).hexdigest()
    assert lines[-1].body["rows"] == 8
    assert list(chain_faults(lines)) == []
    store.seal_results(job.id)
    assert len(store.seal(job.id)) == 2, "what is sealed is not sealed again"
    assert store.jobs_to_seal() == []


@ALL
def test_a_stopped_job_is_sealed_when_what_was_running_has_ended(store: Store) -> None:
    job = create(store)
    running, *_ = store.lease(job.id, 0, worker="w", ttl_s=60.0, limit=1)
    store.cancel(job.id)
    assert store.jobs_to_seal() == []
    store.finish([(running, make_row(running), {})])
    assert store.jobs_to_seal() == [job.id]


@ALL
def test_what_runs_after_the_first_end_is_sealed_by_a_line_of_its_own(store: Store) -> None:
    job = create(store)
    run_all(store, job.id, outcome="infra_missing", score=None)
    store.seal_results(job.id)
    store.resume(job.id)
    assert store.jobs_to_seal() == []
    run_all(store, job.id)
    assert store.jobs_to_seal() == [job.id]
    store.seal_results(job.id)
    kinds = [line.kind for line in store.seal(job.id)]
    assert kinds == ["planned", "results", "results"]
    first, second = (line.body for line in store.seal(job.id)[1:])
    assert first["rows"] == second["rows"] == 8
    assert first["rows_sha256"] != second["rows_sha256"]


@ALL
def test_a_line_is_signed_once(store: Store) -> None:
    job = create(store)
    [(job_id, line)] = store.unstamped()
    store.add_time_stamp(job_id, line, {"authority": "http://a", "at": "2026-01-01T00:00:00Z", "reply": ""})
    store.add_time_stamp(job_id, line, {"authority": "http://b", "at": "2026-01-01T00:00:00Z", "reply": ""})
    assert store.unstamped() == []
    plan, signature = store.seal(job.id)
    assert signature.body["of"] == plan.sha256
    assert signature.body["authority"] == "http://a"


@pytest.mark.parametrize("change", ["drop", "edit", "swap"])
def test_a_chain_that_was_tampered_with_does_not_hold(store: Store, change: str) -> None:
    job = create(store)
    run_all(store, job.id)
    store.seal_results(job.id)
    store.resume(job.id)
    lines = store.seal(job.id)
    store.add_time_stamp(job.id, lines[0], {"authority": "a", "at": "b", "reply": ""})
    plan, results, signature = store.seal(job.id)
    if change == "drop":
        tampered = [plan, signature]
    elif change == "swap":
        tampered = [plan, signature, results]
    else:
        body = {**plan.body, "trials": 9}
        tampered = [type(plan)(kind="planned", text=json.dumps(body)), results, signature]
    assert list(chain_faults(tampered))
