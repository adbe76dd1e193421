"""One bad reply costs one trial: whatever a provider sends, all other trials of the job are scored."""

from pathlib import Path

import pytest

from gnomon_workers.store import Store
from tests.agents.conftest import serving
from tests.workers.conftest import BOTH, Plant, wait_until
from tests.workers.hostile import CLEAN, asked, damage, hostile, hostile_provider, run_against, said


@BOTH
def test_a_hostile_reply_costs_the_trial_that_met_it_and_no_other(real_store: Store, tmp_path: Path) -> None:
    with hostile_provider() as provider:
        job = run_against(provider, real_store, tmp_path, "direct")
    found, clean = damage(provider, list(real_store.iter_rows(job.id)))
    ends = {name: one.stop_reason for name, one in found.items()}
    # On a busy machine the line may be seen to end before the bound is met.
    assert ends.pop("gzip of 200 MB") in ("provider:bad_response", "provider:connection")
    assert ends == {name: end for name, (_, end) in hostile().items() if name in ends}
    assert len(ends) == len(hostile()) - 1
    assert [(row.score, row.stop_reason, row.flags) for row in clean] == [(1.0, "answered", ())] * CLEAN
    assert (job.status, job.counts.done) == ("completed", len(hostile()) + CLEAN)
    assert all(real_store.trial(row.trial_id).trace for row in clean)


@pytest.mark.parametrize("limits", [{}, {"tokens": 1_000_000}])
def test_a_count_that_no_database_holds_takes_no_other_trial_along(
    idle: Plant, limits: dict[str, int]
) -> None:
    """Two models, ten samples, two worker processes; one reply of one model claims 10³⁰ tokens."""
    with serving() as provider:
        provider.answers(200, said())
        provider.answers(200, said(usage={"prompt_tokens": 10**30, "completion_tokens": 7}))
        provider.choose = lambda request: int(asked(request) == 3 and request["model"] == "a")
        models = [{"id": f"openai/{name}", "api_base": provider.url} for name in ("a", "b")]
        job = idle.post(10, models=models, arms=[{"name": "raw", "agent": "direct"}], limits=limits)
        done = idle.end_of(job)
    rows = list(idle.store.iter_rows(job.id))
    assert (done.status, len(rows), len(provider.requests)) == ("completed", 20, 20)
    assert {row.stop_reason for row in rows} == {"answered"}
    assert [row.flags for row in rows if row.prompt_tokens is None] == [("usage_unreadable",)]
    feared = 33 if limits else 0  # with limits the call counts as what such a call was seen to cost
    wait_until(lambda: idle.store.job(job.id).possible_tokens == feared)
    assert idle.store.job(job.id).known_tokens == 19 * 33
    assert done.tokens is None
