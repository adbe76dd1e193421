"""Models: messages and tool schemas in, a reply with its usage out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gnomon.core.decoding import NO_DECODING, Decoding
from gnomon.core.errors import ProviderFault
from gnomon.core.message import Message, ProviderTurn, ToolCall, ToolChoice, ToolSchema

T = TypeVar("T")

CALL_TIMEOUT_S = 120.0  # of one call, unless the model's entry says otherwise
SLOW_S = 20.0  # after so long without a reply an endpoint is named
TOOLSETS_KEPT = 64
UNREADABLE = "usage_unreadable"  # flag of a reply whose provider's token counts are impossible


@dataclass(slots=True, kw_only=True)
class Request:
    """One call: exactly what the model gets, and how it shall answer. Not to be changed.

    It is not frozen, as are replies and steps: each is made at every call, and frozen it takes three times as
    long.
    """

    messages: list[Message]
    tools: list[ToolSchema]
    tool_choice: ToolChoice = "auto"
    seed: int | None = None
    timeout_s: float = CALL_TIMEOUT_S
    decoding: Decoding = NO_DECODING  # the protocol's, for what the model's own entry leaves open
    limit_name: str | None = None  # what the endpoint calls the limit of a reply; None: as usual


@dataclass(slots=True, kw_only=True)
class Reply:
    """One answer, not to be changed. Unknown usage and unknown price stay None; they are never zero.

    Cached and cache-write tokens are part of `prompt_tokens`, reasoning tokens part of `completion_tokens`,
    whatever a provider's own counting is. `cached` says that Gnomon's response cache gave the reply.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None  # read from the provider's prompt cache
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    usd: float | None = None
    cached: bool = False
    reasoning: str = ""  # as far as the provider shows it
    provider_turn: ProviderTurn | None = None
    request_changes: tuple[str, ...] = ()  # what the provider's adapter changed in the request, by name
    flags: tuple[str, ...] = ()  # what was not as it should be in the reply: UNREADABLE, `reply_cut`
    model_version: str = ""  # of the model that replied, with its fingerprint, as the provider tells them

    def message(self, *, calls: Sequence[ToolCall] | None = None) -> Message:
        """The reply as a turn of the conversation, with `calls` in place of its own: renamed, or none.

        >>> Reply(text="").message(calls=[])
        {'role': 'assistant', 'content': ''}
        """
        calls = self.tool_calls if calls is None else calls
        message: Message = {"role": "assistant", "content": self.text or (None if calls else "")}
        if calls:
            message["tool_calls"] = list(calls)
        if self.provider_turn is not None:
            message["provider_turn"] = self.provider_turn
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


BUILT_IN: Mapping[str, str] = {
    "reference": "a built-in policy, not a language model: fixed rules, made with knowledge of these kinds "
    "of questions to show the path from them to a report. Where no rule finds the answer in results of tools "
    "or in facts, it guesses by a hash of the prompt’s text. Its scores say what tools can give, not what a "
    "model does with them",
    "scripted": "a built-in stand-in, not a language model: it replies as its options in the job’s file say",
    "agent": "whatever model an outside agent asks: Gnomon neither chooses nor sees it",
}
OWN_MODEL = "agent"  # stands for an outside agent's own model


def is_built_in(model_id: str) -> bool:
    """Whether a model is built in and calls no provider: `reference`, `scripted` with any suffix, or `agent`.

    >>> [is_built_in(model_id) for model_id in ("scripted-b", "reference", "reference-b", "openai/gpt-4o")]
    [True, True, False, False]
    """
    return model_id in ("reference", OWN_MODEL) or is_scripted(model_id)


def is_scripted(model_id: str) -> bool:
    """Whether a model replies as its options say: `scripted` with any suffix."""
    return model_id.startswith("scripted")


def built_in_text(model_id: str) -> str:
    """What a built-in model is, for readers of its scores; empty for all others.

    >>> built_in_text("scripted-b").startswith("a built-in stand-in"), built_in_text("openai/gpt-4o")
    (True, '')
    """
    if not is_built_in(model_id):
        return ""
    return BUILT_IN[model_id if model_id in BUILT_IN else "scripted"]


class UncalledModel:
    """A model that only outside agents may ask: Gnomon does not call it."""

    def __init__(self, model_id: str) -> None:
        self.id = model_id

    async def reply(self, request: Request) -> Reply:  # noqa: ARG002 (as every model takes one)
        """Refuses.

        Raises:
            ProviderFault: `bad_request`.
        """
        message = f"{self.id} is a model of outside agents; Gnomon does not call it"
        raise ProviderFault(message, cause="bad_request", transient=False)

    async def close(self) -> None:
        """Nothing is open."""


def provider_in(model_id: str) -> str:
    """The provider that an id names before its slash; of a bare `claude-…` that is Anthropic.

    >>> [provider_in(model_id) for model_id in ("openai/gpt-4o", "claude-opus-4-8", "gpt-4o")]
    ['openai', 'anthropic', 'gpt-4o']
    """
    provider, slash, _ = model_id.partition("/")
    return "anthropic" if not slash and provider.startswith("claude-") else provider


def memoize_by_tools(make: Callable[[Sequence[ToolSchema]], T]) -> Callable[[Sequence[ToolSchema]], T]:
    """A function of tool schemas that is called once per toolset: a schema is one object for a whole process.

    The schemas are kept beside the result, so that no other object comes to have their identity.

    >>> size = memoize_by_tools(lambda tools: len(str(tools)))
    >>> size([]), size([])
    (2, 2)
    """
    kept: dict[tuple[int, ...], tuple[list[ToolSchema], T]] = {}

    def memoized(tools: Sequence[ToolSchema]) -> T:
        ids = tuple(map(id, tools))
        entry = kept.get(ids)
        if entry is None:
            if len(kept) >= TOOLSETS_KEPT:
                kept.clear()
            entry = kept[ids] = (list(tools), make(tools))
        return entry[1]

    return memoized
