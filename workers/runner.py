"""Runner: keeps the trials of a shard, and of those that follow it, in flight, and their results flowing."""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy.exc import SQLAlchemyError

from gnomon.agent import Agent
from gnomon.job import Trial
from gnomon.model import Model
from gnomon.trace import Trace
from gnomon.trial import run_trial
from workers.heartbeat import Heartbeat
from workers.opening import OpenJob
from workers.outbox import Outbox
from workers.pots import TRIAL
from workers.purse import AGAIN_S, Purse
from workers.ramp import Ramp
from workers.settings import Timing
from workers.store.counters import Spent
from workers.store.jobs import group_size
from workers.store.records import Lease
from workers.store.store import Store
from workers.tracing import Tracer, no_spans

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    lease: Lease
    since_s: float  # of time.monotonic, taken after the store had handed it out


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
        tracer: Tracer = no_spans,
        purse: Purse | None = None,
    ) -> None:
        """In threads: `leased` is told which trials come next; `following` names the shard to go on with when
        nothing of one is left to begin, so that no slot stays empty until its last trial ends.
        """
        self._job_id, self._shard, self._job, self._store = job_id, shard, opened, store
        self._heartbeat, self._timing = heartbeat, timing
        self._agents, self._models = agents, models
        self._leased, self._following = leased, following
        self._tracer, self._purse = tracer, purse
        self._outbox = Outbox(store, flush_s=timing.flush_s, after=self._written)
        self._waiting: deque[_Held] = deque()
        self._running: dict[asyncio.Task[None], _Held] = {}
        self._broken_off: list[Spent] = []
        self._changed = asyncio.Event()
        self._stopping = self._is_over_limit = self._is_last = False
        self._end_s = math.inf  # of time.monotonic: when what still runs is broken off

    def stop(self) -> None:
        """Start no further trial; break off, after the grace time, what still runs, and give it back."""
        self._end_s = min(self._end_s, time.monotonic() + self._timing.grace_s)
        self._close()

    async def run(self) -> None:
        """Run until nothing is pending, no shard follows, the job is closed, or `stop` is called."""
        helpers = [asyncio.create_task(self._watch()), asyncio.create_task(self._outbox.keep_flushing())]
        try:
            await self._run_together()
            await self._run_alone()
            await self._wind_down()
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _run_together(self) -> None:
        limit = self._job.bench.spec.concurrency
        group = group_size(self._job.bench.spec)  # with a purse, no lease cuts a sample's trials apart
        size = -(-max(limit, 2 * group) // group) * group if self._purse else limit
        more, ramp = True, Ramp(limit)
        while not self._stopping:
            if self._purse is not None and self._purse.is_empty and not self._is_over_limit:
                self._is_over_limit = True
                await self._give_back(self._waiting)
                await self._outbox.flush()
                more = True  # what the store hands out from now on are the rest of samples that were begun
            while self._waiting and len(self._running) < limit and await self._may_begin():
                self._start(self._waiting.popleft())
                await ramp.step()
            if more and len(self._waiting) <= size // 2:
                batch = await self._lease(limit=size)
                self._waiting.extend(batch)
                more = len(batch) == size
            elif not more and not self._is_last and len(self._running) + len(self._waiting) < limit:
                more = await self._goes_on()
            elif self._running:
                await self._change()
            elif self._waiting:
                await asyncio.sleep(AGAIN_S)  # what other processes leave may do
            elif not more:
                return

    async def _goes_on(self) -> bool:
        """Go on to another shard, now that a slot is free; not with an empty purse."""
        shard = None
        if not self._stopping and not self._is_over_limit:
            shard = await asyncio.to_thread(self._following, self._shard)
        if shard is None:
            self._is_last = True
            return False
        self._shard = shard
        return True

    async def _may_begin(self) -> bool:
        """Whether the job's limits leave enough for the next trial, and all others of its sample here."""
        if self._purse is None or self._stopping:
            return not self._stopping
        _, trials = next(groupby((held.lease.trial for held in self._waiting), key=_sample_of))
        try:
            return await self._purse.admit({one.trial_id: f"{one.model}\n{one.arm}" for one in trials})
        except SQLAlchemyError as error:
            log.warning("the job's limits could not be looked at yet: %s", error)
            return False

    async def _run_alone(self) -> None:
        """Trials whose workers died before: one at a time, when every earlier result is safe."""
        await self._outbox.flush()
        while not self._stopping and (batch := await self._lease(limit=1, alone=True)):
            self._start(batch[0])
            while self._running and not self._stopping:
                await self._change()
            await self._outbox.flush()

    async def _wind_down(self) -> None:
        await self._give_back(self._waiting)
        while self._running and time.monotonic() < self._end_s:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timing.watch_s):
                    await self._change()
        held = list(self._running.values())
        await self._break_off(list(self._running))
        await self._outbox.drain(give_up=lambda: self._heartbeat.is_lost)
        await self._charge_broken_off()
        if self._purse is not None:
            await self._purse.close()
        await self._give_back(held)

    async def _charge_broken_off(self) -> None:
        """Count what broken-off trials have cost; twice where an answer was lost: better that than never."""
        while self._broken_off and not self._heartbeat.is_lost:
            try:
                await asyncio.to_thread(self._store.charge, self._job_id, self._broken_off)
            except SQLAlchemyError as error:
                log.warning("%d broken-off trials are not charged yet: %s", len(self._broken_off), error)
                await asyncio.sleep(self._timing.watch_s)
                continue
            if self._purse is not None:
                self._purse.written(self._broken_off)
            self._broken_off.clear()

    async def _watch(self) -> None:
        """Act on what the heartbeat sees: a job that was closed, leases that are no longer ours."""
        while True:
            await asyncio.sleep(self._timing.watch_s)
            if self._purse is not None:
                with suppress(SQLAlchemyError):
                    await self._purse.refresh()
            if not self._heartbeat.is_open:
                self._close()
            if self._heartbeat.is_lost:
                log.warning("leases could not be renewed in time: shard %d stops", self._shard)
                self._end_s = time.monotonic()
                self._close()
            seen_s, ours = self._heartbeat.held_since_s, self._heartbeat.held
            lost = [
                task
                for task, held in self._running.items()
                if held.since_s < seen_s and (held.lease.trial.trial_id, held.lease.token) not in ours
            ]
            await self._break_off(lost)

    async def _lease(self, *, limit: int, alone: bool = False) -> list[_Held]:
        is_sure = True
        while not self._stopping:
            try:
                if not is_sure:
                    await self._give_back_unknown()
                leases = await asyncio.to_thread(self._lease_now, limit=limit, alone=alone)
            except SQLAlchemyError as error:
                log.warning("no trials could be leased yet: %s", error)
                is_sure = False
                await asyncio.sleep(self._timing.watch_s)
                continue
            since_s = time.monotonic()
            return [_Held(lease=lease, since_s=since_s) for lease in leases]
        return []

    async def _give_back_unknown(self) -> None:
        """Give back what was leased by an answer that was lost: the heartbeat would hold it for ever."""
        await self._outbox.flush()
        held = [one.lease for one in (*self._waiting, *self._running.values())]
        known = held + self._outbox.leases()
        await asyncio.to_thread(self._store.keep_only, self._heartbeat.holder, known)

    def _lease_now(self, *, limit: int, alone: bool) -> list[Lease]:
        holder, lease_s = self._heartbeat.holder, self._timing.lease_s
        leases = self._store.lease(
            self._job_id, self._shard, worker=holder, ttl_s=lease_s, limit=limit, alone=alone
        )
        self._leased(leases)
        return leases

    async def _give_back(self, held: Collection[_Held]) -> None:
        leases = [one.lease for one in held]
        if self._purse is not None:
            self._purse.ended([lease.trial.trial_id for lease in leases], has_run=False)
        self._waiting.clear()
        try:
            await asyncio.to_thread(self._store.release, leases)
        except SQLAlchemyError as error:
            log.warning("%d leases could not be given back and will expire: %s", len(leases), error)

    def _written(self, spent: list[Spent]) -> None:
        if self._purse is not None:
            self._purse.written(spent)
        self._heartbeat.look()

    def _close(self) -> None:
        self._stopping = True
        self._changed.set()

    async def _change(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    def _start(self, held: _Held) -> None:
        task = asyncio.create_task(self._trial(held.lease))
        self._running[task] = held
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        held = self._running.pop(task, None)
        if held is not None and self._purse is not None:
            self._purse.ended([held.lease.trial.trial_id])
        self._changed.set()
        if not task.cancelled() and task.exception() is not None:
            # Its lease stays and expires, once this process ends: such trials end as worker_lost.
            self._is_last = True
            log.error("a trial failed outside of its own boundary", exc_info=task.exception())

    async def _break_off(self, tasks: Collection[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _trial(self, lease: Lease) -> None:
        trial, bench, trace = lease.trial, self._job.bench, Trace()
        TRIAL.set(trial.trial_id)
        try:
            with self._tracer(trial) as tell:
                row, _ = await run_trial(
                    trial,
                    bench=bench,
                    sample=lambda: self._job.samples.get(trial.ref.sample_id),
                    agent=self._agents[bench.spec.arm(trial.arm).agent],
                    model=self._models[trial.model],
                    trace=trace,
                    attempt=lease.attempt,
                )
                tell(row)
        except asyncio.CancelledError:
            self._broken_off.append(Spent.by(trace))
            raise
        self._outbox.put((lease, row, trace.to_json()))
