"""One bad reply costs one trial, through LiteLLM too, which the tests of agents have loaded."""

from pathlib import Path

import pytest

from gnomon_workers.store import Store
from tests.workers.hostile import CLEAN, LARGE, damage, hostile, hostile_provider, run_against


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pydantic's, of what it is given
@pytest.mark.parametrize("but", [LARGE, pytest.param(set(), marks=pytest.mark.soak)], ids=["small", "all"])
def test_a_hostile_reply_through_litellm_costs_the_trial_that_met_it_and_no_other(
    tmp_path: Path, but: set[str]
) -> None:
    with hostile_provider(but) as provider, Store(f"sqlite:///{tmp_path}/gnomon.db") as store:
        job = run_against(provider, store, tmp_path, "LiteLLM")
        found, clean = damage(provider, list(store.iter_rows(job.id)))
    assert not [one for one in found.values() if one.stop_reason.startswith("internal")]
    assert [(row.score, row.stop_reason, row.flags) for row in clean] == [(1.0, "answered", ())] * CLEAN
    assert (job.status, job.counts.done) == ("completed", len(hostile()) + CLEAN)
