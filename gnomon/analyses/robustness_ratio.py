"""EscherVerse's robustness ratio: multiple-select accuracy over single-choice accuracy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.analyses.core.kinds import ComputedFromRows, GroupOf, need
from gnomon.analyses.core.profiles import profiles
from gnomon.core.errors import SpecError
from gnomon.core.row import Row

SEVERAL, ONE = "Multiple-Select", "Single-Choice"
LEAST = 20
DRAWS, SEED = 2000, 20_260_103


def count(rows: Sequence[Row], group_of: GroupOf) -> dict[str, Any]:
    """By model: accuracy of both kinds, and their ratio with an interval drawn from the posteriors.

    A ratio of a model that is never right on single choice is null.

    Raises:
        SpecError: a kind is missing, or fewer than 20 scored trials of one.
    """
    found = profiles(rows, group_of)
    for kind in (SEVERAL, ONE):
        if kind not in found.groups:
            raise SpecError(f"no model has scores of {kind} questions", field="JOB")
    at = [found.groups.index(kind) for kind in (SEVERAL, ONE)]
    need("scored trials of a kind and model", int(found.counts[:, at].min()), LEAST)
    return {
        "models": [
            {
                "model": model,
                "multiple_select": float(found.means[row, at[0]]),
                "single_choice": float(found.means[row, at[1]]),
                "n": [int(n) for n in found.counts[row, at]],
                **_ratio(found.means[row, at], found.counts[row, at]),
            }
            for row, model in enumerate(found.models)
        ]
    }


def _ratio(means: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Accuracies drawn from their Jeffreys posteriors: shares of 0 and 1 do not come out as certain."""
    if means[1] == 0:
        return {"ratio": None, "ci95": None}
    random, right = np.random.default_rng(SEED), means * counts
    several, one = (random.beta(right[k] + 0.5, counts[k] - right[k] + 0.5, DRAWS) for k in (0, 1))
    low, high = np.quantile(several / one, [0.025, 0.975])
    return {"ratio": float(means[0] / means[1]), "ci95": [float(low), float(high)]}


robustness_ratio = ComputedFromRows(
    name="robustness_ratio",
    description="EscherVerse: accuracy on multiple-select questions over that on single-choice ones.",
    benchmarks=("escherverse",),
    group="question_type",
    count=count,
)
