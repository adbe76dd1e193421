"""EscherVerse's clustering of model profiles: which models are strong and weak in the same places."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

from gnomon.analyses.core.kinds import ComputedFromRows, GroupOf, need
from gnomon.analyses.core.profiles import profiles
from gnomon.core.row import Row

LEAST_MODELS, LEAST_GROUPS = 3, 3


def count(rows: Sequence[Row], group_of: GroupOf) -> dict[str, Any]:
    """Models as z-scores by task, joined by average linkage of Euclidean distances.

    `steps` join two members each: a number below the count of models is a model, a greater one an earlier
    step. `order` is the order of a dendrogram's leaves.

    Raises:
        SpecError: fewer than three models, or three tasks in which they differ.
    """
    found = profiles(rows, group_of)
    need("models", len(found.models), LEAST_MODELS)
    spread = found.means.std(axis=0)
    varied = spread > 1e-12
    need("tasks in which all models have scores that differ", int(varied.sum()), LEAST_GROUPS)
    z = (found.means[:, varied] - found.means[:, varied].mean(axis=0)) / spread[varied]
    joined = linkage(z, method="average")
    groups = np.array(found.groups)[varied].tolist()
    return {
        "models": list(found.models),
        "tasks": groups,
        "z_scores": {
            model: dict(zip(groups, map(float, z[at]), strict=True)) for at, model in enumerate(found.models)
        },
        "steps": [
            {"one": int(step[0]), "other": int(step[1]), "distance": float(step[2]), "models": int(step[3])}
            for step in joined
        ],
        "order": [found.models[int(at)] for at in leaves_list(joined)],
    }


model_clusters = ComputedFromRows(
    name="model_clusters",
    description="EscherVerse: which models are strong and weak in the same tasks (three models or more).",
    benchmarks=(),
    group="cell",
    count=count,
)
