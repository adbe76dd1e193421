"""Turns HTTP errors and broken connections into faults of the provider."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Reply
from gnomon_agents.models.chat_format import sanitize
from gnomon_agents.models.error_body import read_error, status_in
from gnomon_agents.models.fault_table import MALFORMED_CALL, verdict_on
from gnomon_agents.models.retry_after import retry_after_s

_MAX_WORDS = 2_000
Scrub = Callable[[str], str]


def fault_of_transport(error: Exception, scrub: Scrub) -> ProviderFault:
    """The fault that an error on the way to or from the provider stands for."""
    message = scrub(_in_words(error))
    if isinstance(error, aiohttp.InvalidURL):
        return ProviderFault(message, cause="bad_request", transient=False)
    if isinstance(error, (aiohttp.ClientResponseError, ValueError)):  # HTTP that is none
        return ProviderFault(message, cause="bad_response")
    return ProviderFault(message, cause="connection")


def _in_words(error: Exception) -> str:
    """What went wrong and at which address; errors that do not know it keep aiohttp's words."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host name {error.host!r} cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(error, aiohttp.ClientSSLError):
        code = error.os_error.errno
        return f"nothing answers at {error.host}:{error.port}" + (f": {os.strerror(code)}" if code else "")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the endpoint closed the connection before it replied"
    return f"{type(error).__name__}: {error}"


def fault_of_body(
    status: int, headers: Mapping[str, str], content: Any, body: bytes, scrub: Scrub
) -> ProviderFault | ModelFault:
    """The fault of an HTTP answer that holds no reply; `content` is its JSON, or None."""
    error = read_error(content)
    if content is None:
        error = read_error({"message": body[:_MAX_WORDS].decode(errors="replace")})
    message = scrub(f"HTTP {status}: {(error.message or body[:_MAX_WORDS].decode(errors='replace'))}")
    if status == 200:
        status = status_in(error.codes) or status  # relays put the status of who is behind them into the body
    verdict = verdict_on(status, error)
    if verdict is MALFORMED_CALL:  # what it wrote was paid for, whatever the server makes of it
        written = Reply(text=sanitize(error.generation), finish_reason=verdict.cause)
        return ModelFault(message, cause=verdict.cause, reply=written)
    if verdict.is_models:
        return ModelFault(message, cause=verdict.cause)
    return ProviderFault(
        message,
        cause=verdict.cause,
        transient=verdict.is_transient,
        retry_after_s=retry_after_s(headers, error) if verdict.is_transient else None,
    )
