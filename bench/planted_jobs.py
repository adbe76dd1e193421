"""Builds reports of whole jobs with a known effect; prints a table of docs/statistics.md.

    python -m bench.planted_jobs [--rounds 1000] [--seed 1] [--only TEXT]

Every job is rows of two arms, as workers write them; its report is built as always, and its primary contrast
is held against what was planted. Prints for each design how often the effect lies inside its 95 % interval,
and an arm's score inside its own (of both arms); how often p is below 0.05; and how often `helps` or `hurts`
is claimed: wrongly where there is no effect.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bench.simulated import ARMS, clusters_of, hits, report_of, row_of, simulate
from gnomon.core.row import Row
from gnomon.report.section import Interval
from gnomon.statistics.design import Codes, Floats

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
        return hits(random, level), hits(random, level + moved), 0.425

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
    return hits(random, np.full(n, rate)), hits(random, np.full(n, rate + effect)), rate


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


def _rows(job: Job, random: Generator) -> tuple[list[Row], float]:
    """The rows of one such job, and the baseline's true mean."""
    clusters = clusters_of(job.sizes)
    *scores, mean = job.draw(random, clusters, job.effect)
    rows = []
    for arm, values, share in zip(ARMS, scores, job.lost, strict=True):
        is_lost = random.random(len(values)) < share
        for sample, value in enumerate(values):
            score = None if is_lost[sample] else float(value)
            rows.append(row_of(arm, sample, score, cluster=f"v{clusters[sample]}"))
    return rows, mean


def shares(job: Job, *, rounds: int, seed: int) -> tuple[float, float, float, float]:
    """Of so many jobs: effect inside its interval, arms inside theirs, p below 0.05, `helps` or `hurts`."""
    random = np.random.default_rng(seed)
    counted = np.zeros(4)
    for _ in range(rounds):
        rows, mean = _rows(job, random)
        report = report_of(rows)
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
    covered, means, rejected, claimed = (counted / rounds).tolist()
    return covered, means, rejected, claimed


def _holds(ends: Interval | None, value: float) -> bool:
    return ends is not None and ends[0] <= value <= ends[1]


def main() -> None:
    """Print the table."""
    heads = ("Jobs", "effect covered", "means covered", "p < 0.05", "claimed")
    simulate(__doc__, heads, JOBS, shares, rounds=1000)


if __name__ == "__main__":
    main()
