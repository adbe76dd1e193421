"""A check of one plug-in, and what it raises."""

import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

STRINGS = (
    "",
    "A",
    "c1",
    "c2",
    "p1",
    "Bakery",
    "nowhere",
    "\x00",
    "é",
    "奈良市",
    "answer: B",
    "B)",
    "[]",
    "{",
)
NUMBERS = (0, 1, -1, 0.5, 1e300, -1e-300, 2**63, float("nan"), float("inf"))


class NotKept(AssertionError):
    """A plug-in does not keep what all of its kind keep; the message says what, and what would be right."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that plug-ins of a kind keep. Call it: it raises NotKept, or whatever the plug-in raises."""

    keeps: Callable[[], None]
    about: str

    def __call__(self) -> None:
        """Run the check.

        Raises:
            NotKept: the plug-in does not keep it.
        """
        self.keeps()

    def __str__(self) -> str:
        return self.about


def checks_in(suite: object) -> list[Check]:
    """The public methods of a suite, in the order in which they are written."""
    names = [name for name, _ in vars(type(suite)).items() if not name.startswith("_")]
    methods = [(name, getattr(suite, name)) for name in names]
    return [Check(method, name) for name, method in methods if inspect.ismethod(method)]


def ensure(condition: object, message: str) -> None:
    """Raise where a condition does not hold.

    Raises:
        NotKept: with this message.
    """
    if not condition:
        raise NotKept(message)


def junk(draw: random.Random, depth: int = 2) -> Any:
    """Any JSON value, and a little more: what a model may write where something else is expected."""
    kind = draw.randrange(6 if depth else 4)
    if kind == 4:
        return [junk(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind == 5:
        return {text(draw): junk(draw, depth - 1) for _ in range(draw.randrange(4))}
    return (None, draw.random() < 0.5, draw.choice(NUMBERS), text(draw))[kind]


def text(draw: random.Random) -> str:
    """A text of a list of odd ones, or of drawn characters."""
    if draw.random() < 0.5:
        return draw.choice(STRINGS)
    return "".join(chr(draw.choice((draw.randrange(32, 127), draw.randrange(0xD7FF)))) for _ in range(12))
