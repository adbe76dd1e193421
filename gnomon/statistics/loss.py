"""How trials without a score may move a paired difference, and whether both arms lost alike.

At worst all that one arm lost were right, and all that the other lost were wrong: the truth lies between two
differences, and `level_at_worst` says at which level each may be tested. Beside it stands a model.

A lost trial is modelled on its item's difficulty: a sample that was answered in other repeats counts with
their mean; else a line over the samples that the arm answered predicts its score from how much better or
worse than usual the other groups did on the item. Where nothing tells the difficulty it is the arm's mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import ICC, Design, Floats
from gnomon.statistics.estimate import FLAT, Ends, normal_quantile
from gnomon.statistics.permutation import sign_flip_p

HALVINGS = 30
FEWEST = 10  # answered samples, below which no line is drawn through them


@dataclass(frozen=True, kw_only=True, eq=False)
class Loss:
    """Lost trials of two arms, baseline first, and the difference with them modelled.

    `se` is the error that the model adds; `shares` count trials. `surplus` is by how much the variant lost
    more, by cluster, for each factor that makes samples kin.
    """

    shares: tuple[float, float]
    surplus: Sequence[Floats]
    observed: float
    modelled: float
    se: float

    @cached_property
    def p(self) -> float:
        """The exact p of both arms losing alike."""
        return max(map(sign_flip_p, self.surplus))

    def is_unequal(self, alpha: float) -> bool:
        """Whether one arm lost more than the other by more than chance."""
        return self.p < alpha

    def moved(self, ends: Ends, se: float) -> Ends:
        """An interval around the observed difference, with standard error `se`, moved to the modelled one."""
        wider = (1.0 + (self.se / se) ** 2) ** 0.5 if se > FLAT else 1.0
        low, high = (self.modelled + wider * (end - self.observed) for end in ends)
        return max(-1.0, low), min(1.0, high)


def level_at_worst(width: float, se: float, *, level: float = 0.95) -> float:
    """The level of intervals around both ends of a range of that width, so that together they hold the truth.

    The truth is at one end at most: where the range is wide beside its ends' standard error, each end errs on
    one side alone, and 90 % do for 95 % (Imbens and Manski 2004).

    >>> round(level_at_worst(0.0, 0.03), 4), round(level_at_worst(0.3, 0.03), 4)
    (0.95, 0.9)
    """
    shift = width / se if se > FLAT else np.inf

    def is_enough(quantile: float) -> bool:
        return bool(ndtr(quantile + shift) - ndtr(-quantile) >= level)

    most = normal_quantile(level)
    _, quantile = bisect(is_enough, 0.0, most, halvings=HALVINGS)
    return float(2.0 * ndtr(quantile) - 1.0)


def difficulties(means: Floats) -> Floats:
    """How each item fared in the other groups: groups × samples, NaN where no other group answered it.

    `means` are scores of groups × samples, NaN where there is none. Each group's mean is taken off first, so
    that a group that is better throughout makes no item easier.

    >>> difficulties(np.array([[1.0, 0.0, np.nan], [1.0, 0.5, 0.0]]))[1].tolist()
    [0.5, -0.5, nan]
    """
    has_score = ~np.isnan(means)
    filled = np.where(has_score, means, 0.0)
    usual = filled.sum(axis=1) / np.maximum(has_score.sum(axis=1), 1)
    centred = np.where(has_score, means - usual[:, None], 0.0)
    others = has_score.sum(axis=0) - has_score
    ease: Floats = np.full(means.shape, np.nan)
    np.divide(centred.sum(axis=0) - centred, others, out=ease, where=others > 0)
    return ease


def loss_of(
    means: tuple[Floats, Floats],
    lost: tuple[Floats, Floats],
    ease: tuple[Floats, Floats],
    grouping: Design,
    *,
    observed: float,
) -> Loss:
    """What is lost of two arms, by sample: the mean score or NaN, the share of trials lost, the item's ease.

    `observed` is the difference over the samples with a score under both.
    """
    predicted, noises = zip(
        *(_predicted(scores, of_arm, grouping) for scores, of_arm in zip(means, ease, strict=True)),
        strict=True,
    )
    modelled = grouping.mean(predicted[1] - predicted[0])
    return Loss(
        shares=(float(np.mean(lost[0])), float(np.mean(lost[1]))),
        surplus=[
            np.bincount(factor.clusters, lost[1] - lost[0]).astype(np.float64) for factor in grouping.factors
        ],
        observed=observed,
        modelled=modelled,
        se=float(np.sqrt(sum(noises))),
    )


def _predicted(scores: Floats, ease: Floats, grouping: Design) -> tuple[Floats, float]:
    """Scores with those that are absent predicted, and the variance that this adds to their mean."""
    has_score = ~np.isnan(scores)
    if has_score.all():
        return scores, 0.0
    if not has_score.any():
        return np.full(len(scores), 0.5), 0.25
    usual = _means_of(scores, has_score, grouping, else_=float(np.mean(scores[has_score])))
    fits = has_score & ~np.isnan(ease)
    line = np.zeros(len(scores))
    slope_variance = 0.0
    residuals = scores[has_score] - usual[has_score]
    if fits.sum() >= FEWEST:
        usual_ease = _means_of(ease, fits, grouping, else_=float(np.mean(ease[fits])))
        x = np.where(np.isnan(ease), 0.0, ease - usual_ease)
        spread = float(np.sum(x[fits] ** 2))
        if spread > FLAT:
            slope = float(np.sum(x[fits] * (scores[fits] - usual[fits]))) / spread
            line = slope * x
            residuals = scores[has_score] - usual[has_score] - line[has_score]
            slope_variance = float(np.mean(residuals**2)) / spread
            slope_variance *= float(np.sum((grouping.weights * x)[~has_score])) ** 2
    predicted = np.where(has_score, scores, np.clip(usual + line, 0.0, 1.0))
    weights = np.where(has_score, 0.0, grouping.weights)
    kin = (1.0 - ICC) * float(np.sum(weights**2))
    kin += ICC * sum(float(np.sum(np.bincount(factor.clusters, weights) ** 2)) for factor in grouping.factors)
    return predicted, float(np.mean(residuals**2)) * kin + slope_variance


def _means_of(values: Floats, where: NDArray[np.bool_], grouping: Design, *, else_: float) -> Floats:
    """By sample, the mean of its stratum's values where there are any."""
    strata_n = int(grouping.strata.max()) + 1
    counts = np.bincount(grouping.strata[where], minlength=strata_n)
    sums = np.bincount(grouping.strata[where], values[where], minlength=strata_n)
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), else_)
    return means[grouping.strata]
