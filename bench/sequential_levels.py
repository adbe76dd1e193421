"""Simulates jobs that may stop early; prints the table of docs/sequential.md.

    python -m bench.sequential_levels [--rounds 2000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of one design with a planted difference. Jobs have the size that a plan
proposes for a true difference of 10 points. `fixed` runs all of it; the others stop at the first of five
looks that decides, or after which hardly anything could be. `claimed` is the share in which a difference is
claimed: where none is planted, falsely; `no effect` that in which the difference is found to be within the
margin of 5 points, and `tokens` the mean share of the planned tokens of models that is spent until then,
trials taking equally many on average.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.random import Generator

from bench.simulated import SPEC, clusters_of, grouping_of, simulate
from gnomon.core.sample import SampleRef
from gnomon.report.comparing import rule_of
from gnomon.report.enough_samples import enough_samples
from gnomon.report.sequence import DrawnPlan, drawn_plan
from gnomon.report.verdict import ALPHA
from gnomon.statistics.design import Codes, Floats
from gnomon.statistics.equivalence import Limits
from gnomon.statistics.paired import Comparison, compare
from gnomon.statistics.power import PlantedStudy, Spread, right_or_wrong

LIMITS, PLANNED_FOR, AT_ONCE = Limits(low=-0.05, high=0.05), 0.1, 50
UNEQUAL = (30, 24, 20, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 3, 2, 2, 1)
GRADED = Spread(sizes=(0.0, 0.1, 0.3, 0.6), shares=(0.3, 0.3, 0.2, 0.2), icc=0.2)
Trials = tuple[Floats, Floats]  # of baseline and variant, by sample


@dataclass(frozen=True, slots=True)
class Row:
    """A design that a plan makes larger until it is enough, and the difference that is planted in it."""

    study: PlantedStudy
    effect: float


def study_of(sizes: tuple[int, ...], spread: Spread) -> PlantedStudy:
    """Samples in clusters of these sizes."""
    return PlantedStudy(grouping=grouping_of(clusters_of(sizes)), spread=spread)


STUDIES = {
    "independent, 0 or 1": study_of((1,) * 40, right_or_wrong(0.3, icc=0.0)),
    "clusters of 10, 0 or 1": study_of((10,) * 12, right_or_wrong(0.3)),
    "unequal clusters, 0 or 1": study_of(UNEQUAL, right_or_wrong(0.3)),
    "clusters of 5, graded": study_of((5,) * 8, GRADED),
}
ROWS = {
    f"{name}, {100 * effect:+.0f}": Row(study, effect)
    for name, study in STUDIES.items()
    for effect in (0.0, 0.05, 0.1, 0.2)
}


@cache
def planned(study: PlantedStudy) -> PlantedStudy:
    """The study of the size that is proposed.

    Raises:
        ValueError: none is.
    """
    enough = enough_samples(study, rule_of("primary", looks=1), PLANNED_FOR)
    if enough is None:
        raise ValueError("no size is enough")
    return replace(study, grouping=enough)


def trials(study: PlantedStudy, effect: float, jobs: int, random: Generator) -> Iterator[Trials]:
    """Scores of so many jobs: what differs between the arms is drawn, and the rest is right or wrong."""
    for start in range(0, jobs, AT_ONCE):
        for d in study.differences(effect, min(AT_ONCE, jobs - start), random)[:, :, 0]:
            room = np.where(random.random(len(d)) < 0.5, 1.0 - np.abs(d), 0.0)
            baseline = np.maximum(-d, 0.0) + room
            yield baseline, baseline + d


def plan_of(clusters: Codes) -> DrawnPlan:
    """The plan of samples in these clusters, in the order drawn."""
    refs = [
        SampleRef(sample_id=f"s{at}", task="planted", cell="planted", cluster=f"c{cluster}")
        for at, cluster in enumerate(clusters)
    ]
    return drawn_plan(SPEC, refs, [ref.sample_id for ref in refs], headline="mean_of_samples")


def verdict_of(comparison: Comparison) -> str:
    """The verdict on a job's only comparison: that of `judge`, without the ends of intervals."""
    assert comparison.reach is not None
    if comparison.reach.p() < ALPHA:
        return "claimed"
    is_small = max(comparison.reach.p(end) for end in (LIMITS.low, LIMITS.high)) < 2 * ALPHA
    return "no effect" if is_small and abs(comparison.diff) < LIMITS.high else "undecided"


def verdicts(of_arms: Trials, clusters: Codes) -> tuple[str, str, float]:
    """The verdict on the whole job, that at which it stops, and the share of its samples run until then."""
    looks = plan_of(clusters).looks

    def after(ended: int) -> Comparison:
        within = clusters < ended
        return compare(of_arms[0][within], of_arms[1][within], grouping_of(clusters[within]))

    whole, last = after(looks.clusters[-1]), len(looks.clusters)
    for look, ended in enumerate(looks.clusters, start=1):
        comparison = looks.repeated(whole if look == last else after(ended), look)
        verdict = verdict_of(comparison)
        if verdict != "undecided" or look == last or looks.is_hopeless(comparison, look, LIMITS):
            break
    return verdict_of(whole), verdict, float(np.mean(clusters < ended))


def shares(row: Row, *, rounds: int, seed: int) -> list[float]:
    """Of so many jobs what is claimed and found equal, fixed and stopping early, and the tokens spent."""
    study, random = planned(row.study), np.random.default_rng(seed)
    found = []
    for baseline, variant in trials(study, row.effect, rounds, random):
        order = random.permutation(study.grouping.clusters_n)
        by_place = np.argsort(np.argsort(order)[study.grouping.clusters], kind="stable")
        clusters = np.argsort(order)[study.grouping.clusters][by_place]
        of_arms = baseline[by_place], variant[by_place]
        *of_job, spent = verdicts(of_arms, clusters)
        found.append((*(each == said for each in of_job for said in ("claimed", "no effect")), spent))
    return [float(share) for share in np.mean(found, axis=0)]


def _row(row: Row, *, rounds: int, seed: int) -> list[str | float]:
    grouping = planned(row.study).grouping
    return [f"{grouping.n:,} in {grouping.clusters_n:,}", *shares(row, rounds=rounds, seed=seed)]


def main() -> None:
    """Print the table."""
    fixed, early = ("claimed, fixed", "no effect, fixed"), ("claimed", "no effect", "tokens")
    simulate(__doc__, ("jobs, points", "samples in clusters", *fixed, *early), ROWS, _row, rounds=2000)


if __name__ == "__main__":
    main()
