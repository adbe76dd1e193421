"""Purse: what this process may spend of its job's limits; asked for before a call, settled after it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from gnomon.clock import off_the_clock
from gnomon.errors import ModelFault, OutOfBudget, ProviderFault
from gnomon.model import Model, Reply, Request
from gnomon.spec import JobSpec, ModelSpec
from workers.bases import is_built_in
from workers.bound import Bound
from workers.store.counters import Spent
from workers.store.purses import NOTHING, Answer, Money, Shares, total
from workers.store.store import Store

AHEAD = 8  # calls that are asked for together, while there is plenty
AGAIN_S = 0.2  # when there was not enough: some call, here or elsewhere, may cost less than was set aside
UNTOLD = ("timeout", "bad_response", "refused")  # faults of calls that may have cost something all the same


class Purse:
    """One shard's share of the limits. Use it on one loop; `written` may be called from any thread."""

    def __init__(self, job_id: str, spec: JobSpec, *, store: Store, holder: str, ttl_s: float) -> None:
        self.limit = Money(usd=spec.limits.usd, tokens=spec.limits.tokens)
        self._job_id, self._store, self._holder, self._ttl_s = job_id, store, holder, ttl_s
        self._in_flight: list[Spent] = []
        self._settled, self._written, self._granted = NOTHING, NOTHING, NOTHING
        self._asking, self._settles = asyncio.Lock(), asyncio.Event()
        self._bounds: dict[str, Bound] = {}
        self._all: Spent | None = None  # taken, by a call of which nothing was known
        self.is_short = self.is_empty = False

    def around(self, model: Model, spec: ModelSpec) -> Model:
        """The model behind this purse; a job without limits needs none."""
        if self.limit == Money():
            return model
        bound = self._bounds[spec.label] = Bound(spec, needs_price=self.limit.usd is not None)
        return PursedModel(model, self, bound)

    async def take(self, most: Callable[[], Spent | None]) -> Spent:
        """Set aside the `most` that a call may cost, waiting for others to settle where there is not enough;
        all that is left, and nobody else calls, while that is unknown.

        Raises:
            OutOfBudget: no call is in flight anywhere, and it is still not enough.
        """
        async with self._asking:
            while (wanted := most()) is None or not self._fits(wanted):
                ahead = AHEAD if wanted is not None and not self.is_short else 1
                answer = await self._ask(wanted, calls=ahead)
                if answer.granted is not None:
                    if wanted is None:
                        wanted = self._all = answer.granted
                    break
                if not self.is_short:
                    self.is_short = True  # there is no block left; ask for this one call
                    continue
                if not self._in_flight and not answer.calls_elsewhere:
                    self.is_empty = True
                    await asyncio.to_thread(self._store.mark_spent, self._job_id)
                    raise OutOfBudget(_too_little(wanted))
                self._settles.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(AGAIN_S):
                        await self._settles.wait()
            self.is_short = False
            self._in_flight.append(wanted)
            return wanted

    def settle(self, taken: Spent, used: Spent) -> None:
        """A call that was set aside for has ended and cost so much."""
        self._in_flight.remove(taken)
        self._settled = total([self._settled, used])
        if taken is self._all:
            self._granted, self._all = self._held(), None  # the rest is everybody's
        self._settles.set()

    def written(self, spent: Sequence[Spent]) -> None:
        """The store now counts this itself."""
        self._written = total([self._written, *spent])

    async def refresh(self) -> None:
        """Show the store what is held now, and that this process lives; whoever asks just now does so too."""
        if self._granted != NOTHING and not self._asking.locked():
            async with self._asking:
                await self._ask(NOTHING)

    async def close(self) -> None:
        """Everything is written; what is still held was spent on calls that no result tells of."""
        if self._granted != NOTHING:
            await asyncio.to_thread(self._store.close_purse, self._job_id, self._holder, self._held())

    async def refuse(self, reason: str) -> None:
        """The limits cannot be kept: the job ends, and says why."""
        self.is_empty = True
        await asyncio.to_thread(self._store.fail, self._job_id, reason)

    def _held(self) -> Spent:
        """Spent or set aside here, and not yet counted by the store."""
        used, written = total([self._settled, *self._in_flight]), self._written
        return Spent(
            max(0.0, used.known_usd - written.known_usd), max(0, used.known_tokens - written.known_tokens)
        )

    def _fits(self, wanted: Spent) -> bool:
        more = total([self._held(), wanted])
        return Money(usd=self._granted.usd, tokens=self._granted.tokens).covers(more)

    async def _ask(self, wanted: Spent | None, *, calls: int = 1) -> Answer:
        held = self._held()
        answer = await asyncio.to_thread(
            self._store.reserve,
            self._job_id,
            self._holder,
            limit=self.limit,
            held=held,
            calls=len(self._in_flight),
            wanted=wanted and Spent(calls * wanted.known_usd, calls * wanted.known_tokens),
            shares={label: bound.shares for label, bound in self._bounds.items()},
            ttl_s=self._ttl_s,
        )
        self._granted = held if answer.granted is None else total([held, answer.granted])
        self._see(answer.shares)
        return answer

    def _see(self, shares: Shares) -> None:
        for label, bound in self._bounds.items():
            bound.see(shares.get(label, (0.0, 0.0)))


class PursedModel:
    """Any model whose calls are paid out of a purse."""

    def __init__(self, model: Model, purse: Purse, bound: Bound) -> None:
        self.id, self._model, self._purse, self._bound = model.id, model, purse, bound
        self._is_free = False  # it lives in this program, and tells no cost

    async def reply(self, request: Request) -> Reply:
        """The model's reply.

        Raises:
            OutOfBudget: the job's limits are used up.
            ProviderFault, ModelFault, DataError: as the model raises them.
        """
        if self._is_free:
            return await self._model.reply(request)
        with off_the_clock():
            taken = await self._purse.take(lambda: self._bound.of(request))
        used = NOTHING
        try:
            reply = await self._model.reply(request)
            used = _cost(reply)
        except (ProviderFault, ModelFault) as fault:
            used = self._feared(request, taken) if fault.cause in UNTOLD else NOTHING
            raise
        except asyncio.CancelledError:
            used = self._feared(request, taken)
            raise
        finally:
            self._purse.settle(taken, used)
        await self._learn(request, used)
        return reply

    def _feared(self, request: Request, taken: Spent) -> Spent:
        """What a call has cost at most that does not say so."""
        return taken if self._bound.of(request) is not None else self._bound.planned(request)

    async def _learn(self, request: Request, used: Spent) -> None:
        limit = self._purse.limit
        bounds = (("usd", limit.usd, used.usd), ("tokens", limit.tokens, used.tokens))
        unknown = [name for name, bound, found in bounds if bound is not None and found is None]
        if unknown and not is_built_in(self.id):
            await self._purse.refuse(f"limits.{unknown[0]} cannot be kept: {self.id} does not tell its cost")
            raise OutOfBudget(f"{self.id} does not tell what a call costs")
        self._is_free = is_built_in(self.id) and not (used.known_usd or used.known_tokens)
        if self._bound.learn(request, used):
            await self._purse.refresh()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _too_little(wanted: Spent | None) -> str:
    message = "the job's limits leave nothing for another call"
    if wanted is None:
        return message
    return f"{message}, which may cost {wanted.known_tokens:,} tokens and ${wanted.known_usd:.4g}"


def _cost(reply: Reply) -> Spent:
    known = reply.prompt_tokens is not None and reply.completion_tokens is not None
    tokens = (reply.prompt_tokens or 0) + (reply.completion_tokens or 0) if known else None
    return Spent(reply.usd, tokens)
