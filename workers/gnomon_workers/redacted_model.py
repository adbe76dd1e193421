"""A model whose replies and faults hold no secret: redacted before they are scored or kept."""

from dataclasses import replace

from gnomon.core.errors import GnomonError, ModelFault
from gnomon.core.model import Model, Reply, Request
from gnomon.core.redaction import SHORTEST, key_in, redactor_here
from gnomon.spec.model_spec import ModelSpec
from gnomon_workers.wrapped_model import WrappedModel

# The fields of a reply that hold texts.
_SAID = (
    "text",
    "reasoning",
    "tool_calls",
    "finish_reason",
    "provider_turn",
    "request_changes",
    "flags",
    "model_version",
)


class RedactedModel(WrappedModel):
    """Any model. What is scored is what is kept: an answer and its trace agree."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._secrets = redactor_here()

    async def reply(self, request: Request) -> Reply:
        """The model's reply, with every secret redacted; the same object where it holds none.

        Raises:
            ProviderFault, ModelFault, DataError: as the model raises them, their messages struck,
                and what the model said all the same.
        """
        try:
            reply = await self._model.reply(request)
        except GnomonError as fault:
            fault.message = self._secrets.redact_text(fault.message)
            fault.args = (fault.message,)
            if isinstance(fault, ModelFault) and fault.reply is not None:
                fault.reply = self._redacted(fault.reply)
            raise
        return self._redacted(reply)

    def _redacted(self, reply: Reply) -> Reply:
        said = [words for name in _SAID if (words := getattr(reply, name))]
        if self._secrets.is_clean(said):
            return reply
        fields = {name: getattr(reply, name) for name in reply.__slots__}
        redacted = self._secrets.redact_in(fields)
        return reply if redacted is fields else replace(reply, **redacted)


def redacted(model: Model, spec: ModelSpec) -> Model:
    """The model without this process' secrets, its own key among them, in what it replies."""
    key = key_in(spec.api_key_env or "")
    if len(key) >= SHORTEST:
        redactor_here().add(key)
    return RedactedModel(model)
