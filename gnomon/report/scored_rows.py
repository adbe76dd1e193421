"""Keeps of every scored row when its trial began, which version of the model answered, and its letter."""

from array import array
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.row_batch import RowBatch
from gnomon.report.score_matrix import scores_of

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NO_LETTER, NO_ANSWER = -1, -2
NO_TIME = np.iinfo(np.int64).min  # of NumPy's NaT


class ScoredRows:
    """Columns of the rows that have a score, in the order of `ScoreMatrix.places`."""

    def __init__(self) -> None:
        self._columns: dict[str, array[int]] = {
            "started": array("q"),
            "version": array("i"),
            "letter": array("b"),
        }
        self._versions: dict[str, int] = {"": 0}

    def add(self, batch: RowBatch) -> None:
        scored = np.flatnonzero(np.isfinite(scores_of(batch)))
        versions = batch.distinct("model_version")
        numbers = [self._versions.setdefault(name, len(self._versions)) for name in versions.values]
        answers = batch.distinct("answer")
        letters = np.fromiter(map(_letter, answers.values), np.int8, len(answers.values))
        columns: dict[str, NDArray[Any]] = {
            "started": moments(batch.columns["started_at"]),
            "version": np.array(numbers, np.int32)[versions.codes],
            "letter": letters[answers.codes],
        }
        for name, column in columns.items():
            self._columns[name].frombytes(column[scored].tobytes())

    @property
    def started(self) -> NDArray[np.int64]:
        """By row, milliseconds since 1970; NO_TIME where it is not recorded."""
        return np.frombuffer(self._columns["started"], np.int64)

    @property
    def versions(self) -> tuple[Sequence[str], NDArray[np.int32]]:
        """The versions, and by row the number of its own; number 0 is that of a row that tells none."""
        return list(self._versions), np.frombuffer(self._columns["version"], np.int32)

    @property
    def letters(self) -> NDArray[np.int8]:
        """By row, the place of its answer in LETTERS; NO_LETTER or NO_ANSWER where it is none."""
        return np.frombuffer(self._columns["letter"], np.int8)


def moments(texts: Sequence[str | None]) -> NDArray[np.int64]:
    """Moments in ISO 8601 as milliseconds since 1970; NO_TIME where there is none, or it cannot be read."""
    return np.array([_moment(text) for text in texts], np.int64)


def _moment(text: str | None) -> int:
    if text is None:
        return int(NO_TIME)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return int(NO_TIME)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _letter(answer: str | None) -> int:
    if answer is None:
        return NO_ANSWER
    return LETTERS.find(answer) if len(answer) == 1 else NO_LETTER
