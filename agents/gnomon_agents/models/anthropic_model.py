"""Calls Anthropic's Messages API directly: LiteLLM would put all thinking before the first call."""

from collections.abc import Mapping
from typing import Any

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Reply
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.anthropic_request import DIALECT, MessagesRequest
from gnomon_agents.models.anthropic_rules import ENDPOINT
from gnomon_agents.models.direct_model import DirectModel, Price, Turn, call_of, readable
from gnomon_agents.models.litellm_errors import Scrubber
from gnomon_agents.models.model_version import version_of
from gnomon_agents.models.reply_bounds import bounded
from gnomon_agents.models.usage import TokenUsage, token_count, usage_of

# Why it stopped, in the words of a chat completion; any other reason stays as it came.
_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


class AnthropicModel(DirectModel):
    """One model behind Anthropic's API, or one that speaks it."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        """Check the spec; calls nobody.

        Raises:
            SpecError: `options` holds a name that is not the spec's to set.
        """
        super().__init__(spec, endpoint=ENDPOINT, requests=MessagesRequest(spec, media), read=read_message)


def read_message(body: Mapping[str, Any], scrub: Scrubber, price: Price) -> Reply:
    """The reply that a message holds.

    Raises:
        ProviderFault: `bad_response`: it holds no readable content, or a pause with nothing in it.
        ModelFault: `refused`, or `context_overflow` where nothing was written before the context was full.
    """
    turn = readable(lambda: _turn(body, scrub), scrub, lack="the message has no readable content")
    reason = wire.sanitize(str(body.get("stop_reason") or "stop"))[:100]
    reply = turn.reply(dialect=DIALECT, finish_reason=_REASONS.get(reason, reason), price=price)
    is_empty = not turn.text.strip() and not turn.calls
    if reason == "refusal":  # what it wrote until then is not meant to be used
        raise ModelFault(scrub(_refusal(body.get("stop_details"))), cause="refused", reply=reply)
    if reason == "model_context_window_exceeded" and is_empty:
        message = "the model's context was full before it answered"
        raise ModelFault(message, cause="context_overflow", reply=reply)
    if reason == "pause_turn" and is_empty:
        raise ProviderFault("the provider paused the turn before it held anything", cause="bad_response")
    return bounded(reply)


def _turn(body: Mapping[str, Any], scrub: Scrubber) -> Turn:
    content = body["content"]
    return Turn(
        body=content,
        text="\n".join(block["text"] for block in content if block["type"] == "text"),
        reasoning="\n".join(block["thinking"] for block in content if block["type"] == "thinking"),
        calls=tuple(
            call_of(block["id"], block["name"], block["input"])
            for block in content
            if block["type"] == "tool_use"
        ),
        usage=anthropic_usage(body.get("usage")),
        version=version_of(body, scrub),
    )


def _refusal(details: object) -> str:
    fields = details if isinstance(details, dict) else {}
    reasons = [str(fields[name]) for name in ("category", "explanation") if fields.get(name)]
    return ": ".join(["the model refused", *reasons])


def anthropic_usage(usage: object) -> TokenUsage:
    """The `usage` of a message; unknown where it says nothing, or nonsense. Its input excludes cached tokens.

    >>> usage = anthropic_usage({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 200})
    >>> usage.prompt, usage.completion, usage.cached, usage.cache_write
    (210, 5, 200, None)
    """
    if not isinstance(usage, Mapping):
        return TokenUsage(is_unreadable=usage is not None)
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, cached, written = map(usage.get, names)
    stated = [count for count in (fresh, cached, written) if count is not None]
    counts = [token_count(count) for count in stated]
    details = usage.get("output_tokens_details")
    return usage_of(
        prompt=-1 if None in counts else sum(count or 0 for count in counts) if counts else None,
        completion=usage.get("output_tokens"),
        cached=cached,
        cache_write=written,
        reasoning=details.get("thinking_tokens") if isinstance(details, Mapping) else None,
    )
