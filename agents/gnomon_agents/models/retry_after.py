"""Reads how long a provider asks to wait: from its headers, its error's fields, its words."""

import datetime as dt
import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from gnomon_agents.models.error_body import ErrorBody

MAX_RETRY_AFTER_S = (
    1e9  # what may be asked for; how long is waited is decided in gnomon/core/provider_wait.py
)
_UNIT_S = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[smhd]))+", re.ASCII)
_TRY_AGAIN = re.compile(
    r"(?:try again|retry)(?: in| after)? (\d{1,9}(?:\.\d{1,9})?) ?(ms|milliseconds|s|seconds?|m|minutes?)\b"
    rf"|try again in ({_DURATION.pattern})",
    re.ASCII,
)
# Of a limit that is used up, when it is there again: OpenAI's (`6m0s`) and Anthropic's (RFC 3339).
_RESETS = tuple(
    (f"{prefix}remaining-{what}", f"{prefix}reset-{what}")
    if prefix.startswith("x-")
    else (f"{prefix}{what}-remaining", f"{prefix}{what}-reset")
    for prefix in ("x-ratelimit-", "anthropic-ratelimit-")
    for what in ("requests", "tokens", "input-tokens", "output-tokens")
)


def retry_after_s(headers: Mapping[str, str], error: ErrorBody) -> float | None:
    """Seconds to wait, in [0, MAX_RETRY_AFTER_S]; None where nothing is said, or nonsense.

    The first that says anything counts: `retry-after-ms`, `Retry-After` (RFC 9110, 10.2.3), Google's
    `retryDelay`, the reset of a limit that is used up, OpenRouter's reset, and at last the words.

    >>> retry_after_s({}, ErrorBody(retry_delay="34.5s"))
    34.5
    >>> retry_after_s({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2s"}, ErrorBody())
    62.0
    >>> retry_after_s({}, ErrorBody(words="rate limit reached. please try again in 500ms."))
    0.5
    """
    by_name = {name.lower(): value for name, value in headers.items()}
    resets = [
        duration_s(by_name[reset])
        for remaining, reset in _RESETS
        if by_name.get(remaining, "").strip() == "0" and reset in by_name
    ]
    stated_s = (
        _number(by_name.get("retry-after-ms", ""), unit_s=1e-3),
        seconds(by_name["retry-after"]) if by_name.get("retry-after") else None,
        duration_s(error.retry_delay),
        max((reset for reset in resets if reset is not None), default=None),
        _until(_number(error.reset_ms, unit_s=1e-3)),
        _in_words(error.words),
    )
    wait_s = next((wait_s for wait_s in stated_s if wait_s is not None), None)
    return None if wait_s is None else min(max(wait_s, 0.0), MAX_RETRY_AFTER_S)


def seconds(text: str) -> float | None:
    """Seconds from now of a `Retry-After`, in [0, MAX_RETRY_AFTER_S].

    >>> seconds("7"), seconds("soon"), seconds("Thu, 01 Jan 1970 00:00:00 GMT"), seconds("inf")
    (7.0, None, 0.0, 1000000000.0)
    >>> seconds("Thu, 01 Jan 1970 00:00:00 +99999999999999") is None
    True
    """
    try:
        wait_s = float(text)
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(wait_s) else min(max(wait_s, 0.0), MAX_RETRY_AFTER_S)


def duration_s(text: str) -> float | None:
    """Seconds of a duration with units, of a bare number, or until a time of RFC 3339.

    >>> duration_s("6m0s"), duration_s("20ms"), duration_s("1.5"), duration_s("1970-01-01T00:00:00Z")
    (360.0, 0.02, 1.5, 0.0)
    >>> duration_s("soon") is None
    True
    """
    text = text.strip().lower()
    if _DURATION.fullmatch(text):
        parts = re.findall(r"([\d.]+)(ms|[smhd])", text, re.ASCII)
        return sum(float(number) * _UNIT_S[unit] for number, unit in parts)
    if (number := _number(text, unit_s=1.0)) is not None:
        return number
    try:
        return _until(dt.datetime.fromisoformat(text.upper()).timestamp())
    except (ValueError, OverflowError):
        return None


def _number(text: str, *, unit_s: float) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number * unit_s if math.isfinite(number) else None


def _until(time_s: float | None) -> float | None:
    return None if time_s is None else max(time_s - time.time(), 0.0)


def _in_words(words: str) -> float | None:
    match = _TRY_AGAIN.search(words)
    if match is None:
        return None
    number, unit, duration = match.groups()
    if duration:
        return duration_s(duration)
    return float(number) * _UNIT_S["ms" if unit in ("ms", "milliseconds") else unit[0]]
