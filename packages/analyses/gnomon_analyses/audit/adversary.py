"""Lets boosted trees choose options by a benchmark's features, and tries them on other places.

A rule of thumb is what a person thought of; a learner finds the rest. What it finds in the questions is a
floor: below it an arm's score means little. With features of the map the same learner tells whether the
questions can be answered at all.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.ids import stable_hash
from gnomon.core.option_features import Floats, OptionTable, comparisons
from gnomon.core.sample import SampleRef

FOLDS = 5  # of places: a question's learner is fitted on those of the other folds
FEWEST = 40  # questions that a learner is fitted on
TREES: Mapping[str, Any] = {
    "max_iter": 120,
    "learning_rate": 0.06,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 12,
    "l2_regularization": 1.0,
    "random_state": 0,
}
LACKING = "The adversary that learns was not tried: install the extra `audit` (scikit-learn)."


def is_installed() -> bool:
    """Whether scikit-learn is here."""
    return find_spec("sklearn") is not None


def try_adversary(
    tables: Iterable[OptionTable],
    options_of: Mapping[str, AnswerOptions],
    refs: Mapping[str, SampleRef],
    level_of: Mapping[str, str],
) -> Iterator[ShortcutGuess]:
    """What the learner chooses in each question, fitted on the same kind and level in other places."""
    for table in tables:
        groups: dict[str, list[int]] = defaultdict(list)
        for row, sample_id in enumerate(table.sample_ids):
            if sample_id in options_of:
                groups[level_of.get(sample_id, "")].append(row)
        for rows in groups.values():
            names = [table.sample_ids[row] for row in rows]
            right = [options_of[name].right[0] for name in names]
            places = [refs[name].cluster for name in names]
            for at, choice in choices(table.options[rows], right, places):
                yield guess(
                    f"adversary {table.sees}",
                    table.kind,
                    table.view,
                    names[at],
                    left=[choice],
                    offered=options_of[names[at]],
                )


def choices(options: Floats, right: Sequence[int], places: Sequence[str]) -> Iterator[tuple[int, int]]:
    """By row, the option that the learner of the other folds chooses; none where these are too few.

    `options` is questions × options × features, `right` the index of the right one, `places` what folds are
    made of.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # late: an extra, and heavy
    from threadpoolctl import threadpool_limits

    inputs, count = comparisons(options), options.shape[1]
    is_right = np.arange(count) == np.array(right)[:, None]
    folds = np.array([int(stable_hash(place), 16) % FOLDS for place in places])
    with threadpool_limits(1):  # so few rows take longer on several cores
        for fold in range(FOLDS):
            other, own = folds != fold, np.flatnonzero(folds == fold)
            if other.sum() < FEWEST or not own.size:
                continue
            learner = HistGradientBoostingClassifier(**TREES)
            learner.fit(inputs[other].reshape(-1, inputs.shape[2]), is_right[other].ravel())
            odds = learner.decision_function(inputs[own].reshape(-1, inputs.shape[2]))
            yield from zip(own.tolist(), odds.reshape(-1, count).argmax(axis=1).tolist(), strict=True)
