"""Trial source: leases the trials of a shard for one process, and gives back what it does not run."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from workers.heartbeat import Heartbeat
from workers.settings import Timing
from workers.store.records import Lease
from workers.store.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedTrial:
    """A trial that this process has leased."""

    lease: Lease
    since_s: float  # of time.monotonic, taken after the store had handed it out


class TrialSource:
    """Asks the store for trials of `shard`, as often as it takes, until `is_over`."""

    def __init__(
        self,
        job_id: str,
        shard: int,
        *,
        store: Store,
        heartbeat: Heartbeat,
        timing: Timing,
        leased: Callable[[Sequence[Lease]], None],
        is_over: Callable[[], bool],
    ) -> None:
        """`leased` is told, in a thread, which trials come next."""
        self.shard = shard
        self._job_id, self._store, self._heartbeat, self._timing = job_id, store, heartbeat, timing
        self._leased, self._is_over = leased, is_over

    async def lease(
        self,
        *,
        limit: int,
        held: Callable[[], Awaitable[list[Lease]]],
        alone: bool = False,
        without: Collection[str] = (),
    ) -> list[LeasedTrial]:
        """Up to `limit` trials, of none of the models `without`; `held` tells what is leased here already."""
        is_sure = True
        while not self._is_over():
            try:
                if not is_sure:  # leased by an answer that was lost, trials would be held for ever
                    await asyncio.to_thread(self._store.release_all_but, self._heartbeat.holder, await held())
                leases = await asyncio.to_thread(self._lease, limit=limit, alone=alone, without=without)
            except SQLAlchemyError as error:
                log.warning("no trials could be leased yet: %s", error)
                is_sure = False
                await asyncio.sleep(self._timing.watch_s)
                continue
            since_s = time.monotonic()
            return [LeasedTrial(lease=lease, since_s=since_s) for lease in leases]
        return []

    async def give_back(self, leases: Sequence[Lease]) -> None:
        """Give back what is not run here; leases that cannot be given back expire."""
        try:
            await asyncio.to_thread(self._store.release, leases)
        except SQLAlchemyError as error:
            log.warning("%d leases could not be given back and will expire: %s", len(leases), error)

    def _lease(self, *, limit: int, alone: bool, without: Collection[str]) -> list[Lease]:
        holder, lease_s = self._heartbeat.holder, self._timing.lease_s
        leases = self._store.lease(
            self._job_id, self.shard, worker=holder, ttl_s=lease_s, limit=limit, alone=alone, without=without
        )
        self._leased(leases)
        return leases
