"""HTTP faults: what an OpenAI-compatible endpoint's refusals mean, told apart by status, code and words."""

from collections.abc import Mapping
from typing import Any

import aiohttp

from agents.models.faults import Scrubber, seconds
from gnomon.errors import ModelFault, ProviderFault

# What a status means, and whether trying again may help.
_STATUS: dict[int, tuple[str, bool]] = {
    401: ("auth", False),
    402: ("quota", False),
    403: ("auth", False),
    404: ("not_found", False),
    408: ("timeout", True),
    429: ("rate_limit", True),
    504: ("timeout", True),
}
# Servers say in words, and each in its own, that a prompt is too long for the model.
_TOO_LONG = (
    *("maximum context length", "maximum context limit", "model's context length", "exceed context limit"),
    *("exceeds the available context size", "maximum input length is", "maximum number of tokens allowed"),
)
_REFUSED = ("content_policy_violation", "content_filter")


def fault_of_transport(error: Exception, scrub: Scrubber) -> ProviderFault:
    """The fault that an error on the way to or from the provider stands for."""
    message = scrub(f"{type(error).__name__}: {error}")
    if isinstance(error, aiohttp.InvalidURL):
        return ProviderFault(message, cause="bad_request", transient=False)
    if isinstance(error, (aiohttp.ClientResponseError, ValueError)):  # HTTP that is none
        return ProviderFault(message, cause="bad_response")
    return ProviderFault(message, cause="connection")


def fault_of_body(
    status: int, headers: Mapping[str, str], found: Any, body: bytes, scrub: Scrubber
) -> ProviderFault | ModelFault:
    """The fault that an answer stands for which is no completion; `found` is its JSON, or None."""
    error = found.get("error", found) if isinstance(found, dict) else None
    told = error.get("message") if isinstance(error, dict) else error
    code = str(error.get("code") or "") if isinstance(error, dict) else ""
    words = str(told) if told else body[:2_000].decode(errors="replace")
    message = scrub(f"HTTP {status}: {words}")
    if status == 200 and code.isdigit():
        status = int(code)  # relays put the status of who is behind them into the body
    if code == "context_length_exceeded" or (
        400 <= status < 500 and any(part in words.lower() for part in _TOO_LONG)
    ):
        return ModelFault(message, cause="context_overflow")
    if code in _REFUSED:
        return ModelFault(message, cause="refused")
    cause, transient = _cause(status, code)
    return ProviderFault(message, cause=cause, transient=transient, retry_after_s=_retry_after_s(headers))


def _cause(status: int, code: str) -> tuple[str, bool]:
    if code == "insufficient_quota":
        return "quota", False
    if status in _STATUS:
        return _STATUS[status]
    if status >= 500:
        return "server_error", True
    return ("bad_request", False) if 300 <= status < 500 else ("bad_response", True)


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    said = headers.get("Retry-After")
    return seconds(said) if said else None
