"""Compares stated confidence with scores: reliability by bins, calibration error, Brier score, AUROC."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnomon.statistics.design import Codes, Design, Floats
from gnomon.statistics.estimate import FLAT, wilson

BINS = 10
DRAWS = 1_000
SEED = 20_240_601
RIGHT = 0.5  # for AUROC: answers that score so much are right


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers whose stated confidence is from `low` on and below `high`; the last bin holds 1."""

    low: float
    high: float
    n: int
    confidence: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Of answers with a stated confidence; intervals are None of fewer than two clusters.

    `gap` is mean confidence minus mean score: above 0 is over-confident. `ece_by_chance` is the mean
    calibration error of as many answers that were right as often as stated.
    """

    n: int
    clusters: int
    bins: tuple[Bin, ...]
    confidence: float
    score: float
    gap: float
    gap_ci95: tuple[float, float] | None
    ece: float
    ece_ci95: tuple[float, float] | None
    ece_by_chance: float
    brier: float
    brier_ci95: tuple[float, float] | None
    auroc: float | None
    auroc_ci95: tuple[float, float] | None


def calibration(confidence: Floats, score: Floats, grouping: Design) -> Calibration:
    """How well stated confidences in [0, 1] meet scores in [0, 1], answer by answer.

    ECE is Σ n_b / n · |mean confidence − mean score| over ten bins of equal width (Guo et al. 2017). Its
    interval joins the percentile and the basic one of 1,000 draws of whole clusters, for a drawn ECE is
    larger than that it is drawn from; it begins at 0 where the ECE is below the 97.5th percentile of chance,
    and reaches as far as the gap's interval, as no calibration error is smaller than the gap.
    The Brier score and the gap have cluster-robust t intervals; AUROC (the chance that a right answer has a
    higher confidence than a wrong one, ties half) the percentiles of the same draws. `grouping` has one
    stratum; of two factors, the clusters that are drawn are those of the first.
    """
    at = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
    sums = np.zeros((grouping.clusters_n, BINS))
    np.add.at(sums, (grouping.clusters, at), confidence - score)
    sizes = np.bincount(grouping.clusters, minlength=grouping.clusters_n).astype(np.float64)
    chance = np.random.default_rng(SEED)
    gap = grouping.estimate(confidence - score, limits=(-1.0, 1.0))
    squares = grouping.estimate((confidence - score) ** 2, limits=(0.0, 1.0))
    ece = float(np.abs(sums.sum(axis=0)).sum() / len(score))
    by_chance = _eces_by_chance(confidence, at, chance)
    ece_ci95 = auroc_ci95 = None
    if grouping.clusters_n > 1:
        counts = chance.multinomial(
            grouping.clusters_n, np.full(grouping.clusters_n, 1.0 / grouping.clusters_n), size=DRAWS
        ).astype(np.float64)
        drawn = np.abs(counts @ sums).sum(axis=1) / (counts @ sizes)
        low, high = np.quantile(drawn, [0.025, 0.975])
        is_chance = ece <= np.quantile(by_chance, 0.975)
        ece_ci95 = (
            0.0 if is_chance else max(0.0, min(2 * ece - float(high), float(low))),
            max(2 * ece - float(low), float(high)),
        )
        if (of_gap := gap.interval()) is not None:
            nearest = 0.0 if of_gap[0] <= 0 <= of_gap[1] else min(map(abs, of_gap))
            is_flat = float(high - low) < FLAT  # all clusters are alike: draws show no spread
            ece_ci95 = (
                min(ece_ci95[0], nearest) if is_flat else ece_ci95[0],
                max(ece_ci95[1], *map(abs, of_gap)),
            )
        auroc_ci95 = _auroc_interval(confidence, score >= RIGHT, grouping.clusters, counts)
    return Calibration(
        n=len(score),
        clusters=grouping.clusters_n,
        bins=tuple(_bins(confidence, score, at)),
        confidence=float(confidence.mean()),
        score=float(score.mean()),
        gap=gap.value,
        gap_ci95=gap.interval(),
        ece=ece,
        ece_ci95=ece_ci95,
        ece_by_chance=float(by_chance.mean()),
        brier=squares.value,
        brier_ci95=squares.interval(),
        auroc=auroc(confidence, score >= RIGHT),
        auroc_ci95=auroc_ci95,
    )


def auroc(confidence: Floats, right: NDArray[np.bool_]) -> float | None:
    """The chance that a right answer has a higher confidence than a wrong one; None without one of each.

    >>> auroc(np.array([0.9, 0.8, 0.8, 0.1]), np.array([True, True, False, False]))
    0.875
    """
    shares = _aurocs(confidence, right, np.ones((1, len(right))))
    return float(shares[0]) if len(shares) else None


def _auroc_interval(
    confidence: Floats, right: NDArray[np.bool_], clusters: Codes, counts: Floats
) -> tuple[float, float] | None:
    """The 95 % percentiles over draws in which cluster g comes `counts[:, g]` times.

    Where all draws are alike Wilson's interval, of as many as there are clusters with a right answer, or with
    a wrong one, whichever is fewer.
    """
    shares = _aurocs(confidence, right, counts[:, clusters])
    if not len(shares):
        return None
    low, high = (float(end) for end in np.quantile(shares, [0.025, 0.975]))
    if high - low < FLAT:
        return wilson(low, min(len(np.unique(clusters[right])), len(np.unique(clusters[~right]))))
    return low, high


def _aurocs(confidence: Floats, right: NDArray[np.bool_], counts: Floats) -> Floats:
    """AUROC of each draw that holds a right and a wrong answer."""
    values = np.unique(confidence, return_inverse=True)[1]
    levels = int(values.max()) + 1
    of_level = np.zeros((len(values), levels))
    of_level[np.arange(len(values)), values] = 1.0
    rights = (counts * right) @ of_level
    wrongs = (counts * ~right) @ of_level
    below = np.cumsum(wrongs, axis=1) - wrongs
    pairs = rights.sum(axis=1) * wrongs.sum(axis=1)
    usable = pairs > 0
    shares: Floats = (rights * (below + wrongs / 2)).sum(axis=1)[usable] / pairs[usable]
    return shares


def _bins(confidence: Floats, score: Floats, at: Codes) -> list[Bin]:
    return [
        Bin(
            low=number / BINS,
            high=(number + 1) / BINS,
            n=int(inside.sum()),
            confidence=float(confidence[inside].mean()),
            score=float(score[inside].mean()),
        )
        for number in range(BINS)
        if (inside := at == number).any()
    ]


def _eces_by_chance(confidence: Floats, at: Codes, chance: np.random.Generator) -> Floats:
    """The calibration errors of answers that are right as often as they state, in 200 draws."""
    of_bin = np.zeros((len(at), BINS))
    of_bin[np.arange(len(at)), at] = 1.0
    drawn = chance.random((200, len(at))) < confidence
    eces: Floats = np.abs((confidence - drawn) @ of_bin).sum(axis=1) / len(at)
    return eces
