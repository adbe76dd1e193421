"""Runs a leased trial to its end, over all its attempts, and counts what was paid in vain."""

import asyncio
import dataclasses
import logging
from collections.abc import Mapping

from gnomon.core.agent import Agent
from gnomon.core.errors import DataError, NoRoom
from gnomon.core.missing import keepable
from gnomon.core.model import Model
from gnomon.core.provider_wait import SLOT
from gnomon.core.row import Row
from gnomon.core.trace import Trace
from gnomon.trials.replay import PreparedReplay
from gnomon.trials.run_trial import run_trial
from gnomon_tools.core.outage import ServerFault
from gnomon_workers.budget.reservations import current_trial_id
from gnomon_workers.budget.usage import NO_USAGE, Usage
from gnomon_workers.checkpoints import CheckpointWriter
from gnomon_workers.open_job import OpenJob
from gnomon_workers.replays import Replays
from gnomon_workers.slots import TrialSlot
from gnomon_workers.store.missing import missing_row
from gnomon_workers.store.records import Lease
from gnomon_workers.store.results import Ended
from gnomon_workers.tracing import Tracer

NO_ROOM_S, MOST_NO_ROOM_S = 1.0, 60.0  # between looks whether there is room again: each pause is longer
log = logging.getLogger(__name__)


class TrialAttempts:
    """Runs trials of one open job. `agents` are those of its arms, by the arm's name; `cancelled` is what
    trials have cost that came to no result.
    """

    def __init__(
        self,
        job: OpenJob,
        *,
        agents: Mapping[str, Agent],
        models: Mapping[str, Model],
        tracer: Tracer,
        replays: Replays,
        judge: Model | None = None,
        checkpoints: CheckpointWriter | None = None,
    ) -> None:
        self._judge = judge
        self._job, self._agents, self._models, self._tracer = job, agents, models, tracer
        self._replays, self._checkpoints = replays, checkpoints
        self.cancelled: list[Usage] = []

    async def run(self, lease: Lease, slot: TrialSlot) -> Ended:
        """Run it in its slot, from its last checkpoint on if it has one. A trial that meets a full disk
        begins again once there is room: not sooner, as it may have to pay for its replies again.
        """
        current_trial_id.set(lease.trial.trial_id)
        SLOT.set(slot)
        pause_s, is_again = NO_ROOM_S, False
        while True:
            try:
                return await self._attempt(lease, is_again=is_again)
            except NoRoom as error:
                is_again = True
                log.warning("trial %s waits: %s", lease.trial.trial_id, error)
            has_room = False
            while not has_room:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, MOST_NO_ROOM_S)
                has_room = await asyncio.to_thread(self._job.bench.media.has_room)

    async def _attempt(self, lease: Lease, *, is_again: bool) -> Ended:
        trial, bench, trace = lease.trial, self._job.bench, Trace()
        replay: PreparedReplay | None = None
        if bench.spec.arm(trial.arm).replay is not None:
            try:
                replay = await asyncio.to_thread(self._replays.prepare, trial)
            except (DataError, ServerFault) as error:
                return lease, _not_replayed(lease, bench.benchmark.name, error), trace.to_json()
        saving = None
        if self._checkpoints is not None and replay is None:
            saving = await self._checkpoints.open(lease, is_again=is_again)
        try:
            with self._tracer(trial, trace) as tell:
                row, _ = await run_trial(
                    trial,
                    bench=bench,
                    sample=lambda: self._job.samples.get(trial.ref.sample_id),
                    agent=self._agents[trial.arm],
                    model=self._models[trial.model],
                    judge=self._judge,
                    trace=trace,
                    attempt=lease.attempt,
                    recorded=replay.steps if replay else None,
                    checkpoints=saving.trial if saving else None,
                )
                if replay:
                    row = dataclasses.replace(row, metrics={**row.metrics, **replay.metrics})
                tell(row)
        except (asyncio.CancelledError, NoRoom):
            counted = (await saving.end()).counted if saving else NO_USAGE
            self.cancelled.append(Usage.paid(trace).beyond(counted))
            raise
        return await saving.end() if saving else lease, row, trace.to_json()


def _not_replayed(lease: Lease, benchmark: str, error: DataError | ServerFault) -> Row:
    cause = error.stop_reason if isinstance(error, ServerFault) else "replay"
    row = missing_row(lease.trial, benchmark=benchmark, stop_reason=cause, attempt=lease.attempt)
    return dataclasses.replace(row, error=keepable(str(error)))
