"""Shrinks the differences of single subsets (cells) towards their common mean: partial pooling."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.statistics.bisection import bisect
from gnomon.statistics.estimate import normal_quantile

HALVINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """Cells after shrinkage: the common mean, the spread τ between true cell effects, and each cell's share.

    `values` and `errors` are the shrunk effects and their standard errors; `weights` say how much of its own
    difference each cell keeps.
    """

    mean: float
    mean_se: float
    tau: float
    values: tuple[float, ...]
    errors: tuple[float, ...]
    weights: tuple[float, ...]

    def intervals(self, level: float = 0.95) -> list[tuple[float, float]]:
        """Each cell's interval after pooling."""
        z = normal_quantile(level)
        pairs = zip(self.values, self.errors, strict=True)
        return [(value - z * error, value + z * error) for value, error in pairs]


def partial_pooling(values: Sequence[float], errors: Sequence[float]) -> Pooled | None:
    """Random-effects pooling: τ² by Paule and Mandel (1982), cells by the normal shrinkage estimator.

    A cell's weight is τ² / (τ² + se²); the error of a shrunk value counts the mean's own too. None with
    fewer than three cells, or an error that is not above zero: their spread cannot be estimated then.

    >>> pooled = partial_pooling([0.0, 0.1, 0.5], [0.1, 0.1, 0.1])
    >>> [round(value, 3) for value in pooled.values]
    [0.029, 0.114, 0.457]
    """
    y, variances = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64) ** 2
    if len(y) < 3 or not np.all(variances > 0):
        return None
    tau2 = _paule_mandel(y, variances)
    weights = 1 / (variances + tau2)
    mean, mean_variance = float(weights @ y / weights.sum()), float(1 / weights.sum())
    own = tau2 / (tau2 + variances)
    shrunk = own * y + (1 - own) * mean
    errors_after = np.sqrt(own * variances + (1 - own) ** 2 * mean_variance)
    return Pooled(
        mean=mean,
        mean_se=mean_variance**0.5,
        tau=tau2**0.5,
        values=tuple(shrunk.tolist()),
        errors=tuple(errors_after.tolist()),
        weights=tuple(own.tolist()),
    )


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
