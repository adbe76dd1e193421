"""Exact tests of no difference, which count outcomes and assume no distribution."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from scipy.special import bdtr

from gnomon.statistics.design import Floats

ENUMERATED = 14  # clusters up to which all sign patterns are tried
DRAWS = 9_999
BATCHES = (99, 33, 11, 3)  # patterns drawn at once, as many as make no more than so many signs
MOST_SIGNS = 1_000_000
SEED = 20_260_101
KEPT = 64  # clusters up to which the drawn patterns are kept: at most 30 MB
ROUNDING = 1e-12


def mcnemar_midp(rescued: int, broken: int) -> float:
    """Two-sided mid-p McNemar test of the discordant pairs (Fagerland and others 2013).

    >>> mcnemar_midp(0, 0), round(mcnemar_midp(5, 0), 5)
    (1.0, 0.03125)
    """
    n, smaller = rescued + broken, min(rescued, broken)
    if rescued == broken:
        return 1.0
    tail = float(bdtr(smaller, n, 0.5))
    point = tail - (float(bdtr(smaller - 1, n, 0.5)) if smaller else 0.0)
    return min(1.0, 2 * tail - point)


def sign_flip_p(sums: Floats) -> float:
    """Two-sided p of no effect, where each cluster's summed difference might as well have the other sign.

    Clusters that sum to zero carry no information. Where all others weigh the same it is the binomial test.
    Else all patterns are tried up to 14 clusters, and from there 9,999 drawn from a fixed seed, the observed
    one counted in (Phipson and Smyth 2010): p is never 0. Of more than 64 clusters that all change in one
    direction, no drawn pattern reaches the sum.

    >>> sign_flip_p(np.array([1.0, 2.0, 3.0, 0.0]))
    0.25
    """
    nonzero = sums[np.abs(sums) > ROUNDING]
    n = len(nonzero)
    if n == 0:
        return 1.0
    if np.ptp(np.abs(nonzero)) <= ROUNDING:
        smaller = min(int(np.sum(nonzero > 0)), int(np.sum(nonzero < 0)))
        return min(1.0, 2 * float(bdtr(smaller, n, 0.5)))
    observed = abs(float(np.sum(nonzero))) - ROUNDING
    if n <= ENUMERATED:
        patterns = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return float(np.mean(np.abs((1 - 2 * patterns) @ nonzero) >= observed))
    if n > KEPT and (np.all(nonzero > 0) or np.all(nonzero < 0)):
        return 1 / (1 + DRAWS)
    batches = _kept_signs(n) if n <= KEPT else _drawn_signs(n)
    beyond = 1 + sum(int(np.sum(np.abs(signs @ nonzero) >= observed)) for signs in batches)
    return beyond / (1 + DRAWS)


def _drawn_signs(n: int) -> Iterator[Floats]:
    """The 9,999 patterns in batches: all at once would take gigabytes where clusters are many.

    A sign is the first bit of 32 of the generator's: what its `integers(0, 2)` gives, a third as dear.
    """
    bits, left = np.random.default_rng(SEED).bit_generator, np.empty(0, np.int32)
    patterns = next((size for size in BATCHES if size * n <= MOST_SIGNS), 1)
    for _ in range(0, DRAWS, patterns):
        raw = bits.random_raw((patterns * n - len(left) + 1) // 2).astype("<u8", copy=False).view("<i4")
        words = np.concatenate([left, raw]) if len(left) else raw
        signs = (words[: patterns * n] < 0).astype(np.float64)
        signs *= -2.0
        signs += 1.0
        left = words[patterns * n :]
        yield signs.reshape(patterns, n)


@lru_cache(maxsize=6)
def _kept_signs(n: int) -> tuple[Floats]:
    """The same patterns at once: drawing them takes longer than the test itself."""
    return (np.concatenate([*_drawn_signs(n)]),)
