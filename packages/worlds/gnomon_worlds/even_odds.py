"""Chooses options of hard questions of editions 2 and 3, so that each is about as likely without the map.

A learner that sees no map was fitted on what is met in hard towns; `even_odds.npz` holds it.
It gives every option the odds of being right against being offered as a wrong one. The four likeliest become
the options, and a question is kept with the chance of the least likely of them over that of the right one. So
each of the four is as likely to be right (rejection sampling, von Neumann 1951). That wrong options must be
wrong on the map tells a little again; a second, linear learner, fitted on what is kept, evens that out too.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.option_features import comparisons
from gnomon_published.benchmarks.gtr_bench.option_features import Asked, option_features
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import Evidence
from gnomon_worlds.difficulty import OPTIONS, Lots
from gnomon_worlds.question import Question
from gnomon_worlds.trajectory import Trip

FITTED = Path(__file__).parent / "even_odds.npz"
PARTS = ("feature", "threshold", "left", "more", "value")
TOGETHER = 32  # questions whose odds are computed at once
CAMERA_TASKS = ("GL", "NSF", "TF", "MTTF")  # any camera that shows no clip could be an option

Floats = NDArray[np.float64]


class Trees:
    """A sum of regression trees over the features of an option: its log odds."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Arrays of trees × nodes; `left` and `more` are a node's children, 0 at a leaf."""
        self._threshold, self._value = arrays["threshold"], arrays["value"]
        self._feature, self._left, self._more = (
            arrays[name].astype(np.intp) for name in ("feature", "left", "more")
        )
        self._trees = np.arange(len(self._feature))

    def __call__(self, rows: Floats) -> Floats:
        """The log odds of each row of features."""
        rows = rows.astype(np.float32)  # as the learner compares them
        node, each = np.zeros((len(rows), len(self._trees)), dtype=np.intp), np.arange(len(rows))[:, None]
        while (left := self._left[self._trees, node]).any():
            at = (self._trees, node)
            is_left = rows[each, self._feature[at]] <= self._threshold[at]
            node = np.where(left > 0, np.where(is_left, left, self._more[at]), node)
        total: Floats = self._value[self._trees, node].sum(axis=1, dtype=np.float64)
        return total


@cache
def fitted(task: str, scene: str) -> Trees:
    """The learner of a task and scene.

    Raises:
        KeyError: none was fitted.
    """
    with np.load(FITTED) as arrays:
        return Trees({part: arrays[f"{task} {scene} {part}"] for part in PARTS})


def log_odds(scene: str, asked: Sequence[Asked]) -> Floats:
    """The log odds (questions × options) for questions of a task that have equally many options."""
    _, features = option_features(asked)
    rows = comparisons(features)
    odds = fitted(asked[0][0].task, scene)(rows.reshape(-1, rows.shape[2]))
    return odds.reshape(rows.shape[:2])


@cache
def rank_weights(task: str, scene: str) -> Floats:
    """What the rank of each feature among the four options adds to the log odds.

    Raises:
        KeyError: none were fitted.
    """
    with np.load(FITTED) as arrays:
        return np.asarray(arrays[f"{task} {scene} ranks"], dtype=np.float64)


def centred_ranks(asked: Sequence[Asked]) -> Floats:
    """The rank of each feature among a question's options, less the mean: questions × options × features."""
    names, features = option_features(asked)
    ranks = comparisons(features)[:, :, len(names) : 2 * len(names)]
    centred: Floats = ranks - ranks.mean(axis=1, keepdims=True)
    return centred


