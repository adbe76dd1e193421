"""Measures the tokens of models that a verdict costs; prints the table of docs/sequential.md.

    python -m bench.tokens_to_verdict [--rounds 2000] [--seed 1] [--only TEXT]

Each row simulates so many jobs with a planted difference. `fixed` is a job of the size that a plan proposes
for a true difference of so many points; the others may stop early, and have the size that a plan proposes for
such a job. `tokens` is what is spent until the verdict by what the fixed job spends, trials taking equally
many on average; `claimed` the share in which a difference is claimed: where none is planted, falsely;
`covered` that in which the difference lies inside the 95 % interval of the look at which the job ends.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.random import Generator

from bench.simulated import ARMS, clusters_of, grouping_of, simulate
from gnomon.core.sample import SampleRef
from gnomon.report.comparing import rule_of
from gnomon.report.enough_samples import enough_samples
from gnomon.report.sequence import drawn_plan
from gnomon.report.verdict import ALPHA
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Codes, Design, Floats
from gnomon.statistics.equivalence import Limits
from gnomon.statistics.paired import Comparison, compare
from gnomon.statistics.power import PlantedStudy, Spread, right_or_wrong
from gnomon.statistics.sequential import Looks

SPEC = JobSpec.model_validate(
    {
        "benchmark": "worlds",
        "models": [{"id": "scripted"}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
        "analysis": {"primary": ARMS},
    }
)
LIMITS, AT_ONCE = Limits(low=-0.05, high=0.05), 50
OUT_OF_REACH = 1.5  # standard errors: a limit so near cannot be rejected at 10 %
GRADED = Spread(sizes=(0.0, 0.1, 0.3, 0.6), shares=(0.3, 0.3, 0.2, 0.2), icc=0.2)
Trials = tuple[Floats, Floats]  # of baseline and variant, by sample
After = Callable[[int], Comparison]  # so many clusters
Outcome = tuple[float, bool, bool]  # samples run, whether a difference is claimed, and the true one covered


@dataclass(frozen=True, slots=True)
class Row:
    """A study that a plan makes larger until it finds `planned`, and the difference that is planted in it."""

    study: PlantedStudy
    effect: float
    planned: float


def study_of(sizes: tuple[int, ...], spread: Spread) -> PlantedStudy:
    """Samples in clusters of these sizes."""
    return PlantedStudy(grouping=grouping_of(clusters_of(sizes)), spread=spread)


STUDIES = {
    "single, 0 or 1": study_of((1,) * 10, right_or_wrong(0.3, icc=0.0)),
    "clusters of 10, 0 or 1": study_of((10,) * 4, right_or_wrong(0.3)),
    "clusters of 5, graded": study_of((5,) * 4, GRADED),
}
PLANTED = ((0.0, 0.1), (0.05, 0.05), (0.1, 0.1), (0.2, 0.2), (0.05, 0.1), (0.2, 0.1))
ROWS = {
    f"{name}, {100 * effect:+.0f}, made for {100 * planned:.0f}": Row(study, effect, planned)
    for name, study in STUDIES.items()
    for effect, planned in PLANTED
}


@cache
def planned(study: PlantedStudy, effect: float, *, can_stop_early: bool) -> Design:
    """The design of the size that is proposed.

    Raises:
        ValueError: none is.
    """
    enough = enough_samples(study, rule_of("primary", looks=1), effect, can_stop_early=can_stop_early)
    if enough is None:
        raise ValueError("no size is enough")
    return enough


def drawn(study: PlantedStudy, effect: float, jobs: int, random: Generator) -> Iterator[Floats]:
    """The differences of so many jobs, by sample."""
    for start in range(0, jobs, AT_ONCE):
        yield from study.differences(effect, min(AT_ONCE, jobs - start), random)[:, :, 0]


def trials(d: Floats, random: Generator) -> Trials:
    """Scores with these differences; the rest is right or wrong."""
    room = np.where(random.random(len(d)) < 0.5, 1.0 - np.abs(d), 0.0)
    baseline = np.maximum(-d, 0.0) + room
    return baseline, baseline + d


def looks_of(clusters: Codes) -> Looks:
    """The looks of samples in these clusters, in the order drawn."""
    refs = [
        SampleRef(sample_id=f"s{at}", task="planted", cell="planted", cluster=f"c{cluster}")
        for at, cluster in enumerate(clusters)
    ]
    return drawn_plan(SPEC, refs, [ref.sample_id for ref in refs], headline="mean_of_samples").looks


def verdict_of(comparison: Comparison) -> str:
    """The verdict on a job's only comparison: that of `judge`, without the ends of intervals."""
    assert comparison.reach is not None
    assert comparison.se is not None
    if comparison.reach.p() < ALPHA:
        return "claimed"
    if OUT_OF_REACH * comparison.se > LIMITS.high:
        return "undecided"
    is_small = max(comparison.reach.p(end) for end in (LIMITS.low, LIMITS.high)) < 2 * ALPHA
    return "no effect" if is_small and abs(comparison.diff) < LIMITS.high else "undecided"


