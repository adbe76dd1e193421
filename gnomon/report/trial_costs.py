"""Keeps what every trial took, so that what lost trials cost counts as well."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.row_batch import RowBatch
from gnomon.report.score_matrix import ScoreMatrix, scores_of, sums_by_place
from gnomon.statistics.design import Codes, Floats

COSTS = ("usd", "wall_s")


class TrialCosts:
    """Costs of the trials that have a score, or have none but called a model all the same."""

    def __init__(self) -> None:
        self._groups: dict[Any, int] = {}
        self._samples: dict[Any, int] = {}
        self._places = {"group": array("i"), "sample": array("i")}
        self._costs = {name: array("d") for name in COSTS}

    def add(self, batch: RowBatch) -> None:
        """Take note of the next rows."""
        has_run = np.isfinite(scores_of(batch)) | (batch.numbers("model_calls") != 0)
        has_run |= batch.numbers("usd") > 0
        of_groups, of_samples = batch.distinct("model", "arm"), batch.distinct("sample_id")
        codes = {
            "group": _numbers(self._groups, of_groups.values)[of_groups.codes],
            "sample": _numbers(self._samples, of_samples.values)[of_samples.codes],
        }
        for name, values in self._places.items():
            values.frombytes(codes[name][has_run].astype(np.intc).tobytes())
        for name, costs in self._costs.items():
            costs.frombytes(batch.numbers(name)[has_run].tobytes())

    def means(self, name: str, scores: ScoreMatrix) -> Floats:
        """The mean cost of a trial, groups × samples: inf where one is unknown, NaN where none has run."""
        shape = len(scores.groups), len(scores.samples)
        sample_at = {sample: place for place, sample in enumerate(scores.samples)}
        groups = np.array([scores.at[group] for group in self._groups], np.intp)
        samples = np.array([sample_at[sample] for sample in self._samples], np.intp)
        places = groups[np.frombuffer(self._places["group"], np.intc)] * shape[1]
        places += samples[np.frombuffer(self._places["sample"], np.intc)]
        costs = np.nan_to_num(np.frombuffer(self._costs[name]), nan=np.inf)
        counts = np.bincount(places, minlength=shape[0] * shape[1])
        sums = sums_by_place(places, costs, len(counts), most=int(counts.max(initial=0)))
        means: Floats = np.full(len(counts), np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means.reshape(shape)


def _numbers(numbered: dict[Any, int], values: Sequence[Any]) -> Codes:
    """The numbers of these values; a new one gets the next."""
    return np.array([numbered.setdefault(value, len(numbered)) for value in values], np.intp)
