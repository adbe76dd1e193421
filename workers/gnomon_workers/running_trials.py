"""Starts the trials of a process as slots become free, and cancels them."""

import asyncio
import logging
from collections.abc import Callable, Collection

from gnomon_workers.slots import Slots, TrialSlot
from gnomon_workers.store.records import Lease
from gnomon_workers.store.results import Ended
from gnomon_workers.trial_attempts import TrialAttempts
from gnomon_workers.trial_source import LeasedTrial

log = logging.getLogger(__name__)


class RunningTrials:
    """The trials that run now, each in its slot.

    `changed` is set whenever one ends, or the slots change. `on_end` is called with each that ended or was
    broken off; `has_failed` is whether one ended in no result and was not broken off.
    """

    def __init__(
        self,
        attempts: TrialAttempts,
        *,
        slots: int,
        changed: asyncio.Event,
        on_result: Callable[[Ended], None],
        on_end: Callable[[LeasedTrial], None],
    ) -> None:
        self.changed = changed
        self.slots = Slots(slots, changed=self.changed.set)
        self.has_failed = False
        self._attempts, self._on_result, self._on_end = attempts, on_result, on_end
        self._tasks: dict[asyncio.Task[None], tuple[LeasedTrial, TrialSlot]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def leases(self) -> list[Lease]:
        """Of the trials that run."""
        return [leased.lease for leased, _ in self._tasks.values()]

    def start(self, leased: LeasedTrial) -> None:
        """Start it in a free slot."""
        slot = self.slots.take(leased.trial.model)
        task = asyncio.create_task(self._run(leased.lease, slot))
        self._tasks[task] = leased, slot
        task.add_done_callback(self._ended)

    async def wait_for_change(self) -> None:
        """Wait until one has ended, or the slots have changed, since the last time."""
        await self.changed.wait()
        self.changed.clear()

    async def cancel_all(self) -> None:
        """Break off all."""
        await self._cancel(list(self._tasks))

    async def cancel_lent(self) -> list[Lease]:
        """Break off those that wait long for their provider, as they would not end in time; their leases."""
        lent = {task: leased.lease for task, (leased, slot) in self._tasks.items() if slot.is_lent}
        await self._cancel(lent)
        return list(lent.values())

    async def cancel_lost(self, held: Collection[tuple[str, int]], *, since_s: float) -> None:
        """Break off those that were leased before `since_s` and of which no lease is `held` any more."""
        lost = [
            task
            for task, (leased, _) in self._tasks.items()
            if leased.since_s < since_s and (leased.trial.trial_id, leased.lease.token) not in held
        ]
        await self._cancel(lost)

    async def _cancel(self, tasks: Collection[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, lease: Lease, slot: TrialSlot) -> None:
        self._on_result(await self._attempts.run(lease, slot))

    def _ended(self, task: asyncio.Task[None]) -> None:
        leased, slot = self._tasks.pop(task)
        slot.end()
        self._on_end(leased)
        self.changed.set()
        if not task.cancelled() and task.exception() is not None:
            # Its lease stays and expires, once this process ends: such trials end as worker_lost.
            self.has_failed = True
            log.error("a trial failed outside of its own boundary", exc_info=task.exception())
