"""How samples are averaged, and which of them are not independent."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.statistics.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Headline = Literal["mean_of_cells", "mean_of_samples"]
ICC = 0.2  # of samples of one cluster, where the scores themselves do not tell
ROWS = 8_192  # clusters that are looked at at once
SPARSE = 16  # codes up to so many times their number are counted


class _Loads(NamedTuple):
    """What the covariance of a design's influences is made of, whatever the values are."""

    own: Floats  # by cluster: the variance of its load were its samples independent,
    whole: Floats  # and the load of what they share
    shared: Floats
    crossed: Floats
    loaded: tuple[Floats, Floats]  # of independent samples, and of clusters alone


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Samples in strata and clusters; build it with `design`.

    The aggregate is the mean of the strata's means, so a sample of a stratum of `n` weighs 1 / (strata · n).
    Codes run from 0 without gaps. Where samples are clustered in two ways, `crossed` are the designs by the
    second factor and by both at once: variances are those of the first and of the second less those of both
    (Cameron, Gelbach and Miller 2011), and at least those of either.
    """

    strata: Codes
    clusters: Codes
    weights: Floats
    scales: Floats  # by sample: 1/√(1 − its cluster's share of its stratum), CR2's adjustment
    lonely: NDArray[np.bool_]  # by sample: its stratum is within one cluster
    clusters_n: int
    crossed: "tuple[Design, Design] | None" = None

    @property
    def n(self) -> int:
        return len(self.weights)

    @property
    def factors(self) -> "tuple[Design, ...]":
        """The design by each factor that makes samples kin: itself, and by the second where two cross."""
        return (self, *(self.crossed or ())[:1])

    @property
    def crossing_n(self) -> int | None:
        """How many clusters a second factor has; None where there is one."""
        return self.crossed[0].clusters_n if self.crossed else None

    @cached_property
    def stratum_sizes(self) -> Codes:
        """By stratum, how many samples there are."""
        return np.bincount(self.strata)

    def stratum_means(self, values: Floats) -> Floats:
        """By stratum, the mean of one value a sample."""
        means: Floats = np.bincount(self.strata, values) / self.stratum_sizes
        return means

    def mean(self, values: Floats) -> float:
        """The aggregate of one value a sample."""
        return float(self.stratum_means(values).mean())

    def sums(self, values: Floats) -> Floats:
        """What each cluster adds to the aggregate."""
        summed = np.bincount(self.clusters, self.weights * values, minlength=self.clusters_n)
        return summed.astype(np.float64)

    def influence(self, values: Floats) -> Floats:
        """What each cluster adds to the aggregate's error; their squares sum to its variance.

        Weighted residuals from the stratum's mean, divided by √(1 − the cluster's share of the stratum) and
        summed over the cluster: the bias-reduced CR2 of Bell and McCaffrey (2002), the strata's means being
        the regressors. Where clusters are equal that is the usual cluster-robust variance with its factor
        G/(G − 1) (Liang and Zeger 1986); with independent samples in strata the textbook Σ s²/n. A stratum
        within one cluster shows no spread of its own and is centred on the aggregate (the `adjust` rule of
        Lumley's survey package).
        """
        means = self.stratum_means(values)
        centre = np.where(self.lonely, means.mean(), means[self.strata])
        residuals = self.weights * self.scales * (values - centre)
        return np.bincount(self.clusters, residuals, minlength=self.clusters_n).astype(np.float64)

    def errors(self, values: Floats) -> tuple[Floats, Floats]:
        """What each cluster adds to the error of the aggregate, and to its weight.

        Were the aggregate θ₀, the error would be `errors + (mean − θ₀) · weights`: residuals from the
        stratum's mean, all strata moved alike. Only the strata's distances from each other are estimated, so
        a residual is divided by √(1 − share · (1 − 1/strata)), share being its cluster's of the stratum; with
        one stratum nothing is estimated. A stratum within one cluster is centred on the aggregate.
        """
        means = self.stratum_means(values)
        centre = np.where(self.lonely, means.mean(), means[self.strata])
        shares = np.where(self.lonely, 0.0, 1.0 - 1.0 / self.scales**2)
        scales = 1.0 / np.sqrt(1.0 - shares * (1.0 - 1.0 / len(means)))
        loads = (self.weights * scales * (values - centre), self.weights)
        own, own_weights = (np.bincount(self.clusters, load, self.clusters_n) for load in loads)
        if self.crossed is None:
            return own.astype(np.float64), own_weights.astype(np.float64)
        (second, second_weights), (both, _) = (other.errors(values) for other in self.crossed)
        squares = float(own @ own), float(second @ second)
        share = _two_way(*squares, float(both @ both)) / sum(squares) if sum(squares) > 0 else 1.0
        errors, weights = np.concatenate([own, second]), np.concatenate([own_weights, second_weights])
        return share**0.5 * errors, share**0.5 * weights

    def estimate(self, values: Floats, *, limits: tuple[float, float], icc: float = ICC) -> Estimate:
        """The aggregate with its cluster-robust error; `limits` are the ends of the scale.

        `icc` is how alike the samples of a cluster are taken to be where the values do not show it.
        """
        enough = self.clusters_n > 1
        return Estimate(
            value=self.mean(values),
            se=self._variance(values) ** 0.5 if enough else None,
            df=self.degrees_of_freedom(self.icc(values)) if enough else None,
            n=self.n,
            clusters=self.clusters_n,
            effective_clusters=self.effective_clusters,
            effective_samples=self.effective_samples(icc),
            limits=limits,
        )

    def _variance(self, values: Floats) -> float:
        own = float(np.sum(self.influence(values) ** 2))
        if self.crossed is None:
            return own
        return _two_way(own, *(float(np.sum(other.influence(values) ** 2)) for other in self.crossed))

    def covariance(self, first: Floats, second: Floats) -> float:
        """The covariance of the errors of two means."""
        if self.crossed is None:
            return float(self.influence(first) @ self.influence(second))
        return (self._variance(first + second) - self._variance(first - second)) / 4.0

    @cached_property
    def effective_clusters(self) -> float:
        """1 / Σ (weight of a cluster)², Kish's effective number: all of them where they weigh the same."""
        own = float(1.0 / np.sum(np.bincount(self.clusters, self.weights) ** 2))
        return min(own, self.crossed[0].effective_clusters) if self.crossed else own

    def clusters_with(self, holds: NDArray[np.bool_]) -> int:
        """How many clusters have such a sample; of two factors by the first."""
        return int(np.count_nonzero(np.bincount(self.clusters[holds])))

    @property
    def heaviest(self) -> tuple[float, int]:
        """The weight of the cluster that weighs most beside an equal one of its factor, which has so many."""
        weighed = [(np.bincount(each.clusters, each.weights).max(), each.clusters_n) for each in self.factors]
        share, clusters_n = max(weighed, key=lambda of: of[0] * of[1])
        return float(share), clusters_n

    def effective_samples(self, icc: float) -> float:
        """How many independent, equally weighted samples these are worth if a cluster's correlate by `icc`.

        Kish's design effect with weights: the effective number of samples at 0, of clusters at 1.
        """
        own = float(np.sum(self.weights**2))
        shared = float(np.sum(np.bincount(self.clusters, self.weights) ** 2))
        if self.crossed:
            shared += float(np.sum(np.bincount(self.crossed[0].clusters, self.weights) ** 2)) - own
        return 1.0 / ((1.0 - icc) * own + icc * shared)

    def icc(self, values: Floats) -> float:
        """How alike the samples of a cluster are, 0 to 1: the analysis of variance's intraclass correlation.

        Strata are taken out first. 0 where every sample is a cluster, or nothing varies. Of two factors it is
        the larger one.
        """
        if self.crossed:
            return max(replace(self, crossed=None).icc(values), self.crossed[0].icc(values))
        within_df = self.n - self.clusters_n
        if within_df < 1 or self.clusters_n < 2:
            return 0.0
        residuals = values - self.stratum_means(values)[self.strata]
        sizes = np.bincount(self.clusters)
        sums = np.bincount(self.clusters, residuals)
        between = float(np.sum(sums**2 / sizes))
        within = max(float(np.sum(residuals**2)) - between, 0.0) / within_df
        between /= self.clusters_n - 1
        usual_size = (self.n - float(np.sum(sizes**2)) / self.n) / (self.clusters_n - 1)
        total = between + (usual_size - 1.0) * within
        return float(np.clip((between - within) / total, 0.0, 1.0)) if total > 0 else 0.0

    @property
    def is_plain(self) -> bool:
        """One sample a cluster, and all weigh the same: classical methods for independent samples hold."""
        return self.clusters_n == self.n and bool(np.ptp(self.weights) < 1e-12)

    def degrees_of_freedom(self, icc: float) -> float:
        """Satterthwaite's number for the variance of the influences, at most G − 1.

        trace(Γ)² / trace(Γ²), Γ the covariance of the influences (Bell and McCaffrey 2002) where samples of a
        cluster correlate by `icc` (Imbens and Kolesár 2016): G − 1 for equal clusters, G − strata for equal
        strata of independent samples, and few where one cluster or a small stratum makes the noise.
        Γ is a diagonal and a product of few columns, so nothing of the size clusters² is made.
        """
        loads, most = self._loads, max(self.clusters_n - 1.0, 1.0)
        diagonal = (1.0 - icc) * loads.own + icc * loads.whole**2
        sizes = self.stratum_sizes
        strata_n = len(sizes)
        middle = np.zeros((2 * strata_n, 2 * strata_n))
        first, second = np.arange(strata_n), np.arange(strata_n, 2 * strata_n)
        middle[:strata_n, :strata_n] = icc * loads.shared
        middle[first, first] -= (1.0 - icc) / sizes
        middle[first, second] = middle[second, first] = -icc
        crossed = middle @ loads.crossed
        loaded = middle @ ((1.0 - icc) * loads.loaded[0] + icc * loads.loaded[1])
        trace = float(np.sum(diagonal) + np.trace(crossed))
        trace_of_square = float(np.sum(diagonal**2) + 2 * np.trace(loaded) + np.sum(crossed * crossed.T))
        if trace_of_square <= 0 or trace <= 0:
            return 1.0
        df = float(np.clip(trace**2 / trace_of_square, 1.0, most))
        return min(df, self.crossed[0].degrees_of_freedom(icc)) if self.crossed else df

    @cached_property
    def _loads(self) -> _Loads:
        """The sums over clusters of which every value's degrees of freedom are made."""
        sizes, loads = self.stratum_sizes, self.weights * self.scales
        own = np.bincount(self.clusters, loads**2, self.clusters_n).astype(np.float64)
        whole = np.bincount(self.clusters, loads, self.clusters_n).astype(np.float64)
        # Influences are M e. Of independent e they have the covariance diag(own) − centred/sizes centredᵀ; of
        # e that a cluster shares, (diag(whole) − centred sharesᵀ) times its transpose.
        strata_n = len(sizes)
        shared = np.zeros((strata_n, strata_n))
        crossed, independent, together = np.zeros((3, 2 * strata_n, 2 * strata_n))
        for part, centred, counts in self._by_cluster(np.where(self.lonely, 0.0, loads), strata_n):
            shares = counts / sizes
            columns = np.hstack([centred, whole[part, None] * shares])
            shared += shares.T @ shares
            crossed += columns.T @ columns
            independent += columns.T @ (own[part, None] * columns)
            together += columns.T @ (whole[part, None] ** 2 * columns)
        return _Loads(own, whole, shared, crossed, (independent, together))

    def _by_cluster(self, values: Floats, strata_n: int) -> Iterator[tuple[slice, Floats, Codes]]:
        """Sums of values and counts of samples, clusters × strata, so many clusters at a time."""
        order = np.argsort(self.clusters, kind="stable")
        clusters = self.clusters[order]
        for start in range(0, self.clusters_n, ROWS):
            part = slice(start, min(start + ROWS, self.clusters_n))
            samples = order[slice(*np.searchsorted(clusters, (part.start, part.stop)))]
            at = (self.clusters[samples] - start) * strata_n + self.strata[samples]
            size = (part.stop - start) * strata_n
            sums: Floats = np.bincount(at, values[samples], minlength=size).astype(np.float64, copy=False)
            counts = np.bincount(at, minlength=size)
            yield part, sums.reshape(-1, strata_n), counts.reshape(-1, strata_n)


def _two_way(first: float, second: float, both: float) -> float:
    """A variance over two factors, from those over each and over both at once."""
    return max(first + second - both, first, second)


def design(strata: Codes, clusters: Codes, second: Codes | None = None) -> Design:
    """The design of samples with these stratum and cluster codes; give equal strata for a plain mean.

    `second` are codes of a factor that crosses the clusters, such as templates over scenes.

    >>> design(np.array([0, 0, 1]), np.array([0, 1, 2])).weights.tolist()
    [0.25, 0.25, 0.5]

    Raises:
        ValueError: there are no samples.
    """
    if len(strata) == 0:
        raise ValueError("a design needs at least one sample")
    strata, clusters = dense(strata), dense(clusters)
    crossed = None
    if second is not None:
        second = dense(second)
        crossed = design(strata, second), design(strata, clusters * (int(second.max()) + 1) + second)
    sizes = np.bincount(strata)
    clusters_n = int(clusters.max()) + 1
    in_both = np.bincount(strata * clusters_n + clusters, minlength=len(sizes) * clusters_n)
    held = in_both[strata * clusters_n + clusters]  # by sample: those of its cluster and stratum
    lonely = held == sizes[strata]
    left = np.where(lonely, 1.0 - 1.0 / max(clusters_n, 2), 1.0 - held / sizes[strata])
    return Design(
        strata=strata,
        clusters=clusters,
        weights=1.0 / (len(sizes) * sizes[strata]),
        scales=1.0 / np.sqrt(left),
        lonely=lonely,
        clusters_n=clusters_n,
        crossed=crossed,
    )


def strata_of(cells: Codes, headline: Headline) -> Codes:
    """The strata a benchmark's headline averages over: its cells, or all samples as one.

    >>> strata_of(np.array([0, 1, 1]), "mean_of_samples").tolist()
    [0, 0, 0]
    """
    return cells if headline == "mean_of_cells" else np.zeros_like(cells)


def dense(codes: Codes) -> Codes:
    """The codes from 0 without gaps, in the same order.

    >>> dense(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    if len(codes) and codes.min() >= 0 and codes.max() < SPARSE * len(codes):  # counted, not sorted
        is_there = np.bincount(codes) > 0
        ranks: Codes = np.cumsum(is_there)[codes] - 1
        return ranks
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)
