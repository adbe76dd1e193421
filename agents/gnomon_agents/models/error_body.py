"""Reads a provider's error in whichever shape it comes: codes, words, and how long to wait."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from gnomon_tools.core.json_text import json_value

# `status` and `reason` are Google's, `error_type` is Text Generation Inference's.
_CODES = ("code", "type", "status", "reason", "error_type")
_WORDS = ("message", "msg", "detail", "error", "raw", "status_msg")
# MiniMax's own numbers, in `base_resp` beside HTTP's 200, as the statuses and codes that others have for it.
_MINIMAX = {
    1000: "500",
    1001: "504",
    1002: "429",
    1004: "401",
    1008: "insufficient_balance",
    1013: "500",
    1024: "500",
    1026: "data_inspection_failed",
    1027: "content_filter",
    1033: "500",
    1039: "429",
    1041: "429",
    2013: "400",
    2049: "401",
}
# What else may hold an error: OpenRouter's `metadata` (`raw` is the body of the provider behind it), Google's
# `details`, Azure's `innererror`. Never `input`: FastAPI says the prompt again in it.
_HOLDERS = (*_WORDS, "metadata", "details", "innererror", "errors", "headers", "base_resp")
_MAX_DEPTH, _MAX_PARTS = 8, 100
_MAX_RAW_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """What an error says: its codes and types in lower case, and its words."""

    codes: frozenset[str] = frozenset()
    message: str = ""  # the first words, for a person
    words: str = ""  # all of them, in lower case
    is_moderated: bool = False  # it lists what a moderator found in the prompt
    retry_delay: str = ""  # Google's RetryInfo, such as `34s`
    reset_ms: str = ""  # OpenRouter's: milliseconds since 1970
    generation: str = ""  # Groq's: what the model wrote, which was no call


def read_error(body: Any) -> ErrorBody:
    """The error in a body of JSON, or in what one of its fields holds; anything else says nothing.

    >>> read_error([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}]).codes == {
    ...     "429", "resource_exhausted"}
    True
    >>> read_error({"code": "invalid", "error": "Incorrect%20API%20key"}).words
    'incorrect api key'
    """
    codes: set[str] = set()
    words: list[str] = []
    fields: dict[str, str] = {}
    is_moderated = False
    place = ""  # of the field that is refused, as FastAPI says it beside the words
    for part in _parts(body):
        if isinstance(part, str):
            words.append(part)
            continue
        codes |= {str(part[name]).lower() for name in _CODES if isinstance(part.get(name), str | int)}
        if isinstance(number := part.get("status_code"), int):
            codes.add(_MINIMAX.get(number, str(number)))
        is_moderated = is_moderated or bool(isinstance(part.get("reasons"), list) and part["reasons"])
        if not place and isinstance(part.get("loc"), list):
            place = f" ({'.'.join(map(str, part['loc'][:_MAX_DEPTH]))[:100]})"
        for name in ("retryDelay", "X-RateLimit-Reset", "failed_generation"):
            if isinstance(part.get(name), str | int):
                fields.setdefault(name, str(part[name]))
    text = "\n".join(words)
    return ErrorBody(
        codes=frozenset(codes),
        message=words[0] + place if words else "",
        words=unquote(text, errors="replace").lower(),
        is_moderated=is_moderated,
        retry_delay=fields.get("retryDelay", ""),
        reset_ms=fields.get("X-RateLimit-Reset", ""),
        generation=fields.get("failed_generation", ""),
    )


def holds_error(body: Mapping[str, Any]) -> bool:
    """Whether the body of a 200 is an error, and not what was asked for.

    >>> holds_error({"choices": [], "error": None}), holds_error({"base_resp": {"status_code": 1008}})
    (False, True)
    """
    base_resp = body.get("base_resp")
    has_failed = isinstance(base_resp, Mapping) and base_resp.get("status_code") not in (None, 0)
    return body.get("error") is not None or (has_failed and not body.get("choices"))


def status_in(codes: frozenset[str]) -> int | None:
    """The HTTP status among an error's codes: relays answer 200 and say in the body what they were told.

    >>> status_in(frozenset({"502", "1113", "²"})), status_in(frozenset({"invalid"}))
    (502, None)
    """
    return max((int(code) for code in codes if re.fullmatch("[45][0-9][0-9]", code, re.ASCII)), default=None)


def _parts(body: Any) -> Iterator[dict[str, Any] | str]:
    """The objects of an error, outermost first, and the words in their fields; bounded, for it is hostile."""
    queue: list[tuple[Any, int]] = [(body, 0)]
    for count in range(_MAX_PARTS):
        if count >= len(queue):
            return
        part, depth = queue[count]
        if isinstance(part, str):
            part = part[:_MAX_RAW_CHARS]
            if depth > 1 and part.lstrip().startswith(("{", "[")) and (inner := json_value(part)) is not None:
                queue.append((inner, depth + 1))
                continue
            yield part
        elif depth < _MAX_DEPTH and isinstance(part, list):
            queue += [(item, depth) for item in part[:_MAX_PARTS]]
        elif depth < _MAX_DEPTH and isinstance(part, dict):
            yield part
            queue += [(part[name], depth + 1) for name in _HOLDERS if name in part]
