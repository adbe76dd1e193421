"""How samples are averaged, and which of them are not independent."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gnomon.statistics.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Headline = Literal["mean_of_cells", "mean_of_samples"]
ICC = 0.2  # of samples of one cluster, where the scores themselves do not tell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Samples in strata and clusters; build it with `design`.

    The aggregate is the mean of the strata's means, so a sample of a stratum of `n` weighs 1 / (strata · n).
    Codes run from 0 without gaps.
    """

    strata: Codes
    clusters: Codes
    weights: Floats
    scales: Floats  # by sample: √(G/(G−1)), G the clusters in its stratum; 1 where G is 1
    lonely: NDArray[np.bool_]  # by sample: its stratum is within one cluster
    clusters_n: int

    @property
    def n(self) -> int:
        return len(self.weights)

    def mean(self, values: Floats) -> float:
        """The aggregate of one value a sample."""
        return float(np.mean(np.bincount(self.strata, values) / np.bincount(self.strata)))

    def sums(self, values: Floats) -> Floats:
        """What each cluster adds to the aggregate."""
        summed = np.bincount(self.clusters, self.weights * values, minlength=self.clusters_n)
        return summed.astype(np.float64)

    def influence(self, values: Floats) -> Floats:
        """What each cluster adds to the aggregate's error; their squares sum to its variance.

        Weighted residuals from the stratum's mean, summed over the cluster, times √(G/(G−1)). With one
        stratum that is the usual cluster-robust variance (Liang and Zeger 1986, small-sample factor
        included); with strata of independent samples the textbook Σ s²/n. A stratum within one cluster
        shows no spread of its own and is centred on the aggregate (the `adjust` rule of Lumley's survey
        package).
        """
        means = np.bincount(self.strata, values) / np.bincount(self.strata)
        centre = np.where(self.lonely, self.mean(values), means[self.strata])
        residuals = self.weights * self.scales * (values - centre)
        return np.bincount(self.clusters, residuals, minlength=self.clusters_n).astype(np.float64)

    def estimate(self, values: Floats, *, limits: tuple[float, float]) -> Estimate:
        """The aggregate with its cluster-robust error; `limits` are the ends of the scale."""
        enough = self.clusters_n > 1
        return Estimate(
            value=self.mean(values),
            se=float(np.sqrt(np.sum(self.influence(values) ** 2))) if enough else None,
            df=self._degrees_of_freedom() if enough else None,
            n=self.n,
            clusters=self.clusters_n,
            effective_clusters=self.effective_clusters,
            limits=limits,
        )

    @property
    def effective_clusters(self) -> float:
        """1 / Σ (weight of a cluster)², Kish's effective number: all of them where they weigh the same."""
        return float(1.0 / np.sum(np.bincount(self.clusters, self.weights) ** 2))

    @property
    def fewest_clusters(self) -> int:
        """The number of clusters in the stratum that has the fewest."""
        strata_n = int(self.strata.max()) + 1
        pairs = np.unique(self.strata * self.clusters_n + self.clusters)
        return int(np.bincount(pairs // self.clusters_n, minlength=strata_n).min())

    @property
    def is_plain(self) -> bool:
        """One sample a cluster, and all weigh the same: classical methods for independent samples hold."""
        return self.clusters_n == self.n and bool(np.ptp(self.weights) < 1e-12)

    def _degrees_of_freedom(self) -> float:
        """G − 1, or less where that would be too bold.

        Where few clusters dominate (the effective number is below G/2) it is the effective number − 1
        (Carter, Schnepel and Steigerwald 2017): G − 1 would miss the truth in 15 % of cases instead of 5.
        Where strata are averaged it is not more than Satterthwaite's for independent errors,
        trace(Γ)² / trace(Γ²), Γ the covariance of the influences (Bell and McCaffrey 2002): G − strata for
        equal strata of independent samples, and few where a small stratum makes the noise.
        """
        strata_n = int(self.strata.max()) + 1
        dominated = self.effective_clusters < self.clusters_n / 2
        most = max((self.effective_clusters if dominated else self.clusters_n) - 1.0, 1.0)
        if strata_n == 1:
            return most
        sizes = np.bincount(self.strata)
        loads = self.weights * self.scales
        own = np.bincount(self.clusters, loads**2, minlength=self.clusters_n)
        shared = np.zeros((self.clusters_n, strata_n))
        np.add.at(shared, (self.clusters, self.strata), np.where(self.lonely, 0.0, loads))
        shared /= np.sqrt(sizes)
        shared_squares = np.sum(shared**2, axis=1)
        trace = np.sum(own - shared_squares)
        trace_of_square = np.sum(own**2) - 2 * np.sum(own * shared_squares) + np.sum((shared.T @ shared) ** 2)
        if trace_of_square <= 0 or trace <= 0:
            return 1.0
        return float(np.clip(trace**2 / trace_of_square, 1.0, most))


def design(strata: Codes, clusters: Codes) -> Design:
    """The design of samples with these stratum and cluster codes; give equal strata for a plain mean.

    >>> design(np.array([0, 0, 1]), np.array([0, 1, 2])).weights.tolist()
    [0.25, 0.25, 0.5]

    Raises:
        ValueError: there are no samples.
    """
    if len(strata) == 0:
        raise ValueError("a design needs at least one sample")
    strata, clusters = _dense(strata), _dense(clusters)
    sizes = np.bincount(strata)
    clusters_n = int(clusters.max()) + 1
    pairs = np.unique(strata * clusters_n + clusters)
    clusters_in = np.bincount(pairs // clusters_n)
    lonely = clusters_in[strata] == 1
    counted = np.where(lonely, clusters_n, clusters_in[strata]).astype(np.float64)
    return Design(
        strata=strata,
        clusters=clusters,
        weights=1.0 / (len(sizes) * sizes[strata]),
        scales=np.sqrt(counted / np.maximum(counted - 1.0, 1.0)),
        lonely=lonely,
        clusters_n=clusters_n,
    )


def strata_of(cells: Codes, headline: Headline) -> Codes:
    """The strata a benchmark's headline averages over: its cells, or all samples as one.

    >>> strata_of(np.array([0, 1, 1]), "mean_of_samples").tolist()
    [0, 0, 0]
    """
    return cells if headline == "mean_of_cells" else np.zeros_like(cells)


def _dense(codes: Codes) -> Codes:
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)
