"""Guesses an option from the question's text alone."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.core.ids import stable_seed
from gnomon.core.message import Message, text_of

_OPTION = re.compile(r"^\s*([A-Z])[.)]\s+(.+?)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer on offer."""

    letter: str
    text: str


def asked_text(messages: Sequence[Message]) -> str:
    """All that the user's turns say."""
    return "\n".join(text_of(message) for message in messages if message["role"] == "user")


def options_in(text: str) -> tuple[Option, ...]:
    """The options that stand after the last `Question:`, by their letters."""
    lines = text.rpartition("Question:")[2].splitlines()
    matches = [_OPTION.match(line) for line in lines]
    return tuple(Option(letter=match[1], text=match[2]) for match in matches if match)


def by_hash(text: str, options: Sequence[Option]) -> list[Option]:
    """The options in an order that the text alone decides."""
    return sorted(options, key=lambda option: stable_seed(text, option.letter))


def guess(messages: Sequence[Message], why: str) -> str:
    """The reply's text: one option with the reason why none was worked out; A where there are none."""
    text = asked_text(messages)
    chosen = by_hash(text, options_in(text))[:1]
    reason = "This is a guess." if chosen else "There are no options to choose from."
    letter = chosen[0].letter if chosen else "A"
    return f"{why} {reason}\n{json.dumps({'answer': letter})}"
