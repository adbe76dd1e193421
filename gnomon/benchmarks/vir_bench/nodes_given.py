"""Nodes given: the gold names that the edge question lists, in an order that tells nothing of time."""

import random

from gnomon.benchmarks.vir_bench.journey import Journey
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.ids import stable_hash

SEED = 42  # of the released shuffle, once for the three lists together

_LISTS = ("prefectures", "cities", "points_of_interest")


def nodes_given(journey: Journey, protocol: PromptProtocol) -> dict[str, list[str]]:
    """Names by level. Official: shuffled with the released seed, which anybody can undo. Guarded: in an
    order drawn from the names themselves.
    """
    names = {level: [spot.name(journey.language) for spot in journey.at(level)] for level in _LISTS}
    if protocol == "guarded":
        return {level: sorted(found, key=stable_hash) for level, found in names.items()}
    shuffle = random.Random(SEED).shuffle
    for found in names.values():
        shuffle(found)
    return names


def unshuffled(shown: dict[str, list[str]]) -> dict[str, list[str]]:
    """The order before the released shuffle: what a reader who knows the seed can see.

    >>> shown = {"prefectures": ["b", "a"], "cities": ["x"], "points_of_interest": ["p", "r", "q"]}
    >>> unshuffled(shown)["cities"]
    ['x']
    """
    shuffle = random.Random(SEED).shuffle
    found = {}
    for level in _LISTS:
        places = list(range(len(shown[level])))
        shuffle(places)
        original = dict(zip(places, shown[level], strict=True))
        found[level] = [original[at] for at in range(len(places))]
    return found
