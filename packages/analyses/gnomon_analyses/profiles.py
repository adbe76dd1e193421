"""Computes profiles: what each model scored in each group of samples."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.core.row import Row
from gnomon.statistics.design import Floats
from gnomon_analyses.kinds import GroupOf


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profiles:
    """Means by model (one for each arm, where there are several) and group; only groups that all models have.

    `counts` are the scored trials behind each mean.
    """

    models: tuple[str, ...]
    groups: tuple[str, ...]
    means: Floats
    counts: Floats


def profiles(rows: Sequence[Row], group_of: GroupOf) -> Profiles:
    """The profiles of all models that the rows name; trials without a score are left out."""
    has_arms = len({row.arm for row in rows}) > 1
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            name = f"{row.model} / {row.arm}" if has_arms else row.model
            scores[name, group_of(row)].append(row.score)
    models = tuple(sorted({model for model, _ in scores}))
    groups = tuple(
        sorted(
            group
            for group in {group for _, group in scores}
            if all((model, group) in scores for model in models)
        )
    )
    shape = (len(models), len(groups))
    lists = [scores[model, group] for model in models for group in groups]
    return Profiles(
        models=models,
        groups=groups,
        means=np.array([np.mean(values) for values in lists], dtype=np.float64).reshape(shape),
        counts=np.array([len(values) for values in lists], dtype=np.float64).reshape(shape),
    )
