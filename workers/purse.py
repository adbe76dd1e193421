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

AHEAD, MOST_AHEAD = 8, 512  # calls that are asked for together, while there is plenty
BLOCK_S = 0.5  # about as long as what was asked for lasts: what a process that dies held is taken for spent
NOTHING = Spent(0.0, 0)
SOMETHING = Spent(1e-6, 1)  # set aside for a call of which nothing is known: there must be money left
AGAIN_S = 0.2  # when there was not enough: some call, here or elsewhere, may cost less than was set aside


class Purse:
    """One shard's share of the limits. Use it on one loop; `written` may be called from any thread."""

    def __init__(self, job_id: str, spec: JobSpec, *, store: Store, holder: str, ttl_s: float) -> None:
        self.limit = Money(usd=spec.limits.usd, tokens=spec.limits.tokens)
        self._job_id, self._store, self._holder, self._ttl_s = job_id, store, holder, ttl_s
        self._calls = 0  # in flight
        # Since this purse was opened; what is written is counted by the store and stays counted here.
        self._settled = self._written = self._allowed = NOTHING
        self._in_flight, self._block, self._asked_s = NOTHING, AHEAD, 0.0
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
        if self._asking.locked() or not self._fits(wanted):
            with off_the_clock():
                async with self._asking:
                    await self._fetch(wanted)
        self._calls += 1
        self._in_flight = total([self._in_flight, wanted])

    async def _fetch(self, wanted: Spent) -> None:
        is_last = False
        while not self._fits(wanted):
            block = Spent(self._block * wanted.known_usd, self._block * wanted.known_tokens)
            answer = await self._ask(wanted if self.is_short else block)
            if answer.granted:
                self._fit_block()
                break
            if not self.is_short:
                self.is_short, self._block = True, AHEAD  # there is no block left; ask for this one call
                continue
            # Asked twice: results that are being written may be counted both here and in the store.
            was_last, is_last = is_last, not self._calls and not answer.calls_elsewhere
            if was_last and is_last:
                self.is_short, self.is_empty = False, True
                await asyncio.to_thread(self._store.mark_spent, self._job_id)
                raise OutOfBudget("the job's limits leave nothing for another call")
            self._settles.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_S):
                    await self._settles.wait()
        self.is_short = False

    def _fit_block(self) -> None:
        now_s = asyncio.get_running_loop().time()
        is_soon, self._asked_s = now_s - self._asked_s < BLOCK_S, now_s
        self._block = min(2 * self._block, MOST_AHEAD) if is_soon else max(self._block // 2, AHEAD)

    def settle(self, wanted: Spent, used: Spent) -> None:
        """A call that was set aside for has ended and cost so much."""
        self._calls -= 1
        self._in_flight = _less(self._in_flight, wanted) if self._calls else NOTHING
        self._settled = total([self._settled, used])
        self._settles.set()

    def written(self, spent: Sequence[Spent]) -> None:
        """The store now counts this itself."""
        self._written = total([self._written, *spent])

    async def refresh(self) -> None:
        """Show the store what is held now, and that this process lives."""
        if self._allowed != NOTHING and not self._asking.locked():  # whoever asks now shows it all
            async with self._asking:
                await self._ask(NOTHING)

    async def close(self) -> None:
        """Everything is written."""
        if self._allowed != NOTHING:
            await asyncio.to_thread(self._store.close_purse, self._holder)

    async def refuse(self, reason: str) -> None:
        """The limits cannot be kept: the job ends, and says why."""
        self.is_empty = True
        await asyncio.to_thread(self._store.fail, self._job_id, reason)

    def _used(self) -> Spent:
        return total([self._settled, self._in_flight])

    def _fits(self, wanted: Spent) -> bool:
        more = total([self._used(), wanted])
        return Money(usd=self._allowed.usd, tokens=self._allowed.tokens).covers(more)

    async def _ask(self, wanted: Spent) -> Answer:
        used = self._used()
        answer = await asyncio.to_thread(
            self._store.reserve,
            self._job_id,
            self._holder,
            limit=self.limit,
            held=_less(used, self._written),
            calls=self._calls,
            wanted=wanted,
            ttl_s=self._ttl_s,
        )
        self._allowed = total([used, wanted]) if answer.granted else used
        return answer


def _less(spent: Spent, off: Spent) -> Spent:
    return Spent(max(0.0, spent.known_usd - off.known_usd), max(0, spent.known_tokens - off.known_tokens))


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
        if self._is_unknown:
            with off_the_clock():
                await self._first.acquire()
            try:
                if self._is_unknown:
                    reply = await self._paid(request)
                    await self._purse.refresh()  # nothing was set aside: others must hear of it
                    return reply
            finally:
                self._first.release()
        return await self._paid(request)

    @property
    def _is_unknown(self) -> bool:
        """Whether nothing is known of what calls cost: until then one at a time is out."""
        return self._tokens_a_guess == 0.0 and not is_built_in(self.id)

    async def _paid(self, request: Request) -> Reply:
        guess = guessed_tokens(request)
        wanted = Spent(guess * self._usd_a_guess, round(guess * self._tokens_a_guess))
        if self._is_unknown:
            wanted = SOMETHING
        await self._purse.take(wanted)
        used = NOTHING
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
