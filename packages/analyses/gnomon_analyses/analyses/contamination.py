"""Estimates what memory of published questions adds to a score: drops beside those of generated questions."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.row_batch import in_batches
from gnomon.statistics.estimate import FLAT
from gnomon_analyses.kinds import ComputedFromRows, GroupOf
from gnomon_analyses.statistics.consistency import gap, gap_of_flat
from gnomon_analyses.transformed_answers import TransformedAnswers, TransformedPair

CONTROL = "worlds"  # generated anew by seed: no model can have seen its questions


def count(rows: Sequence[Row], _group_of: GroupOf) -> dict[str, Any]:
    """By model and transform: the drop on published questions, on generated ones, and the difference.

    Raises:
        SpecError: no job has transformed arms, or a job of generated questions is not among them.
    """
    pairs = _pairs(rows)
    if not any(benchmark != CONTROL for benchmark, *_ in pairs):
        raise SpecError("no job of published questions has arms with a transform", field="JOB")
    estimates = []
    for (benchmark, model, transform, arm), pair in sorted(pairs.items()):
        if benchmark == CONTROL:
            continue
        published = _drop(pair, benchmark)
        control_pair = pairs.get((CONTROL, model, transform, arm))
        control = _drop(control_pair, CONTROL) if control_pair else None
        estimates.append(
            {
                "benchmark": benchmark,
                "model": model,
                "arm": arm,
                "transform": transform,
                "published": published,
                "control": control,
                **_difference(published, control),
            }
        )
    return {"control": CONTROL, "estimates": estimates}


def _pairs(rows: Sequence[Row]) -> dict[tuple[str, str, str, str], TransformedPair]:
    collectors: dict[str, TransformedAnswers] = defaultdict(TransformedAnswers)
    for benchmark in dict.fromkeys(row.benchmark for row in rows):
        for batch in in_batches(row for row in rows if row.benchmark == benchmark):
            collectors[benchmark].add(batch)
    return {
        (benchmark, pair.model, pair.transform, pair.original): pair
        for benchmark, collector in collectors.items()
        for pair in collector.pairs()
    }


def _drop(pair: TransformedPair, benchmark: str) -> dict[str, Any]:
    headline = BENCHMARKS.get(benchmark).headline
    drop = pair.drop(headline)
    grouping = pair.grouping(headline)
    original, transformed = pair.scores
    estimate = grouping.estimate(original - transformed, limits=(-1.0, 1.0))
    return {
        "original": grouping.mean(original),
        "transformed": grouping.mean(transformed),
        "drop": drop.diff,
        "ci95": list(drop.ci95) if drop.ci95 else None,
        "se": estimate.se,
        "df": estimate.df,
        "n": drop.n,
        "clusters": drop.clusters,
    }


def _difference(published: dict[str, Any], control: dict[str, Any] | None) -> dict[str, Any]:
    """Drop on published minus drop on generated questions; null where one cannot be had."""
    if control is None or published["se"] is None or control["se"] is None:
        return {"memory": None, "memory_ci95": None}
    first, second = ((each["drop"], each["se"], each["df"]) for each in (published, control))
    difference = gap(first, second)
    ends = difference.ci95
    if min(published["se"], control["se"]) < FLAT and published["ci95"] and control["ci95"]:
        ends = gap_of_flat(
            *((each["drop"], (each["ci95"][0], each["ci95"][1])) for each in (published, control))
        )
    return {"memory": difference.value, "memory_ci95": list(ends)}


contamination = ComputedFromRows(
    name="contamination",
    description="Drop from original to transformed questions, published minus generated: memory's share.",
    benchmarks=(),
    group="cell",
    count=count,
)