def first_of(scores: Trials, clusters: Codes, ended: int) -> Comparison:
    """The comparison of the first so many clusters."""
    within = clusters < ended
    return compare(scores[0][within], scores[1][within], grouping_of(clusters[within]))


def run(looks: Looks, after: After, effect: float) -> Outcome:
    """A job that is looked at: it ends at the first look that decides, or after which it is hopeless."""
    last = len(looks.clusters)
    for look, ended in enumerate(looks.clusters, start=1):
        comparison = looks.repeated(after(ended), look)
        verdict = verdict_of(comparison)
        if verdict != "undecided" or look == last or looks.is_hopeless(comparison, look, LIMITS):
            break
    return outcome_of(comparison, verdict, effect)


def outcome_of(comparison: Comparison, verdict: str, effect: float) -> Outcome:
    """What has come of a job."""
    assert comparison.reach is not None
    return comparison.n, verdict == "claimed", comparison.reach.p(effect) >= ALPHA


def shares(row: Row, *, rounds: int, seed: int) -> dict[str, tuple[float, float, float]]:
    """By how jobs are run: tokens by the fixed job's, share with a claim, and with an interval that holds."""
    fixed = planned(row.study, row.planned, can_stop_early=False)
    study = replace(row.study, grouping=planned(row.study, row.planned, can_stop_early=True))
    grouping, random = study.grouping, np.random.default_rng(seed)
    looks = looks_of(grouping.clusters)
    results: dict[str, list[Outcome]] = {"fixed": [], "sequential": []}
    for d in drawn(study, row.effect, rounds, random):
        after = cache(partial(first_of, trials(d, random), grouping.clusters))
        whole = after(fixed.clusters_n)
        results["fixed"].append(outcome_of(whole, verdict_of(whole), row.effect))
        results["sequential"].append(run(looks, after, row.effect))
    means = {name: np.mean(jobs, axis=0, dtype=np.float64) for name, jobs in results.items()}
    return {name: (float(n) / fixed.n, float(hit), float(held)) for name, (n, hit, held) in means.items()}


def _row(row: Row, *, rounds: int, seed: int) -> list[str | float]:
    sizes = (planned(row.study, row.planned, can_stop_early=can_stop) for can_stop in (False, True))
    tokens, claimed, covered = zip(*shares(row, rounds=rounds, seed=seed).values(), strict=True)
    samples = " / ".join(f"{size.n:,} in {size.clusters_n:,}" for size in sizes)
    return [samples, *tokens[1:], *claimed, *covered]


def main() -> None:
    """Print the table."""
    jobs = ("fixed", "sequential")
    figures = [f"{what}, {how}" for what in ("tokens", "claimed", "covered") for how in jobs][1:]
    heads = ("jobs, points", "samples in clusters, fixed / sequential", *figures)
    simulate(__doc__, heads, ROWS, _row, rounds=2000)


if __name__ == "__main__":
    main()
