"""Deals the values of a foreign tool's result anew: plausible, of the same form, and about nothing asked.

Such a result is text or JSON that no rule of ours knows. Numbers, dates, clock times and words that come in
sets (weekdays, directions, enumerations of the tool's own schemas) are exchanged for others of their kind,
the same wherever it occurs in a trial, and lists are put into another order. What the call itself said
stays, as a result that repeats its question wrongly would give the game away.
"""

import datetime as dt
import json
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from gnomon.trials.corrupt_measurements import stretched_number

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SETS: Sequence[Sequence[str]] = (
    ("north", "east", "south", "west"),
    ("northeast", "southeast", "southwest", "northwest"),
    ("left", "right"),
    ("above", "below"),
    ("before", "after"),
    ("inside", "outside"),
    ("open", "closed"),
    ("yes", "no"),
    ("true", "false"),
)
MOMENT = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})(?:[T ](?P<clock>\d{2}:\d{2})"
    r"(?P<rest>(?::\d{2}(?:\.\d+)?)?(?:[+-]\d{2}:\d{2})?))?"
    r"|(?<![\d:.])(?P<time>(?:[01]?\d|2[0-3]):[0-5]\d)(?P<seconds>:[0-5]\d)?(?![\d:])"
)
NUMBER = re.compile(r"(?<![\w.,:/-])(-?\d+(?:\.\d+)?)(?![\w]*[.:/-]?\d)(?!\w*_)")
FAST_MIN = 97  # minutes by which a silent fault moves clock times: neither a whole hour nor near one
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s")


def dealt(content: str, *, key: str, kept: Collection[str], words: Sequence[Sequence[str]] = ()) -> str:
    """The content with its values dealt anew by `key`; itself where there is nothing to deal.

    `kept` are texts that the call said; `words` are sets of which one word may stand for another.

    >>> dealt('{"datetime": "2026-11-23T12:46:03+01:00", "day_of_week": "Monday"}', key="k", kept=())
    '{"datetime": "2027-05-26T01:53:03+01:00", "day_of_week": "Wednesday"}'
    >>> dealt("The sum of 1 and 2 is 3.", key="k", kept=("1", "2"))
    'The sum of 1 and 2 is 6.'
    """
    for keeping in (frozenset(kept), frozenset[str]()):
        changed = _Deal(key, keeping, words).text_or_json(content)
        if changed != content:
            return changed
    return content


def stretched(content: str) -> str:
    """The content with every number half as large again and every clock time later: wrong and consistent, as
    with a wrong scale and a clock that is fast. Dates stay.

    >>> stretched('{"distance": 10.0, "at": "2026-11-23T23:10:00Z", "words": "12 m, closed at 9:00"}')
    '{"distance": 15.0, "at": "2026-11-23T00:47:00Z", "words": "18 m, closed at 10:37"}'
    """
    return MOMENT.sub(_fast, NUMBER.sub(stretched_number, content))


def _fast(match: re.Match[str]) -> str:
    clock = match["clock"] or match["time"]
    return match[0] if clock is None else match[0].replace(clock, _later(clock, FAST_MIN), 1)


def _later(clock: str, minutes: int) -> str:
    """A clock time, hours and minutes, that much later, written as wide as it was; midnight begins at 0:00.

    >>> _later("9:30", 15), _later("23:50", 15)
    ('9:45', '00:05')
    """
    hour, minute = map(int, clock.split(":"))
    total = (60 * hour + minute + minutes) % 1_440
    return f"{total // 60:0{len(clock) - 3}}:{total % 60:02}"


def said_in(arguments: object) -> Iterator[str]:
    """Every text and number in the arguments of a call, as results may repeat them."""
    if isinstance(arguments, Mapping):
        for value in arguments.values():
            yield from said_in(value)
    elif isinstance(arguments, list):
        for value in arguments:
            yield from said_in(value)
    elif isinstance(arguments, str):
        yield arguments
        yield from NUMBER.findall(arguments)
        yield from (match[0] for match in MOMENT.finditer(arguments))
    elif arguments is not None:
        yield json.dumps(arguments)
        if isinstance(arguments, float) and arguments.is_integer():
            yield str(int(arguments))


def enumerations(schema: object) -> Iterator[tuple[str, ...]]:
    """The sets of words that a schema allows in its fields."""
    if isinstance(schema, list):
        for item in schema:
            yield from enumerations(item)
    elif isinstance(schema, Mapping):
        enum = schema.get("enum")
        if isinstance(enum, list) and len(enum) > 1 and all(isinstance(word, str) for word in enum):
            yield tuple(enum)
        for value in schema.values():
            yield from enumerations(value)


