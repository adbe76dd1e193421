"""Plants effects of wording and of over-confidence, and shows what the report makes of them.

    python bench/planted_wording.py [--samples 400] [--rounds 200]

A planted model knows the answers of generated worlds. It is right with a chance that its arm decides, drawn
by sample, and states a confidence that is too high by a known amount. One whole job is run through the trials
of the preset `wording`, so prompts, parsers and the report are those of every job; the simulations below it
draw scores alone.
"""

import argparse
import asyncio
import functools
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import SampleSet
from gnomon.core.model import Reply, Request
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.media import MediaStore
from gnomon.report.build import build_report
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from gnomon.statistics.calibration import calibration
from gnomon.statistics.design import design
from gnomon.statistics.spread import spread
from gnomon.trials.run_trial import JobContext, run_trial
from gnomon.trials.trial_plan import expand_trials

RIGHT = {"original": 0.60, "plain": 0.60, "formal": 0.40, "reordered": 0.60}
TOO_SURE = 0.20  # by which confidence is above the chance of being right
SPREADS = (0.0, 0.02, 0.05, 0.10)  # true standard deviations of four conditions


class PlantedModel:
    """Right with its arm's chance, and surer than that by TOO_SURE; easy samples are easy in all arms."""

    id = "planted"

    def __init__(self, arm: str, sample_id: str, letter: str) -> None:
        self._arm, self._sample_id, self._letter = arm, sample_id, letter

    async def reply(self, request: Request) -> Reply:
        ease = random.Random(f"ease {self._sample_id}").choice((-0.2, 0.0, 0.2))
        chance = RIGHT[self._arm] + ease
        is_right = random.Random(f"{request.seed} {self._arm}").random() < chance
        letter = self._letter if is_right else ("B" if self._letter == "A" else "A")
        return Reply(
            text=f'{{"answer": "{letter}"}}\nConfidence: {round(100 * (chance + TOO_SURE))}', usd=0.0
        )

    async def close(self) -> None:
        return None


def spec_of(samples: int) -> JobSpec:
    """The job: the preset `wording` with a stated confidence, over questions with four options."""
    written = {
        "benchmark": "worlds",
        "select": {
            "limit": samples,
            "seed": 11,
            "tasks": ["GeoLocation", "ArrivalTimeInterval", "MotionState", "CausalReordering"],
        },
        "models": [{"id": "scripted", "name": "planted", "options": {"replies": ["-"]}}],
        "arms": {"preset": "wording", "agent": "direct", "confidence": True},
    }
    return parse_spec(written, agents=AGENTS.names())


def run_job(spec: JobSpec, folder: Path) -> list[Row]:
    """Every trial of the job."""
    media = MediaStore(folder)
    samples = spec.plugin().open(data=None, select=spec.select, protocol=spec.protocol, media=media)
    bench = JobContext(spec=spec, benchmark=spec.plugin(), media=media, samples=samples)
    return asyncio.run(_rows(spec, samples, bench))


async def _rows(spec: JobSpec, samples: SampleSet, bench: JobContext) -> list[Row]:
    rows: list[Row] = []
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        letter = _letter(sample, bench)
        for trial in expand_trials("planted", spec, [ref]):
            row, _ = await run_trial(
                trial,
                bench=bench,
                sample=functools.partial(_same, sample),
                agent=AGENTS.get(spec.arm(trial.arm).agent),
                model=PlantedModel(trial.arm, ref.sample_id, letter),
            )
            rows.append(row)
    return rows


def _same(sample: Sample) -> Sample:
    return sample


def _letter(sample: Sample, bench: JobContext) -> str:
    """The letter of the right option, by the scorer."""
    scores = {
        letter: bench.benchmark.score(sample, f'{{"answer": "{letter}"}}', scoring="strict").value
        for letter in "ABCD"
    }
    return max(scores, key=lambda letter: scores[letter] or 0.0)


