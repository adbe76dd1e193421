"""Holds back a model's calls while the store cannot be written, as replies would be paid for and lost."""

import asyncio

from gnomon.core.model import Model, Reply, Request, is_built_in
from gnomon.core.timeout import timeout_paused
from gnomon_workers.heartbeat import Heartbeat
from gnomon_workers.wrapped_model import WrappedModel


class PausedModel(WrappedModel):
    """Any model; its calls wait, beside their trial's time, until the store can be written again."""

    def __init__(self, model: Model, *, heartbeat: Heartbeat, look_s: float) -> None:
        super().__init__(model)
        self._heartbeat, self._look_s = heartbeat, look_s

    async def reply(self, request: Request) -> Reply:
        """The model's reply."""
        if not self._heartbeat.can_write:
            with timeout_paused():
                while not self._heartbeat.can_write:  # noqa: ASYNC110 (a thread sets it)
                    await asyncio.sleep(self._look_s)
        return await self._model.reply(request)


def paused(model: Model, *, heartbeat: Heartbeat, look_s: float) -> Model:
    """The model, which is called only while its replies can be kept; one of this program is free anyway."""
    return model if is_built_in(model.id) else PausedModel(model, heartbeat=heartbeat, look_s=look_s)
