"""A model behind a purse: it calls when the job's limits leave enough for what the call may cost."""

import asyncio
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from gnomon.clock import off_the_clock
from gnomon.errors import ModelFault, OutOfBudget, ProviderFault
from gnomon.model import Model, Reply, Request, is_built_in
from gnomon.spec import ModelSpec
from workers.pots import TRIAL
from workers.purse import Purse
from workers.store.counters import Spent
from workers.store.purses import NOTHING, Money

# Faults of calls that may have cost something all the same
UNTOLD = ("timeout", "bad_response", "refused", "malformed_call")


def pursed(model: Model, spec: ModelSpec, purse: Purse, *, learns: bool = True) -> Model:
    """The model behind the purse; a job without limits needs none. Where its calls are not like those of
    trials, nothing shall be learnt from what they cost.
    """
    return model if purse.limit == Money() else PursedModel(model, spec, purse, learns=learns)


class PursedModel:
    """Any model whose calls are paid out of a purse."""

    def __init__(self, model: Model, spec: ModelSpec, purse: Purse, *, learns: bool = True) -> None:
        self._learns = learns
        self.id, self._model, self._purse, self._bound = model.id, model, purse, purse.bound_of(spec)
        self._is_free = False  # it lives in this program, and tells no cost
        self._has_told = False  # what a call has cost

    async def reply(self, request: Request) -> Reply:
        """The model's reply.

        Raises:
            OutOfBudget: the job's limits are used up.
            ProviderFault, ModelFault, DataError: as the model raises them.
        """
        if self._is_free:
            return await self._model.reply(request)
        trial, planned = TRIAL.get(), self._bound.planned(request)
        taken = self._purse.at_hand(self._bound.of(planned), trial=trial)
        if taken is None:
            with off_the_clock():
                taken = await self._purse.take(lambda: self._bound.of(planned), trial=trial)
        used, unknown = NOTHING, []
        try:
            reply = await self._model.reply(request)
            used = Spent.by(reply)
            if unknown := self._unknown(used):
                used = self._feared(planned, taken)
        except (ProviderFault, ModelFault) as fault:
            paid = fault.reply if isinstance(fault, ModelFault) else None
            used = NOTHING if paid is None else Spent.by(paid)
            if fault.cause in UNTOLD and not used.known_tokens:
                used = self._feared(planned, taken)
            raise
        except asyncio.CancelledError:
            used = self._feared(planned, taken)
            raise
        finally:
            self._purse.settle(taken, used, trial=trial)
        if not unknown:
            self._has_told = True
            await self._learn(planned, used)
        elif not self._has_told and "usage_unreadable" not in reply.flags:
            await self._purse.refuse(f"limits.{unknown[0]} cannot be kept: {self.id} does not tell its cost")
            raise OutOfBudget(f"{self.id} does not tell what a call costs")
        return reply

    def _feared(self, planned: Spent, taken: Spent) -> Spent:
        """What a call has cost at most that does not say so."""
        return taken if self._bound.of(planned) is not None else self._bound.guess(planned)

    def _unknown(self, used: Spent) -> list[str]:
        """The limits of which a call does not tell what it used."""
        limit = self._purse.limit
        bounds = (("usd", limit.usd, used.usd), ("tokens", limit.tokens, used.tokens))
        unknown = [name for name, bound, found in bounds if bound is not None and found is None]
        return [] if is_built_in(self.id) else unknown

    async def _learn(self, planned: Spent, used: Spent) -> None:
        self._is_free = is_built_in(self.id) and not (used.known_usd or used.known_tokens)
        if self._learns and self._bound.learn(planned, used):
            with suppress(SQLAlchemyError):  # shown again soon
                await self._purse.refresh()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
