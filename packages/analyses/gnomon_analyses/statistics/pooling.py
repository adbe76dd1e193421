"""Shrinks the differences of single subsets (cells) towards their common mean: partial pooling."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import Floats
from gnomon.statistics.estimate import Ends

HALVINGS = 100
OF_AN_END = 30  # halvings
SPREADS, LEAST, LARGEST = 100, 0.02, 1.0  # τ from that part of the least error to half the scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """Cells after shrinkage: the common mean, the spread τ between true cell effects, and each cell's share.

    `values` are the shrunk effects, `ci95` their intervals; `weights` say how much of its own difference each
    cell keeps.
    """

    mean: float
    mean_se: float
    tau: float
    values: tuple[float, ...]
    ci95: tuple[Ends, ...]
    weights: tuple[float, ...]


def partial_pooling(values: Sequence[float], errors: Sequence[float]) -> Pooled | None:
    """Random-effects pooling: τ² by Paule and Mandel (1982), cells by the normal shrinkage estimator.

    A cell's weight is τ² / (τ² + se²). Few cells say little of τ, so that intervals which take it as known
    are far too short: these average over all τ, each as likely as the cells make it, with a flat prior on τ²
    (Morris 1983, Tang and Morris 2011). None with fewer than three cells, or an error that is not above zero:
    their spread cannot be estimated then.
    """
    y, variances = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64) ** 2
    if len(y) < 3 or not np.all(variances > 0):
        return None
    tau2 = _paule_mandel(y, variances)
    weights = 1 / (variances + tau2)
    mean, mean_variance = float(weights @ y / weights.sum()), float(1 / weights.sum())
    own = tau2 / (tau2 + variances)
    shrunk = own * y + (1 - own) * mean
    ends = _intervals(y, variances)
    return Pooled(
        mean=mean,
        mean_se=mean_variance**0.5,
        tau=tau2**0.5,
        values=tuple(shrunk.tolist()),
        ci95=tuple(
            (min(low, value), max(high, value))
            for (low, high), value in zip(ends, shrunk.tolist(), strict=True)
        ),
        weights=tuple(own.tolist()),
    )


def _intervals(y: Floats, variances: Floats) -> list[Ends]:
    """By cell, what holds its effect in 95 % of cases, the mean and τ being unknown."""
    tau = np.geomspace(LEAST * float(variances.min()) ** 0.5, LARGEST, SPREADS)[:, None]
    weights = 1 / (variances + tau**2)
    total = weights.sum(axis=1)
    means = weights @ y / total
    misfit = np.sum(weights * (y - means[:, None]) ** 2, axis=1)
    log = 0.5 * (np.log(weights).sum(axis=1) - np.log(total) - misfit) + 2 * np.log(tau[:, 0])
    chances = np.exp(log - log.max())
    chances /= chances.sum()
    own = tau**2 * weights
    centres = own * y + (1 - own) * means[:, None]
    errors = np.sqrt(own * variances + (1 - own) ** 2 / total[:, None])
    return [_ends(chances, *of_cell) for of_cell in zip(centres.T, errors.T, strict=True)]


def _ends(chances: Floats, centres: Floats, errors: Floats) -> Ends:
    """The ends of the middle 95 % of a mixture of normal distributions."""
    reach = 6 * float(errors.max())
    least, most = float(centres.min()) - reach, float(centres.max()) + reach
    low, high = (
        bisect(
            lambda end, share=share: chances @ ndtr((end - centres) / errors) >= share,  # type: ignore[misc]
            least,
            most,
            halvings=OF_AN_END,
        )
        for share in (0.025, 0.975)
    )
    return low[0], high[1]


def _paule_mandel(y: np.ndarray, variances: np.ndarray) -> float:
    """The τ² at which the cells scatter about their weighted mean just as much as they should."""
    high = 10 * float(np.var(y, ddof=1)) + 1e-12

    def excess(tau2: float) -> float:
        weights = 1 / (variances + tau2)
        return float(weights @ (y - weights @ y / weights.sum()) ** 2) - (len(y) - 1)

    if excess(0.0) <= 0:
        return 0.0
    low, high = bisect(lambda tau2: excess(tau2) <= 0, 0.0, high, halvings=HALVINGS)
    return (low + high) / 2
