"""Classifies a provider's error: by its status first, then by its code, then by its words."""

import re
from typing import NamedTuple

from gnomon_agents.models.error_body import ErrorBody


class Verdict(NamedTuple):
    """A cause, whether it is the model's own failure, and whether trying again may help."""

    cause: str
    is_transient: bool = False
    is_models: bool = False


OVERFLOW = Verdict("context_overflow", is_models=True)
REFUSED = Verdict("refused", is_models=True)
MALFORMED_CALL = Verdict("malformed_call", is_models=True)
QUOTA = Verdict("quota")
AUTH = Verdict("auth")
BAD_REQUEST = Verdict("bad_request")
RATE_LIMIT = Verdict("rate_limit", is_transient=True)
# One request is more than a whole minute may hold: waiting is vain.
TOO_LARGE_FOR_RATE = Verdict("rate_limit")
TIMEOUT = Verdict("timeout", is_transient=True)
SERVER_ERROR = Verdict("server_error", is_transient=True)
BAD_RESPONSE = Verdict("bad_response", is_transient=True)

_STATUS = {
    401: AUTH,
    402: QUOTA,
    403: AUTH,
    404: Verdict("not_found"),
    408: TIMEOUT,
    429: RATE_LIMIT,
    504: TIMEOUT,
    524: TIMEOUT,  # Cloudflare's
}
# What providers call things. Numbers of four digits are GLM's.
_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error", "1261"}
_REFUSED_CODES = {
    *("content_policy_violation", "content_filter", "responsibleaipolicyviolation", "refusal"),
    *("invalid_prompt", "moderation_blocked", "datainspectionfailed", "data_inspection_failed", "1301"),
}
_QUOTA_CODES = {
    *("insufficient_quota", "exceeded_current_quota_error", "billing_error", "billing_not_active"),
    *("billing_hard_limit_reached", "insufficient_balance", "insufficient_credits", "arrearage", "1113"),
}
_AUTH_CODES = {
    *("invalid_api_key", "api_key_invalid", "authentication_error", "invalid_authentication_error"),
    *("invalidapikey", "1000", "1001", "1002"),
}
# That a prompt is too long for the model, each in its own words. Never at 429: its tokens are those of a
# minute.
_OVERFLOW_WORDS = (
    *("maximum context length", "maximum context limit", "model's context length", "exceed context limit"),
    *("exceeds the available context size", "maximum input length is", "maximum number of tokens allowed"),
    *("prompt is too long", "input is too long for requested model", "exceeds the context window"),
    *("maximum prompt length is", "reduce the length of the messages", "exceeded model token limit"),
    *("longer than the maximum model length", "max_model_len", "context window exceeds limit"),
    *("greater than the context length", "exceeded max context length", "exceeds the context length"),
    *("tokens + `max_new_tokens` must be", "range of input length should be"),
    "exceeds the maximum allowed length",
)
# Such words may speak of the prompt and of the reply that may follow it: then the spec's limit is to blame,
# unless the prompt alone is longer than the context.
_REPLY_LIMIT = re.compile(r"max_(?:[a-z]{1,20}_)?tokens|in the (?:completion|output)\b|output tokens")
# Numbers are bounded, for what is searched may be hostile.
_N = r"\d{1,15}"
_CONTEXT = re.compile(rf"(?:maximum context length is|must be <=|{_N} \+ {_N} >) ({_N})")
_PROMPT = re.compile(
    rf"({_N}) (?:(?:tokens )?in the messages|(?:`inputs`|input) tokens|of \w{{1,20}} input)|({_N}) \+ {_N} >"
)
# That the server could not read a call which the model wrote: llama.cpp, Ollama, vLLM (with `required`, and
# gpt-oss), SGLang. They may say all of it again, so these words count before any other.
_MALFORMED_CODES = {"tool_use_failed", "failed to parse fc related info to json format!"}  # Groq, LMDeploy
_MALFORMED_WORDS = (
    *("does not match the expected peg-", "failed to parse input at pos", "failed to parse tool call"),
    *("error parsing tool call", "validation error for list[function", "failed to parse fc related info"),
    *("unexpected tokens remaining in message header", "while expecting start token"),
)
_QUOTA_WORDS = ("credit balance is too low", "insufficient balance", "insufficient credits")
_AUTH_WORDS = ("incorrect api key", "api key not valid", "invalid api key", "invalid x-api-key")
# Ollama cuts a prompt that is too long, and its template then misses the user's turn: a 500.
_OVERFLOW_AT_500 = ("no user query found in messages",)


def verdict_on(status: int, error: ErrorBody) -> Verdict:
    """What an answer with this status and error means.

    >>> from gnomon_agents.models.error_body import read_error
    >>> verdict_on(503, read_error({"error": {"type": "invalid_request_error"}})).cause
    'server_error'
    >>> verdict_on(400, read_error({"error": {"message": "Your credit balance is too low"}})).cause
    'quota'
    """
    if _MALFORMED_CODES & error.codes or _holds(error, _MALFORMED_WORDS):
        return MALFORMED_CALL
    if _OVERFLOW_CODES & error.codes:
        return _overflow(error)
    if _QUOTA_CODES & error.codes or _holds(error, _QUOTA_WORDS):
        return QUOTA
    if status >= 500:
        is_overflow = _holds(error, _OVERFLOW_AT_500)
        return OVERFLOW if is_overflow else _STATUS.get(status, SERVER_ERROR)
    return _refusal_of_request(status, error)


def blames_reply_limit(words: str) -> bool:
    """Whether these words, in lower case, say that the limit of the reply does not fit beside a prompt which
    would fit alone.

    >>> blames_reply_limit("input length and `max_tokens` exceed context limit: 9 + 2 > 10")
    True
    >>> blames_reply_limit("input length and `max_tokens` exceed context limit: 11 + 2 > 10")
    False
    """
    words = words.replace(",", "")
    if not _REPLY_LIMIT.search(words):
        return False
    context = _CONTEXT.search(words)
    prompt = sum(int(part) for parts in _PROMPT.findall(words) for part in parts if part)
    return context is None or prompt <= int(context[1])


def _overflow(error: ErrorBody) -> Verdict:
    return BAD_REQUEST if blames_reply_limit(error.words) else OVERFLOW


def _refusal_of_request(status: int, error: ErrorBody) -> Verdict:
    """What a 3xx or 4xx means, or an error that came with no such status."""
    if _REFUSED_CODES & error.codes or (status == 403 and error.is_moderated):
        return REFUSED
    if status in (413, 429) and "request too large for" in error.words:
        return TOO_LARGE_FOR_RATE
    if status != 429 and _holds(error, _OVERFLOW_WORDS):
        return _overflow(error)
    if status != 429 and (_AUTH_CODES & error.codes or _holds(error, _AUTH_WORDS)):
        return AUTH
    return _STATUS.get(status, BAD_REQUEST if status >= 300 else BAD_RESPONSE)


def _holds(error: ErrorBody, words: tuple[str, ...]) -> bool:
    return any(part in error.words for part in words)
