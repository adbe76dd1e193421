"""What the tests of the service play: a spec, and a worker that answers as it is told."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon_workers.store.missing import missing_row
from gnomon_workers.store.records import Lease
from gnomon_workers.store.store import Store

OpenApi = Callable[..., TestClient]
SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 6, "seed": 3},
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
}


def post(api: TestClient, spec: dict[str, Any] = SPEC, **headers: str) -> str:
    """Post a spec and return the job's id."""
    response = api.post("/v1/jobs", json=spec, headers=headers)
    assert response.status_code == 202, response.text
    job_id: str = response.json()["id"]
    return job_id


PLAYED = [{"kind": "note", "text": "played"}]


def finish_all(
    store: Store,
    job_id: str,
    *,
    steps: Sequence[dict[str, Any]] = tuple(PLAYED),
    response: str = "",
    **changes: Any,
) -> int:
    """Play the worker: end every open trial of the job with a right answer, or as `changes` say."""
    ended = 0
    for job, shard in store.unfinished_shards(job_id):
        leases = store.lease(job, shard, worker="test", ttl_s=60.0)
        trace = {"prompt": [], "steps": list(steps), "response": response}
        store.finish([(lease, row_of(lease, **changes), trace) for lease in leases])
        ended += len(leases)
    return ended


def row_of(lease: Lease, **changes: Any) -> Row:
    """The row of a trial that was answered rightly, or as `changes` say."""
    row = missing_row(lease.trial, benchmark="worlds", stop_reason="answered", attempt=lease.attempt)
    right: dict[str, Any] = {
        "outcome": Outcome.SCORED,
        "score": 1.0,
        "answer": "A",
        "prompt_tokens": 10,
        "completion_tokens": 2,
    }
    return replace(row, **{**right, **changes})
