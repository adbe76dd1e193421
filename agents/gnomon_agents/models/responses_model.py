"""Calls OpenAI's Responses API directly: LiteLLM would keep only the last of several reasoning items."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Reply
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.direct_model import DirectModel, Price, Turn, call_of, readable
from gnomon_agents.models.litellm_errors import Scrubber
from gnomon_agents.models.model_version import version_of
from gnomon_agents.models.reply_bounds import bounded
from gnomon_agents.models.responses_request import DIALECT, ENDPOINT, ResponsesRequest
from gnomon_agents.models.usage import TokenUsage, chat_usage

# The status that an error in the body of a 200 would have had by itself.
_STATUSES = {"server_error": 500, "rate_limit_exceeded": 429, "vector_store_timeout": 504}


class ResponsesModel(DirectModel):
    """One model behind an endpoint that speaks the Responses API."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        """Check the spec; calls nobody.

        Raises:
            SpecError: `options` holds a name that is not the spec's to set.
        """
        requests = ResponsesRequest(spec, media)
        super().__init__(spec, endpoint=ENDPOINT, requests=requests, read=read_response, statuses=_STATUSES)


def read_response(body: Mapping[str, Any], scrub: Scrubber, price: Price) -> Reply:
    """The reply that a response holds.

    Raises:
        ProviderFault: `bad_response`: it holds no readable output, or did not end.
        ModelFault: `refused`.
    """
    status = body.get("status", "completed")
    if status not in ("completed", "incomplete"):
        raise ProviderFault(scrub(f"the response has the status {status!r}"), cause="bad_response")
    turn = readable(lambda: _turn(body, scrub), scrub, lack="the response has no readable output")
    reason = "tool_calls" if turn.calls else "stop"
    if status == "incomplete":
        reason = _cut_short(body.get("incomplete_details"))
    reply = turn.reply(dialect=DIALECT, finish_reason=reason, price=price)
    if not turn.text and not turn.calls and (turn.refusal or reason == "content_filter"):
        raise ModelFault(scrub(turn.refusal or "the provider's content filter"), cause="refused", reply=reply)
    return bounded(reply)


def _turn(body: Mapping[str, Any], scrub: Scrubber) -> Turn:
    output = body["output"]
    parts = list(_parts(output, "message", "content"))
    thoughts = [*_parts(output, "reasoning", "summary"), *_parts(output, "reasoning", "content")]
    return Turn(
        body=output,
        text="\n".join(part["text"] for part in parts if part["type"] == "output_text"),
        refusal="\n".join(part["refusal"] for part in parts if part["type"] == "refusal"),
        reasoning="\n".join(part["text"] for part in thoughts),
        calls=tuple(
            call_of(item["call_id"], item["name"], item["arguments"])
            for item in output
            if item["type"] == "function_call"
        ),
        usage=responses_usage(body.get("usage")),
        version=version_of(body, scrub),
    )


def _parts(output: Any, kind: str, field: str) -> Iterator[Mapping[str, Any]]:
    for item in output:
        if item["type"] == kind:
            yield from item.get(field) or ()


def _cut_short(details: object) -> str:
    """Why it did not come to its end, in the words of a chat completion.

    >>> _cut_short({"reason": "max_output_tokens"}), _cut_short(None)
    ('length', 'incomplete')
    """
    reason = str((details.get("reason") if isinstance(details, dict) else None) or "incomplete")
    return "length" if reason == "max_output_tokens" else wire.sanitize(reason)[:100]


def responses_usage(usage: object) -> TokenUsage:
    """The `usage` of a response; unknown where it says nothing, or nonsense.

    >>> responses_usage({"input_tokens": 10, "output_tokens": 5,
    ...                  "output_tokens_details": {"reasoning_tokens": 4}}).reasoning
    4
    """
    if not isinstance(usage, Mapping):
        return TokenUsage(is_unreadable=usage is not None)
    return chat_usage(
        {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "prompt_tokens_details": usage.get("input_tokens_details"),
            "completion_tokens_details": usage.get("output_tokens_details"),
        }
    )
