"""Sorts replies by their finish reason: an answer, a broken server, a filter, or a broken call.

Providers and their adapters say `stop` for much that is none. The reason is read where the provider itself
gives it: LiteLLM keeps it beside its own, OpenRouter beside its normalized one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.finish_reason import CUT_REASONS, REFUSED_REASONS, kind_of
from gnomon.core.model import Reply
from gnomon_agents.models.chat_format import sanitize
from gnomon_agents.models.http_errors import Scrub, fault_of_body

MAX_REASON_CHARS = 100

# The server gave up, with or without words before: OpenRouter, DeepSeek, GLM, vLLM and SGLang.
_BROKEN_OFF = {"error", "insufficient_system_resource", "network_error", "abort", "aborted"}
# The model wrote a call that is none: Gemini.
_BROKEN_CALL = {
    "malformed_function_call",
    "unexpected_tool_call",
    "too_many_tool_calls",
    "malformed_response",
}
# Ends that a model may come to. Any other, of a reply that says nothing, is the server's.
_ENDS = {
    *("stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed", "tool_calls"),
    *("tool_use", "function_call", "pause_turn", "finish_reason_unspecified"),
    *CUT_REASONS,
}


def native_reason(choice: Mapping[str, Any]) -> str:
    """The reason in the provider's own words, as far as LiteLLM or the choice tells it; `stop` for none.

    >>> fields = {"native_finish_reason": "abort"}
    >>> native_reason({"finish_reason": "stop", "provider_specific_fields": fields})
    'abort'
    """
    fields = choice.get("provider_specific_fields")
    kept = fields.get("native_finish_reason") if isinstance(fields, dict) else None
    return sanitize(str(kept or choice.get("finish_reason") or "stop"))[:MAX_REASON_CHARS]


def checked(reply: Reply, choice: Mapping[str, Any], scrub: Scrub) -> Reply:
    """The reply, whose `finish_reason` is the provider's own, if it is the model's answer.

    An empty reply is the model's answer of nothing, unless the provider counts not one token of it: then the
    model has not spoken.

    Raises:
        ProviderFault: the server broke off (`server_error`, or what its error says), or said nothing, for a
            reason that nobody knows or in zero tokens (`bad_response`).
        ModelFault: `refused` or `malformed_call`, with the reply, which was paid for.
    """
    reason = native_reason(choice)
    reply = reply if reply.finish_reason == reason else replace(reply, finish_reason=reason)
    error = _error_in(choice)
    openrouters = str(choice.get("native_finish_reason") or "")
    kinds = {kind_of(reason), kind_of(openrouters)}
    if error is not None or kinds & _BROKEN_OFF:
        body = {"error": error or {}}
        message = f"the server broke off: finish reason {reason!r}".encode()
        fault = fault_of_body(200, {}, body, message, scrub)
        if isinstance(fault, ModelFault) or fault.cause != "bad_response":
            raise fault
        raise ProviderFault(str(fault), cause="server_error")
    if reply.text or reply.tool_calls:
        return reply
    if kinds & REFUSED_REASONS:
        raise ModelFault(scrub(f"the provider's filter: {reason}"), cause="refused", reply=reply)
    if kinds & _BROKEN_CALL:
        raise ModelFault(scrub(f"a broken tool call: {reason}"), cause="malformed_call", reply=reply)
    if kind_of(reason) == "missing_thought_signature":
        raise ProviderFault(scrub(f"finish reason {reason}"), cause="bad_request", transient=False)
    if kind_of(reason) not in _ENDS:
        raise ProviderFault(scrub(f"an empty reply, finish reason {reason!r}"), cause="bad_response")
    if reply.prompt_tokens and reply.completion_tokens == 0 and not reply.reasoning:
        raise ProviderFault("an empty reply of zero tokens", cause="bad_response")
    return reply


def _error_in(choice: Mapping[str, Any]) -> Any:
    """What a choice says went wrong: an object, or words; None where it says nothing of the kind."""
    fields = choice.get("provider_specific_fields")
    kept = fields.get("error") if isinstance(fields, dict) else None
    error = choice.get("error") or kept
    return error if isinstance(error, dict | str) and error else None
