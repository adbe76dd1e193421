"""Leases the trials of a shard, and of those that follow it, and gives back what is not run."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from gnomon.trials.trial_plan import Trial
from gnomon_workers.shard_run import ShardRun
from gnomon_workers.store.database import in_words
from gnomon_workers.store.records import Lease

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedTrial:
    """A trial that this process has leased."""

    lease: Lease
    since_s: float  # of time.monotonic, taken after the store had handed it out

    @property
    def trial(self) -> Trial:
        return self.lease.trial


class TrialSource:
    """The trials that this process has leased and not yet started: `waiting`.

    `may_have_more` is whether the shard may hold others to lease; `is_last`, whether no shard follows it.
    """

    def __init__(
        self,
        run: ShardRun,
        *,
        leased_elsewhere: Callable[[], Awaitable[list[Lease]]],
        is_over: Callable[[], bool],
    ) -> None:
        """`leased_elsewhere` are this process' leases that are not waiting here."""
        self.shard = run.shard
        self.waiting: deque[LeasedTrial] = deque()
        self._by_sample: dict[tuple[str, int], list[Trial]] = {}  # those that wait
        self.may_have_more, self.is_last = True, False
        self._run, self._is_over, self._leased_elsewhere = run, is_over, leased_elsewhere
        self._excluded: frozenset[str] = frozenset()  # models that rested when trials were leased last

    def first(self, *, excluding: Collection[str]) -> LeasedTrial | None:
        """The first trial that waits, of none of the models `excluding`."""
        return next((leased for leased in self.waiting if leased.trial.model not in excluding), None)

    def of_sample(self, trial: Trial) -> list[Trial]:
        """The trials that wait of the same sample and repeat, that one among them."""
        return list(self._by_sample.get((trial.ref.sample_id, trial.repeat), ()))

    def take(self, leased: LeasedTrial) -> None:
        """It waits no more."""
        self.waiting.remove(leased)
        trial = leased.trial
        self._by_sample[trial.ref.sample_id, trial.repeat].remove(trial)
        if not self._by_sample[trial.ref.sample_id, trial.repeat]:
            del self._by_sample[trial.ref.sample_id, trial.repeat]

    def take_all(self) -> list[Lease]:
        """None waits any more."""
        leases = [leased.lease for leased in self.waiting]
        self.waiting.clear()
        self._by_sample.clear()
        return leases

    def count_ready(self, resting: Collection[str]) -> int:
        """How many wait, of none of the models `resting`."""
        if not resting:
            return len(self.waiting)
        return sum(leased.trial.model not in resting for leased in self.waiting)

    def note_resting(self, resting: frozenset[str]) -> None:
        """Look again for trials of models that rested at the last lease and do not any more."""
        self.may_have_more = self.may_have_more or not self._excluded <= resting

    async def refill(self, limit: int, *, excluding: frozenset[str]) -> None:
        """Lease up to `limit` more trials, of none of the models `excluding`."""
        batch = await self._lease(limit=limit, excluding=excluding)
        self.waiting.extend(batch)
        for leased in batch:
            trial = leased.trial
            self._by_sample.setdefault((trial.ref.sample_id, trial.repeat), []).append(trial)
        self.may_have_more = len(batch) == limit

    async def lease_isolated(self, *, excluding: frozenset[str]) -> LeasedTrial | None:
        """A trial that must run isolated, if there is one."""
        batch = await self._lease(limit=1, excluding=excluding, isolated=True)
        return batch[0] if batch else None

    async def go_on(self) -> None:
        """Go on to the next shard; to none once one did not follow."""
        shard = await asyncio.to_thread(self._run.next_shard, self.shard)
        self.may_have_more, self.is_last = shard is not None, shard is None
        self.shard = self.shard if shard is None else shard

    async def give_back(self, leases: Sequence[Lease]) -> None:
        """Give back what is not run here; leases that cannot be given back expire."""
        try:
            await asyncio.to_thread(self._run.store.release, leases)
        except SQLAlchemyError as error:
            log.warning("%d leases could not be given back and will expire: %s", len(leases), in_words(error))

    async def _lease(
        self, *, limit: int, excluding: frozenset[str], isolated: bool = False
    ) -> list[LeasedTrial]:
        """Lease trials, as often as it takes, until `is_over`."""
        self._excluded = excluding
        is_sure = True
        while not self._is_over():
            try:
                if not is_sure:  # leased by an answer that was lost, trials would be held for ever
                    held = await self._leased_elsewhere()
                    held = [leased.lease for leased in self.waiting] + held
                    await asyncio.to_thread(self._run.store.release_all_but, self._run.heartbeat.holder, held)
                leases = await asyncio.to_thread(
                    self._lease_now, limit=limit, isolated=isolated, excluding=excluding
                )
            except SQLAlchemyError as error:
                log.warning("no trials could be leased yet: %s", in_words(error))
                is_sure = False
                await asyncio.sleep(self._run.timing.watch_s)
                continue
            since_s = time.monotonic()
            return [LeasedTrial(lease=lease, since_s=since_s) for lease in leases]
        return []

    def _lease_now(self, *, limit: int, isolated: bool, excluding: Collection[str]) -> list[Lease]:
        leases = self._run.store.lease(
            self._run.job_id,
            self.shard,
            worker=self._run.heartbeat.holder,
            ttl_s=self._run.timing.lease_s,
            limit=limit,
            isolated=isolated,
            excluding=excluding,
        )
        self._run.on_lease(leases)
        return leases
