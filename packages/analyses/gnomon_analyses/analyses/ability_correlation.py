"""Correlates tasks over models, as UrbanVideo-Bench does: which tasks models are good at together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import pearsonr

from gnomon.core.row import Row
from gnomon.statistics.multiple_testing import benjamini_hochberg
from gnomon_analyses.kinds import ComputedFromRows, GroupOf, need
from gnomon_analyses.profiles import profiles

MIN_MODELS, MIN_TASKS = 5, 3


def count(rows: Sequence[Row], group_of: GroupOf) -> dict[str, Any]:
    """Pearson's r of every pair of tasks over models, with Fisher's interval and adjusted p.

    A task in which all models score the same has no correlation and is named apart.

    Raises:
        SpecError: fewer than five models, or three tasks that all of them have.
    """
    table = profiles(rows, group_of)
    need("models", len(table.models), MIN_MODELS)
    varied = np.ptp(table.means, axis=0) > 1e-12
    groups = [group for group, varies in zip(table.groups, varied, strict=True) if varies]
    need("tasks in which all models have scores that differ", len(groups), MIN_TASKS)
    means = table.means[:, varied]
    pairs: list[dict[str, Any]] = []
    for a in range(len(groups)):
        for b in range(a + 1, len(groups)):
            r = pearsonr(means[:, a], means[:, b])
            ends = r.confidence_interval(0.95)
            pairs.append(
                {
                    "one": groups[a],
                    "other": groups[b],
                    "r": float(r.statistic),
                    "ci95": [float(ends.low), float(ends.high)],
                    "p": float(r.pvalue),
                }
            )
    for pair, adjusted in zip(pairs, benjamini_hochberg([pair["p"] for pair in pairs]), strict=True):
        pair["p_adjusted"] = adjusted
    return {
        "models": list(table.models),
        "tasks": groups,
        "without_spread": [group for group in table.groups if group not in groups],
        "pairs": pairs,
    }


ability_correlation = ComputedFromRows(
    name="ability_correlation",
    description="UrbanVideo-Bench: which tasks models are good at together (five models or more).",
    benchmarks=(),
    group="cell",
    count=count,
)
