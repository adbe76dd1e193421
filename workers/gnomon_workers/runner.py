"""Runs the trials of a shard, and of the shards that follow it, side by side, and passes on their results.

Leasing is in `trial_source.py`, starting in `running_trials.py`, ending in `trial_ending.py`.
"""

import asyncio
import logging
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from gnomon_workers.budget.reservations import kind_of
from gnomon_workers.budget.usage import Usage
from gnomon_workers.checkpoints import CheckpointWriter
from gnomon_workers.durations import TRIAL
from gnomon_workers.replays import Replays
from gnomon_workers.result_writer import ResultWriter
from gnomon_workers.running_trials import RunningTrials
from gnomon_workers.shard_run import ShardRun
from gnomon_workers.store.records import Lease
from gnomon_workers.store.results import Ended
from gnomon_workers.store.retry import RETRY_S
from gnomon_workers.store.shard_sizes import group_size
from gnomon_workers.trial_attempts import TrialAttempts
from gnomon_workers.trial_ending import TrialEnding
from gnomon_workers.trial_source import LeasedTrial, TrialSource

log = logging.getLogger(__name__)


class Runner:
    """Runs the trials of a shard and of those that follow it, up to the job's `concurrency` at once."""

    def __init__(self, run: ShardRun) -> None:
        self._run, self._spec, self._labels = run, run.opened.bench.spec, frozenset(run.models)
        self._results = ResultWriter(
            run.store,
            flush_s=run.timing.flush_s,
            after=self._written,
            on_unwritable=run.heartbeat.note_unwritable,
        )
        attempts = TrialAttempts(
            run.opened,
            agents=run.agents,
            models=run.models,
            judge=run.judge,
            tracer=run.tracer,
            replays=Replays(run.store, run.opened),
            checkpoints=CheckpointWriter(
                run.store, run.job_id, worker=run.heartbeat.holder, after=self._counted
            ),
        )
        self._running = RunningTrials(
            attempts,
            slots=self._spec.concurrency,
            changed=run.changed,
            on_result=self._add,
            on_end=self._release,
        )
        self._source = TrialSource(
            run, leased_elsewhere=self._leases_not_waiting, is_over=lambda: self._stopping
        )
        self._ending = TrialEnding(
            run,
            source=self._source,
            running=self._running,
            results=self._results,
            cancelled=attempts.cancelled,
        )
        self._stopping = self._is_over_limit = False

    def stop(self) -> None:
        """Start no further trial; break off, after the grace time, what still runs, and give it back."""
        self._ending.insists = False
        self._close(within_s=self._run.timing.grace_s)

    async def run(self) -> None:
        """Run until nothing is pending, no shard follows, the job is closed, or `stop` is called."""
        helpers = [
            asyncio.create_task(self._watch()),
            asyncio.create_task(self._results.flush_periodically()),
        ]
        try:
            await self._run_together()
            await self._run_isolated()
            await self._ending.drain()
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _run_together(self) -> None:
        source, running, slots = self._source, self._running, self._running.slots
        limit, group = self._spec.concurrency, group_size(self._spec)
        # With a budget, no lease cuts a sample's trials apart.
        size = -(-max(limit, 2 * group) // group) * group if self._run.budget else limit
        while not self._stopping:
            await self._note_limit()
            while (leased := self._next()) is not None and await self._reserve(leased):
                self._start(leased)
            resting = slots.resting
            ready = source.count_ready(resting)
            is_resting = resting >= self._labels
            source.note_resting(resting)
            if source.may_have_more and ready <= size // 2 and not is_resting:
                await source.refill(size, excluding=resting)
            elif not (source.may_have_more or is_resting or self._is_last) and slots.in_use + ready < limit:
                await source.go_on()
            elif running:
                await running.wait_for_change()
            elif source.waiting:
                await asyncio.sleep(RETRY_S)  # what other processes leave may do
            elif not source.may_have_more:
                return

    @property
    def _is_last(self) -> bool:
        """Whether no other shard is begun here."""
        source, is_stuck = self._source, self._is_over_limit or self._running.has_failed
        return source.is_last or is_stuck or self._stopping

    async def _note_limit(self) -> None:
        """Once the budget is exhausted, go on with the rest of samples that were begun, and with no other."""
        if self._run.budget is not None and self._run.budget.is_exhausted and not self._is_over_limit:
            self._is_over_limit = True
            await self._ending.give_back_waiting()
            await self._results.flush()
            self._source.may_have_more = True  # what the store hands out from now on is that rest

    def _next(self) -> LeasedTrial | None:
        """The next trial to start, if a slot is free; none of a model that rests."""
        slots = self._running.slots
        return self._source.first(excluding=slots.resting) if slots.is_free else None

    async def _reserve(self, leased: LeasedTrial) -> bool:
        """Reserve what this trial, and all others of its sample here, may cost; False: not now."""
        if self._run.budget is None or self._stopping:
            return not self._stopping
        trials = self._source.of_sample(leased.trial)
        try:
            return await self._run.budget.reserve_sample(
                {trial.trial_id: kind_of(trial.model, trial.arm) for trial in trials}
            )
        except SQLAlchemyError as error:
            log.warning("the job's limits could not be looked at yet: %s", error)
            return False

    def _start(self, leased: LeasedTrial) -> None:
        self._source.take(leased)
        if self._run.budget is not None:
            self._run.budget.start_trial(leased.trial.trial_id)
        self._running.start(leased)

    async def _run_isolated(self) -> None:
        """Trials whose workers died before: one at a time, when every earlier result is safe."""
        await self._results.flush()
        while not self._stopping:
            leased = await self._source.lease_isolated(excluding=self._running.slots.resting)
            if leased is None:
                return
            self._running.start(leased)
            while self._running and not self._stopping:
                await self._running.wait_for_change()
            await self._results.flush()

    async def _watch(self) -> None:
        """Act on what the heartbeat sees: a job that was closed, leases that are no longer held."""
        while True:
            await asyncio.sleep(self._run.timing.watch_s)
            if self._run.budget is not None:
                with suppress(SQLAlchemyError):
                    await self._run.budget.refresh()
            if not self._run.heartbeat.is_open:
                self._close(within_s=await asyncio.to_thread(self._time_to_end_s))
            slots = self._running.slots
            if self._running and not slots.in_use:
                await asyncio.to_thread(self._run.report_resting, slots.resting >= self._labels)
            if self._run.heartbeat.is_lost:
                log.warning("leases could not be renewed in time: shard %d stops", self._source.shard)
                self._close(within_s=0.0)
            renewed_at_s = self._run.heartbeat.held_since_s
            await self._running.cancel_lost(self._run.heartbeat.held, since_s=renewed_at_s)

    async def _leases_not_waiting(self) -> list[Lease]:
        await self._results.flush()  # what is being written is in neither list
        return self._running.leases() + self._results.leases()

    def _add(self, ended: Ended) -> None:
        _, row, _ = ended
        self._run.durations.note(TRIAL, row.outcome.value, seconds=row.wall_s)
        self._results.add(ended)

    def _release(self, leased: LeasedTrial) -> None:
        if self._run.budget is not None:
            self._run.budget.release_trials([leased.trial.trial_id])

    def _counted(self, spent: list[Usage]) -> None:
        if self._run.budget is not None:
            self._run.budget.mark_recorded(spent)

    def _written(self, spent: list[Usage]) -> None:
        self._counted(spent)
        self._run.look()
        with suppress(SQLAlchemyError):  # raised, it would have the same results written, and counted, again
            self._run.heartbeat.poll_job()

    def _time_to_end_s(self) -> float:
        """How long trials may go on when the job was closed: to their end where it was decided early."""
        if not self._spec.analysis.sequential:
            return self._run.timing.cancel_s
        try:
            is_decided = self._run.store.job_state(self._run.job_id).status == "completed"
        except SQLAlchemyError:
            is_decided = False
        return self._spec.limits.trial_seconds if is_decided else self._run.timing.cancel_s

    def _close(self, *, within_s: float) -> None:
        self._ending.end_within(within_s)
        self._stopping = True
        self._running.changed.set()
