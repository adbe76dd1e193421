"""Finds how many samples, in clusters like those that are planned, would show a difference."""

from dataclasses import replace

import numpy as np

from gnomon.report.detectable import Rule, smallest_effect
from gnomon.statistics.design import Codes, Design, design
from gnomon.statistics.power import PlantedStudy
from gnomon.statistics.sequential import expected

MOST_SAMPLES = 20_000  # of a design that is tried
CLOSE = 0.04  # of the clusters: the search ends within it, as the draws tell no more
FEW_DRAWS = 40  # of each design that is tried: they blur its effect by some 4 %

Tried = dict[int, float | None]  # by the number of clusters, the smallest effect that is claimed


def grown(grouping: Design, clusters: int) -> Design:
    """The same design with more clusters: its own over and over, of their sizes and in their strata.

    A factor that crosses them has other values in every copy.

    Raises:
        ValueError: fewer clusters than it has.
    """
    if clusters < grouping.clusters_n:
        raise ValueError(f"{clusters} clusters, and the design has {grouping.clusters_n}")
    copies = -(-clusters // grouping.clusters_n)
    codes = _copied(grouping, copies)
    kept = codes < clusters
    second = _copied(grouping.crossed[0], copies)[kept] if grouping.crossed else None
    return design(np.tile(grouping.strata, copies)[kept], codes[kept], second)


def _copied(grouping: Design, copies: int) -> Codes:
    return np.concatenate([grouping.clusters + at * grouping.clusters_n for at in range(copies)])


def enough_samples(
    study: PlantedStudy,
    rule: Rule,
    effect: float,
    *,
    looks: int = 1,
    tried: Tried | None = None,
    can_stop_early: bool = False,
) -> Design | None:
    """About the smallest design like the study's, grown by clusters, that claims `effect` in 8 of 10 studies.

    `looks` are the comparisons among which the rule adjusts. None where MOST_SAMPLES would not do. `tried`
    keeps what each design detects for a search for another effect by the same study and rule. A job that can
    stop early needs somewhat more, as its looks find a somewhat larger effect as often.
    """
    if can_stop_early:
        fixed = enough_samples(study, rule, effect, looks=looks, tried=tried)
        if fixed is None:
            return None
        effect /= expected(fixed.clusters_n, looks).larger
    samples, start = study.grouping.n, study.grouping.clusters_n
    most = MOST_SAMPLES * start // samples
    tried = {} if tried is None else tried

    def claims(clusters: int) -> bool:
        if clusters not in tried:
            larger = replace(study, grouping=grown(study.grouping, clusters))
            tried[clusters] = smallest_effect(larger, rule, looks=looks, draws=FEW_DRAWS).effect
        detected = tried[clusters]
        return detected is not None and detected <= effect

    few, many = start, start
    while many <= most and not claims(many):
        few, many = many, 2 * many
    if many > most:
        return None
    while many - few > max(1, CLOSE * many):
        half = (few + many) // 2
        few, many = (few, half) if claims(half) else (half, many)
    return grown(study.grouping, many)
