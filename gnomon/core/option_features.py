"""Features of the options of questions, from which a learner may choose without reading the question."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gnomon.core.audit_plugin import Kind, View
from gnomon.core.sample import Sample

TINY = 1e-6  # values that differ by less share a rank

_WORD, _NUMBER = re.compile(r"\w+"), re.compile(r"-?\d+(?:\.\d+)?")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionTable:
    """Features of the options of questions that one learner is fitted on.

    `sees` is what the features are about, such as `without the map`; `options` are questions × options ×
    features, the options in the order of `answer_options`. `kind` and `view` are of what the learner finds.
    """

    sees: str
    names: tuple[str, ...]
    sample_ids: tuple[str, ...]
    options: Floats
    kind: Kind = "floor"
    view: View = "guarded"


@runtime_checkable
class OffersFeatures(Protocol):
    """A plug-in's module `audit` whose questions have features to learn from."""

    def option_tables(self, samples: Sequence[Sample]) -> Iterable[OptionTable]:
        """The features, in a table for each kind of question; those that cannot be measured are left out."""


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
