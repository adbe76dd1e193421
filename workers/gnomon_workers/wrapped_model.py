"""Defines the base of the models that workers put between a trial and its provider."""

from gnomon.core.model import Model


class WrappedModel:
    """Any model. A subclass says how it replies, and what it raises beside what the model does."""

    def __init__(self, model: Model) -> None:
        self.id, self._model = model.id, model

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
