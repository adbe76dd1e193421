"""A job of few samples whose rows the test makes up: odd texts, missing and pending trials."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx

from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import Trial, expand_trials
from gnomon_workers.store.missing import missing_row
from tests.web.conftest import Site

SPEC = JobSpec.model_validate(
    {
        "name": "odd rows",
        "benchmark": "worlds",
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
    }
)
RowOf = Callable[[Trial, Row], Row | None]


def plant(
    site: Site, samples: Mapping[str, str], row_of: RowOf, *, trace: Mapping[str, Any] | None = None
) -> str:
    """The id of a finished job over samples (id to subset); trials for which `row_of` is None never ran."""
    refs = [SampleRef(sample_id=name, task="odd", cell=cell, cluster=name) for name, cell in samples.items()]

    def ended() -> Iterator[tuple[Row, Mapping[str, Any] | None]]:
        for trial in expand_trials("j", SPEC, refs):
            blank = missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1)
            row = row_of(trial, blank)
            if row is not None:
                yield row, trace

    return site.store.insert_finished_job(SPEC, refs, ended())


def scored(row: Row, score: float, answer: str, **changes: Any) -> Row:
    """The row with a score and an answer."""
    return replace(row, outcome=Outcome.SCORED, score=score, answer=answer, usd=0.0, **changes)


def fetch(url: str, **more: Any) -> httpx.Response:
    """What the server answers, however busy the machine is."""
    return httpx.get(url, timeout=60, **more)
