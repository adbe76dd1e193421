"""A job of the preset `mcp_card` whose rows are made up."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.preset import expand_preset
from gnomon.trials.trial_plan import expand_trials
from gnomon_workers.store.missing import missing_row
from tests.web.conftest import Site

NAME = "card of two tools"
SPEC = JobSpec.model_validate(
    expand_preset(
        {
            "name": NAME,
            "benchmark": "worlds",
            "models": [{"id": "reference"}],
            "arms": {"preset": "mcp_card", "tools": ["distance", "lookup"]},
        }
    )
)


def card_job(site: Site) -> str:
    """The id of the job, in which `distance` carries the gain and `lookup` is never called."""
    for job in site.store.jobs().items:
        if job.name == NAME:
            return job.id
    refs = [SampleRef(sample_id=f"s{n:02}", task="odd", cell="odd", cluster=f"s{n:02}") for n in range(20)]
    return site.store.insert_finished_job(SPEC, refs, _rows(refs))


def _rows(refs: list[SampleRef]) -> Iterator[tuple[Row, Mapping[str, Any] | None]]:
    for trial in expand_trials("j", SPEC, refs):
        arm, number = SPEC.arm(trial.arm), int(trial.ref.sample_id[1:])
        has_help = "distance" in arm.tools and arm.results == "live" and arm.tool_choice == "auto"
        used = {"distance": {"calls": 1, "bad_arguments": 0, "errors": 0}} if "distance" in arm.tools else {}
        row = missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1)
        yield (
            replace(
                row,
                outcome=Outcome.SCORED,
                score=float(number % 4 != 1 if has_help else number % 4 < 2),
                answer="A",
                tools_used=used,
                tool_calls=len(used),
                model_calls=2,
            ),
            None,
        )
