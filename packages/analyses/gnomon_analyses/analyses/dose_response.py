"""Shows how each difference depends on the difficulty of items, measured on other trials.

An item's difficulty is the share of wrong answers of other models under the baseline; where there is no other
model, of the other half of the baseline's repeats; else of the model's other arms without tools. A difficulty
read off the very trials that are compared makes a slope out of nothing (regression to the mean): there is
none of that here, and a job without other trials is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.core.errors import SpecError
from gnomon.report.pairs import ArmPair
from gnomon.report.section import interval
from gnomon.report.text_formats import count, p_text, percent, points, points_range
from gnomon.statistics.design import Codes, Floats, design
from gnomon.statistics.paired import compare
from gnomon_analyses.kinds import ComputedFromJob, need
from gnomon_analyses.statistics.dose_response import reliability, slope
from gnomon_analyses.stored_job import StoredJob

MIN_ITEMS, MIN_CLUSTERS = 30, 8
BANDS = 3
LIMITS = (
    "A difficulty from few trials is noisy, which draws the slope towards 0.",
    "Points have a floor and a ceiling: the same odds ratio is fewer points on very hard or easy items.",
    "Hard items differ in more than difficulty: the slope is an association over items.",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Doses:
    """By item (twice where halves of the repeats are used): difficulty, both arms' scores, and its groups."""

    source: str
    difficulty: Floats
    baseline: Floats
    variant: Floats
    clusters: Codes
    cells: Codes
    halves: Codes
    items: int
    reliability: float | None


def count_doses(job: StoredJob) -> dict[str, Any]:
    """By compared pair: the slope over difficulty, and the difference in bands of difficulty.

    Raises:
        SpecError: no pair has items whose difficulty other trials tell, or too few of them.
    """
    shown, refused = [], []
    for pair in job.compared:
        doses = _of_other_models(job, pair) or _of_repeats(job, pair) or _of_other_arms(job, pair)
        if doses is None:
            refused.append({"model": pair.model, "baseline": pair.baseline, "variant": pair.variant})
            continue
        need("items with a difficulty of their own", doses.items, MIN_ITEMS)
        need("clusters", len(np.unique(doses.clusters)), MIN_CLUSTERS)
        shown.append(_shown(pair, doses))
    if not shown:
        raise SpecError(
            "nothing tells how hard an item is but the trials that are compared; this analysis needs another"
            " model, 2 repeats or another arm without tools",
            field="JOB",
        )
    return {"pairs": shown, "refused": refused, "limits": list(LIMITS)}


def _of_other_models(job: StoredJob, pair: ArmPair) -> Doses | None:
    others = [(model.label, pair.baseline) for model in job.spec.models if model.label != pair.model]
    names = ", ".join(model for model, _ in others)
    return _of_groups(job, pair, others, f"wrong answers of {names} under {pair.baseline}")


def _of_other_arms(job: StoredJob, pair: ArmPair) -> Doses | None:
    compared = (pair.baseline, pair.variant)
    arms = [arm.name for arm in job.spec.arms if not arm.tools and arm.name not in compared]
    source = f"wrong answers of {pair.model} under {', '.join(arms)}"
    return _of_groups(job, pair, [(pair.model, arm) for arm in arms], source)


def _of_groups(job: StoredJob, pair: ArmPair, groups: Sequence[tuple[str, str]], source: str) -> Doses | None:
    """Difficulty from these models and arms, of the items that all of them answered."""
    scores = job.scores
    asked = [scores.at[group] for group in groups if scores.answered[scores.at[group]].any()]
    if not asked:
        return None
    difficulty = 1 - np.mean([scores.means(group) for group in asked], axis=0)
    first, second = (scores.means(group) for group in scores.groups_of(pair))
    both = np.isfinite(difficulty) & np.isfinite(first) & np.isfinite(second)
    several = len(asked) > 1
    measured = (
        np.stack([scores.means(group) for group in asked], 1) if several else scores.by_repeat(asked[0])
    )
    return Doses(
        source=source,
        reliability=reliability(measured[both]),
        difficulty=difficulty[both],
        baseline=first[both],
        variant=second[both],
        clusters=scores.clusters[both],
        cells=scores.cells[both],
        halves=np.zeros(int(both.sum()), dtype=np.intp),
        items=int(both.sum()),
    )


def _of_repeats(job: StoredJob, pair: ArmPair) -> Doses | None:
    """Take difficulty from half of the baseline's repeats, the difference from the rest; then the reverse."""
    scores = job.scores
    first, second = scores.groups_of(pair)
    repeats, variant = scores.by_repeat(first), scores.means(second)
    halves = [_mean(repeats[:, half::2]) for half in (0, 1)]
    both = np.isfinite(halves[0]) & np.isfinite(halves[1]) & np.isfinite(variant)
    if not both.any():
        return None
    n = int(both.sum())
    parts = [reliability(repeats[both, half::2]) for half in (0, 1)]
    shares = [share for share in parts if share is not None]
    return Doses(
        reliability=float(np.mean(shares)) if len(shares) == len(parts) else None,
        source=f"wrong answers of {pair.model} under {pair.baseline} in the other half of its repeats",
        difficulty=1 - np.concatenate([halves[0][both], halves[1][both]]),
        baseline=np.concatenate([halves[1][both], halves[0][both]]),
        variant=np.tile(variant[both], 2),
        clusters=np.tile(scores.clusters[both], 2),
        cells=np.tile(scores.cells[both], 2),
        halves=np.repeat(np.arange(2), n),
        items=n,
    )


