"""Lets boosted trees choose options by a benchmark's features, and tries them on other places.

A rule of thumb is what a person thought of; a learner finds the rest. What it finds in the questions is a
floor: below it an arm's score means little. With features of the map the same learner tells whether the
questions can be answered at all.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gnomon.audit.plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.ids import stable_hash
from gnomon.core.sample import Sample, SampleRef

FOLDS = 5  # of places: a question's learner is fitted on those of the other folds
FEWEST = 40  # questions that a learner is fitted on
TINY = 1e-6  # values that differ by less share a rank
TREES: Mapping[str, Any] = {
    "max_iter": 120,
    "learning_rate": 0.06,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 12,
    "l2_regularization": 1.0,
    "random_state": 0,
}
LACKING = "The adversary that learns was not tried: install the extra `audit` (scikit-learn)."

_WORD, _NUMBER = re.compile(r"\w+"), re.compile(r"-?\d+(?:\.\d+)?")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionTable:
    """Features of the options of questions that one learner is fitted on.

    `sees` is what the features are about, such as `without the map`; `options` are questions × options ×
    features, the options in the order of `answer_options`.
    """

    sees: str
    names: tuple[str, ...]
    sample_ids: tuple[str, ...]
    options: Floats


@runtime_checkable
class OffersFeatures(Protocol):
    """A plug-in's module `audit` whose questions have features to learn from."""

    def option_tables(self, samples: Sequence[Sample]) -> Iterable[OptionTable]:
        """The features, in a table for each kind of question; those that cannot be measured are left out."""
        ...


def is_installed() -> bool:
    """Whether scikit-learn is here."""
    return find_spec("sklearn") is not None


def comparisons(features: Floats) -> Floats:
    """Each feature beside its rank among the question's options, and how far it is above the least of them.

    >>> comparisons(np.array([[[3.0], [1.0]]])).tolist()
    [[[3.0, 1.0, 2.0], [1.0, 0.0, 0.0]]]
    """
    ranks = (features[:, None, :, :] < features[:, :, None, :] - TINY).sum(axis=2)
    return np.concatenate([features, ranks, features - features.min(axis=1, keepdims=True)], axis=2)


WORDED = ("place", "characters", "words", "digits", "number", "in the question", "in other options")


def worded(options: Sequence[str], text: str) -> list[list[float]]:
    """Of each option what its words tell beside the question's text, as WORDED names it.

    >>> worded(["2 m", "chair"], "Is the chair near?")
    [[0.0, 3.0, 2.0, 1.0, 2.0, 0.0, 0.0], [1.0, 5.0, 1.0, 0.0, 0.0, 1.0, 0.0]]
    """
    asked = set(_WORD.findall(text.lower()))
    words = [set(_WORD.findall(option.lower())) for option in options]
    rows = []
    for at, (option, own) in enumerate(zip(options, words, strict=True)):
        number = _NUMBER.search(option)
        others = [word for other in (*words[:at], *words[at + 1 :]) for word in other]
        shared = sum(others.count(word) for word in own)
        digits = sum(letter.isdigit() for letter in option)
        value = float(number[0]) if number else 0.0
        rows.append(
            [float(each) for each in (at, len(option), len(own), digits, value, len(own & asked), shared)]
        )
    return rows


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
                    "floor",
                    "guarded",
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