class _Deal:
    """One deal of a trial: the same value becomes the same other value."""

    def __init__(self, key: str, kept: Collection[str], words: Sequence[Sequence[str]]) -> None:
        self._key, self._kept = key, kept
        chance = random.Random(f"dealt {key}")
        self._days, self._minutes = chance.randint(3, 340), chance.randint(61, 1_379)
        self._steps = [chance.randint(1, 8) for _ in range(12)]  # of the digits of numbers, by their place
        self._words = dict(self._exchanges((WEEKDAYS, *SETS, *words)))
        names = sorted(self._words, key=len, reverse=True)
        # "no" before a noun is no answer: "no such column" stays.
        self._word = re.compile(rf"(?<!\w)(?!(?i:no)\s+\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")

    def _exchanges(self, sets: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
        """Which word stands for which, in each way of writing it."""
        for words in sets:
            # Weekdays follow the dates; of other sets no word stays.
            step = self._days if words is WEEKDAYS else 1 + self._days % max(1, len(words) - 1)
            for at, word in enumerate(words):
                other = words[(at + step) % len(words)]
                for form in (str, str.lower, str.upper, str.capitalize):
                    yield form(word), form(other)

    def text_or_json(self, content: str) -> str:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            return self._in_other_order(self._text(content))
        if not isinstance(value, dict | list):
            return self._text(content)
        indent = 2 if content.lstrip()[1:2] == "\n" else None
        return json.dumps(self._value(value, ""), ensure_ascii=False, indent=indent)

    def _value(self, value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: self._value(item, key) for key, item in value.items()}
        if isinstance(value, list):
            items = [self._value(item, name) for item in value]
            self._chance(f"order {name} {len(items)}").shuffle(items)
            return items
        if isinstance(value, bool):
            return self._chance(f"truth {name}").random() < 0.5
        if isinstance(value, int | float):
            text = json.dumps(value)
            return value if text in self._kept or "e" in text else json.loads(self._number(text))
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        if text in self._kept:
            return text
        parts, at = [], 0
        for match in MOMENT.finditer(text):
            parts += [self._between(text, at, match.start()), self._moment(match)]
            at = match.end()
        return "".join([*parts, self._between(text, at, len(text))])

    def _between(self, text: str, start: int, end: int) -> str:
        """A stretch of the text without dates and clock times."""
        stretch = NUMBER.sub(
            lambda match: match[1] if match[1] in self._kept else self._number(match[1]), text[start:end]
        )
        return self._word.sub(lambda match: self._words.get(match[0], match[0]), stretch)

    def _number(self, text: str) -> str:
        """Another number of as many digits; different numbers become different ones."""
        sign = "-" if text.startswith("-") else ""
        digits = text.removeprefix("-")
        starts_at_zero = digits.startswith("0")
        others = []
        for at, char in enumerate(digits):
            step = self._steps[at % len(self._steps)]
            if not char.isdigit() or (at == 0 and starts_at_zero and len(digits) > 1):
                others.append(char)
            elif at == 0 and not starts_at_zero:
                others.append(str((int(char) - 1 + step) % 9 + 1))
            else:
                others.append(str((int(char) + step) % 10))
        return sign + "".join(others)

    def _moment(self, match: re.Match[str]) -> str:
        if match[0] in self._kept or match["time"] in self._kept:
            return match[0]
        if match["time"]:
            return f"{_later(match['time'], self._minutes)}{match['seconds'] or ''}"
        try:
            date = dt.date.fromisoformat(match["date"]) + dt.timedelta(days=self._days)
        except (ValueError, OverflowError):
            return match[0]
        if not match["clock"]:
            return date.isoformat()
        return f"{date.isoformat()}{match[0][10]}{_later(match['clock'], self._minutes)}{match['rest']}"

    def _in_other_order(self, text: str) -> str:
        """The text with the lines of its lists in another order."""
        lines = text.split("\n")
        places = [at for at, line in enumerate(lines) if BULLET.match(line)]
        if len(places) > 1:
            order = list(places)
            self._chance(f"lines {len(places)}").shuffle(order)
            moved = [lines[at] for at in order]
            for at, line in zip(places, moved, strict=True):
                lines[at] = line
        return "\n".join(lines)

    def _chance(self, what: str) -> random.Random:
        return random.Random(f"dealt {self._key} {what}")
