"""Runner: keeps the trials of a shard, and of those that follow it, in flight, and their results flowing."""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.agent import Agent
from gnomon.core.model import Model
from gnomon.trials.trial_plan import Trial
from workers.budget.client import BudgetClient
from workers.heartbeat import Heartbeat
from workers.insisting import AGAIN_S
from workers.open_job import OpenJob
from workers.ramp import RampUp
from workers.result_writer import ResultWriter
from workers.settings import Timing
from workers.slots import Slots, TrialSlot
from workers.store.job_counters import Usage
from workers.store.jobs import group_size
from workers.store.records import Lease
from workers.store.store import Store
from workers.tracing import Tracer, no_spans
from workers.trial_attempts import TrialAttempts
from workers.trial_source import LeasedTrial, TrialSource

log = logging.getLogger(__name__)


def _sample_of(trial: Trial) -> tuple[str, int]:
    return trial.ref.sample_id, trial.repeat


class Runner:
    """Runs the trials of a shard and of those that follow it, up to the job's `concurrency` at once."""

    def __init__(
        self,
        job_id: str,
        shard: int,
        opened: OpenJob,
        *,
        store: Store,
        heartbeat: Heartbeat,
        timing: Timing,
        agents: Mapping[str, Agent],
        models: Mapping[str, Model],
        leased: Callable[[Sequence[Lease]], None] = lambda _: None,
        following: Callable[[int], int | None] = lambda _: None,
        rests: Callable[[bool], None] = lambda _: None,
        tracer: Tracer = no_spans,
        purse: BudgetClient | None = None,
    ) -> None:
        """In threads: `leased` is told which trials come next; `following` names the shard to go on with when
        nothing of one is left to begin, so that no slot stays empty until its last trial ends; `rests` is
        called, again and again, while all that runs waits long for its provider, and told whether that is
        all that the job could ask.
        """
        self._job_id, self._job, self._store = job_id, opened, store
        self._heartbeat, self._timing = heartbeat, timing
        self._labels = frozenset(models)
        self._attempts = TrialAttempts(opened, agents=agents, models=models, tracer=tracer)
        self._following, self._rests = following, rests
        self._source = TrialSource(
            job_id,
            shard,
            store=store,
            heartbeat=heartbeat,
            timing=timing,
            leased=leased,
            is_over=lambda: self._stopping,
        )
        self._slots = Slots(opened.bench.spec.concurrency, changed=lambda: self._changed.set())
        self._slot_of: dict[asyncio.Task[None], TrialSlot] = {}
        self._left_out: frozenset[str] = frozenset()  # models that rested when trials were leased last
        self._purse = purse
        self._outbox = ResultWriter(store, flush_s=timing.flush_s, after=self._written)
        self._waiting: deque[LeasedTrial] = deque()
        self._running: dict[asyncio.Task[None], LeasedTrial] = {}
        self._changed = asyncio.Event()
        self._stopping = self._is_over_limit = self._is_last = False
        self._end_s = math.inf  # of time.monotonic: when what still runs is broken off

    def stop(self) -> None:
        """Start no further trial; break off, after the grace time, what still runs, and give it back."""
        self._end_s = min(self._end_s, time.monotonic() + self._timing.grace_s)
        self._close()

    async def run(self) -> None:
        """Run until nothing is pending, no shard follows, the job is closed, or `stop` is called."""
        helpers = [asyncio.create_task(self._watch()), asyncio.create_task(self._outbox.flush_periodically())]
        try:
            await self._run_together()
            await self._run_isolated()
            await self._drain()
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _run_together(self) -> None:
        limit = self._job.bench.spec.concurrency
        group = group_size(self._job.bench.spec)  # with a purse, no lease cuts a sample's trials apart
        size = -(-max(limit, 2 * group) // group) * group if self._purse else limit
        more, ramp = True, RampUp(limit)
        while not self._stopping:
            if self._purse is not None and self._purse.is_empty and not self._is_over_limit:
                self._is_over_limit = True
                await self._give_back(self._waiting)
                await self._outbox.flush()
                more = True  # what the store hands out from now on are the rest of samples that were begun
            while (held := self._next()) is not None and await self._can_start(held):
                self._waiting.remove(held)
                self._start(held)
                await ramp.step()
            ready = sum(held.lease.trial.model not in self._slots.resting for held in self._waiting)
            is_resting = self._slots.resting >= self._labels
            more = more or not self._left_out <= self._slots.resting  # a model that was left out is back
            if more and ready <= size // 2 and not is_resting:
                batch = await self._lease(limit=size)
                self._waiting.extend(batch)
                more = len(batch) == size
            elif not (more or is_resting or self._is_last) and self._slots.in_use + ready < limit:
                more = await self._take_next_shard()
            elif self._running:
                await self._wait_for_change()
            elif self._waiting:
                await asyncio.sleep(AGAIN_S)  # what other processes leave may do
            elif not more:
                return

    def _next(self) -> LeasedTrial | None:
        """The next trial to begin, if a slot is free; none of a model that rests."""
        if not self._slots.is_free:
            return None
        resting = self._slots.resting
        return next((held for held in self._waiting if held.lease.trial.model not in resting), None)

    async def _take_next_shard(self) -> bool:
        """Go on to another shard, now that a slot is free; not with an empty purse."""
        shard = None
        if not self._stopping and not self._is_over_limit:
            shard = await asyncio.to_thread(self._following, self._source.shard)
        if shard is None:
            self._is_last = True
            return False
        self._source.shard = shard
        return True

    async def _can_start(self, first: LeasedTrial) -> bool:
        """Whether the job's limits leave enough for this trial, and all others of its sample here."""
        if self._purse is None or self._stopping:
            return not self._stopping
        sample = _sample_of(first.lease.trial)
        trials = [held.lease.trial for held in self._waiting if _sample_of(held.lease.trial) == sample]
        try:
            return await self._purse.reserve_sample(
                {one.trial_id: f"{one.model}\n{one.arm}" for one in trials}
            )
        except SQLAlchemyError as error:
            log.warning("the job's limits could not be looked at yet: %s", error)
            return False

    async def _run_isolated(self) -> None:
        """Trials whose workers died before: one at a time, when every earlier result is safe."""
        await self._outbox.flush()
        while not self._stopping and (batch := await self._lease(limit=1, alone=True)):
            self._start(batch[0])
            while self._running and not self._stopping:
                await self._wait_for_change()
            await self._outbox.flush()

    async def _drain(self) -> None:
        await self._give_back(self._waiting)
        while self._running and time.monotonic() < self._end_s:
            if self._end_s < math.inf:  # a wait for a provider would not end in time, and has cost nothing
                await self._cancel([task for task, slot in self._slot_of.items() if slot.is_lent])
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timing.watch_s):
                    await self._wait_for_change()
        held = list(self._running.values())
        await self._cancel(list(self._running))
        await self._outbox.drain(give_up=lambda: self._heartbeat.is_lost)
        await self._charge_cancelled()
        if self._purse is not None:
            await self._purse.close()
        await self._give_back(held)

    async def _charge_cancelled(self) -> None:
        """Count what broken-off trials have cost; twice where an answer was lost: better that than never."""
        broken_off = self._attempts.broken_off
        while broken_off and not self._heartbeat.is_lost:
            try:
                await asyncio.to_thread(self._store.charge, self._job_id, broken_off)
            except SQLAlchemyError as error:
                log.warning("%d broken-off trials are not charged yet: %s", len(broken_off), error)
                await asyncio.sleep(self._timing.watch_s)
                continue
            if self._purse is not None:
                self._purse.mark_recorded(broken_off)
            broken_off.clear()

    async def _watch(self) -> None:
        """Act on what the heartbeat sees: a job that was closed, leases that are no longer ours."""
        while True:
            await asyncio.sleep(self._timing.watch_s)
            if self._purse is not None:
                with suppress(SQLAlchemyError):
                    await self._purse.refresh()
            if not self._heartbeat.is_open:
                self._end_s = min(self._end_s, time.monotonic() + self._timing.cancel_s)
                self._close()
            if self._running and not self._slots.in_use:
                await asyncio.to_thread(self._rests, self._slots.resting >= self._labels)
            if self._heartbeat.is_lost:
                log.warning("leases could not be renewed in time: shard %d stops", self._source.shard)
                self._end_s = time.monotonic()
                self._close()
            seen_s, ours = self._heartbeat.held_since_s, self._heartbeat.held
            lost = [
                task
                for task, held in self._running.items()
                if held.since_s < seen_s and (held.lease.trial.trial_id, held.lease.token) not in ours
            ]
            await self._cancel(lost)

    async def _lease(self, *, limit: int, alone: bool = False) -> list[LeasedTrial]:
        self._left_out = self._slots.resting
        return await self._source.lease(
            limit=limit, alone=alone, without=self._left_out, held=self._leases_held
        )

    async def _leases_held(self) -> list[Lease]:
        await self._outbox.flush()  # what is being written is in neither list
        held = [one.lease for one in (*self._waiting, *self._running.values())]
        return held + self._outbox.leases()

    async def _give_back(self, held: Collection[LeasedTrial]) -> None:
        leases = [one.lease for one in held]
        if self._purse is not None:
            self._purse.release_trials([lease.trial.trial_id for lease in leases], has_run=False)
        self._waiting.clear()
        await self._source.give_back(leases)

    def _written(self, spent: list[Usage]) -> None:
        if self._purse is not None:
            self._purse.mark_recorded(spent)
        with suppress(SQLAlchemyError):  # raised, it would have the same results written, and counted, again
            self._heartbeat.poll_job()

    def _close(self) -> None:
        self._stopping = True
        self._changed.set()

    async def _wait_for_change(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    def _start(self, held: LeasedTrial) -> None:
        slot = self._slots.take(held.lease.trial.model)
        task = asyncio.create_task(self._trial(held.lease, slot))
        self._running[task], self._slot_of[task] = held, slot
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        held = self._running.pop(task, None)
        self._slot_of.pop(task).end()
        if held is not None and self._purse is not None:
            self._purse.release_trials([held.lease.trial.trial_id])
        self._changed.set()
        if not task.cancelled() and task.exception() is not None:
            # Its lease stays and expires, once this process ends: such trials end as worker_lost.
            self._is_last = True
            log.error("a trial failed outside of its own boundary", exc_info=task.exception())

    async def _cancel(self, tasks: Collection[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _trial(self, lease: Lease, slot: TrialSlot) -> None:
        self._outbox.add(await self._attempts.run(lease, slot))
