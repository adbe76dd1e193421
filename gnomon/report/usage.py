"""Adds up what trials used by question, lost ones too: tokens, calls, seconds and dollars."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gnomon.core.row_batch import RowBatch
from gnomon.report.score_matrix import Group, ScoreMatrix, matrix_of, numbers_of, scores_of
from gnomon.statistics.design import Codes, Floats

Quantity = Literal["tokens", "calls", "seconds", "dollars"]
QUANTITIES: tuple[Quantity, ...] = ("tokens", "calls", "seconds", "dollars")
UNCACHED: tuple[Quantity, ...] = ("seconds", "dollars")  # of a reply from the cache these tell nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Used:
    """One quantity by groups × samples: the mean of an ended trial, NaN where nothing is known, and how many
    trials are left out: scored ones that do not tell (`unknown`), lost ones, and those with cached replies.
    """

    means: Floats
    unknown: NDArray[np.integer]
    lost_unknown: NDArray[np.integer]
    cached: NDArray[np.integer]


class Usage:
    """Takes note of what every ended trial used, but of lost ones that never called a model."""

    def __init__(self) -> None:
        self._groups: dict[Group, int] = {}
        self._samples: dict[str, int] = {}
        numbers: dict[str, str] = dict.fromkeys(QUANTITIES, "d")
        kinds = {"group": "i", "sample": "i", "lost": "b", "cached": "b", **numbers}
        self._columns = {name: array(kind) for name, kind in kinds.items()}

    def add(self, batch: RowBatch) -> None:
        groups, samples = batch.distinct("model", "arm"), batch.distinct("sample_id")
        columns: dict[str, NDArray[Any]] = {
            "group": numbers_of(self._groups, groups.values)[groups.codes],
            "sample": numbers_of(self._samples, samples.values)[samples.codes],
            "lost": np.isnan(scores_of(batch)),
            "cached": batch.numbers("cache_hits") > 0,
            "tokens": batch.numbers("prompt_tokens") + batch.numbers("completion_tokens"),
            "calls": batch.numbers("model_calls"),
            "seconds": batch.numbers("wall_s"),
            "dollars": batch.numbers("usd"),
        }
        has_run = ~columns["lost"] | (columns["calls"] != 0) | (columns["dollars"] > 0)
        for name, values in self._columns.items():
            values.frombytes(columns[name][has_run].astype(values.typecode, copy=False).tobytes())

    def used(self, scores: ScoreMatrix, quantities: Sequence[Quantity] = QUANTITIES) -> dict[Quantity, Used]:
        """What trials used of each quantity, in the order of the scores' groups and samples."""
        places, is_lost = self._places(scores), self._column("lost") > 0
        return {name: self._used(name, scores, places, is_lost) for name in quantities}

    def _used(
        self, quantity: Quantity, scores: ScoreMatrix, places: Codes, is_lost: NDArray[np.bool_]
    ) -> Used:
        shape, values = (len(scores.groups), len(scores.samples)), self._column(quantity)
        is_cached = self._column("cached") > 0
        left_out = is_cached if quantity in UNCACHED else np.zeros(len(values), np.bool_)
        is_known = np.isfinite(values) & ~left_out
        known, sums = (matrix_of(places[is_known], shape, each) for each in (None, values[is_known]))
        means: Floats = np.full(shape, np.nan)
        np.divide(sums, known, out=means, where=known > 0)
        return Used(
            means=means,
            unknown=matrix_of(places[~is_known & ~is_lost & ~left_out], shape),
            lost_unknown=matrix_of(places[~is_known & is_lost & ~left_out], shape),
            cached=matrix_of(places[left_out], shape),
        )

    def seconds_of(self, scores: ScoreMatrix, group: int) -> Floats:
        """The seconds of the group's ended trials, without those that had a reply from the cache or tell
        none.
        """
        size, seconds = len(scores.samples), self._column("seconds")
        places = self._places(scores)
        of_group = (places >= group * size) & (places < (group + 1) * size)
        taken: Floats = seconds[of_group & (self._column("cached") == 0) & (seconds > 0)]
        return taken

    def _column(self, name: str) -> NDArray[Any]:
        column = self._columns[name]
        return np.frombuffer(column, column.typecode)

    def _places(self, scores: ScoreMatrix) -> Codes:
        """By row, its place among groups × samples."""
        groups = np.array([scores.at[group] for group in self._groups], np.intp)
        at = {name: place for place, name in enumerate(scores.samples)}
        samples = np.array([at[name] for name in self._samples], np.intp)
        if not len(groups):
            return np.empty(0, np.intp)
        return np.asarray(
            groups[self._column("group")] * len(at) + samples[self._column("sample")], dtype=np.intp
        )
