"""Purse: what this process may spend of its job's limits; asked for before a call, settled after it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from gnomon.clock import off_the_clock
from gnomon.errors import OutOfBudget
from gnomon.model import Model, Reply, Request
from gnomon.spec import JobSpec
from workers.bases import is_built_in
from workers.limiter.limited_model import guessed_tokens
from workers.store.counters import Spent
from workers.store.purses import Answer, Money, total
from workers.store.store import Store

AHEAD = 8  # calls that are asked for together, while there is plenty
AGAIN_S = 0.2  # when there was not enough: some call, here or elsewhere, may cost less than was set aside


class Purse:
    """One shard's share of the limits. Use it on one loop; `written` may be called from any thread."""

    def __init__(self, job_id: str, spec: JobSpec, *, store: Store, holder: str, ttl_s: float) -> None:
        self.limit = Money(usd=spec.limits.usd, tokens=spec.limits.tokens)
        self._job_id, self._store, self._holder, self._ttl_s = job_id, store, holder, ttl_s
        self._in_flight: list[Spent] = []
        self._settled, self._written = Spent(0.0, 0), Spent(0.0, 0)
        self._granted = Spent(0.0, 0)
        self._asking, self._settles = asyncio.Lock(), asyncio.Event()
        self.is_short = self.is_empty = False

    def around(self, model: Model) -> Model:
        """The model behind this purse; a job without limits needs none."""
        return model if self.limit == Money() else PursedModel(model, self)

    async def take(self, wanted: Spent) -> None:
        """Set aside what a call may cost, waiting for others to settle where there is not enough.

        Raises:
            OutOfBudget: no call is in flight anywhere, and it is still not enough.
        """
        async with self._asking:
            while not self._fits(wanted):
                block = Spent(AHEAD * wanted.known_usd, AHEAD * wanted.known_tokens)
                answer = await self._ask(wanted if self.is_short else block)
                if answer.granted:
                    break
                if not self.is_short:
                    self.is_short = True  # there is no block left; ask for this one call
                    continue
                if not self._in_flight and not answer.calls_elsewhere:
                    self.is_empty = True
                    await asyncio.to_thread(self._store.mark_spent, self._job_id)
                    raise OutOfBudget("the job's limits leave nothing for another call")
                self._settles.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(AGAIN_S):
                        await self._settles.wait()
            self.is_short = False
            self._in_flight.append(wanted)

    def settle(self, wanted: Spent, used: Spent) -> None:
        """A call that was set aside for has ended and cost so much."""
        self._in_flight.remove(wanted)
        self._settled = total([self._settled, used])
        self._settles.set()

    def written(self, spent: Sequence[Spent]) -> None:
        """The store now counts this itself."""
        self._written = total([self._written, *spent])

    async def refresh(self) -> None:
        """Show the store what is held now, and that this process lives."""
        if self._granted != Spent(0.0, 0):
            await self._ask(Spent(0.0, 0))

    async def close(self) -> None:
        """Everything is written."""
        if self._granted != Spent(0.0, 0):
            await asyncio.to_thread(self._store.close_purse, self._holder)

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

    async def _ask(self, wanted: Spent) -> Answer:
        held = self._held()
        answer = await asyncio.to_thread(
            self._store.reserve,
            self._job_id,
            self._holder,
            limit=self.limit,
            held=held,
            calls=len(self._in_flight),
            wanted=wanted,
            ttl_s=self._ttl_s,
        )
        self._granted = total([held, wanted]) if answer.granted else held
        return answer


class PursedModel:
    """Any model whose calls are paid out of a purse."""

    def __init__(self, model: Model, purse: Purse) -> None:
        self.id, self._model, self._purse = model.id, model, purse
        self._tokens_a_guess = self._usd_a_guess = 0.0  # the most that was seen; 0: nothing was seen yet
        self._first = asyncio.Lock()

    async def reply(self, request: Request) -> Reply:
        """The model's reply.

        Raises:
            OutOfBudget: the job's limits are used up.
            ProviderFault, ModelFault, DataError: as the model raises them.
        """
        if self._tokens_a_guess == 0.0 and not is_built_in(self.id):
            async with self._first:  # until a price is seen, one call at a time is out
                return await self._paid(request)
        return await self._paid(request)

    async def _paid(self, request: Request) -> Reply:
        guess = guessed_tokens(request)
        wanted = Spent(guess * self._usd_a_guess, round(guess * self._tokens_a_guess))
        with off_the_clock():
            await self._purse.take(wanted)
        used = Spent(0.0, 0)
        try:
            reply = await self._model.reply(request)
            used = _cost(reply)
        finally:
            self._purse.settle(wanted, used)
        await self._learn(reply, guess)
        return reply

    async def _learn(self, reply: Reply, guess: int) -> None:
        usd, tokens = _cost(reply)
        limit = self._purse.limit
        unknown = [
            name
            for name, bound, found in (("usd", limit.usd, usd), ("tokens", limit.tokens, tokens))
            if bound is not None and found is None
        ]
        if unknown and not is_built_in(self.id):
            await self._purse.refuse(f"limits.{unknown[0]} cannot be kept: {self.id} does not tell its cost")
            raise OutOfBudget(f"{self.id} does not tell what a call costs")
        self._tokens_a_guess = max(self._tokens_a_guess, (tokens or 0) / guess)
        self._usd_a_guess = max(self._usd_a_guess, (usd or 0.0) / guess)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _cost(reply: Reply) -> Spent:
    known = reply.prompt_tokens is not None and reply.completion_tokens is not None
    tokens = (reply.prompt_tokens or 0) + (reply.completion_tokens or 0) if known else None
    return Spent(reply.usd, tokens)
