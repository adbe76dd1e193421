"""The wild cluster bootstrap of a mean difference: a test and an interval for few, unequal clusters.

Cameron, Gelbach and Miller (2008) with the null imposed. Below twelve clusters the weights are Webb's six
points (2013), as two signs make too few different draws there; else Rademacher's signs. The interval holds
every difference that the test does not reject (Roodman, MacKinnon, Nielsen and Webb 2019).
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import FLAT

DRAWS, BATCH = 9_999, 1_111
SEED = 20_260_104
WEBB_BELOW = 12  # clusters
WEBB = np.sqrt([0.5, 1.0, 1.5])
ALL_UP_TO = 50_000  # where there are no more patterns of weights than this, all are tried
HALVINGS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class WildBootstrap:
    """p of no difference and the interval of all differences that are not rejected at 5 %.

    An end is None where no difference on that side is rejected, as with four clusters or fewer. `weights`
    says which were used, `draws` how many, and whether they are all there are.
    """

    p: float
    ci95: tuple[float | None, float | None]
    weights: str
    draws: int
    is_exhaustive: bool


def wild_bootstrap(d: Floats, grouping: Design, *, level: float = 0.95) -> WildBootstrap | None:
    """Test the design's mean of paired differences; None if there are fewer than two clusters or no spread.

    Under the null that the mean is θ₀ each sample's residual is what is left of its cell's mean, shifted by
    θ̂ − θ₀; a draw multiplies the residuals of each cluster by one weight. p is the share of draws whose |t|
    reaches the observed one, t over the cluster-robust error.
    """
    estimate = grouping.estimate(d, limits=(-1.0, 1.0))
    if estimate.se is None or estimate.se < FLAT:
        return None
    drawn = _Drawn.of(d, grouping)
    p, low, high = drawn.p(0.0), drawn.end(-1.0, 1 - level), drawn.end(1.0, 1 - level)
    if p > 1 - level:  # ties at 0 make p jump there: the interval holds 0 where the test does not reject it
        low, high = (None if low is None else min(low, 0.0)), (None if high is None else max(high, 0.0))
    return WildBootstrap(
        p=p,
        ci95=(low, high),
        weights=drawn.weights,
        draws=len(drawn.shifts),
        is_exhaustive=drawn.is_exhaustive,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drawn:
    """By draw: the mean's error as `own + δ · shifts`, its variance as a quadratic in δ = θ̂ − θ₀."""

    value: float
    se: float
    own: Floats
    shifts: Floats
    squares: tuple[Floats, Floats, Floats]  # of 1, δ and δ²
    weights: str
    is_exhaustive: bool

    @classmethod
    def of(cls, d: Floats, grouping: Design) -> "_Drawn":
        clusters_n, strata_n = grouping.clusters_n, int(grouping.strata.max()) + 1
        cell_means = grouping.stratum_means(d)
        residuals = d - cell_means[grouping.strata]
        ones = np.ones_like(d)
        centring = _centring(grouping, strata_n)
        fixed = grouping.influence(cell_means[grouping.strata])
        parts = [(_loads(x, grouping, strata_n), grouping.sums(x)) for x in (residuals, ones)]
        own, shifts, squares = [], [], []
        for v in _weights(clusters_n):
            (e, one) = (v * diagonal - (v @ means) @ centring.T for (diagonal, means), _ in parts)
            e = e + fixed
            own.append(v @ parts[0][1])
            shifts.append(v @ parts[1][1])
            squares.append([np.sum(e * e, axis=1), 2 * np.sum(e * one, axis=1), np.sum(one * one, axis=1)])
        estimate = grouping.estimate(d, limits=(-1.0, 1.0))
        return cls(
            value=estimate.value,
            se=float(estimate.se or 0.0),
            own=np.concatenate(own),
            shifts=np.concatenate(shifts),
            squares=tuple(np.concatenate(part) for part in zip(*squares, strict=True)),  # type: ignore[arg-type]
            weights="Webb's six points" if clusters_n < WEBB_BELOW else "Rademacher signs",
            is_exhaustive=_patterns(clusters_n) <= ALL_UP_TO,
        )

    def p(self, null: float) -> float:
        """The share of draws as far out as the data, were the true difference `null`."""
        delta = self.value - null
        variance = self.squares[0] + delta * self.squares[1] + delta**2 * self.squares[2]
        error = self.own + delta * self.shifts
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(variance > FLAT**2, np.abs(error) / np.sqrt(variance), np.inf)
        t[(variance <= FLAT**2) & (np.abs(error) < FLAT)] = 0.0
        beyond = int(np.sum(t >= abs(delta) / self.se - 1e-9))
        return beyond / len(t) if self.is_exhaustive else (1 + beyond) / (1 + len(t))

    def end(self, side: float, alpha: float) -> float | None:
        """The furthest difference on that side that is not rejected; None where the scale's end is not."""
        if self.p(side) > alpha:
            return None
        _, inside = bisect(lambda null: self.p(null) > alpha, side, self.value, halvings=HALVINGS)
        return float(inside)


def _loads(x: Floats, grouping: Design, strata_n: int) -> tuple[Floats, Floats]:
    """By cluster: what it adds to its own influence before centring, and to each cell's mean."""
    diagonal: Floats = np.bincount(grouping.clusters, grouping.weights * grouping.scales * x).astype(float)
    at = grouping.clusters * strata_n + grouping.strata
    sums = np.bincount(at, x, minlength=grouping.clusters_n * strata_n)
    means: Floats = sums.reshape(grouping.clusters_n, strata_n) / grouping.stratum_sizes
    return diagonal, means


def _centring(grouping: Design, strata_n: int) -> Floats:
    """By cluster: how much of each cell's mean its influence takes off, see `Design.influence`."""
    loads = grouping.weights * grouping.scales
    at = grouping.clusters * strata_n + grouping.strata
    size = grouping.clusters_n * strata_n
    own = np.bincount(at, np.where(grouping.lonely, 0.0, loads), minlength=size)
    lonely = np.bincount(
        grouping.clusters, np.where(grouping.lonely, loads, 0.0), minlength=grouping.clusters_n
    )
    centring: Floats = own.reshape(grouping.clusters_n, strata_n) + lonely[:, None] / strata_n
    return centring


def _patterns(clusters_n: int) -> float:
    return float(6**clusters_n) if clusters_n < WEBB_BELOW else 2.0**clusters_n


def _weights(clusters_n: int) -> list[Floats]:
    """Weights of the clusters by draw, in batches; all patterns where they are few."""
    points = np.concatenate([-WEBB, WEBB]) if clusters_n < WEBB_BELOW else np.array([-1.0, 1.0])
    if _patterns(clusters_n) <= ALL_UP_TO:
        every = np.array(list(product(points, repeat=clusters_n)))
        return [every[at : at + BATCH] for at in range(0, len(every), BATCH)]
    random = np.random.default_rng(SEED)
    return [random.choice(points, size=(BATCH, clusters_n)) for _ in range(DRAWS // BATCH)]
