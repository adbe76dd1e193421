"""Draws paired differences with a planted effect, and the closed form of the effect that a t test detects."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri, stdtrit

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import ICC, Design, Floats
from gnomon.statistics.estimate import FLAT

PERSISTENCE = 0.5  # of a difference's variance, what stays when the sample is tried again
POWER = 0.8
GROUPS = 64  # sizes of graded differences that are told apart
NODES = 24  # of the quadrature over what a cluster shares
MOST_SHARED = 0.95  # correlation within clusters of all factors, so that no draw is made of these alone
HALVINGS = 16


def design_effect(sizes: Sequence[int], icc: float = ICC) -> float:
    """How many samples in clusters of these sizes are worth one independent sample (Kish 1965).

    1 + (m − 1)·icc, m the size of the cluster of a sample, on average.

    >>> design_effect([1, 1, 1]), round(design_effect([7] * 20), 2)
    (1.0, 2.2)

    Raises:
        ValueError: there are no clusters.
    """
    if not sizes:
        raise ValueError("a design effect needs at least one cluster")
    return 1.0 + (sum(size * size for size in sizes) / sum(sizes) - 1.0) * icc


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far paired differences scatter: their sizes, whatever their sign, and what clusters share.

    An effect turns signs: with `sizes` of mean a, a share (1 + effect/a)/2 of the differences is a gain.
    Beyond a, when all are gains, further samples gain the whole scale. So 0/1 scores that differ on a share
    q of the samples have the variance max(q, effect) − effect².
    """

    sizes: tuple[float, ...]  # ascending
    shares: tuple[float, ...]  # of the samples, by size
    icc: float = 0.0  # of the differences of one cluster, by each factor
    persistence: float = 1.0  # share of the variance that is the sample's own, and stays in every repeat

    def values(self, effect: float) -> tuple[Floats, Floats]:
        """The differences, ascending, and the chance of each where the true mean is `effect`."""
        sizes, shares = np.asarray(self.sizes), np.asarray(self.shares)
        mean = float(sizes @ shares)
        lean = min(1.0, effect / mean) if mean > FLAT else 1.0
        whole = _whole(effect, mean)
        values = np.concatenate([-sizes[::-1], sizes, [1.0]])
        chances = np.concatenate(
            [
                (1 - whole) * shares[::-1] * (1 - lean) / 2,
                (1 - whole) * shares * (1 + lean) / 2,
                [whole],
            ]
        )
        is_possible = chances > 0
        return values[is_possible], chances[is_possible]

    def variance(self, effect: float) -> float:
        """The variance of one trial's difference where the true mean is `effect`."""
        mean, square = self.moments
        whole = _whole(effect, mean)
        return max(0.0, square + whole * (1.0 - square) - effect**2)

    @property
    def moments(self) -> tuple[float, float]:
        """The mean size and the mean squared size."""
        sizes, shares = np.asarray(self.sizes), np.asarray(self.shares)
        return float(shares @ sizes), float(shares @ sizes**2)


def _whole(effect: float, mean: float) -> float:
    """The share of samples that gain the whole scale; 0 if turning signs is enough for the effect."""
    return (effect - mean) / (1.0 - mean) if effect > mean else 0.0


def right_or_wrong(discordant: float, *, icc: float = ICC, persistence: float = PERSISTENCE) -> Spread:
    """The spread of 0/1 scores that differ on this share of the samples.

    >>> right_or_wrong(0.2).variance(0.1)
    0.19
    """
    return Spread(sizes=(0.0, 1.0), shares=(1.0 - discordant, discordant), icc=icc, persistence=persistence)


def spread_of(d: Floats, grouping: Design, *, se: float | None = None) -> Spread:
    """The spread of observed differences; their correlation within clusters is what explains their `se`."""
    of_size = np.sort(np.abs(d))
    sizes, counts = np.unique(of_size, return_counts=True)
    if len(sizes) > GROUPS:
        groups = np.array_split(of_size, GROUPS)
        sizes, counts = np.array([np.mean(group) for group in groups]), np.array([*map(len, groups)])
    shares = counts / len(d)
    return Spread(
        sizes=tuple(sizes.tolist()),
        shares=tuple(shares.tolist()),
        icc=0.0 if se is None else _correlation(d, grouping, se),
    )


def _correlation(d: Floats, grouping: Design, se: float) -> float:
    means = grouping.stratum_means(d)
    variance = float(np.sum(grouping.weights * (d - means[grouping.strata]) ** 2))
    factors, own, together = _squares(grouping)
    if variance < FLAT or together - factors * own < FLAT:
        return 0.0
    icc = (se**2 / variance - own) / (together - factors * own)
    return min(max(icc, 0.0), MOST_SHARED / factors)


