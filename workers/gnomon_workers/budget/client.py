"""One process' share of its job's limits: reserved before a call, settled after it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from gnomon.core.errors import OutOfBudget
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon_workers.budget.cost_bound import CostBound
from gnomon_workers.budget.reservations import Cost, TrialReservations, kind_of
from gnomon_workers.budget.usage import NO_USAGE, Usage, total
from gnomon_workers.store.budgets import ROUNDING_USD, CostRatios, ReserveResult, SpendLimit
from gnomon_workers.store.retry import RETRY_S, retry_until_store_answers
from gnomon_workers.store.store import Store

MIN_BATCH, MAX_BATCH = 8, 256  # calls or samples that are asked for together, while there is plenty
# About as long as what was asked for lasts: what a process that dies held counts as spent.
BATCH_WINDOW_S = 2.0
LIMITS = "the job's limits"
Result = TypeVar("Result")


class BudgetClient:
    """One process' share of the limits. Use it on one loop; `mark_recorded` may be called from any thread.

    `on_room` is called when there may be room again for a sample that was refused: the price of a first call
    is known, or no call waits for money any more.
    """

    def __init__(
        self,
        job_id: str,
        spec: JobSpec,
        *,
        store: Store,
        holder: str,
        ttl_s: float,
        on_room: Callable[[], None] = lambda: None,
    ) -> None:
        self.limit = SpendLimit(usd=spec.limits.usd, tokens=spec.limits.tokens)
        self._job_id, self._store, self._holder, self._ttl_s = job_id, store, holder, ttl_s
        self._calls, self._in_flight = 0, NO_USAGE
        self._settled, self._written, self._granted = NO_USAGE, NO_USAGE, NO_USAGE
        self._untold = NO_USAGE  # of what is settled: bounds of calls whose cost nobody told
        self._block, self._asked_s = MIN_BATCH, 0.0
        self._asking, self._settles = asyncio.Lock(), asyncio.Event()
        self._bounds: dict[str, CostBound] = {}
        self._reservations, self._waiting = TrialReservations(allowed_costs(spec)), 0
        self._all: Usage | None = None  # taken, by a call of which nothing was known
        self._write: asyncio.Future[Any] | None = None  # the last one that the store was asked for
        self._is_shown = self._is_closed = False
        self.is_contended = self.is_exhausted = False
        self._on_room = on_room

    def cost_bound_of(self, spec: ModelSpec) -> CostBound:
        """What a call of that model may cost, as far as this process and others have learnt."""
        return self._bounds.setdefault(spec.label, CostBound(spec, needs_price=self.limit.usd is not None))

    async def reserve_sample(self, kinds: Mapping[str, str]) -> bool:
        """Reserve for these trials (id to kind), all of one sample, if there is enough for all of them.

        Where no trial of a kind has ended yet, one sample runs at a time, unless the limits leave what the
        arms allow for more. Once there is nothing left for a whole sample, and no other process may leave
        some, the budget is exhausted: what has begun may still be ended.
        """
        kinds = {trial_id: kind for trial_id, kind in kinds.items() if trial_id not in self._reservations}
        if self.is_exhausted or not kinds:
            return True
        if self._granted == NO_USAGE and not self._asking.locked():
            await self.refresh(is_first=True)  # others may know what trials cost
        has_seen = self._reservations.has_seen(kinds)
        if not has_seen and not self._reservations:
            self._reservations.open(kinds, {})
            return True
        if self.is_contended or not self._reservations.can_tell(kinds):
            return False
        async with self._asking:
            costs = self._reservations.costs(kinds)  # they may grow while the store is asked
            tokens, usd = (sum(amounts) for amounts in zip(*costs.values(), strict=True))
            wanted = Usage(usd, round(tokens))
            has_begun = len(self._reservations) > 0
            answer = (
                None if self._fits(wanted) else await self._request_share(wanted, times=self._block_now())
            )
            if answer is not None and answer.granted is None:
                self._block = MIN_BATCH
                answer = await self._request_share(wanted)
            if answer is None or answer.granted is not None:
                self._reservations.open(kinds, costs)
                return True
            if has_seen and not has_begun and not answer.calls_elsewhere:
                await self._mark_exhausted()
        return False

    def start_trial(self, trial_id: str) -> None:
        """The trial runs from now on; until then its reservation waits for a slot, and settles nothing."""
        self._reservations.start(trial_id)

    def release_trials(self, trial_ids: Sequence[str], *, has_run: bool = True) -> None:
        """These trials have ended, or are given back: what their reservations hold is everybody's."""
        for trial_id in trial_ids:
            self._reservations.close(trial_id, has_run=has_run)
        self._settles.set()

    def try_reserve(self, most: Usage | None, *, trial: str) -> Usage | None:
        """Set aside the `most` that a call may cost, if its trial has reserved enough; else nothing."""
        if most is None or not self._covers(self._reservations.left(trial), most):
            return None
        return self._charge_reservation(most, trial)

    async def reserve(self, most: Callable[[], Usage | None], *, trial: str = "") -> Usage:
        """Set aside the `most` that a call may cost, waiting for others to settle where there is not enough;
        all that is left, with no other call, while that is unknown. The trial's reservation pays first.

        Raises:
            OutOfBudget: no call is in flight anywhere, and it is still not enough.
        """
        if (taken := self.try_reserve(most(), trial=trial)) is not None:
            return taken
        self._waiting += 1
        try:
            async with self._asking:
                try:
                    return self._charge_reservation(await self._reserve_from_store(most, trial), trial)
                finally:
                    if self.is_contended and self._waiting == 1:
                        self._on_room()
                    self.is_contended = False
        finally:
            self._waiting -= 1

    def _charge_reservation(self, taken: Usage, trial: str) -> Usage:
        self._calls += 1
        self._in_flight = total(self._in_flight, taken)
        if taken is not self._all:
            self._reservations.charge(trial, taken)
        return taken

    async def _reserve_from_store(self, most: Callable[[], Usage | None], trial: str) -> Usage:
        while (wanted := most()) is None or not self._fits(
            wanted, reservation=self._reservations.left(trial)
        ):
            is_plenty = wanted is not None and not self.is_contended and not self._reservations
            more = wanted and wanted.without(self._reservations.left(trial))
            was_busy = self._busy()  # what settles while the store is asked is not in its answer
            times = self._block_now() if is_plenty else 1
            answer = await retry_until_store_answers(
                partial(self._request_share, more, times=times), what=LIMITS
            )
            if answer.granted is not None:
                if wanted is None:
                    wanted = self._all = answer.granted
                break
            if not self.is_contended:
                self.is_contended = True
                self._block = MIN_BATCH  # there is no batch left; ask for this one call
                continue
            if not was_busy and self._reservations.give_way():
                continue
            if not was_busy and not answer.calls_elsewhere:
                await retry_until_store_answers(self._mark_exhausted, what=LIMITS)
                raise OutOfBudget(_budget_too_small(wanted))
            if self._busy() == was_busy:
                self._settles.clear()
                with suppress(TimeoutError):
                    # Some call, here or elsewhere, may cost less than was set aside.
                    async with asyncio.timeout(RETRY_S):
                        await self._settles.wait()
        return wanted

    def settle(self, taken: Usage, used: Usage, *, trial: str = "", is_told: bool = True) -> None:
        """A call that was set aside for has ended and cost so much, or so much at most if nobody told it."""
        if not is_told:
            self._untold = total(self._untold, used)
        self._calls -= 1
        self._in_flight = self._in_flight.without(taken) if self._calls else NO_USAGE
        self._settled = total(self._settled, used)
        self._reservations.charge(trial, used, less=NO_USAGE if taken is self._all else taken)
        if taken is self._all:
            self._granted, self._all = self._committed(), None  # the rest is everybody's
            self._on_room()
        self._settles.set()

    def mark_recorded(self, spent: Sequence[Usage]) -> None:
        """The store now counts this itself."""
        self._written = total(self._written, *spent)

    async def refresh(self, *, is_first: bool = False) -> None:
        """Show the store what is held now, and that this process lives.

        A request under way does so too; where calls wait for their turn to ask, the next refresh has time. To
        queue behind such calls would be to wait as long as they do, maybe for other processes to show theirs.
        """
        is_asking = self._asking.locked() or self._waiting > 0
        if (is_first or self._is_shown) and not self._is_closed and not is_asking:
            async with self._asking:
                await self._request_share(NO_USAGE)

    async def close(self) -> None:
        """Everything is written; what is still held was spent on calls without a result, or may have been.

        From now on the store is not shown this budget again: it would hold, and charge, the same twice.
        """
        self._is_closed = True
        async with self._asking:
            if self._is_shown:
                held = self._held()
                told = held.without(self._untold)
                possible = held.without(told)
                close = partial(self._store.close_budget, self._job_id, self._holder, told, possible=possible)
                await self._in_store(close)

    async def fail_job(self, reason: str) -> None:
        """The limits cannot be kept: the job ends, and says why."""
        self.is_exhausted = True
        await retry_until_store_answers(
            partial(asyncio.to_thread, self._store.fail, self._job_id, reason), what=LIMITS
        )

    async def _mark_exhausted(self) -> None:
        await asyncio.to_thread(self._store.mark_exhausted, self._job_id)
        self.is_exhausted = True

    def _busy(self) -> int:
        """Calls in flight, or trials that go on without money from elsewhere: those that run and do not wait
        for it, and, where none waits, one that is about to start.
        """
        is_about_to_start = not self._waiting and len(self._reservations) > self._reservations.running
        return max(self._calls, self._reservations.running - self._waiting, int(is_about_to_start))

    def _block_now(self) -> int:
        """How many to ask for together: more, the sooner the last ones were used up."""
        now_s = asyncio.get_running_loop().time()
        is_soon, self._asked_s = now_s - self._asked_s < BATCH_WINDOW_S, now_s
        self._block = min(2 * self._block, MAX_BATCH) if is_soon else max(self._block // 2, MIN_BATCH)
        return self._block

    def _committed(self) -> Usage:
        """All that was spent or set aside here so far."""
        return total(self._settled, self._in_flight, self._reservations.all_left)

    def _held(self) -> Usage:
        """Of that, what is not yet counted by the store."""
        return self._committed().without(self._written)

    def _fits(self, wanted: Usage, *, reservation: Usage = NO_USAGE) -> bool:
        more = total(self._committed(), wanted.without(reservation))
        return self._covers(self._granted, more, rounding_usd=ROUNDING_USD)

    def _covers(self, reserved: Usage, wanted: Usage, *, rounding_usd: float = 0.0) -> bool:
        """Whether so much is in it, of what the job limits."""
        limit = self.limit
        return (limit.usd is None or wanted.known_usd <= reserved.known_usd + rounding_usd) and (
            limit.tokens is None or wanted.known_tokens <= reserved.known_tokens
        )

    async def _in_store(self, write: Callable[[], Result]) -> Result:
        """Let the store write in a thread, one after another, also where a waiter is cancelled: its thread
        goes on, and would overwrite what a later one has written.
        """
        if self._write is not None:
            await asyncio.wait([self._write])
        self._write = writing = asyncio.ensure_future(asyncio.to_thread(write))
        return await asyncio.shield(writing)

    async def _request_share(self, wanted: Usage | None, *, times: int = 1) -> ReserveResult:
        while True:
            committed, written = self._committed(), self._written
            self._is_shown = True
            reserve = partial(
                self._store.reserve,
                self._job_id,
                self._holder,
                limit=self.limit,
                held=committed.without(written),
                calls=max(self._busy(), int(bool(self._reservations.unproved))),  # either may leave something
                wanted=wanted and Usage(times * wanted.known_usd, times * wanted.known_tokens),
                cost_ratios=self._reservations.most
                | {label: bound.shares for label, bound in self._bounds.items()},
                ttl_s=self._ttl_s,
            )
            answer = await self._in_store(reserve)
            if answer.granted is not None or self._written is written:
                break  # else what was written meanwhile may have been counted twice
        self._granted = committed if answer.granted is None else total(committed, answer.granted)
        self._merge_cost_ratios(answer.cost_ratios)
        return answer

    def _merge_cost_ratios(self, shares: CostRatios) -> None:
        for name, share in shares.items():
            if name in self._bounds:
                self._bounds[name].merge(share)
            else:
                self._reservations.observe(name, share)


def _budget_too_small(wanted: Usage | None) -> str:
    message = "the job's limits leave nothing for another call"
    if wanted is None:
        return message
    return f"{message}, which may cost {wanted.known_tokens:,} tokens and ${wanted.known_usd:.4g}"


def allowed_costs(spec: JobSpec) -> dict[str, Cost]:
    """By kind of trial, after how much its arm ends it, where it says so of all that the job limits.

    The last call may exceed that.
    """
    limits = spec.limits
    return {
        kind_of(model.label, arm.name): (float(arm.max_tokens or 0), arm.max_usd or 0.0)
        for model in spec.models
        for arm in spec.arms
        if (limits.usd is None or arm.max_usd) and (limits.tokens is None or arm.max_tokens)
    }
