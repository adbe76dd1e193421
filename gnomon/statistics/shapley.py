"""Computes Shapley values of tools: what each adds on average, over all orders of adding them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.statistics.coalitions import Coalition, Step, loads, steps
from gnomon.statistics.design import Codes, Floats, dense
from gnomon.statistics.estimate import t_quantile

SEED = 20260101
DRAWS = 1000
FEW_PAIRS = 4  # fewer pairs of orders say too little of how much orders differ


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapleyValue:
    """What one player adds. The errors are None with but one cluster, or fewer than four pairs of orders.

    `se`² = `order_se`² + `cluster_se`². `generation_se` is the part of `cluster_se` that more repeats
    would remove; it is None where no sample has repeats.
    """

    player: str
    value: float
    se: float | None
    ci95: tuple[float, float] | None
    order_se: float | None
    cluster_se: float | None
    generation_se: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Values of all players; `total` is the score with all of them minus the score with none.

    `gap` is the sum of the values minus `total`. It is zero but for rounding where no trial is missing: with
    missing trials, each step is measured over the samples that it has, and the gap says how far that bends.
    """

    values: tuple[ShapleyValue, ...]
    total: float
    gap: float
    is_exact: bool
    orders: int
    samples: int
    clusters: int


def shapley(
    scores: Mapping[Coalition, Floats],
    *,
    players: Sequence[str],
    orders: Sequence[Sequence[str]],
    clusters: Codes,
    weights: Floats | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Attribution:
    """Shapley values of `players` from the graded scores (samples × repeats, NaN for missing) by coalition.

    Empty `orders` mean that all coalitions are there, and weights |S|!(T−|S|−1)!/T! (Shapley 1953). Else each
    value is the mean over the orders. Errors come from resampling pairs of orders, and clusters with all
    their samples and repeats. The interval's half is the root of the sum of squares of both errors, each
    times the Student's t of its own degrees of freedom, pairs − 1 and clusters − 1 (Howe 1974).

    Raises:
        KeyError: a coalition that the orders pass through has no scores.
    """
    taken = list(dict.fromkeys(steps(players, orders)))
    changes = _Changes.of(scores, taken, dense(clusters), weights)
    shares = np.array([loads(player, taken, players, orders) for player in players])
    means = changes.means()
    values = shares @ means
    resampled = changes.resampled_means(draws=draws, seed=seed)
    cluster_se = _cluster_se(resampled, shares, changes.clusters_n)
    order_se = _order_se(means, resampled, taken, players, orders, clusters_n=changes.clusters_n)
    generation_se = _generation_se(scores, taken, shares, weights)
    total = _mean_step(scores, frozenset(), frozenset(players), weights)
    player_values = tuple(
        _value(player, float(value), order_se[at], cluster_se[at], generation_se[at], len(orders), changes)
        for at, (player, value) in enumerate(zip(players, values, strict=True))
    )
    return Attribution(
        values=player_values,
        total=total,
        gap=float(values.sum()) - total,
        is_exact=not orders,
        orders=len(orders),
        samples=len(clusters),
        clusters=changes.clusters_n,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changes:
    """By step and cluster: the weighted sum of what the step changes, and of the weights it rests on."""

    sums: Floats
    bases: Floats

    @classmethod
    def of(
        cls,
        scores: Mapping[Coalition, Floats],
        taken: Sequence[Step],
        clusters: Codes,
        weights: Floats | None,
    ) -> "_Changes":
        means = {coalition: _over_repeats(values) for coalition, values in scores.items()}
        own = np.ones(len(clusters)) if weights is None else weights
        sums, bases = [], []
        for player, joined in taken:
            d = means[joined | {player}] - means[joined]
            scored = np.isfinite(d)
            sums.append(np.bincount(clusters, np.where(scored, own * d, 0.0)))
            bases.append(np.bincount(clusters, np.where(scored, own, 0.0)))
        return cls(sums=np.array(sums), bases=np.array(bases))

    @property
    def clusters_n(self) -> int:
        return int(self.sums.shape[1])

    def means(self) -> Floats:
        """The mean change of each step; 0 where nothing was measured."""
        return _ratio(self.sums.sum(axis=1), self.bases.sum(axis=1))

    def resampled_means(self, *, draws: int, seed: int) -> Floats:
        """`means` once a draw of as many clusters as there are, with replacement (draws × steps)."""
        g = self.clusters_n
        times = np.random.default_rng(seed).multinomial(g, np.full(g, 1 / g), size=draws).astype(np.float64)
        return _ratio(times @ self.sums.T, times @ self.bases.T)


def _cluster_se(resampled: Floats, shares: Floats, clusters_n: int) -> list[float | None]:
    """Spread of the values over resampled clusters; √(G/(G−1)) corrects what resampling few understates."""
    if clusters_n < 2:
        return [None] * len(shares)
    spread = (resampled @ shares.T).std(axis=0, ddof=1) * math.sqrt(clusters_n / (clusters_n - 1))
    return [float(se) for se in spread]


def _order_se(
    means: Floats,
    resampled: Floats,
    taken: Sequence[Step],
    players: Sequence[str],
    orders: Sequence[Sequence[str]],
    *,
    clusters_n: int,
) -> list[float | None]:
    """Spread of the values over resampled pairs of orders, s²/P in closed form; 0 where none are drawn.

    Pairs pass through different sets, so they differ by the noise of samples too. That is in `cluster_se`
    already: what resampled clusters make pairs differ by is taken off.
    """
    pairs = len(orders) // 2
    if not orders:
        return [0.0] * len(players)
    if pairs < FEW_PAIRS or clusters_n < 2:
        return [None] * len(players)
    halves = [orders[2 * pair : 2 * pair + 2] for pair in range(pairs)]
    by_pair = np.array([[loads(player, taken, players, half) for player in players] for half in halves])
    spread = (by_pair @ means).var(axis=0, ddof=1)
    noise = (by_pair @ (resampled - means).T).var(axis=0, ddof=1).mean(axis=1)
    own = spread - noise * clusters_n / (clusters_n - 1)
    return [float(se) for se in np.sqrt(np.maximum(own, 0.0) / pairs)]


def _generation_se(
    scores: Mapping[Coalition, Floats], taken: Sequence[Step], shares: Floats, weights: Floats | None
) -> list[float | None]:
    """Spread of the values over resampled repeats: s²/K a sample, in closed form."""
    share = {coalition: np.zeros(len(shares)) for coalition in scores}
    for at, (player, joined) in enumerate(taken):
        share[joined | {player}] += shares[:, at]
        share[joined] -= shares[:, at]
    variance = np.zeros(len(shares))
    repeated = False
    for coalition, values in scores.items():
        counts = np.isfinite(values).sum(axis=1)
        more = counts > 1
        if not more.any():
            continue
        repeated = True
        own = np.where(counts > 0, 1.0 if weights is None else weights, 0.0)
        s2 = np.nanvar(values[more], axis=1, ddof=1) / counts[more]
        variance += share[coalition] ** 2 * float(np.sum((own[more] / own.sum()) ** 2 * s2))
    return [float(math.sqrt(part)) if repeated else None for part in variance]


def _value(
    player: str,
    value: float,
    order_se: float | None,
    cluster_se: float | None,
    generation_se: float | None,
    orders: int,
    changes: _Changes,
) -> ShapleyValue:
    se = ci95 = None
    if order_se is not None and cluster_se is not None:
        se = math.hypot(order_se, cluster_se)
        half = t_quantile(0.95, changes.clusters_n - 1) * cluster_se
        if orders:
            half = math.hypot(half, t_quantile(0.95, orders // 2 - 1) * order_se)
        ci95 = (max(-1.0, value - half), min(1.0, value + half))
    return ShapleyValue(
        player=player,
        value=value,
        se=se,
        ci95=ci95,
        order_se=order_se,
        cluster_se=cluster_se,
        generation_se=generation_se,
    )


def _mean_step(
    scores: Mapping[Coalition, Floats], before: Coalition, after: Coalition, weights: Floats | None
) -> float:
    d = _over_repeats(scores[after]) - _over_repeats(scores[before])
    scored = np.isfinite(d)
    own = np.ones(len(d)) if weights is None else weights
    return float(np.average(d[scored], weights=own[scored])) if scored.any() else 0.0


def _over_repeats(values: Floats) -> Floats:
    """The mean over repeats; NaN where all are missing."""
    scored = np.isfinite(values)
    counts = scored.sum(axis=1)
    sums = np.where(scored, values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _ratio(sums: Floats, bases: Floats) -> Floats:
    ratios: Floats = np.zeros_like(sums)
    np.divide(sums, bases, out=ratios, where=bases > 0)
    return ratios
