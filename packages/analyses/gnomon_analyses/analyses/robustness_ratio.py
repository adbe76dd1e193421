"""Divides multiple-select accuracy by single-choice accuracy: EscherVerse's robustness ratio."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon_analyses.kinds import ComputedFromRows, GroupOf, need
from gnomon_analyses.profiles import profiles

MULTIPLE, SINGLE = "Multiple-Select", "Single-Choice"
MIN_TRIALS = 20
DRAWS, SEED = 2000, 20_260_103


def count(rows: Sequence[Row], group_of: GroupOf) -> dict[str, Any]:
    """By model: accuracy of both kinds, and their ratio with an interval drawn from the posteriors.

    A ratio of a model that is never right on single choice is null.

    Raises:
        SpecError: a kind is missing, or fewer than 20 scored trials of one.
    """
    table = profiles(rows, group_of)
    for kind in (MULTIPLE, SINGLE):
        if kind not in table.groups:
            raise SpecError(f"no model has scores of {kind} questions", field="JOB")
    at = [table.groups.index(kind) for kind in (MULTIPLE, SINGLE)]
    need("scored trials of a kind and model", int(table.counts[:, at].min()), MIN_TRIALS)
    return {
        "models": [
            {
                "model": model,
                "multiple_select": float(table.means[row, at[0]]),
                "single_choice": float(table.means[row, at[1]]),
                "n": [int(n) for n in table.counts[row, at]],
                **_ratio(table.means[row, at], table.counts[row, at]),
            }
            for row, model in enumerate(table.models)
        ]
    }


def _ratio(means: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Accuracies drawn from their Jeffreys posteriors: shares of 0 and 1 do not come out as certain."""
    if means[1] == 0:
        return {"ratio": None, "ci95": None}
    random, right = np.random.default_rng(SEED), means * counts
    multiple, single = (random.beta(right[k] + 0.5, counts[k] - right[k] + 0.5, DRAWS) for k in (0, 1))
    low, high = np.quantile(multiple / single, [0.025, 0.975])
    return {"ratio": float(means[0] / means[1]), "ci95": [float(low), float(high)]}


robustness_ratio = ComputedFromRows(
    name="robustness_ratio",
    description="EscherVerse: accuracy on multiple-select questions over that on single-choice ones.",
    benchmarks=("escherverse",),
    group="question_type",
    count=count,
)
