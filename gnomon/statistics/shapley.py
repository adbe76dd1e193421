"""Shapley values of tools: what each adds on average, over all orders in which tools could be added."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnomon.statistics.coalitions import Coalition, Step, loads, steps
from gnomon.statistics.design import Codes, Floats
from gnomon.statistics.estimate import t_quantile

SEED = 20260101
DRAWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapleyValue:
    """What one player adds. The errors are None where there is but one cluster, or one pair of orders.

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
    their samples and repeats; the interval is Student's with Satterthwaite's degrees of freedom.

    Raises:
        KeyError: a coalition that the orders pass through has no scores.
    """
    taken = list(dict.fromkeys(steps(players, orders)))
    changes = _Changes.of(scores, taken, _dense(clusters), weights)
    shares = np.array([loads(player, taken, players, orders) for player in players])
    means = changes.means()
    values = shares @ means
    cluster_se = _cluster_se(changes, shares, draws=draws, seed=seed)
    order_se = _order_se(means, taken, players, orders, draws=draws, seed=seed)
    generation_se = _generation_se(scores, taken, shares, weights)
    total = _mean_step(scores, frozenset(), frozenset(players), weights)
    found = tuple(
        _value(player, float(value), order_se[at], cluster_se[at], generation_se[at], len(orders), changes)
        for at, (player, value) in enumerate(zip(players, values, strict=True))
    )
    return Attribution(
        values=found,
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
        means = {one: _over_repeats(values) for one, values in scores.items()}
        own = np.ones(len(clusters)) if weights is None else weights
        sums, bases = [], []
        for player, joined in taken:
            d = means[joined | {player}] - means[joined]
            known = np.isfinite(d)
            sums.append(np.bincount(clusters, np.where(known, own * d, 0.0)))
            bases.append(np.bincount(clusters, np.where(known, own, 0.0)))
        return cls(sums=np.array(sums), bases=np.array(bases))

    @property
    def clusters_n(self) -> int:
        return int(self.sums.shape[1])

    def means(self) -> Floats:
        """The mean change of each step; 0 where nothing was measured."""
        return _ratio(self.sums.sum(axis=1), self.bases.sum(axis=1))


def _cluster_se(changes: _Changes, shares: Floats, *, draws: int, seed: int) -> list[float | None]:
    """Spread of the values over resampled clusters; √(G/(G−1)) mends what resampling few understates."""
    g = changes.clusters_n
    if g < 2:
        return [None] * len(shares)
    times = np.random.default_rng(seed).multinomial(g, np.full(g, 1 / g), size=draws).astype(np.float64)
    values = _ratio(times @ changes.sums.T, times @ changes.bases.T) @ shares.T
    return [float(spread) for spread in values.std(axis=0, ddof=1) * math.sqrt(g / (g - 1))]


def _order_se(
    means: Floats,
    taken: Sequence[Step],
    players: Sequence[str],
    orders: Sequence[Sequence[str]],
    *,
    draws: int,
    seed: int,
) -> list[float | None]:
    """Spread of the values over resampled pairs of orders; 0 where all coalitions are there."""
    pairs = len(orders) // 2
    if not orders:
        return [0.0] * len(players)
    if pairs < 2:
        return [None] * len(players)
    by_pair = np.array(
        [
            [loads(player, taken, players, orders[2 * pair : 2 * pair + 2]) @ means for player in players]
            for pair in range(pairs)
        ]
    )
    chosen = np.random.default_rng(seed + 1).integers(pairs, size=(draws, pairs))
    spread = by_pair[chosen].mean(axis=1).std(axis=0, ddof=1) * math.sqrt(pairs / (pairs - 1))
    return [float(one) for one in spread]


def _generation_se(
    scores: Mapping[Coalition, Floats], taken: Sequence[Step], shares: Floats, weights: Floats | None
) -> list[float | None]:
    """Spread of the values over resampled repeats: s²/K a sample, in closed form."""
    share = {one: np.zeros(len(shares)) for one in scores}
    for at, (player, joined) in enumerate(taken):
        share[joined | {player}] += shares[:, at]
        share[joined] -= shares[:, at]
    variance = np.zeros(len(shares))
    repeated = False
    for one, values in scores.items():
        counts = np.isfinite(values).sum(axis=1)
        more = counts > 1
        if not more.any():
            continue
        repeated = True
        own = np.where(counts > 0, 1.0 if weights is None else weights, 0.0)
        s2 = np.nanvar(values[more], axis=1, ddof=1) / counts[more]
        variance += share[one] ** 2 * float(np.sum((own[more] / own.sum()) ** 2 * s2))
    return [float(math.sqrt(one)) if repeated else None for one in variance]


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
        df = _degrees_of_freedom(order_se, cluster_se, orders // 2 - 1, changes.clusters_n - 1)
        half = t_quantile(0.95, df) * se
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


def _degrees_of_freedom(order_se: float, cluster_se: float, order_df: int, cluster_df: int) -> float:
    """Satterthwaite's (1946) for a sum of two variances."""
    total = (order_se**2 + cluster_se**2) ** 2
    parts = cluster_se**4 / cluster_df + (order_se**4 / order_df if order_df > 0 else 0.0)
    return total / parts if parts > 0 else float(cluster_df)


def _mean_step(
    scores: Mapping[Coalition, Floats], one: Coalition, other: Coalition, weights: Floats | None
) -> float:
    d = _over_repeats(scores[other]) - _over_repeats(scores[one])
    known = np.isfinite(d)
    own = np.ones(len(d)) if weights is None else weights
    return float(np.average(d[known], weights=own[known])) if known.any() else 0.0


def _over_repeats(values: Floats) -> Floats:
    """The mean over repeats; NaN where all are missing."""
    known = np.isfinite(values)
    counts = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _ratio(sums: Floats, bases: Floats) -> Floats:
    found: NDArray[np.float64] = np.zeros_like(sums)
    np.divide(sums, bases, out=found, where=bases > 0)
    return found


def _dense(codes: Codes) -> Codes:
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)
