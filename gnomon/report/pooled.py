"""Pooled cells: what each cell's difference looks like once it has heard the others."""

from collections.abc import Sequence

from gnomon.report.arms import interval
from gnomon.report.pairs import ArmPair
from gnomon.report.schema import ContrastReport
from gnomon.report.shapes import PooledCell, PooledCells
from gnomon.statistics.pooling import partial_pooling


def pooled(contrasts: Sequence[ContrastReport], pair: ArmPair) -> PooledCells | None:
    """A pair's cells, of its contrasts, partially pooled; None with fewer than three that have an error of
    their own.
    """
    cells = [one for one in contrasts if one["scope"] != "all" and one["mde"] is not None]
    # A cell whose samples all say the same has an error of zero; its interval knows better.
    errors = [max(one["se"] or 0.0, _half(one) / 1.96) for one in cells]
    found = partial_pooling([one["diff"] or 0.0 for one in cells], errors)
    if found is None:
        return None
    calmed: list[PooledCell] = [
        {"scope": one["scope"], "diff": value, "ci95": interval(ends), "own_weight": weight}
        for one, value, ends, weight in zip(
            cells, found.values, found.intervals(), found.weights, strict=True
        )
    ]
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "mean": found.mean,
        "tau": found.tau,
        "cells": calmed,
    }


def _half(one: ContrastReport) -> float:
    ends = one["ci95"]
    return (ends[1] - ends[0]) / 2 if ends else 0.0
