"""Reads the plan of a reply: JSON in the published form, or the published text with a line for each field."""

import json
import re
from collections.abc import Iterator
from typing import Any

from gnomon.core.thinking import without_thinking
from gnomon_trips.sandbox.plan import Days

MAX_READ = 100_000  # characters, from the end
MAX_DAYS = 60
_MAX_STARTS = 400  # brackets at which JSON is tried
_DAY = re.compile(r"^[^\w\n]{0,9}Day[ \t]{1,9}(\d{1,3})\b.*$", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r"^[^\w\n]{0,9}(Current City|Transportation|Breakfast|Attractions?|Lunch|Dinner|Accommodation)"
    r"[ \t*]{0,9}:[ \t*]{0,9}(.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def read_plan(response: object) -> Days | None:
    """The days of the last plan of a reply; None where there is none.

    >>> read_plan('{"plan": [{"days": 1, "current_city": "Rome"}]}')
    [{'days': 1, 'current_city': 'Rome'}]
    """
    if not isinstance(response, str):
        return None
    text = without_thinking(response)[-MAX_READ:]
    plans = [plan for value in _values(text) if (plan := _plan(value))]
    return plans[-1] if plans else _text_plan(text)


def _plan(value: object) -> list[dict[str, Any]] | None:
    """The days of a JSON value, where it is a plan."""
    days = value.get("plan", value.get("days")) if isinstance(value, dict) else value
    if not isinstance(days, list) or not 0 < len(days) <= MAX_DAYS:
        return None
    if not all(isinstance(day, dict) for day in days) or not any("current_city" in day for day in days):
        return None
    return days


def _values(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at, starts = 0, 0
    while (match := re.compile(r"[\[{]").search(text, at)) and starts < _MAX_STARTS:
        starts += 1
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.end()
            continue
        yield value


def _text_plan(text: str) -> Days | None:
    heads = list(_DAY.finditer(text))
    if not heads:
        return None
    ends = [*(head.start() for head in heads[1:]), len(text)]
    days: dict[int, dict[str, Any]] = {}
    for head, end in zip(heads, ends, strict=True):
        fields = {
            match[1].casefold().replace(" ", "_").replace("attractions", "attraction"): match[2].strip(" *")
            for match in _LINE.finditer(text, head.end(), end)
        }
        if "current_city" in fields:
            days[int(head[1])] = {"days": int(head[1]), **fields}
    return [days[number] for number in sorted(days)][:MAX_DAYS] or None
