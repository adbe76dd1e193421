"""Sorts LiteLLM's errors into faults of the provider and of the model, with every secret redacted."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import aiohttp

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.redaction import Redactor
from gnomon_agents.models.chat_format import sanitize
from gnomon_agents.models.fault_table import blames_reply_limit
from gnomon_agents.models.http_errors import fault_of_body, fault_of_transport
from gnomon_tools.core.json_text import json_value

MAX_MESSAGE_CHARS = 600

# LiteLLM's exception classes, most special first: cause, and whether trying again may help. They count only
# where no HTTP answer is at hand, for LiteLLM picks them by words as well: a 503 may be a BadRequestError.
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
_MODELS = {"ContextWindowExceededError": "context_overflow", "ContentPolicyViolationError": "refused"}


class Scrubber:
    """Removes secrets from a provider's message: the key that was used, and all that `Secrets` knows."""

    def __init__(self, key: str | None = None) -> None:
        self.key = key

    def __call__(self, text: str) -> str:
        """The text, cleaned, shortened and without secrets.

        >>> Scrubber("hunter2hunter2")("bad key hunter2hunter2 or sk-abcdefghijk")
        'bad key [secret] or [secret]'
        """
        return sanitize(self._secrets.redact_text(text))[:MAX_MESSAGE_CHARS]

    @cached_property
    def _secrets(self) -> Redactor:
        """Made once. Shorter keys, as servers of one's own take them, are words."""
        return Redactor([self.key] if self.key and len(self.key) >= 6 else [])


def fault_of(
    error: Exception, scrub: Scrubber, error_body: dict[str, Any] | None = None
) -> ProviderFault | ModelFault:
    """The fault that an error of LiteLLM stands for: that of the provider's HTTP answer, if there was one.
    `error_body` is the error that the provider sent as if it were a success.
    """
    fault = (
        _fault_of_answer(error, scrub)
        if error_body is None
        else fault_of_body(200, {}, error_body, b"", scrub)
    )
    kinds = [kind.__name__ for kind in type(error).__mro__]
    cause = next((cause for kind, cause in _MODELS.items() if kind in kinds), None)
    if cause == "context_overflow" and blames_reply_limit(str(error).lower()):
        cause = None
    if cause is not None and (fault is None or fault.cause == "bad_request"):
        return ModelFault(scrub(f"{type(error).__name__}: {error}"), cause=cause)
    if fault is not None:
        return fault
    cause, is_transient = _cause(error, kinds)
    for link in _chain(error) if cause == "connection" else ():
        if isinstance(link, aiohttp.ClientConnectionError):  # it knows the address, LiteLLM's words may not
            return fault_of_transport(link, scrub)
    return ProviderFault(scrub(f"{type(error).__name__}: {error}"), cause=cause, transient=is_transient)


def _fault_of_answer(error: Exception, scrub: Scrubber) -> ProviderFault | ModelFault | None:
    """The fault of the answer that lies at the bottom of the error's chain; None where there is none.

    Of an answer of 200 that held an error nothing is left but LiteLLM's status and words.
    """
    for link in _chain(error):
        if "HTTPStatusError" in [kind.__name__ for kind in type(link).__mro__]:
            response: Any = getattr(link, "response", None)
            body = bytes(response.content)
            return fault_of_body(response.status_code, response.headers, json_value(body), body, scrub)
    last = list(_chain(error))[-1]
    status = getattr(last, "status_code", None)
    if type(last) is Exception and isinstance(status, int) and 400 <= status < 600:
        error_body = {"message": getattr(last, "message", None) or str(last)}
        return fault_of_body(status, {}, error_body, b"", scrub)
    return None


def _cause(error: Exception, kinds: list[str]) -> tuple[str, bool]:
    for kind, cause, is_transient in _CAUSES:
        if kind in kinds:
            # LiteLLM's BadRequestError of 422 is its own word for an answer that it could not read.
            if cause == "bad_request" and isinstance(error.__context__, Exception) and _is_unreadable(error):
                return "bad_response", True
            return cause, is_transient
    # What is left is LiteLLM's own 500: for a lost connection, or a body that it could not read.
    if any("Connect" in type(link).__name__ for link in _chain(error)):
        return "connection", True
    return "bad_response", True


def _is_unreadable(error: Exception) -> bool:
    return getattr(error, "status_code", None) == 422 and "valid response block" in str(error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
