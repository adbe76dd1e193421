"""Agreement between judges beyond what chance would give."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gnomon.statistics.design import Codes, Floats

FEWEST_ITEMS = 10  # from which on items are drawn again for an interval
FEWEST_DRAWS = 0.9  # the share of draws in which a coefficient must exist for its interval to be given

SEED = 20_260_102
DRAWS = 999


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (1960) of two judges over the same items; None where chance alone explains everything.

    Raises:
        ValueError: the judges did not judge the same number of items, or none.
    """
    if len(first) != len(second) or not first:
        raise ValueError(f"two judges need the same items, got {len(first)} and {len(second)}")
    labels = {label: code for code, label in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(labels), len(labels)))
    for left, right in zip(first, second, strict=True):
        table[labels[left], labels[right]] += 1
    table /= len(first)
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if expected >= 1 else float((np.trace(table) - expected) / (1 - expected))


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Fleiss' kappa (1971): rows are items, columns labels, values how many judges gave it.

    Every item needs the same number of judges, two or more. None where all judges use one label only.

    Raises:
        ValueError: items differ in their number of judges, or have fewer than two.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise ValueError("needs at least one item")
    judges = table.sum(axis=1)
    if np.ptp(judges) > 0 or judges[0] < 2:
        raise ValueError(f"every item needs the same number of judges, two or more; got {judges.tolist()}")
    n = judges[0]
    observed = float(np.mean((np.sum(table**2, axis=1) - n) / (n * (n - 1))))
    shares = table.sum(axis=0) / table.sum()
    expected = float(shares @ shares)
    return None if expected >= 1 else (observed - expected) / (1 - expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far judges of the same items agree; `items` were judged by two judges or more.

    `share` is that of pairs of judges who gave the same label, each item weighing the same. The coefficient
    is Cohen's kappa where the same two judges judged all of them, else Krippendorff's alpha; None where all
    labels are the same. Its interval draws items again; None of fewer than ten items, or where too few draws
    have a coefficient.
    """

    items: int
    judges: int
    share: float | None
    coefficient: float | None
    ci95: tuple[float, float] | None
    method: Literal["Cohen's kappa", "Krippendorff's alpha"]


def agreement(items: Sequence[Sequence[tuple[str, Hashable]]]) -> Agreement:
    """The agreement over items, each the labels that its judges gave: pairs of a judge's name and a label.

    Items with fewer than two labels are left out.

    >>> agreement([[("ann", 1), ("bob", 1)], [("ann", 1), ("bob", 2)], [("ann", 2)]]).share
    0.5
    """
    judged = [item for item in items if len(item) > 1]
    judges = sorted({judge for item in judged for judge, _ in item})
    has_pair = len(judges) == 2 and all(len(item) == 2 for item in judged)
    method: Literal["Cohen's kappa", "Krippendorff's alpha"] = (
        "Cohen's kappa" if has_pair else "Krippendorff's alpha"
    )
    if not judged:
        return Agreement(items=0, judges=0, share=None, coefficient=None, ci95=None, method=method)
    labels = {label: code for code, label in enumerate(dict.fromkeys(x for i in judged for _, x in i))}
    codes = [[labels[label] for _, label in item] for item in judged]
    shares = np.array([_pair_share(item) for item in codes])
    once = np.ones((1, len(judged)))
    draws = cluster_counts(len(judged))
    if has_pair:
        rows = np.array([[labels[label] for _, label in sorted(item, key=_judge)] for item in judged])
        value, drawn = (_kappas(rows, len(labels), counts) for counts in (once, draws))
    else:
        value, drawn = (_alphas(codes, len(labels), counts) for counts in (once, draws))
    is_known = np.isfinite(drawn)
    has_interval = len(judged) >= FEWEST_ITEMS and is_known.mean() >= FEWEST_DRAWS and np.isfinite(value[0])
    return Agreement(
        items=len(judged),
        judges=len(judges),
        share=float(shares.mean()),
        coefficient=float(value[0]) if np.isfinite(value[0]) else None,
        ci95=_central(drawn[is_known]) if has_interval else None,
        method=method,
    )


def _judge(labelled: tuple[str, Hashable]) -> str:
    return labelled[0]


def _pair_share(codes: Sequence[int]) -> float:
    counts, n = np.bincount(codes), len(codes)
    return float(np.sum(counts * (counts - 1)) / (n * (n - 1)))


def _kappas(codes: Codes, labels_n: int, counts: Floats) -> Floats:
    """Cohen's kappa in each draw of items (draws × items); NaN where chance alone explains everything."""
    first, second = np.eye(labels_n)[codes[:, 0]], np.eye(labels_n)[codes[:, 1]]
    n = counts.sum(axis=1)
    observed = counts @ (codes[:, 0] == codes[:, 1]) / n
    expected = np.sum((counts @ first) * (counts @ second), axis=1) / n**2
    return _beyond_chance(observed, expected)


def _alphas(codes: Sequence[Sequence[int]], labels_n: int, counts: Floats) -> Floats:
    """Krippendorff's alpha in each draw of items (draws × items); NaN where it does not exist."""
    by_item = np.array([np.bincount(item, minlength=labels_n) for item in codes], dtype=np.float64)
    sizes = by_item.sum(axis=1)
    agreeing = np.sum(by_item * (by_item - 1), axis=1) / (sizes - 1)
    n, totals = counts @ sizes, counts @ by_item
    observed = counts @ agreeing / n
    expected = np.sum(totals * (totals - 1), axis=1) / (n * (n - 1))
    return _beyond_chance(observed, expected)


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    values: Floats = np.full(len(observed), np.nan)
    np.divide(observed - expected, 1 - expected, out=values, where=expected < 1 - 1e-12)
    return values


def cluster_counts(clusters_n: int) -> Floats:
    """How often each cluster is drawn: draws × clusters, from a fixed seed; each row sums to `clusters_n`."""
    random = np.random.default_rng(SEED)
    chances = np.full(clusters_n, 1.0 / clusters_n)
    return random.multinomial(clusters_n, chances, size=DRAWS).astype(np.float64)


def _central(draws: Floats) -> tuple[float, float]:
    """The central 95 % of the draws: the percentile interval."""
    low, high = np.quantile(draws, [(1 - 0.95) / 2, (1 + 0.95) / 2])
    return float(low), float(high)
