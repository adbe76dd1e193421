"""Distractors: wrong options whose distance from the right one fits the scene, drawn evenly in its logarithm.

STI-Bench (2025), section 3.2: millimetres to centimetres on a desk, centimetres to decimetres in a room,
decimetres to metres outdoors. The spans and digits here are ours.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

WRONG = 4
TRIES = 200

Quantity = Literal["m", "m/s", "m/s²", "°"]


@dataclass(frozen=True, slots=True)
class Grain:
    """The smallest and the largest difference from the truth, and the digits that options print."""

    low: float
    high: float
    digits: int


LENGTHS: Mapping[str, Grain] = {
    "desktop": Grain(0.005, 0.1, 3),
    "indoor": Grain(0.05, 1.0, 2),
    "outdoor": Grain(0.5, 10.0, 2),
}
ANGLES = Grain(5.0, 60.0, 0)


class NoDistractors(ValueError):
    """Not enough different wrong options could be drawn."""


def difference(rng: np.random.Generator, grain: Grain) -> float:
    """A difference between the grain's ends, even in its logarithm."""
    return math.exp(rng.uniform(math.log(grain.low), math.log(grain.high)))


def wrong_numbers(
    rng: np.random.Generator, truth: float, grain: Grain, *, floor: float = -math.inf
) -> list[float]:
    """WRONG numbers, rounded like the truth, all different and none below `floor`.

    How many lie below the truth is drawn first, evenly, so that its rank among the options tells nothing;
    where the floor is near, fewer fit below.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    below = int(rng.integers(0, WRONG + 1))
    found: list[float] = []
    for attempt in range(TRIES):
        is_below = len(found) < below and attempt < TRIES // 2
        step = difference(rng, grain)
        wrong = round(truth - step if is_below else truth + step, grain.digits)
        if wrong >= floor and wrong not in found and wrong != round(truth, grain.digits):
            found.append(wrong)
        if len(found) == WRONG:
            return found
    raise NoDistractors(f"no {WRONG} numbers other than {truth:g}")


def wrong_texts(
    rng: np.random.Generator, truth: str, draw: Callable[[np.random.Generator], str]
) -> list[str]:
    """WRONG different texts by `draw`, none of them the truth.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    found: dict[str, None] = {}
    for _ in range(TRIES):
        text = draw(rng)
        if text != truth:
            found[text] = None
        if len(found) == WRONG:
            return list(found)
    raise NoDistractors(f"no {WRONG} texts other than {truth!r}")


def lettered(rng: np.random.Generator, truth: str, wrong: Sequence[str]) -> tuple[dict[str, str], str]:
    """The options in an order drawn at random, by letter, and the right letter."""
    texts = [truth, *wrong]
    order = rng.permutation(len(texts))
    options = {"ABCDE"[place]: texts[index] for place, index in enumerate(order)}
    return options, next(letter for letter, text in options.items() if text == truth)