def _squares(grouping: Design) -> tuple[int, float, float]:
    """How many factors there are, the summed squares of the samples' weights, and of all clusters'."""
    factors, own = grouping.factors, float(np.sum(grouping.weights**2))
    of_clusters = [np.sum(np.bincount(each.clusters, each.weights) ** 2) for each in factors]
    return len(factors), own, float(sum(max(own, float(of_factor)) for of_factor in of_clusters))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlantedStudy:
    """A study whose true effect is chosen: where its samples lie, how they scatter, and what gets lost."""

    grouping: Design
    spread: Spread
    repeats: int = 1
    lost: tuple[float, float] = (0.0, 0.0)  # share of the trials of baseline and variant
    alike: float = 0.0  # ICC of an arm's scores in a cluster, which sets how rare gains and losses are read

    def error(self, effect: float) -> float:
        """The standard error of the aggregate difference."""
        return math.sqrt(self.spread.variance(effect) * self.worth)

    @property
    def loses(self) -> bool:
        """Whether trials get lost."""
        return self.lost != (0.0, 0.0)

    @property
    def worth(self) -> float:
        """The aggregate's variance by that of one trial's difference: 1/n of independent samples."""
        spread, (factors, own, together) = self.spread, _squares(self.grouping)
        of_sample = spread.persistence + (1.0 - spread.persistence) / self.repeats
        kept = (1.0 - self.lost[0] ** self.repeats) * (1.0 - self.lost[1] ** self.repeats)
        return (own * max(of_sample - factors * spread.icc, 0.0) + together * spread.icc) / max(kept, FLAT)

    def differences(self, effect: float, draws: int, random: Generator) -> Floats:
        """Differences, draws × samples × repeats, whose expected value is `effect`.

        A difference is read off a normal variable that a cluster, and then a sample, shares in part; the
        parts are chosen so that the differences have the correlations of the spread.
        """
        values, chances = self.spread.values(effect)
        ends = ndtri(np.cumsum(chances)[:-1])
        factors, n = self.grouping.factors, self.grouping.n
        of_cluster = min(_latent(values, ends, self.spread.icc), MOST_SHARED / len(factors))
        of_sample = _latent(values, ends, self.spread.persistence)
        of_sample = max(len(factors) * of_cluster, of_sample)
        latent = np.zeros((draws, n))
        for each in factors:
            latent += of_cluster**0.5 * random.standard_normal((draws, each.clusters_n))[:, each.clusters]
        latent += (of_sample - len(factors) * of_cluster) ** 0.5 * random.standard_normal((draws, n))
        trials = np.repeat(latent[:, :, None], self.repeats, axis=2)
        if of_sample < 1.0:
            trials = trials + (1.0 - of_sample) ** 0.5 * random.standard_normal(trials.shape)
        return values[np.searchsorted(ends, trials)]


def _latent(values: Floats, ends: Floats, icc: float) -> float:
    """The correlation of normal variables that makes that of the values read off them `icc`."""
    if icc <= 0.0 or icc >= 1.0 or len(values) < 2:
        return min(max(icc, 0.0), 1.0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    nodes, weights = nodes[:, None], weights / np.sum(weights)
    chances = np.diff(ndtr(ends), prepend=0.0, append=1.0)
    total = float(chances @ values**2 - (chances @ values) ** 2)

    def is_enough(correlation: float) -> bool:
        below = ndtr((ends - correlation**0.5 * nodes) / (1.0 - correlation) ** 0.5)
        means = values[-1] - below @ np.diff(values)
        return float(weights @ means**2 - (weights @ means) ** 2) >= icc * total

    low, high = bisect(is_enough, icc, 1.0, halvings=HALVINGS)  # what is read off is correlated less
    return (low + high) / 2


def detectable_by_t(study: PlantedStudy, *, alpha: float, df: float, is_pairs: bool = False) -> float:
    """The effect that a two-sided t test at `alpha` detects in 8 of 10 studies.

    δ = (t of alpha + t of the power) · √((q − δ²)/n). Where `is_pairs` it is normal quantiles, and q/n
    under the first root: McNemar's test takes the variance that differences have without an effect.
    """
    (mean, square), worth = study.spread.moments, study.worth
    quantiles = ndtri if is_pairs else partial(stdtrit, df)
    reach, power = float(quantiles(1.0 - alpha / 2)), float(quantiles(POWER))

    def is_found(effect: float) -> bool:
        whole = _whole(effect, mean)
        second = square + whole * (1.0 - square)
        error = math.sqrt(worth * max(0.0, second - effect**2))
        return effect >= reach * (math.sqrt(worth * second) if is_pairs else error) + power * error

    return bisect(is_found, 0.0, 1.0, halvings=HALVINGS)[1]
