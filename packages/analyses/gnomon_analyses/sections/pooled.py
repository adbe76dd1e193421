"""Shrinks each cell's difference towards those of the others: partial pooling."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from gnomon.report.contrast import ContrastReport, PooledCell, PooledCells, by_pair
from gnomon.report.pairs import ArmPair
from gnomon.report.section import ReportInput, Section, interval
from gnomon.report.sections.contrasts import contrasts
from gnomon.stopping import while_wanted
from gnomon_analyses.statistics.pooling import partial_pooling


class PooledPart(TypedDict):
    """The pooled cells of every comparison that has enough of them."""

    pooled: list[PooledCells]


def _pooled(report_input: ReportInput) -> PooledPart:
    rows = by_pair(report_input.part(contrasts)["contrasts"])
    by_comparison = [_pooled_cells(rows.get(pair.key, ()), pair) for pair in while_wanted(report_input.pairs)]
    return {"pooled": [cells for cells in by_comparison if cells]}


def _pooled_cells(rows: Sequence[ContrastReport], pair: ArmPair) -> PooledCells | None:
    """A pair's cells, partially pooled; None with fewer than three that have an error of their own."""
    cells = [row for row in rows if row["scope"] != "all" and row["ci95"] is not None]
    # The error of a cell whose samples all agree is zero; its interval is wider.
    errors = [max(cell["se"] or 0.0, _half(cell) / 1.96) for cell in cells]
    pooling = partial_pooling([cell["diff"] or 0.0 for cell in cells], errors)
    if pooling is None:
        return None
    pooled_cells: list[PooledCell] = [
        {"scope": cell["scope"], "diff": value, "ci95": interval(ends), "own_weight": weight}
        for cell, value, ends, weight in zip(
            cells, pooling.values, pooling.ci95, pooling.weights, strict=True
        )
    ]
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "mean": pooling.mean,
        "tau": pooling.tau,
        "cells": pooled_cells,
    }


def _half(cell: ContrastReport) -> float:
    ends = cell["ci95"]
    return (ends[1] - ends[0]) / 2 if ends else 0.0


pooled = Section(
    name="pooled",
    title="Partially pooled cells",
    question="What is left of a cell's difference once all cells are taken into account?",
    fields=PooledPart,
    compute=_pooled,
    place=54,
    behind="frontier",
    shown_in="contrasts",
)
