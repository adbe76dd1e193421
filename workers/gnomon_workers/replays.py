"""Reads from the store the stored trials that a job replays."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gnomon.core.arm import Replay
from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.replay import ANSWER, PreparedReplay, choose_call, prepare_replay, returned_text
from gnomon.trials.trial_plan import Trial, trial_id
from gnomon_workers.open_job import OpenJob
from gnomon_workers.store.store import Store

DONORS_TRIED = 20  # traces of other samples that are read to find a result of the same tool


class Replays:
    """Prepares trials of one open job whose arms replay those of an earlier one. Safe to use in threads."""

    def __init__(self, store: Store, job: OpenJob) -> None:
        self._store, self._job = store, job
        self._specs: dict[str, JobSpec] = {}
        self._donors: dict[tuple[str, str, str], Mapping[str, list[tuple[str, str]]]] = {}

    def prepare(self, trial: Trial) -> PreparedReplay | None:
        """The steps that the trial is given; None where its arm replays nothing.

        Raises:
            DataError: the stored trial has no trace, or no call to change.
            ToolOutage: the call's tool cannot be run again, as its server or its disk has failed.
        """
        arm = self._job.bench.spec.arm(trial.arm)
        replay = arm.replay
        if replay is None:
            return None
        repeat = trial.repeat % self._replayed_spec(replay.job).repeats_of(replay.arm)
        name = trial_id(replay.job, trial.ref.sample_id, trial.model, replay.arm, repeat)
        trace = self._store.trace(name)
        if trace is None:
            raise DataError(f"no trace of trial {name} is stored", field="replay")
        prepared = prepare_replay(
            trace,
            choose_call(trace, seed=trial.seed, tool=replay.tool),
            sample=self._job.samples.get(trial.ref.sample_id),
            arm=arm,
            tools=self._job.bench.spec.toolset(arm),
            media=self._job.bench.media,
            seed=trial.seed,
            donor=lambda tool: self._other_result(trial, replay, tool),
        )
        stored = self._store.rows_by_trial([name]).get(name)
        answer = {} if stored is None or stored.answer is None else {ANSWER: stored.answer}
        return replace(prepared, metrics={**prepared.metrics, **answer})

    def _replayed_spec(self, job_id: str) -> JobSpec:
        if job_id not in self._specs:
            self._specs[job_id] = self._store.job(job_id).spec
        return self._specs[job_id]

    def _other_result(self, trial: Trial, replay: Replay, tool: str) -> str | None:
        """What the tool returned on another sample of the same job, arm and model, drawn by the seed."""
        trials = self._trials_with_call(trial.model, replay)
        others = [name for sample, name in trials.get(tool, ()) if sample != trial.ref.sample_id]
        start = stable_seed("donor", trial.seed)
        for turn in range(min(DONORS_TRIED, len(others))):
            trace: Mapping[str, Any] = self._store.trace(others[(start + turn) % len(others)]) or {}
            steps = trace.get("steps") or ()
            results = [str(step["observation"]) for step in steps if returned_text(step, tool)]
            if results:
                return results[start % len(results)]
        return None

    def _trials_with_call(self, model: str, replay: Replay) -> Mapping[str, list[tuple[str, str]]]:
        """By tool: samples and trials that called it."""
        key = (replay.job, replay.arm, model)
        if key not in self._donors:
            by_tool: dict[str, list[tuple[str, str]]] = defaultdict(list)
            for row in self._store.iter_rows(replay.job):
                if (row.arm, row.model) == (replay.arm, model):
                    for tool in row.tools_used:
                        by_tool[tool].append((row.sample_id, row.trial_id))
            self._donors[key] = {tool: sorted(pairs) for tool, pairs in by_tool.items()}
        return self._donors[key]
