"""Sign-flip tests: were there no effect, each cluster's error might as well have the other sign."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gnomon.statistics.design import Design, Floats

ENUMERATED = 14  # clusters up to which all sign patterns are tried
DRAWS = 4_999
MANY = 100  # effective clusters from which the normal limit of all patterns is taken
MOST_SIGNS = 1_000_000  # at once
SEED = 20_260_101
KEPT = 100  # clusters up to which the drawn patterns are kept: at most 24 MB
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SignFlips:
    """The test of a weighted mean: how often flipped signs move it as far from the null as it is.

    Cluster g's error, were the mean θ₀, is `errors[g] + (value − θ₀) · weights[g]`. A pattern of signs adds
    these up. Patterns that reach as far as the mean itself count half (mid-p), but for its own, so that p
    does not jump where clusters are equal: for single right or wrong answers it is McNemar's mid-p test
    (Fagerland and others 2013). Up to 14 clusters every pattern is tried, else 4,999 drawn from a fixed
    seed, the own one counted in (Phipson and Smyth 2010). From 100 effective clusters on it is the normal
    distribution with the variance of all patterns.
    """

    value: float
    errors: Floats
    weights: Floats
    flipped: tuple[Floats, Floats] | None  # by pattern: summed errors, summed weights; None: normal limit

    name = "cluster sign-flip"

    @classmethod
    def of(cls, values: Floats, grouping: Design) -> "SignFlips":
        """The test of the design's mean of `values`."""
        errors, weights = grouping.errors(values)
        flipped = None
        if grouping.effective_clusters < MANY:
            parts = np.stack([errors, weights])
            sums = np.concatenate([_sums(signs, parts) for signs in _signs(len(errors))], axis=1)
            flipped = sums[0], sums[1]
        return cls(value=grouping.mean(values), errors=errors, weights=weights, flipped=flipped)

    def p(self, null: float = 0.0) -> float:
        """Two-sided p of the mean being `null`.

        >>> from gnomon.statistics.design import design
        >>> three = design(np.zeros(4, int), np.array([0, 1, 2, 2]))
        >>> SignFlips.of(np.array([0.1, 0.2, 0.2, 0.3]), three).p()
        0.25
        """
        shift = self.value - null
        if abs(shift) <= ROUNDING:
            return 1.0
        if self.flipped is None:
            spread = float(np.sum((self.errors + shift * self.weights) ** 2)) ** 0.5
            return float(2.0 * ndtr(-abs(shift) / spread)) if spread > ROUNDING else 1.0
        own, weights = self.flipped
        reached = np.abs(own + shift * weights) - abs(shift)
        beyond = np.count_nonzero(reached > ROUNDING) + 0.5 * np.count_nonzero(np.abs(reached) <= ROUNDING)
        is_all = len(self.errors) <= ENUMERATED
        return float(min(1.0, (1.0 + beyond) / (len(own) + (not is_all))))


def least_p(grouping: Design) -> float:
    """The smallest p that sign flips of the design's clusters can have.

    >>> from gnomon.statistics.design import design
    >>> least_p(design(np.zeros(5, int), np.arange(5)))
    0.0625
    """
    if grouping.effective_clusters >= MANY:
        return 0.0
    clusters = sum(factor.clusters_n for factor in grouping.factors)
    return float(2.0 ** (1 - clusters)) if clusters <= ENUMERATED else 1.0 / (DRAWS + 1)


def sign_flip_p(sums: Floats) -> float:
    """Two-sided p of no effect, from what each cluster adds to the sum.

    >>> sign_flip_p(np.array([1.0, 2.0, 3.0, 0.0]))
    0.25
    """
    nonzero = sums[np.abs(sums) > ROUNDING]
    if len(nonzero) == 0:
        return 1.0
    observed = abs(float(np.sum(nonzero))) - ROUNDING
    beyond, patterns = 0, 0
    for signs in _signs(len(nonzero)):
        beyond += int(np.sum(np.abs(_sums(signs, nonzero[None])[0]) >= observed))
        patterns += len(signs)
    own = len(nonzero) > ENUMERATED
    return (beyond + own) / (patterns + own)


def _sums(signs: Floats, parts: Floats) -> Floats:
    """Parts × patterns, the same to the last digit whatever threads a library would use for a product."""
    sums: Floats = np.einsum("pc,kc->kp", signs, parts)
    return sums


def _signs(n: int) -> Iterator[Floats]:
    """Patterns of so many signs, in batches: all there are of few, else drawn ones, always the same."""
    if n <= KEPT:
        yield _kept_signs(n)
    else:
        yield from _drawn_signs(n)


def _drawn_signs(n: int) -> Iterator[Floats]:
    """The drawn patterns; all at once would take gigabytes where clusters are many."""
    random = np.random.default_rng(SEED)
    at_once = max(1, MOST_SIGNS // n)
    for start in range(0, DRAWS, at_once):
        size = (min(at_once, DRAWS - start), n)
        yield _as_signs(random.integers(0, 2, size=size, dtype=np.int8))


def _as_signs(bits: NDArray[np.integer]) -> Floats:
    signs = bits.astype(np.float64)
    return 1.0 - 2.0 * signs


@lru_cache(maxsize=6)
def _kept_signs(n: int) -> Floats:
    """The same patterns at once: making them takes longer than the test itself."""
    if n <= ENUMERATED:
        return _as_signs((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    return np.concatenate([*_drawn_signs(n)])