def simulated_spreads(rounds: int, samples: int, clusters: int) -> list[str]:
    """How often the interval of the spread holds the true one, and how often p is below 5 %."""
    chance, lines = np.random.default_rng(1), []
    codes = np.arange(samples) % clusters
    for true in SPREADS:
        shifts = np.array([-1.0, -1.0, 1.0, 1.0]) * true * (3 / 4) ** 0.5
        covered = claimed = 0
        for _ in range(rounds):
            ease = chance.normal(0.0, 0.1, clusters)[codes]
            chances = np.clip(0.5 + ease + shifts[:, None], 0.0, 1.0)
            values = (chance.random((4, samples)) < chances).astype(np.float64)
            apart = spread(list(values), design(np.zeros(samples, dtype=np.intp), codes))
            ends, p = apart.ci95, apart.p
            covered += ends is not None and ends[0] - 1e-9 <= true <= ends[1] + 1e-9
            claimed += p is not None and p < 0.05
        lines.append(
            f"true spread {100 * true:4.1f} points: covered {covered / rounds:.3f}, p < 5 % in"
            f" {claimed / rounds:.3f} of {rounds:,} jobs of {samples} samples in {clusters} clusters"
        )
    return lines


def simulated_calibrations(rounds: int, samples: int, clusters: int) -> list[str]:
    """How often the interval of the calibration error holds the true one, and the estimate's mean."""
    chance, lines = np.random.default_rng(2), []
    codes = np.arange(samples) % clusters
    for excess in (0.0, 0.05, TOO_SURE):
        covered, gaps, eces, by_chance = 0, 0, [], []
        for _ in range(rounds):
            rights = chance.choice([0.25, 0.45, 0.65], samples)
            scores = (chance.random(samples) < rights).astype(np.float64)
            measured = calibration(rights + excess, scores, codes)
            ends, gap = measured.ece_ci95, measured.gap_ci95
            covered += ends is not None and ends[0] - 1e-9 <= excess <= ends[1] + 1e-9
            gaps += gap is not None and gap[0] <= excess <= gap[1]
            eces.append(measured.ece)
            by_chance.append(measured.ece_by_chance)
        lines.append(
            f"true error {100 * excess:4.1f} points: mean ECE {100 * np.mean(eces):.1f} (by chance"
            f" {100 * np.mean(by_chance):.1f}), ECE covered {covered / rounds:.3f}, gap covered"
            f" {gaps / rounds:.3f}, of {rounds:,} jobs of {samples} answers in {clusters} clusters"
        )
    return lines


def print_report(spec: JobSpec, rows: Sequence[Row]) -> None:
    """What the report says of the planted job."""
    report = build_report(job_id="planted", spec=spec, status="completed", rows=rows, planned=len(rows))
    for row in report["wording"]:
        means = ", ".join(f"{mean['arm']} {100 * mean['mean']:.1f}" for mean in row["means"])
        low, high = row["beyond_ci95"] or (float("nan"), float("nan"))
        print(
            f"scores: {means}; {row['n']} samples in {row['clusters']} clusters\n"
            f"spread beyond chance {100 * row['beyond']:.1f} points [{100 * low:.1f}, {100 * high:.1f}],"
            f" by chance {100 * row['by_chance']:.1f}, p = {row['p']:.2g}"
        )
    for contrast in report["contrasts"]:
        if contrast["scope"] == "all" and contrast["ci95"]:
            low, high = contrast["ci95"]
            print(
                f"{contrast['variant']} − {contrast['baseline']}: {100 * contrast['diff']:+.1f} points"
                f" [{100 * low:+.1f}, {100 * high:+.1f}], {contrast['verdict']}"
            )
    for line in report["calibration"]:
        low, high = line["ece_ci95"] or (float("nan"), float("nan"))
        print(
            f"{line['arm']}: {line['stated']} of {line['asked']} stated; confidence"
            f" {100 * (line['confidence'] or 0):.1f}, score {100 * (line['score'] or 0):.1f}, ECE"
            f" {100 * (line['ece'] or 0):.1f} [{100 * low:.1f}, {100 * high:.1f}], Brier {line['brier']:.3f},"
            f" AUROC {line['auroc']:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    spec = spec_of(options.samples)
    with tempfile.TemporaryDirectory() as folder:
        rows = run_job(spec, Path(folder))
    print(f"Planted: right in {RIGHT}, confidence {100 * TOO_SURE:.0f} points too high.")
    print_report(spec, rows)
    for clusters in (20, 60):
        print("\n".join(simulated_spreads(options.rounds, 300, clusters)))
        print("\n".join(simulated_calibrations(options.rounds, 300, clusters)))


if __name__ == "__main__":
    main()
