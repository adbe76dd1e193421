"""Builds reports of whole jobs with a known effect; prints a table of docs/statistics.md.

    .venv/bin/python bench/planted_jobs.py [--jobs 1000] [--seed 1] [--only TEXT]

Every job is rows of two arms, as workers write them; its report is built as always, and its primary contrast
is held against what was planted. Prints for each design how often the effect lies inside its 95 % interval,
and an arm's score inside its own (of both arms); how often p is below 0.05; and how often `helps` or `hurts`
is claimed: wrongly where there is no effect.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.report.build import build_report
from gnomon.report.report import Report
from gnomon.report.section import Interval
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Codes, Floats

SPEC = JobSpec.model_validate(
    {
        "benchmark": "worlds",
        "models": [{"id": "scripted"}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
        "analysis": {"primary": ["raw", "tools"]},
    }
)
Draw = Callable[[Generator, Codes, float], tuple[Floats, Floats, float]]  # scores, the baseline's true mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A planted job: cluster sizes, how scores are drawn around an effect, and the share of lost trials."""

    sizes: tuple[int, ...]
    draw: Draw
    effect: float
    lost: tuple[float, float] = (0.0, 0.0)


def right_or_wrong(spread: float = 0.0) -> Draw:
    """0 or 1; the difference varies by cluster, evenly up to ± `spread` around the effect."""

    def draw(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats, float]:
        level = random.uniform(0.3, 0.55, len(clusters))
        moved = effect + random.uniform(-spread, spread, int(clusters.max()) + 1)[clusters]
        return _hits(random, level), _hits(random, level + moved), 0.425

    return draw


def graded(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats, float]:
    """Beta scores around a level of the cluster's own; the effect moves the level."""
    level = random.uniform(0.25, 0.55, int(clusters.max()) + 1)[clusters]
    moved = level + effect
    return random.beta(4 * level, 4 * (1 - level)), random.beta(4 * moved, 4 * (1 - moved)), 0.4


def seldom(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats, float]:
    """Accuracies drawn from 0 to 5 %, the same for both arms but for the effect."""
    rate = random.uniform(0.0, 0.05)
    n = len(clusters)
    return _hits(random, np.full(n, rate)), _hits(random, np.full(n, rate + effect)), rate


def _hits(random: Generator, chances: Floats) -> Floats:
    return (random.random(len(chances)) < chances).astype(np.float64)


def _with(
    name: str, sizes: tuple[int, ...], draw: Draw, *effects: float, **more: tuple[float, float]
) -> dict[str, Job]:
    """Jobs without an effect, and with each of these."""
    return {
        f"{name}, {f'+{100 * effect:.0f} points' if effect else 'no effect'}": Job(
            sizes=sizes, draw=draw, effect=effect, **more
        )
        for effect in (0.0, *effects)
    }


JOBS: dict[str, Job] = {
    **_with("60 independent samples", (1,) * 60, right_or_wrong(), 0.16),
    **_with("300 independent samples", (1,) * 300, right_or_wrong(), 0.08),
    **_with("effect varies over 20 clusters of 7", (7,) * 20, right_or_wrong(0.25), 0.16),
    **_with("effect varies over 60 clusters of 7", (7,) * 60, right_or_wrong(0.25), 0.08),
    **_with("graded, 20 clusters of 7", (7,) * 20, graded, 0.08),
    **_with("graded, 60 independent samples", (1,) * 60, graded, 0.12),
    **_with("0 to 5 % right, 30 samples", (1,) * 30, seldom, 0.05, 0.1, 0.3),
    **_with(
        "1 % of both arms lost, 60 clusters of 7", (7,) * 60, right_or_wrong(0.25), 0.16, lost=(0.01, 0.01)
    ),
    **_with("8 % of one arm lost, 60 clusters of 7", (7,) * 60, right_or_wrong(0.25), 0.16, lost=(0.0, 0.08)),
}


def report_of(job: Job, random: Generator) -> tuple[Report, float]:
    """The report of one such job, and the baseline's true mean."""
    clusters = np.repeat(np.arange(len(job.sizes)), job.sizes)
    baseline, variant, mean = job.draw(random, clusters, job.effect)
    rows = list(_rows(clusters, (baseline, variant), job.lost, random))
    return build_report(job_id="j", spec=SPEC, status="completed", rows=rows, planned=len(rows)), mean


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


def shares(job: Job, *, jobs: int, seed: int) -> tuple[float, float, float, float]:
    """Of so many jobs: effect inside its interval, arms inside theirs, p below 0.05, `helps` or `hurts`."""
    random = np.random.default_rng(seed)
    counted = np.zeros(4)
    for _ in range(jobs):
        report, mean = report_of(job, random)
        contrast = report["contrasts"][0]
        raw, tools = (
            _holds(arm["aggregate_ci95"], mean)
            for arm, mean in zip(report["arms"], (mean, mean + job.effect), strict=True)
        )
        counted += (
            _holds(contrast["ci95"], job.effect),
            (raw + tools) / 2,
            contrast["p"] is not None and contrast["p"] < 0.05,
            contrast["verdict"] in ("helps", "hurts"),
        )
    covered, means, rejected, claimed = (counted / jobs).tolist()
    return covered, means, rejected, claimed


def _holds(ends: Interval | None, value: float) -> bool:
    return ends is not None and ends[0] <= value <= ends[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="jobs whose name holds this text")
    arguments = parser.parse_args()
    print(
        f"{arguments.jobs:,} jobs per row; Monte Carlo standard error at 5 %:"
        f" {(0.0475 / arguments.jobs) ** 0.5:.4f}\n"
    )
    print("| Jobs | effect covered | means covered | p < 0.05 | claimed |\n|---|---|---|---|---|")
    for name, job in JOBS.items():
        if arguments.only not in name:
            continue
        row = shares(job, jobs=arguments.jobs, seed=arguments.seed)
        print(f"| {name} | {' | '.join(f'{share:.3f}' for share in row)} |", flush=True)


if __name__ == "__main__":
    main()
