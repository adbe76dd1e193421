"""A model within its job's budget: it calls when the limits leave enough for what the call may cost."""

import asyncio
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.errors import ModelFault, OutOfBudget, ProviderFault
from gnomon.core.model import UNREADABLE, Model, Reply, Request, is_built_in
from gnomon.core.timeout import timeout_paused
from gnomon.spec.model_spec import ModelSpec
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.budget.reservations import current_trial_id
from gnomon_workers.budget.usage import NO_USAGE, Usage
from gnomon_workers.store.budgets import SpendLimit
from gnomon_workers.wrapped_model import WrappedModel

# Faults of calls that may have cost something all the same
MAY_BE_BILLED = ("timeout", "bad_response", "refused", "malformed_call")


def with_budget(model: Model, spec: ModelSpec, budget: BudgetClient, *, learns: bool = True) -> Model:
    """The model within the budget; a job without limits needs none. Where its calls are not like those of
    trials, nothing shall be learnt from what they cost.
    """
    return model if budget.limit == SpendLimit() else BudgetedModel(model, spec, budget, learns=learns)


class BudgetedModel(WrappedModel):
    """Any model whose calls are paid out of a job's budget."""

    def __init__(self, model: Model, spec: ModelSpec, budget: BudgetClient, *, learns: bool = True) -> None:
        super().__init__(model)
        self._learns, self._budget, self._bound = learns, budget, budget.cost_bound_of(spec)
        self._is_built_in = is_built_in(self.id)
        limits = (("usd", budget.limit.usd), ("tokens", budget.limit.tokens))
        limited = [name for name, limit in limits if limit is not None]
        self._to_tell = [] if self._is_built_in else limited  # what each of its replies must tell
        self._is_free = False  # it is part of this program, and reports no cost
        self._has_reported_cost = False

    async def reply(self, request: Request) -> Reply:
        """The model's reply.

        Raises:
            OutOfBudget: the job's limits are used up.
        """
        if self._is_free:
            return await self._model.reply(request)
        trial, planned = current_trial_id.get(), self._bound.nominal_cost(request)
        taken = self._budget.try_reserve(self._bound.upper_bound(planned), trial=trial)
        if taken is None:
            with timeout_paused():
                taken = await self._budget.reserve(lambda: self._bound.upper_bound(planned), trial=trial)
        used, unknown, is_told = NO_USAGE, [], True
        try:
            reply = await self._model.reply(request)
            used = Usage.by(reply)
            if unknown := [name for name in self._to_tell if getattr(used, name) is None]:
                used, is_told = self._worst_case_cost(planned, taken), False
        except (ProviderFault, ModelFault) as fault:
            paid = fault.reply if isinstance(fault, ModelFault) else None
            used = NO_USAGE if paid is None else Usage.by(paid)
            if fault.cause in MAY_BE_BILLED and not used.known_tokens:
                used, is_told = self._worst_case_cost(planned, taken), False
            raise
        except asyncio.CancelledError:
            used, is_told = self._worst_case_cost(planned, taken), False
            raise
        finally:
            self._budget.settle(taken, used, trial=trial, is_told=is_told)
        if not unknown:
            self._has_reported_cost = True
            await self._learn(planned, used)
        elif not self._has_reported_cost and UNREADABLE not in reply.flags:
            await self._budget.fail_job(
                f"limits.{unknown[0]} cannot be kept: {self.id} does not tell its cost"
            )
            raise OutOfBudget(f"{self.id} does not tell what a call costs")
        return reply

    def _worst_case_cost(self, planned: Usage, taken: Usage) -> Usage:
        """What a call has cost at most that does not say so."""
        return taken if self._bound.upper_bound(planned) is not None else self._bound.estimate(planned)

    async def _learn(self, planned: Usage, used: Usage) -> None:
        self._is_free = self._is_built_in and not (used.known_usd or used.known_tokens)
        if self._learns and self._bound.observe(planned, used):
            with suppress(SQLAlchemyError):  # shown again soon
                await self._budget.refresh()
