"""Measures what a drifting provider does to verdicts, by the order in which two arms ran.

    .venv/bin/python -m bench.drift_levels [--jobs 2000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of two arms over the same samples. The provider gets better or worse in a
straight line, by 10 to 30 points over the job. Prints the share of jobs that claim a difference: from all
pairs, and by the rule that a claim must also hold among the pairs that were run together; and in how many
jobs that is asked.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.random import Generator

from gnomon.core.row import Row
from gnomon.core.row_batch import batch_of
from gnomon.core.score import Outcome
from gnomon.exchange.foreign import benchmark_called
from gnomon.report.adjustment import adjust
from gnomon.report.compared_pair import compare_pair
from gnomon.report.comparing import contrast_report
from gnomon.report.detectable import Detectable
from gnomon.report.drift import run_together
from gnomon.report.pairs import pairs
from gnomon.report.score_matrix import read_scores
from gnomon.report.scored_rows import ScoredRows
from gnomon.report.section import ReportInput
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Floats

ARMS = ("raw", "tools")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
CLAIMS = ("helps", "hurts")
LEVEL = 0.5  # mean score of the baseline at the middle of the job
Order = Callable[[Generator, int], Floats]  # of so many samples: seconds from the start, arms × samples


def one_after_another(_: Generator, samples: int) -> Floats:
    """One arm, then the other; a trial takes 20 s."""
    return 20.0 * np.arange(2 * samples).reshape(2, samples)


def interleaved(_: Generator, samples: int) -> Floats:
    """As a job plans its trials: the arms of a sample side by side."""
    return 20.0 * np.arange(2 * samples).reshape(samples, 2).T


def at_once(concurrency: int) -> Order:
    """The same with so many trials in flight, of 5 to 120 s each."""

    def order(random: Generator, samples: int) -> Floats:
        free = np.zeros(concurrency)
        starts = np.empty(2 * samples)
        for trial in range(2 * samples):
            slot = int(np.argmin(free))
            starts[trial] = free[slot]
            free[slot] += random.uniform(5.0, 120.0)
        return starts.reshape(samples, 2).T

    return order


def slow_with_pauses(random: Generator, samples: int) -> Floats:
    """One trial at a time, of 30 to 300 s, and four hours of waiting for the provider after every 50th."""
    seconds = random.uniform(30.0, 300.0, 2 * samples)
    seconds[49::50] += 4 * 3600.0
    return np.concatenate([[0.0], np.cumsum(seconds)[:-1]]).reshape(samples, 2).T


def resumed(share: float) -> Order:
    """Interleaved, but so many of the second arm's trials were lost, and ran once more when all had ended."""

    def order(random: Generator, samples: int) -> Floats:
        starts = interleaved(random, samples)
        again = np.flatnonzero(random.random(samples) < share)
        starts[1, again] = 2.0 * starts.max() + 20.0 * np.arange(len(again))
        return starts

    return order


def both_resumed(random: Generator, samples: int) -> Floats:
    """Interleaved, and the last third of the samples a day later."""
    starts = interleaved(random, samples)
    starts[:, -samples // 3 :] += 86_400.0
    return starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """How the arms ran, over how many samples, and what the variant gains."""

    order: Order
    samples: int = 400
    effect: float = 0.0
    drifts: bool = True


STUDIES: Mapping[str, Study] = {
    "one after another": Study(order=one_after_another),
    "15 % of one arm resumed": Study(order=resumed(0.15)),
    "40 % of one arm resumed": Study(order=resumed(0.4)),
    "interleaved": Study(order=interleaved),
    "interleaved, 32 at once": Study(order=at_once(32)),
    "interleaved, 200 at once": Study(order=at_once(200)),
    "both arms resumed a day later": Study(order=both_resumed),
    "slow, with pauses": Study(order=slow_with_pauses),
    "8 samples, slow, with pauses": Study(order=slow_with_pauses, samples=8),
    "interleaved, +20 points": Study(order=interleaved, samples=100, effect=0.2),
    "32 at once, +20 points": Study(order=at_once(32), samples=100, effect=0.2),
    "15 % resumed, +20 points": Study(order=resumed(0.15), samples=100, effect=0.2),
    "15 % resumed, no drift": Study(order=resumed(0.15), drifts=False),
}


def rows_of(random: Generator, study: Study) -> Iterator[Row]:
    """The rows of a job; half of the samples are easier than the others."""
    starts = study.order(random, study.samples)
    drift = random.uniform(0.10, 0.30) * random.choice((-1.0, 1.0)) if study.drifts else 0.0
    moved = drift * (starts / starts.max() - 0.5)
    ease = np.where(random.random(study.samples) < 0.5, 0.15, -0.15)
    for place, arm in enumerate(ARMS):
        gained = study.effect * (place - 0.5)
        right = random.random(study.samples) < np.clip(LEVEL + ease + moved[place] + gained, 0.0, 1.0)
        for sample, start_s in enumerate(starts[place].tolist()):
            began = (BEGAN + timedelta(seconds=start_s)).isoformat(timespec="milliseconds")
            yield Row(
                job_id="j",
                trial_id=f"t_{place}_{sample}",
                benchmark="questions",
                task="",
                cell="",
                sample_id=f"s{sample}",
                cluster="",
                model="m",
                arm=arm,
                repeat=0,
                outcome=Outcome.SCORED,
                stop_reason="answered",
                score=float(right[sample]),
                started_at=began.replace("+00:00", "Z"),
            )


def verdicts(rows: Iterator[Row], spec: JobSpec) -> tuple[str, str, bool]:
    """The verdict from all pairs, by the whole rule, and whether pairs ran apart."""
    batch, collector = batch_of(list(rows)), ScoredRows()
    collector.add(batch)
    scores = read_scores([batch], [("m", arm) for arm in ARMS])
    report_input = ReportInput(
        job_id="j",
        spec=spec,
        status="completed",
        planned=len(batch),
        benchmark=benchmark_called("questions"),
        scores=scores,
        pairs=pairs(spec),
        collectors=[collector],
        faults=(),
        checks=(),
        trace=lambda _: None,
        error="",
        spec_hash="",
    )
    [pair] = report_input.pairs
    result = compare_pair(scores, pair, "all", scores.everywhere(), headline="mean_of_samples", repeats=1)
    [adjusted], [together] = (
        adjust([result], spec.analysis),
        run_together(report_input, [result], compare_pair),
    )
    plain, ruled = (
        contrast_report(
            result, adjusted=adjusted, detectable=Detectable(effect=None), interim=False, together=rule
        )
        for rule in (None, together)
    )
    return plain["verdict"], ruled["verdict"], together is not None


def main() -> None:
    """Print one row for each study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    spec = JobSpec.model_validate(
        {
            "benchmark": "questions",
            "data": "questions.csv",
            "models": [{"id": "m"}],
            "arms": [{"name": arm, "agent": "direct"} for arm in ARMS],
        }
    )
    print(
        f"| {asked.jobs:,} jobs each | claims from all pairs | claims by the rule | jobs with pairs apart |"
    )
    print("|---|---|---|---|")
    for name, study in STUDIES.items():
        if asked.only in name:
            random = np.random.default_rng(asked.seed)
            jobs = [verdicts(rows_of(random, study), spec) for _ in range(asked.jobs)]
            plain, ruled = (sum(job[at] in CLAIMS for job in jobs) / asked.jobs for at in (0, 1))
            apart = sum(job[2] for job in jobs) / asked.jobs
            print(f"| {name} | {plain:.3f} | {ruled:.3f} | {apart:.3f} |", flush=True)


if __name__ == "__main__":
    main()
