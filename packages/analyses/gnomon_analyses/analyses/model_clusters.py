"""Clusters models by their strong and weak tasks, as EscherVerse does."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

from gnomon.core.row import Row
from gnomon_analyses.kinds import ComputedFromRows, GroupOf, need
from gnomon_analyses.profiles import profiles

MIN_MODELS, MIN_GROUPS = 3, 3


def count(rows: Sequence[Row], group_of: GroupOf) -> dict[str, Any]:
    """Models as z-scores by task, joined by average linkage of Euclidean distances.

    `steps` join two members each: a number below the count of models is a model, a greater one an earlier
    step. `order` is the order of a dendrogram's leaves.

    Raises:
        SpecError: fewer than three models, or three tasks in which they differ.
    """
    table = profiles(rows, group_of)
    need("models", len(table.models), MIN_MODELS)
    deviations = table.means.std(axis=0)
    varied = deviations > 1e-12
    need("tasks in which all models have scores that differ", int(varied.sum()), MIN_GROUPS)
    z = (table.means[:, varied] - table.means[:, varied].mean(axis=0)) / deviations[varied]
    joined = linkage(z, method="average")
    groups = np.array(table.groups)[varied].tolist()
    return {
        "models": list(table.models),
        "tasks": groups,
        "z_scores": {
            model: dict(zip(groups, map(float, z[at]), strict=True)) for at, model in enumerate(table.models)
        },
        "steps": [
            {"one": int(step[0]), "other": int(step[1]), "distance": float(step[2]), "models": int(step[3])}
            for step in joined
        ],
        "order": [table.models[int(at)] for at in leaves_list(joined)],
    }


model_clusters = ComputedFromRows(
    name="model_clusters",
    description="EscherVerse: which models are strong and weak in the same tasks (three models or more).",
    benchmarks=(),
    group="cell",
    count=count,
)
