"""Ends the trials of a process: lets them finish or breaks them off, writes, charges and gives back."""

import asyncio
import logging
import math
import time
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from gnomon_workers.budget.usage import Usage
from gnomon_workers.result_writer import ResultWriter
from gnomon_workers.running_trials import RunningTrials
from gnomon_workers.shard_run import ShardRun
from gnomon_workers.store.records import Lease
from gnomon_workers.trial_source import TrialSource

log = logging.getLogger(__name__)


class TrialEnding:
    """Ends what runs: at once, in time, or by itself where no end was set."""

    def __init__(
        self,
        run: ShardRun,
        *,
        source: TrialSource,
        running: RunningTrials,
        results: ResultWriter,
        cancelled: list[Usage],
    ) -> None:
        """`cancelled` is what broken-off trials have cost, as it grows."""
        self._run, self._source, self._running, self._results = run, source, running, results
        self._cancelled = cancelled
        self._end_s = math.inf  # of time.monotonic: when what still runs is broken off
        self.insists = True  # on writing results when their leases have run out: they are paid, and may count

    def end_within(self, seconds: float) -> None:
        """Break off, after so many seconds, what still runs then."""
        self._end_s = min(self._end_s, time.monotonic() + seconds)

    async def drain(self) -> None:
        """Let what runs finish until the end that was set; then nothing runs or waits here any more."""
        await self.give_back_waiting()
        unfinished: list[Lease] = []
        while self._running and time.monotonic() < self._end_s:
            if self._end_s < math.inf:  # a wait for a provider would not end in time, and has cost nothing
                unfinished += await self._running.cancel_lent()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._run.timing.watch_s):
                    await self._running.wait_for_change()
        unfinished += self._running.leases()
        await self._running.cancel_all()
        await self._results.drain(give_up=lambda: self._run.heartbeat.is_lost and not self.insists)
        await self._charge_cancelled()
        if self._run.budget is not None:
            await self._run.budget.close()
            self._run.budget.release_trials([lease.trial.trial_id for lease in unfinished], has_run=False)
        await self._source.give_back(unfinished)

    async def give_back_waiting(self) -> None:
        """Give back what was leased and not started."""
        leases = self._source.take_all()
        if self._run.budget is not None:
            self._run.budget.release_trials([lease.trial.trial_id for lease in leases], has_run=False)
        await self._source.give_back(leases)

    async def _charge_cancelled(self) -> None:
        """Count what broken-off trials have cost; twice where an answer was lost: better that than never."""
        while self._cancelled and not self._run.heartbeat.is_lost:
            try:
                await asyncio.to_thread(self._run.store.charge, self._run.job_id, self._cancelled)
            except SQLAlchemyError as error:
                log.warning("%d broken-off trials are not charged yet: %s", len(self._cancelled), error)
                await asyncio.sleep(self._run.timing.watch_s)
                continue
            if self._run.budget is not None:
                self._run.budget.mark_recorded(self._cancelled)
            self._cancelled.clear()
