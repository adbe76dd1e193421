"""Gives each of several items another's place, so that none keeps its own."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from gnomon.core.errors import DataError

T = TypeVar("T")


def derangement(items: Sequence[T], rng: Random) -> dict[T, T]:
    """Another of the items for each: all orders in which none keeps its place are equally likely.

    Raises:
        DataError: there are fewer than two items.
    """
    if len(items) < 2:
        raise DataError("nothing can take another's place: there are fewer than two")
    while True:
        drawn = rng.sample(items, len(items))
        if all(old != new for old, new in zip(items, drawn, strict=True)):
            return dict(zip(items, drawn, strict=True))
