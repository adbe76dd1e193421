"""Runs all trials of a spec through their agents, without a store."""

import asyncio
from functools import partial
from pathlib import Path

from gnomon.core.agent import AGENTS
from gnomon.core.row import Row
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.models.catalog import open_model


def rows_of(spec: JobSpec, media: MediaStore, data: Path | None = None) -> list[Row]:
    """The rows of all trials, in the order of the plan."""
    samples = spec.plugin().open(data=data, select=spec.select, protocol="guarded", media=media)
    bench = JobContext(spec=spec, benchmark=spec.plugin(), media=media)

    async def tried() -> list[Row]:
        return [
            (
                await run_trial(
                    trial,
                    bench=bench,
                    sample=partial(samples.get, trial.ref.sample_id),
                    agent=AGENTS.get(spec.arm(trial.arm).agent),
                    model=open_model(spec.models[0], media),
                )
            )[0]
            for trial in expand_trials("j", spec, samples.refs)
        ]

    return asyncio.run(tried())
