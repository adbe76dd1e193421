"""Lists the sets of tools that must be tried, and how their scores make a Shapley value."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import numpy as np

from gnomon.statistics.design import Floats

Coalition = frozenset[str]
Step = tuple[str, Coalition]  # a player, and those it joins


def coalitions(players: Sequence[str], orders: Sequence[Sequence[str]]) -> tuple[Coalition, ...]:
    """The coalitions whose scores are needed, none first; all of them where `orders` is empty.

    >>> [sorted(coalition) for coalition in coalitions("ab", ["ab"])]
    [[], ['a'], ['a', 'b']]
    """
    every = {joined for _, joined in steps(players, orders)} | {frozenset(players)}
    return tuple(sorted(every, key=lambda coalition: (len(coalition), sorted(coalition))))


def antithetic_orders(players: Sequence[str], count: int, *, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    """`count` orders in pairs: a random one, then the same backwards (Mitchell et al. 2022).

    A tool that comes early in one comes late in the other, which takes out most of what chance adds.

    >>> antithetic_orders("abc", 2, seed=1)
    (('a', 'c', 'b'), ('b', 'c', 'a'))

    Raises:
        ValueError: `count` is odd or below 2.
    """
    if count < 2 or count % 2:
        raise ValueError(f"orders come in pairs; allowed: 2, 4, 6, …; got {count}")
    rng = Random(seed)
    firsts = [tuple(rng.sample(sorted(players), len(players))) for _ in range(count // 2)]
    return tuple(order for first in firsts for order in (first, first[::-1]))


def steps(players: Sequence[str], orders: Sequence[Sequence[str]]) -> Iterator[Step]:
    """Every player's joining of a coalition: all there are, or those that the orders pass through."""
    if not orders:
        for player in players:
            others = [other for other in players if other != player]
            for size in range(len(players)):
                for joined in combinations(others, size):
                    yield player, frozenset(joined)
    for order in orders:
        for at, player in enumerate(order):
            yield player, frozenset(order[:at])


def loads(
    player: str, all_steps: Sequence[Step], players: Sequence[str], orders: Sequence[Sequence[str]]
) -> Floats:
    """The weight of each step in the player's value.

    It is |S|!(T−|S|−1)!/T! (Shapley 1953) without orders, else the share of the orders that take it.
    """
    if not orders:
        last = math.factorial(len(players))
        weights = [
            math.factorial(len(joined)) * math.factorial(len(players) - len(joined) - 1) / last
            for _, joined in all_steps
        ]
        return np.array(
            [
                weight if joining == player else 0.0
                for weight, (joining, _) in zip(weights, all_steps, strict=True)
            ]
        )
    shares = dict.fromkeys(all_steps, 0.0)
    for order in orders:
        shares[player, frozenset(order[: list(order).index(player)])] += 1 / len(orders)
    return np.array(list(shares.values()))
