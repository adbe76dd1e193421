"""Brings numbers in words, and those of JSON objects, to digits with their unit."""

import re
from collections.abc import Mapping
from typing import Any

from gnomon.reading.units import unit_of
from gnomon_tools.core.json_text import json_value

MAX_WORDS = 80  # characters of a number in words
_SMALL = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {
    **{word: at for at, word in enumerate(_SMALL)},
    **{word: 10 * at for at, word in enumerate(_TENS, start=2)},
    **dict.fromkeys(("anderthalb", "eineinhalb", "полтора"), 1.5),
    **{
        f"{ten}-{_SMALL[one]}": 10 * at + one for at, ten in enumerate(_TENS, start=2) for one in range(1, 10)
    },
}
_SHARES = {"half": 0.5, "third": 1 / 3, "quarter": 0.25}
_SHARES |= {"dozen": 12, "hundred": 100, "thousand": 1e3, "million": 1e6}
_HOW_SURE = re.compile(r"confidence|probability|certainty|score|likelihood", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"(?:(?:the (?:count|number|total)(?: of [a-z ]{1,30}?)? is|"
    r"there (?:is|are)|i (?:can )?(?:see|count)|it(?:'s| is| takes| took))\s)?"
    r"(?:about |approximately |roughly |around |exactly |just |only )?"
    rf"({'|'.join(sorted(_WORDS, key=len, reverse=True))}|half|quarter|an?(?=\s))"
    rf"(?:[\s-]({'|'.join(_SHARES)})s?)?"
    r"(\sand a half)?(?:\s(?:of an?|an?))?(\s[^\W\d_]+)?(\sand a half)?"
    r"(?:\s(?:and\s)?(?P<rest>\S+)(?P<of>\s[^\W\d_]+))?(?:\s(?:in|on|at|visible)\s\D{0,40})?\.?",
    re.IGNORECASE,
)


def in_digits(text: str) -> str:
    """A text that is nothing but a number in words, and its unit, in digits."""
    match = None if len(text) > MAX_WORDS else _IN_WORDS.fullmatch(text.strip())
    if match is None or (match[1].lower() in ("a", "an") and not any(match.group(2, 3, 5, "rest"))):
        return text
    value = _SHARES.get(match[1].lower()) or _WORDS.get(match[1].lower(), 1)
    value *= _SHARES.get((match[2] or "").lower(), 1)
    value += 0.5 if match[3] or match[5] else 0
    rest = match["rest"]
    if rest is None:
        return f"{value:.15g}{match[4] or ''}"
    behind = _WORDS.get(rest.lower())
    return text if behind is None else f"{value:.15g}{match[4] or ''} {behind}{match['of']}"


def from_json(text: str) -> str:
    """The one number of a JSON text, with its unit; the text itself where that is no JSON."""
    value = json_value(text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        return _of_fields(value)
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else text


def _of_fields(fields: Mapping[str, Any]) -> str:
    """The one amount of a JSON object with its unit, or several such as hours and minutes; "" without one."""
    amounts = {
        name: value
        for name, value in fields.items()
        if isinstance(value, int | float | Mapping | str)
        and not isinstance(value, bool)
        and not (isinstance(value, str) and not any(map(str.isdigit, value)))
        and not _HOW_SURE.search(name)
    }
    if len(amounts) > 1 and all(map(unit_of, amounts)):
        return " ".join(f"{value} {name}" for name, value in amounts.items())
    if len(amounts) != 1:
        return ""
    [(name, amount)] = amounts.items()
    if isinstance(amount, Mapping):
        return _of_fields(amount)
    unit = fields.get("unit", fields.get("units", name.rpartition("_")[2] if len(name) > 1 else ""))
    return f"{amount} {unit}" if isinstance(amount, int | float) else amount
