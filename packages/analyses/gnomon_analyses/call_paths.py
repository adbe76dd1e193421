"""Follows calls to the answer: which results were right as far as a trace shows, and which were used.

A result is *right* where the tool itself answered (tools are exact, so there was no error and no fault of the
arm in its place) and the call was not beside the question. A result is *used* where a value that only it
brought is in the final reply or the option chosen, or in the arguments of a later call that was used.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gnomon.traces.turns import Call
from gnomon_tools.core.json_text import json_value

CLOCK = re.compile(r"\b(\d{1,2}):(\d{2}):(\d{2})(?:\.(\d+))?")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
WORD = re.compile(r"[\w-]+")
MIN_DIGITS = 3  # shorter numbers agree by chance
MIN_LETTERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number in a text, without its sign, to so many decimals; clock times are seconds of the day."""

    value: float
    decimals: int
    digits: int

    def is_rounded_from(self, value: float) -> bool:
        """Whether that value gives this number when it is rounded."""
        return abs(self.value - value) <= 0.5 * 10.0**-self.decimals + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class CallValues:
    """What a call was asked and what it brought."""

    name: str
    is_right: bool
    asked: tuple[Number, ...]
    asked_words: frozenset[str]
    brought: tuple[float, ...]
    brought_words: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Values that the prompt holds: to repeat them uses no result."""

    numbers: frozenset[float]
    words: frozenset[str]


def numbers_in(text: str) -> Iterator[Number]:
    """The numbers and clock times of a text.

    >>> [(number.value, number.digits) for number in numbers_in("c06 at 12:00:01.5, 310 m, 0.07")]
    [(43201.5, 7), (310.0, 3), (0.07, 1)]
    """
    for match in CLOCK.finditer(text):
        hours, minutes, seconds, decimals = match.groups(default="")
        value = 3600 * int(hours) + 60 * int(minutes) + float(f"{seconds}.{decimals or 0}")
        yield Number(value=value, decimals=len(decimals), digits=6 + len(decimals))
    for match in NUMBER.finditer(CLOCK.sub(" ", text)):
        whole, _, decimals = match.group().partition(".")
        digits = len((whole + decimals).lstrip("0"))
        yield Number(value=float(match.group()), decimals=len(decimals), digits=digits)


def known_in(texts: Sequence[str]) -> Known:
    """The values of a prompt."""
    joined = "\n".join(texts)
    return Known(
        numbers=frozenset(round(number.value, 6) for number in numbers_in(joined)),
        words=frozenset(WORD.findall(joined)),
    )


def call_values(call: Call, *, is_live: bool, things: Collection[str], about: Collection[str]) -> CallValues:
    """A call's values. `things` are the names of the scene's things, `about` those that the question names.

    A call is beside the question where it names things and none of those. Without `things` that is not
    looked at.
    """
    asked_words = frozenset(WORD.findall(call.arguments))
    named = asked_words & frozenset(things)
    is_beside = bool(named) and not named & frozenset(about)
    brought = list(_strings(call.observation))
    return CallValues(
        name=call.name,
        is_right=is_live and call.error is None and call.injected is None and not is_beside,
        asked=tuple(numbers_in(call.arguments)),
        asked_words=asked_words,
        brought=tuple({number.value for number in numbers_in(call.observation)}),
        brought_words=frozenset(word for text in brought for word in WORD.findall(text)),
    )


def used_calls(calls: Sequence[CallValues], reply: str, known: Known) -> frozenset[int]:
    """The places of the calls whose result the reply took up, itself or by a later call.

    >>> first = Call(step=1, name="distance", arguments='{"to": "c6"}', observation='{"path_m": 310.36}',
    ...     error=None, wall_s=0, injected=None, pictures=())
    >>> values = call_values(first, is_live=True, things=(), about=())
    >>> known = known_in(["How far is c6?"])
    >>> used_calls([values], "It is 310 m.", known), used_calls([values], "It is 99 m.", known)
    (frozenset({0}), frozenset())
    """
    wanted = [(tuple(numbers_in(reply)), frozenset(WORD.findall(reply)))]
    used: set[int] = set()
    for place in range(len(calls) - 1, -1, -1):
        call = calls[place]
        if any(_takes(call, numbers, words, known) for numbers, words in wanted):
            used.add(place)
            wanted.append((call.asked, call.asked_words))
    return frozenset(used)


def _takes(call: CallValues, numbers: Sequence[Number], words: frozenset[str], known: Known) -> bool:
    asked = {round(number.value, 6) for number in call.asked}
    fresh = [
        number
        for number in numbers
        if number.digits >= MIN_DIGITS
        and round(number.value, 6) not in known.numbers
        and round(number.value, 6) not in asked
    ]
    if any(number.is_rounded_from(value) for number in fresh for value in call.brought):
        return True
    names = (words & call.brought_words) - known.words - call.asked_words
    return any(_is_name(name) for name in names)


def _is_name(word: str) -> bool:
    return len(word) >= MIN_LETTERS and not word.isdigit()


def _strings(observation: str) -> Iterator[str]:
    """The texts in a result that is JSON, without the names of its fields."""
    pending = [json_value(observation)]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
