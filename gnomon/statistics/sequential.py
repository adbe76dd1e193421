"""Confidence sequences of a paired difference over clusters: intervals that hold at every look at once.

A look may come after any number of clusters, chosen in any way from what came before, and a job may stop at
any of them. What is asked is the weighted mean of the differences in the population that clusters are drawn
from, as with the other intervals here; not the mean of the finite list of samples.

Cluster g adds C_g (its weighted differences) and W_g (its weights). If clusters come in an order that does
not depend on their scores, C_g - m W_g has mean 0 where m is the truth, and is never below -(1 + m) W_g. So a
bettor who stakes a share u in (0, 1) on "more than m" has the wealth

    K+(m) = mean over u of  prod over g of  1 + u (C_g - m W_g) / ((1 + m) W),   W = the largest W_g planned,

a nonnegative martingale that starts at 1: by Ville's inequality (1939) it ever reaches 2/a with a chance of
at most a/2. K-(m), the same for -C_g and -m, bets on "less than m". The interval of level 1 - a holds each m
at which neither has reached 2/a: a betting confidence sequence (Waudby-Smith and Ramdas 2024, J. R. Stat.
Soc. B 86, 1-27), two-sided by a union. The stakes u have the arcsine prior of universal portfolios (Cover
and Ordentlich 1996), as STAKES_N equally likely values: the order of the clusters changes no wealth.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import Floats

STAKES_N = 24
STAKES: Floats = np.sin(np.pi * (np.arange(STAKES_N) + 0.5) / (2 * STAKES_N)) ** 2
EDGE = 1e-9
LEAST_CLUSTERS = 8  # equal ones; with fewer the wealth of 2 / 0.05 is out of reach
LOG_DECIDED = float(np.log(2 / 0.05))  # of the wealth that decides the sign
SIMULATED = 50  # jobs of a plan
EFFECT_HALVINGS = 23
CHUNK = 200_000  # clusters whose bets are in memory at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BettingSequence:
    """The test of a difference after some clusters, valid whenever that was decided: a part of a `Reach`."""

    value: float
    sums: Floats
    weights: Floats
    counts: Floats
    largest: float

    name = "betting e-process"

    @classmethod
    def of(cls, sums: Floats, weights: Floats, *, largest: float) -> "BettingSequence":
        """The sequence after these clusters: weighted sums of differences in [-1, 1], and their weights.

        `largest` is the largest weight of all clusters planned, so that it is known before any answer.

        Eight of eight equal clusters that change from wrong to right decide the sign, five do not:

        >>> [BettingSequence.of(np.ones(n), np.ones(n), largest=1.0).p(0.0) < 0.05 for n in (5, 8)]
        [False, True]
        """
        sums, weights, counts = _grouped(sums, weights)
        total = float(counts @ weights)
        value = float(np.clip((counts @ sums) / total, -1.0, 1.0)) if total > 0 else 0.0
        return cls(value=value, sums=sums, weights=weights, counts=counts, largest=largest)

    def p(self, null: float = 0.0) -> float:
        """Two over the larger wealth of a bet on more than `null` and one on less, at most 1."""
        null = min(max(null, EDGE - 1.0), 1.0 - EDGE)
        wealth = max(
            _log_wealth(side * self.sums, self.weights, self.counts, self.largest, side * null)
            for side in (1.0, -1.0)
        )
        return float(min(1.0, 2.0 * np.exp(min(-wealth, 0.0))))


def least_effect(weights: Floats) -> float | None:
    """The least difference at which these clusters decide the sign if it is the same in each; None: none is.

    What varies between clusters only adds to it.

    >>> [round(least_effect(np.ones(clusters)), 2) for clusters in (20, 100, 1000)]
    [0.28, 0.05, 0.01]
    """
    largest, counts = float(weights.max()), np.ones(len(weights))

    def decides(effect: float) -> bool:
        return _log_wealth(effect * weights, weights, counts, largest, 0.0) >= LOG_DECIDED

    return bisect(decides, 0.0, 1.0, halvings=EFFECT_HALVINGS)[1] if decides(1.0) else None


def expected_share(sizes: Floats, *, diff: float, discordant: float, icc: float, seed: int = 0) -> float:
    """The mean share of the samples that runs until the sign is decided, by simulated jobs.

    `sizes` are the clusters' samples, of which a share `discordant` changes by the whole scale. The means of
    clusters are drawn as normal, with that intraclass correlation, and cut to what they can be.

    >>> expected_share(np.ones(1000), diff=0.3, discordant=0.4, icc=0.1) < 0.1
    True
    """
    random = np.random.default_rng(seed)
    drawn = random.permuted(np.tile(sizes, (SIMULATED, 1)), axis=1)
    variance = max(discordant - diff**2, 0.0) * (1 + (drawn - 1) * icc) / drawn
    means = np.clip(random.normal(diff, np.sqrt(variance)), -1.0, 1.0)
    has_decided = log_wealth_path(means * drawn, drawn, largest=float(sizes.max())) >= LOG_DECIDED
    at = np.where(has_decided.any(axis=1), has_decided.argmax(axis=1), len(sizes) - 1)
    run = np.cumsum(drawn, axis=1)
    return float(np.mean(run[np.arange(SIMULATED), at] / run[:, -1]))


def log_wealth_path(sums: Floats, weights: Floats, *, largest: float, mean: float = 0.0) -> Floats:
    """Log K+ after each cluster, for many jobs at once: clusters are the last axis.

    The interval of level 1 - a excludes all differences up to `mean` where it is at least log(2 / a).

    >>> log_wealth_path(np.ones(3), np.ones(3), largest=1.0).round(2).tolist()
    [0.41, 0.86, 1.37]
    """
    gains = (sums - mean * weights) / ((1.0 + mean) * largest)
    path = np.stack([np.cumsum(np.log1p(stake * gains), axis=-1) for stake in STAKES])
    wealth: Floats = logsumexp(path, axis=0) - np.log(STAKES_N)
    return wealth


def _grouped(sums: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Equal clusters once, with how many there are: scores of 0 and 1 leave few that differ."""
    pairs, counts = np.unique(np.stack([sums, weights], axis=1), axis=0, return_counts=True)
    return pairs[:, 0], pairs[:, 1], counts.astype(np.float64)


def _log_wealth(sums: Floats, weights: Floats, counts: Floats, largest: float, mean: float) -> float:
    bets = np.zeros(STAKES_N)
    for start in range(0, len(sums), CHUNK):
        part = slice(start, start + CHUNK)
        gains = (sums[part] - mean * weights[part]) / ((1.0 + mean) * largest)
        bets += np.log1p(STAKES[:, None] * np.maximum(gains, -1.0)) @ counts[part]
    return float(logsumexp(bets) - np.log(STAKES_N))
