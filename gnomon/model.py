"""Model: messages and tool schemas in, a reply with its usage out."""

from dataclasses import dataclass
from typing import Protocol

from gnomon.decoding import NO_DECODING, Decoding
from gnomon.message import Message, ToolCall, ToolChoice, ToolSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call: exactly what the model gets, and how it shall answer."""

    messages: list[Message]
    tools: list[ToolSchema]
    tool_choice: ToolChoice = "auto"
    seed: int | None = None
    timeout_s: float = 120.0
    decoding: Decoding = NO_DECODING  # the protocol's, for what the model's own entry leaves open


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer. Unknown usage and unknown price stay None; they are never zero."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    usd: float | None = None
    cached: bool = False

    def message(self) -> Message:
        """The reply as a turn of the conversation."""
        message: Message = {"role": "assistant", "content": self.text or None}
        if self.tool_calls:
            message["tool_calls"] = list(self.tool_calls)
        return message


class Model(Protocol):
    """Anything that replies.

    Raises:
        ProviderFault: the provider failed.
        ModelFault: the model itself did.
    """

    id: str

    async def reply(self, request: Request) -> Reply: ...

    async def close(self) -> None: ...


def is_built_in(model_id: str) -> bool:
    """Whether a model lives in this program and calls nobody: `reference`, or `scripted` with any suffix.

    >>> [is_built_in(model_id) for model_id in ("scripted-b", "reference", "reference-b", "openai/gpt-4o")]
    [True, True, False, False]
    """
    return model_id == "reference" or model_id.startswith("scripted")
