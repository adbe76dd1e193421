"""Faults: LiteLLM's errors told apart by whose fault they are, with every secret struck out."""

import math
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from agents.models.wire import clean
from gnomon.errors import ModelFault, ProviderFault
from gnomon.secrets import Secrets

MAX_MESSAGE_CHARS = 600
MAX_RETRY_AFTER_S = 600.0

# LiteLLM's exception classes, most special first: cause, and whether trying again may help.
_CAUSES: tuple[tuple[str, str, bool], ...] = (
    ("RateLimitError", "rate_limit", True),
    ("Timeout", "timeout", True),
    ("AuthenticationError", "auth", False),
    ("PermissionDeniedError", "auth", False),
    ("NotFoundError", "not_found", False),
    ("APIResponseValidationError", "bad_response", True),
    ("JSONSchemaValidationError", "bad_response", True),
    ("UnprocessableEntityError", "bad_request", False),
    ("BadRequestError", "bad_request", False),
    ("APIConnectionError", "connection", True),
)
# What a provider's own code says more exactly than the class.
_CODES: dict[str, tuple[str, bool]] = {
    "insufficient_quota": ("quota", False),
    "401": ("auth", False),
    "402": ("quota", False),
    "403": ("auth", False),
}
_REFUSED = ("content_policy_violation", "content_filter")


class Scrubber:
    """Strikes secrets out of a provider's message: the key that was used, and whatever `Secrets` knows."""

    def __init__(self, key: str | None = None) -> None:
        # Shorter ones, as servers of one's own take them, are words.
        self._secrets = Secrets([key] if key and len(key) >= 6 else [])

    def __call__(self, text: str) -> str:
        """The text, cleaned, shortened and without secrets.

        >>> Scrubber("hunter2hunter2")("bad key hunter2hunter2 or sk-abcdefghijk")
        'bad key [secret] or [secret]'
        """
        return clean(self._secrets.strike(text))[:MAX_MESSAGE_CHARS]


def fault_of(error: Exception, scrub: Scrubber) -> ProviderFault | ModelFault:
    """The fault that an error of LiteLLM stands for."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    codes = _codes(error)
    message = scrub(f"{type(error).__name__}: {error}")
    if "ContextWindowExceededError" in kinds or "context_length_exceeded" in codes:
        return ModelFault(message, cause="context_overflow")
    if "ContentPolicyViolationError" in kinds or any(code in _REFUSED for code in codes):
        return ModelFault(message, cause="refused")
    cause, transient = _cause(error, kinds, codes)
    return ProviderFault(message, cause=cause, transient=transient, retry_after_s=_retry_after_s(error))


def _cause(error: Exception, kinds: list[str], codes: list[str]) -> tuple[str, bool]:
    for code in codes:
        if code in _CODES:
            return _CODES[code]
    for kind, cause, transient in _CAUSES:
        if kind in kinds:
            return cause, transient
    # What is left are 5xx, and LiteLLM's own 500 for a lost connection or a body it could not read.
    chain = {type(link).__name__ for link in _chain(error)}
    if any("Connect" in name for name in chain):
        return "connection", True
    status = getattr(error, "status_code", None)
    if "HTTPStatusError" not in chain or not isinstance(status, int):
        return "bad_response", True
    return ("server_error", True) if status >= 500 else ("bad_request", False)


def _codes(error: Exception) -> list[str]:
    body = getattr(error, "body", None)
    inner = body.get("code") if isinstance(body, dict) else None
    return [str(code) for code in (inner, getattr(error, "code", None), getattr(error, "status_code", None))]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _retry_after_s(error: Exception) -> float | None:
    """Seconds that the provider asks to wait (RFC 9110, 10.2.3: a number or a date); nonsense is None."""
    for link in _chain(error):
        headers = getattr(link, "litellm_response_headers", None) or {}
        said = headers.get("retry-after") or headers.get("Retry-After")
        if said:
            return seconds(str(said))
    return None


def seconds(said: str) -> float | None:
    """Seconds from now, in [0, MAX_RETRY_AFTER_S].

    >>> seconds("7"), seconds("soon"), seconds("Thu, 01 Jan 1970 00:00:00 GMT"), seconds("inf")
    (7.0, None, 0.0, 600.0)
    >>> seconds("Thu, 01 Jan 1970 00:00:00 +99999999999999") is None
    True
    """
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_RETRY_AFTER_S)
