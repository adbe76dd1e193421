"""Planted effects: whole jobs whose truth is known, built into reports; a table of docs/statistics.md.

    .venv/bin/python bench/planted_jobs.py [--jobs 1000] [--seed 1]

Every job is rows of two arms, as workers write them; its report is built as always, and its primary contrast
is held against what was planted. Prints for each design: how often the effect lies inside the 95 % interval;
how often it is claimed (`helps` or `hurts`) when there is one; how often something is claimed when there is
none.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gnomon.outcome import Outcome
from gnomon.report.build import build_report
from gnomon.report.schema import Contrast
from gnomon.row import Row
from gnomon.spec import JobSpec
from gnomon.statistics.design import Codes, Floats

SPEC = JobSpec.model_validate(
    {
        "benchmark": "worlds",
        "models": [{"id": "scripted"}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
        "analysis": {"primary": ["raw", "tools"]},
    }
)
Draw = Callable[[Generator, Codes, float], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A planted job: cluster sizes, how scores are drawn around an effect, and the share of lost trials."""

    sizes: tuple[int, ...]
    draw: Draw
    effect: float
    lost: tuple[float, float] = (0.0, 0.0)


def right_or_wrong(spread: float = 0.0) -> Draw:
    """0 or 1; the difference varies by cluster, evenly up to ± `spread` around the effect."""

    def draw(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
        level = random.uniform(0.3, 0.55, len(clusters))
        moved = effect + random.uniform(-spread, spread, int(clusters.max()) + 1)[clusters]
        return _hits(random, level), _hits(random, level + moved)

    return draw


def graded(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
    """Beta scores around a level of the cluster's own; the effect moves the level."""
    level = random.uniform(0.25, 0.55, int(clusters.max()) + 1)[clusters]
    return random.beta(4 * level, 4 * (1 - level)), random.beta(
        4 * (level + effect), 4 * (1 - level - effect)
    )


def seldom(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
    """Accuracies drawn from 0 to 5 %, the same for both arms but for the effect."""
    rate = random.uniform(0.0, 0.05)
    n = len(clusters)
    return _hits(random, np.full(n, rate)), _hits(random, np.full(n, rate + effect))


def _hits(random: Generator, chances: Floats) -> Floats:
    return (random.random(len(chances)) < chances).astype(np.float64)


def _twice(
    name: str, sizes: tuple[int, ...], draw: Draw, effect: float, **more: tuple[float, float]
) -> dict[str, Job]:
    return {
        f"{name}, no effect": Job(sizes=sizes, draw=draw, effect=0.0, **more),
        f"{name}, +{100 * effect:.0f} points": Job(sizes=sizes, draw=draw, effect=effect, **more),
    }


JOBS: dict[str, Job] = {
    **_twice("60 independent samples", (1,) * 60, right_or_wrong(), 0.16),
    **_twice("300 independent samples", (1,) * 300, right_or_wrong(), 0.08),
    **_twice("effect varies over 20 clusters of 7", (7,) * 20, right_or_wrong(0.25), 0.16),
    **_twice("effect varies over 60 clusters of 7", (7,) * 60, right_or_wrong(0.25), 0.08),
    **_twice("graded, 20 clusters of 7", (7,) * 20, graded, 0.08),
    **_twice("graded, 60 independent samples", (1,) * 60, graded, 0.12),
    **_twice("0 to 5 % right, 30 samples", (1,) * 30, seldom, 0.3),
    **_twice(
        "1 % of both arms lost, 60 clusters of 7", (7,) * 60, right_or_wrong(0.25), 0.16, lost=(0.01, 0.01)
    ),
    **_twice(
        "8 % of one arm lost, 60 clusters of 7", (7,) * 60, right_or_wrong(0.25), 0.16, lost=(0.0, 0.08)
    ),
}


def outcome_of(job: Job, random: Generator) -> Contrast:
    """The primary contrast of one such job's report."""
    clusters = np.repeat(np.arange(len(job.sizes)), job.sizes)
    scores = job.draw(random, clusters, job.effect)
    rows = list(_rows(clusters, scores, job.lost, random))
    report = build_report(job_id="j", spec=SPEC, status="completed", rows=rows, planned=len(rows))
    return report["contrasts"][0]


def _rows(
    clusters: Codes, scores: tuple[Floats, Floats], lost: tuple[float, float], random: Generator
) -> Iterator[Row]:
    for arm, values, share in zip(("raw", "tools"), scores, lost, strict=True):
        gone = random.random(len(values)) < share
        for sample, value in enumerate(values):
            yield Row(
                job_id="j",
                trial_id=f"t_{arm}_{sample}",
                benchmark="worlds",
                task="planted",
                cell="planted",
                sample_id=f"s{sample}",
                cluster=f"v{clusters[sample]}",
                model="scripted",
                arm=arm,
                repeat=0,
                outcome=Outcome.INFRA_MISSING if gone[sample] else Outcome.SCORED,
                stop_reason="provider:rate_limit" if gone[sample] else "answered",
                score=None if gone[sample] else float(value),
            )


def shares(job: Job, *, jobs: int, seed: int) -> tuple[float, float, float]:
    """Of so many jobs: effect inside the interval, p below 0.05, `helps` or `hurts` claimed."""
    random = np.random.default_rng(seed)
    found = [outcome_of(job, random) for _ in range(jobs)]
    covered = [one["ci95"] is not None and one["ci95"][0] <= job.effect <= one["ci95"][1] for one in found]
    rejected = [one["p"] is not None and one["p"] < 0.05 for one in found]
    claimed = [one["verdict"] in ("helps", "hurts") for one in found]
    return float(np.mean(covered)), float(np.mean(rejected)), float(np.mean(claimed))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        f"{given.jobs:,} jobs a row; Monte Carlo standard error at 5 %: {(0.0475 / given.jobs) ** 0.5:.4f}\n"
    )
    print("| Jobs | effect covered | p < 0.05 | claimed |\n|---|---|---|---|")
    for name, job in JOBS.items():
        row = shares(job, jobs=given.jobs, seed=given.seed)
        print(f"| {name} | {' | '.join(f'{share:.3f}' for share in row)} |", flush=True)


if __name__ == "__main__":
    main()
