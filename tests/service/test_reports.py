"""A report says the same of the same rows."""

import random
from dataclasses import replace
from typing import Any

from gnomon.core.agent import AGENTS
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.report.build import build_report
from gnomon.spec.rules import parse_spec
from gnomon.trials.trial_plan import expand_trials
from gnomon_workers.store.missing import missing_row
from tests.service.play import SPEC


def test_the_order_in_which_rows_came_changes_no_digit() -> None:
    spec = parse_spec({**SPEC, "repeats": 3}, agents=AGENTS.names())
    refs = [
        SampleRef(sample_id=f"s{i}", task="T", cell=f"cell {i % 3}", cluster=f"c{i % 11}") for i in range(40)
    ]
    dice = random.Random(1)
    rows = [
        replace(
            missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1),
            outcome=Outcome.SCORED,
            score=dice.random(),
            usd=dice.random(),
            wall_s=dice.random(),
            answer=str(trial.seed),
        )
        for trial in expand_trials("j", spec, refs)
    ]

    def report(rows: list[Row]) -> Any:
        return build_report(job_id="j", spec=spec, status="completed", rows=rows, planned=len(rows))

    first = report(rows)
    for _ in range(5):
        dice.shuffle(rows)
        assert report(rows) == first