def _mean(values: Floats) -> Floats:
    """The mean over repeats; NaN where all are missing."""
    counts = np.isfinite(values).sum(axis=1)
    means: Floats = np.where(counts > 0, np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)
    return means


def _shown(pair: ArmPair, doses: Doses) -> dict[str, Any]:
    differences = doses.variant - doses.baseline
    within = 2 * doses.cells + doses.halves
    has_cells = len(np.unique(doses.cells)) > 1
    line = _slope(doses, differences, doses.halves)
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "difficulty": doses.source,
        "items": doses.items,
        "clusters": len(np.unique(doses.clusters)),
        "slope": line,
        "reliability": doses.reliability,
        "slope_without_noise": _without_noise(line, doses.reliability),
        "slope_within_cells": _slope(doses, differences, within) if has_cells else None,
        "bands": list(_bands(doses)),
    }


def _slope(doses: Doses, differences: Floats, groups: Codes) -> dict[str, Any] | None:
    """The slope; None where no item is harder than another, or too few clusters differ."""
    try:
        line = slope(doses.difficulty, differences, doses.clusters, groups)
    except ValueError:
        return None
    return {"value": line.value, "ci95": interval(line.ci95), "p": line.p, "se": line.se, "df": line.df}


def _without_noise(line: dict[str, Any] | None, share: float | None) -> dict[str, Any] | None:
    """The slope divided by the reliability of the difficulty, which is taken as known."""
    if line is None or share is None:
        return None
    return {"value": line["value"] / share, "ci95": [end / share for end in line["ci95"]], "p": line["p"]}


def _bands(doses: Doses) -> Iterator[dict[str, Any]]:
    """Items of like difficulty, easiest first: each distinct one where they are few, else thirds."""
    distinct = np.unique(doses.difficulty)
    if len(distinct) <= BANDS + 1:
        band = np.searchsorted(distinct, doses.difficulty)
    else:
        edges = np.unique(np.quantile(doses.difficulty, np.arange(1, BANDS) / BANDS))
        band = np.searchsorted(edges, doses.difficulty, side="left")
    for code in np.unique(band):
        own = band == code
        grouping = design(np.zeros(int(own.sum()), dtype=np.intp), doses.clusters[own])
        comparison = compare(doses.baseline[own], doses.variant[own], grouping)
        yield {
            "difficulty": [float(doses.difficulty[own].min()), float(doses.difficulty[own].max())],
            "items": int(own.sum()),
            "clusters": comparison.clusters,
            "baseline_mean": float(doses.baseline[own].mean()),
            "variant_mean": float(doses.variant[own].mean()),
            "diff": comparison.diff,
            "ci95": interval(comparison.ci95),
        }


def lines(result: dict[str, Any]) -> Iterator[str]:
    """The slope in words and a table of the bands for each pair, then what it does not show."""
    for pair in result["pairs"]:
        size = f"{count(pair['items'], 'item')} in {count(pair['clusters'], 'cluster')}"
        yield f"{pair['model']}: {pair['variant']} − {pair['baseline']} by difficulty ({size})"
        yield f"  difficulty: {pair['difficulty']}"
        yield f"  from an item that all get right to one that all get wrong: {_slope_text(pair['slope'])}"
        if pair["slope_without_noise"]:
            share = percent(pair["reliability"])
            yield f"  without the noise of the difficulty ({share} % of its spread is none): " + _slope_text(
                pair["slope_without_noise"]
            )
        if pair["slope_within_cells"]:
            yield f"  within subsets: {_slope_text(pair['slope_within_cells'])}"
        yield f"  {'difficulty':<14} {'n':>5}  {pair['baseline']} → {pair['variant']}, difference"
        for band in pair["bands"]:
            low, high = band["difficulty"]
            name = f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"
            yield (
                f"  {name:<14} {band['items']:>5}  {percent(band['baseline_mean'])} →"
                f" {percent(band['variant_mean'])} %, {points(band['diff'])} ({points_range(band['ci95'])})"
            )
    for pair in result["refused"]:
        yield f"{pair['model']}: {pair['variant']} − {pair['baseline']}: no other trials tell the difficulty."
    yield from (f"Note: {limit}" for limit in result["limits"])


def _slope_text(line: dict[str, Any] | None) -> str:
    if line is None:
        return "no slope, as too few clusters differ in difficulty"
    return f"{points(line['value'])} points (95 % {points_range(line['ci95'])}, p {p_text(line['p'])})"


dose_response = ComputedFromJob(
    name="dose_response",
    description="How each difference goes with how hard an item is, as other trials tell it.",
    count=count_doses,
    lines=lines,
)
