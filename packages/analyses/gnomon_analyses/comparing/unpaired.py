"""Compares the means of two jobs that have no question in common, and says what would be better."""

import math
from collections.abc import Sequence

from typing_extensions import TypedDict

from gnomon.report.section import Interval
from gnomon_analyses.comparing.compared_jobs import IndexedJob, group_means

ADVICE = {
    "benchmark": "Ask both jobs the same benchmark; what an arm changes within each job is on its own page.",
    "protocol": "Run one of them again with the other's `protocol`.",
    "scoring": "`gnomon rescore` scores the stored answers of one as the other's, without a model.",
    "variant": "`gnomon rescore` scores the stored answers of one as the other's, without a model.",
}
SAME_SAMPLES = "To pair them, run one again with the other's questions: the same data, seed and limit."
SAME_NAMES = "Name a model and an arm alike in both jobs."


class UnpairedRow(TypedDict):
    """A model and arm of two jobs: second minus first, with an interval for independent samples."""

    label: str
    diff: float
    ci95: Interval
    means: list[float]
    n: list[int]


def unpaired(first: IndexedJob, second: IndexedJob) -> tuple[list[UnpairedRow], str]:
    """The differences of means where they are valid, and what to do for a better comparison.

    Valid are jobs of one benchmark, prompt and scoring that share no question and no cluster: their means are
    independent. The interval is made of those of both means (Zou and Donner, 2008, the MOVER).
    """
    for field, advice in ADVICE.items():
        if getattr(first.spec, field) != getattr(second.spec, field):
            return [], advice
    clusters = [set(job.index.samples.column("cluster").dictionary.to_pylist()) for job in (first, second)]
    if clusters[0] & clusters[1]:
        return [], SAME_SAMPLES
    means = [group_means(job) for job in (first, second)]
    rows: list[UnpairedRow] = []
    for group in means[0]:
        if group not in means[1]:
            continue
        old, new = means[0][group], means[1][group]
        rows.append(
            {
                "label": f"{group[0]} / {group[1]}",
                "diff": new.mean - old.mean,
                "ci95": mover((old.mean, old.ci95), (new.mean, new.ci95)),
                "means": [old.mean, new.mean],
                "n": [old.n, new.n],
            }
        )
    return rows, SAME_SAMPLES if rows else SAME_NAMES


def mover(
    first: tuple[float, Sequence[float] | None], second: tuple[float, Sequence[float] | None]
) -> Interval:
    """The interval of second minus first, of two independent means with their intervals.

    >>> [round(end, 3) for end in mover((0.5, (0.4, 0.6)), (0.7, (0.6, 0.8)))]
    [0.059, 0.341]
    """
    (first_mean, first_ends), (second_mean, second_ends) = first, second
    if not first_ends or not second_ends:
        return None
    diff = second_mean - first_mean
    low = diff - math.hypot(second_mean - second_ends[0], first_ends[1] - first_mean)
    high = diff + math.hypot(second_ends[1] - second_mean, first_mean - first_ends[0])
    return [max(low, -1.0), min(high, 1.0)]
