"""The slope of a difference over the difficulty of items, measured on other trials.

Least squares with errors robust to clusters, CR2, and their degrees of freedom (Bell and McCaffrey 2002;
Imbens and Kolesár 2016; Pustejovsky and Tipton 2018). The difficulty must come from trials that the
difference does not hold: else an item that was wrong by chance looks hard and looks helped.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from gnomon.statistics.design import Codes, Floats, dense
from gnomon.statistics.estimate import t_quantile

FLAT = 1e-9
MIN_RELIABILITY = 0.3
MIN_EFFECTIVE = 2  # clusters that hold the spread of the difficulty


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """The change of the difference over the whole scale of difficulty, with its error."""

    value: float
    se: float
    df: float
    ci95: tuple[float, float]
    p: float


def slope(difficulty: Floats, differences: Floats, clusters: Codes, groups: Codes | None = None) -> Slope:
    """The least-squares slope of the differences over the difficulties, within groups where they are given.

    >>> hard = np.array([0.0, 0.5, 1.0, 0.0, 0.5, 1.0])
    >>> of_all = slope(hard, np.array([0.0, 0.1, 0.4, 0.1, 0.2, 0.2]), np.arange(6))
    >>> round(of_all.value, 3), round(of_all.df, 2)
    (0.25, 2.58)

    Raises:
        ValueError: all items are equally hard, or hardly more than one cluster differs.
    """
    groups = np.zeros(len(difficulty), dtype=np.intp) if groups is None else dense(groups)
    clusters = dense(clusters)
    design = np.zeros((len(difficulty), int(groups.max()) + 2))
    design[np.arange(len(groups)), groups] = 1.0
    means = np.bincount(groups, difficulty) / np.bincount(groups)
    design[:, -1] = difficulty - means[groups]
    bread = design.T @ design
    if bread[-1, -1] < FLAT:
        raise ValueError("all items are equally hard")
    held = np.bincount(clusters, design[:, -1] ** 2) / bread[-1, -1]
    if 1 / np.sum(held**2) < MIN_EFFECTIVE:
        raise ValueError("too few clusters differ in difficulty")
    inverse: Floats = np.linalg.inv(bread).astype(np.float64)
    estimates = inverse @ design.T @ differences
    residuals = differences - design @ estimates
    loads = _loads(design, inverse, clusters)
    se = float(np.sqrt(sum((load @ residuals[own]) ** 2 for own, load in loads)))
    # Satterthwaite's for independent errors of one size: trace(Γ)² / trace(Γ²)
    shared = np.stack([load @ design[rows] for rows, load in loads])
    covariance = np.diag([load @ load for _, load in loads]) - shared @ inverse @ shared.T
    df = float(np.trace(covariance) ** 2 / np.sum(covariance**2))
    if df < 1 or se < FLAT:
        raise ValueError("too few clusters differ in difficulty")
    half, value = t_quantile(0.95, df) * se, float(estimates[-1])
    p = float(2 * stdtr(df, -abs(value) / se))
    return Slope(value=value, se=se, df=df, ci95=(value - half, value + half), p=p)


def reliability(measured: Floats) -> float | None:
    """The share of a difficulty's spread over items that is not noise of its few trials.

    `measured` is items × measurements (NaN for missing), whose mean it is: 1 less the variance of that mean
    around the item's own, over its variance. None where items have fewer than two measurements, or most of
    the spread is noise. A slope over a noisy difficulty is the true one times this share (Spearman 1904;
    Fuller 1987).

    >>> alike, other = [[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0]]
    >>> round(reliability(np.array(3 * alike + 2 * other)), 2), reliability(np.array(alike + 2 * other))
    (0.71, None)
    """
    counts = np.isfinite(measured).sum(axis=1)
    several = measured[counts > 1]
    if len(several) < 2:
        return None
    tries = counts[counts > 1]
    noise = float(np.mean(np.nanvar(several, axis=1, ddof=1) / tries))
    spread = float(np.var(np.nanmean(several, axis=1), ddof=1))
    share = 1 - noise / spread if spread > FLAT else 0.0
    return share if share > MIN_RELIABILITY else None


def _loads(design: Floats, inverse: Floats, clusters: Codes) -> list[tuple[Codes, Floats]]:
    """By cluster: its rows, and what each of their residuals adds to the slope's error.

    The residuals are first made as wide as the errors were, by (I − H)^(−1/2) of the cluster's own rows.
    """
    order = np.argsort(clusters, kind="stable")
    ends = np.flatnonzero(np.diff(clusters[order])) + 1
    loads = []
    for own in np.split(order, ends):
        rows = design[own]
        values, vectors = np.linalg.eigh(np.eye(len(own)) - rows @ inverse @ rows.T)
        roots = np.where(values > FLAT, 1 / np.sqrt(np.maximum(values, FLAT)), 0.0)
        loads.append((own, (inverse @ rows.T)[-1] @ (vectors * roots) @ vectors.T))
    return loads
