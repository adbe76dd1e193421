"""Stops calling a provider that keeps refusing: a circuit breaker around a model."""

from collections.abc import Awaitable, Callable

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Model, Reply, Request
from gnomon_workers.wrapped_model import WrappedModel

FINAL = ("auth", "no_api_key", "not_found", "quota")  # causes that trying another sample does not change
MOST_IN_A_ROW = 5

Trip = Callable[[ProviderFault], Awaitable[None]]


class BreakableModel(WrappedModel):
    """Any model. MOST_IN_A_ROW final faults with no answer between them open the breaker: `trip` is called
    with the fault, and every later call raises it at once.
    """

    def __init__(self, model: Model, *, trip: Trip) -> None:
        super().__init__(model)
        self._trip, self._in_a_row = trip, 0
        self._fault: ProviderFault | None = None

    async def reply(self, request: Request) -> Reply:
        """The model's reply.

        Raises:
            ProviderFault: the breaker is open, or as the model raises it.
        """
        if self._fault is not None:
            raise ProviderFault(self._fault.message, cause=self._fault.cause, transient=False)
        try:
            reply = await self._model.reply(request)
        except ProviderFault as fault:
            await self._count(fault)
            raise
        except ModelFault:
            self._in_a_row = 0
            raise
        self._in_a_row = 0
        return reply

    async def _count(self, fault: ProviderFault) -> None:
        if fault.transient:
            return  # it says nothing of the key
        self._in_a_row = self._in_a_row + 1 if fault.cause in FINAL else 0
        if self._in_a_row >= MOST_IN_A_ROW and self._fault is None:
            self._fault = fault
            await self._trip(fault)
