"""Puts a finished job of many trials into a store at once, without queue, leases or models."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import expand_trials
from gnomon_workers.store import Store
from gnomon_workers.store.missing import missing_row

CELLS, FLAGS = 14, ("clipped", "times_early", "reply_cut")
TOOLS = {"bearing": {"calls": 2, "bad_arguments": 0, "errors": 0}}


def insert_job(database: str, *, samples: int, models: int = 1, arms: int = 2, repeats: int = 1) -> str:
    """The id of a job of so many samples under so many arms, in 14 cells and clusters of five.

    Every arm but the first has tools, and each is a little better than the one before it. One trial of a
    hundred is lost, two run out of turns.
    """
    spec = JobSpec.model_validate(
        {
            "benchmark": "worlds",
            "models": [
                {"id": "scripted", "name": f"model{model}", "options": {"replies": ["A"]}}
                for model in range(models)
            ],
            "arms": [{"name": f"arm{arm}", "agent": "direct"} for arm in range(arms)],
            "repeats": repeats,
        }
    )
    refs = [
        SampleRef(sample_id=f"s{n:06}", task=f"T{n % 7}", cell=f"c{n % CELLS:02}", cluster=f"v{n // 5}")
        for n in range(samples)
    ]
    with Store(database) as store:
        return store.insert_finished_job(spec, refs, ((row, None) for row in _rows(spec, refs)))


def _rows(spec: JobSpec, refs: list[SampleRef]) -> Iterator[Row]:
    random = np.random.default_rng(0)
    level = {ref.sample_id: random.uniform(0.2, 0.7) for ref in refs}
    for trial in expand_trials("j", spec, refs):
        row = missing_row(trial, benchmark="worlds", stop_reason="provider:connection", attempt=1)
        arm, luck = int(trial.arm.removeprefix("arm")), random.random()
        if luck < 0.01:
            yield row
            continue
        is_right = luck > 0.03 and random.random() < level[trial.ref.sample_id] + 0.02 * arm
        yield replace(
            row,
            outcome=Outcome.MODEL_FAILED if luck < 0.03 else Outcome.SCORED,
            stop_reason="max_turns" if luck < 0.03 else "answered",
            score=float(is_right),
            answer="ABCD"[int(4 * random.random())],
            flags=(FLAGS[arm % len(FLAGS)],) if random.random() < 0.1 else (),
            tools_used=TOOLS if arm else {},
            tool_calls=2 if arm else 0,
            prompt_tokens=100,
            completion_tokens=10,
            usd=0.001,
            wall_s=round(20 * random.random(), 3),
        )
