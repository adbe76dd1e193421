"""Reads a chat completion from any endpoint that speaks OpenAI's protocol."""

from collections.abc import Callable, Mapping
from typing import Any

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.message import ToolCall
from gnomon.core.model import Reply
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.chat_turn import kept_of, reasoning_of, refusal_of, text_of
from gnomon_agents.models.finish_reason import checked, native_reason
from gnomon_agents.models.litellm_errors import Scrubber
from gnomon_agents.models.model_version import version_of
from gnomon_agents.models.reply_bounds import bounded
from gnomon_agents.models.usage import TokenUsage, chat_usage, counts_of


def read_completion(
    body: Mapping[str, Any],
    scrub: Scrubber,
    price: Callable[[TokenUsage], float | None] = lambda usage: usage.usd,
) -> tuple[Reply, TokenUsage]:
    """The reply that a completion holds, with its price, and what it used.

    Raises:
        ProviderFault: `bad_response`, where it holds no readable choice; or as the finish reason says.
        ModelFault: `refused` or `malformed_call`.
    """
    try:
        choice = _choice(body["choices"])
        message = choice["message"]
        text = wire.sanitize(text_of(message.get("content")))
        written = _calls(message)
        calls = tuple(_call(call) for call in written)
        usage = chat_usage(body.get("usage"))
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError) as error:
        problem = scrub(f"the reply has no readable choice: {type(error).__name__}: {error}")
        raise ProviderFault(problem, cause="bad_response") from None
    own = kept_of(message, written)
    refusal = refusal_of(message) if not text and not calls else ""
    reply = Reply(
        text=text,
        tool_calls=calls,
        finish_reason="stop" if refusal else native_reason(choice),
        reasoning=wire.sanitize(reasoning_of(message)),
        provider_turn=None if own is None else {"dialect": "chat", "body": own},
        model_version=version_of(body, scrub),
        **counts_of(usage, price),
    )
    if refusal:
        raise ModelFault(scrub(refusal), cause="refused", reply=reply)
    return checked(bounded(reply), choice, scrub), usage


def _choice(choices: Any) -> Mapping[str, Any]:
    """The first choice that says or calls something, else the first: some relays give words and calls apart.

    Raises:
        AttributeError, IndexError, KeyError, TypeError: there is no readable choice.
    """
    if not isinstance(choices, list):
        raise TypeError(f"choices is a {type(choices).__name__}")
    if len(choices) == 1:
        return choices[0]  # type: ignore[no-any-return]
    sound = [
        choice
        for choice in choices
        if isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping)
    ]
    calling = [choice for choice in sound if choice["message"].get("tool_calls")]
    speaking = [choice for choice in sound if choice["message"].get("content")]
    return [*calling, *speaking, *sound][0]


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls of a message, the one call of the older protocol included.

    Raises:
        TypeError: they are no list.
    """
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise TypeError(f"tool_calls is a {type(calls).__name__}")
    older = message.get("function_call")
    return [{"function": older}] if older and not calls else calls


def _call(call: Mapping[str, Any]) -> ToolCall:
    """A call; without a name the toolbox tells the model so.

    Raises:
        AttributeError, KeyError: it is no call of a function.
    """
    function = call["function"]
    return wire.parse_tool_call(call.get("id"), function.get("name"), function.get("arguments"))