def comparable(question: Evidence, offered: Collection[str]) -> list[str]:
    """All options that the odds of those offered are compared with."""
    if question.task not in CAMERA_TASKS:
        return sorted(offered)
    return sorted(question.spots.keys() - {track.camera for track in question.tracks})


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A situation in which a question may be asked, and the lot that decides whether it is kept."""

    question: Evidence
    right: str
    named: tuple[str, ...]  # the options that may be offered, the right one first
    drawn: float  # from 0 to 1

    @property
    def compared(self) -> Asked:
        """The question with all options that their odds are compared with."""
        return self.question, comparable(self.question, self.named)


def _met(rng: Random, question: Evidence, right: str, others: Sequence[str]) -> Met:
    return Met(question=question, right=right, named=(right, *others), drawn=rng.random())


class EvenOdds:
    """Stands where `Lots` do, for one question of a scene that is yet to be found."""

    def __init__(self, scene: str) -> None:
        self._scene = scene
        self._met: Met | None = None
        self._odds: Mapping[str, float] = {}  # of what is looked at; empty: it is only noted

    def kept(
        self, rng: Random, trips: Iterable[Trip], ask: Callable[[Trip], Question | None]
    ) -> Iterator[Question]:
        """The questions on these trips that are kept; most are not, so odds are computed together."""
        left = iter(trips)
        while some := list(islice(left, TOGETHER)):
            noted: dict[int, list[tuple[Trip, Any, Met, Asked]]] = {}
            for trip in some:
                state, self._odds = rng.getstate(), {}
                if met := self._noted_by(ask, trip):
                    compared = met.compared
                    noted.setdefault(len(compared[1]), []).append((trip, state, met, compared))
            after = rng.getstate()
            for alike in noted.values():
                odds = log_odds(self._scene, [compared for *_, compared in alike]).tolist()
                for (trip, state, met, (_, options)), own in zip(alike, odds, strict=True):
                    self._odds = dict(zip(options, own, strict=True))
                    if self._is_refused(met):
                        continue
                    rng.setstate(state)
                    if (question := ask(trip)) is not None:
                        yield question
            rng.setstate(after)

    def _noted_by(self, ask: Callable[[Trip], Question | None], trip: Trip) -> Met | None:
        self._met = None
        ask(trip)
        return self._met

    def _is_refused(self, met: Met) -> bool:
        """Whether the question will be refused, whichever of the options turn out to be wrong."""
        likely = self._likely(met.named)
        return met.right in likely and met.drawn >= self._evened(likely, met.right)

    def is_hopeless(
        self,
        rng: Random,
        question: Evidence,
        *,
        right: str,
        candidates: Collection[str],
        beside: Sequence[str] = (),
    ) -> bool:
        """Whether the question is only noted; in what is asked again, refused ones are left out already."""
        self._met = _met(rng, question, right, [*beside, *candidates])
        return not self._odds

    def wrong(
        self,
        rng: Random,
        question: Evidence,
        *,
        right: str,
        candidates: Collection[str],
        count: int,  # noqa: ARG002 (as Lots have it)
        beside: Sequence[str] = (),
    ) -> list[str] | None:
        """The wrong options that are likeliest to be right, or none: then another question is looked for."""
        if self._met is None or self._met.question is not question:
            self._met = _met(rng, question, right, [*beside, *candidates])
        if not self._odds:
            return None
        drawn, options = self._met.drawn, self._likely([right, *beside, *candidates])
        is_whole = {right, *beside} <= set(options) and len(options) == OPTIONS
        if not is_whole or drawn >= (chance := self._evened(options, right)):
            return None
        left = centred_ranks([(question, options)])[0] @ rank_weights(question.task, self._scene)
        if drawn >= chance * math.exp(left.min() - left[options.index(right)]):
            return None
        return [option for option in options if option not in (right, *beside)]

    def _likely(self, offered: Collection[str]) -> list[str]:
        """The likeliest of these to be right, in an order that tells no more."""
        return sorted(sorted(offered), key=self._odds.__getitem__, reverse=True)[:OPTIONS]

    def _evened(self, options: Sequence[str], right: str) -> float:
        """The chance with which the question is kept, so that each of the options is right as often."""
        return math.exp(self._odds[options[-1]] - self._odds[right])


Chooser = Lots | EvenOdds  # of a question's options, at a level
