"""Plants memory and inconsistency of known size, and prints how often the report's intervals hold them.

    .venv/bin/python bench/planted_memory.py [--jobs 1000] [--seed 1]

Each design is so many simulated jobs. A question's skill is drawn by cluster; a share of the questions is
remembered, and then the original is answered right whatever the skill. The transformed question is answered
by skill alone, which a harder guise lowers by `hard`. A second set of rows, with the same skill and the same
harder guise and without memory, is the control. `same` is the planted chance that the second answer repeats
the first; else it is drawn anew.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.random import Generator

from gnomon.analyses.contamination import count
from gnomon.benchmarks.gtr_bench.question_view import case_of
from gnomon.conditions.transform import question_under
from gnomon.core.agent import AGENTS
from gnomon.core.ids import stable_seed
from gnomon.core.model import Reply, Request
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.report.sections.consistency import consistency_row
from gnomon.report.transformed_answers import TransformedAnswers
from gnomon.spec.rules import parse_spec
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import Trial
from workers.open_job import open_spec

TRANSFORMS = ("rotate", "rename", "permute_options")

LETTERS = "ABCD"
SKILL_SPREAD = 0.15  # standard deviation of the clusters' skill


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A design: clusters of questions, skill, share remembered, how much harder the guise is."""

    name: str
    clusters: int = 40
    size: int = 7
    skill: float = 0.4
    memory: float = 0.3
    hard: float = 0.0
    same: float = 0.0

    @property
    def drop(self) -> float:
        """The true drop on questions of which some are remembered."""
        return self.memory * (1 - self.skill) + self.hard


DESIGNS = (
    Planted(name="30 % remembered, 40 clusters of 7"),
    Planted(name="30 % remembered, 140 single questions", clusters=140, size=1),
    Planted(name="30 % remembered, 15 clusters of 10", clusters=15, size=10),
    Planted(name="30 % remembered, guise 5 points harder", hard=0.05),
    Planted(name="10 % remembered", memory=0.1),
    Planted(name="nothing remembered", memory=0.0),
    Planted(name="nothing remembered, 70 % repeat", memory=0.0, same=0.7),
)


def rows_of(random: Generator, design: Planted, *, benchmark: str, memory: float) -> Iterator[Row]:
    """The rows of one job: the original and a transformed arm."""
    skills = np.clip(random.normal(design.skill, SKILL_SPREAD, design.clusters), 0.1, 0.7)
    skills += design.skill - skills.mean()
    for cluster, skill in enumerate(skills):
        for item in range(design.size):
            gold = random.choice(list(LETTERS))
            is_known = random.random() < memory
            first = gold if is_known else _answer(random, gold, skill)
            repeats = random.random() < design.same
            second = first if repeats else _answer(random, gold, skill - design.hard)
            name = f"{cluster}-{item}"
            yield _row(benchmark, name, cluster, "raw", first, gold)
            yield _row(benchmark, name, cluster, "raw_rotate", second, gold)


def _answer(random: Generator, gold: str, skill: float) -> str:
    return gold if random.random() < skill else random.choice([each for each in LETTERS if each != gold])


def _row(benchmark: str, name: str, cluster: int, arm: str, answer: str, gold: str) -> Row:
    metrics = {"original_answer": answer}
    if arm != "raw":
        metrics |= {"transform": "rotate", "original_arm": "raw"}
    return Row(
        job_id=benchmark,
        trial_id=f"{name}-{arm}",
        benchmark=benchmark,
        task="MotionState",
        cell="outdoor.MS",
        sample_id=name,
        cluster=str(cluster),
        model="planted",
        arm=arm,
        repeat=0,
        outcome=Outcome.SCORED,
        stop_reason="answered",
        score=float(answer == gold),
        metrics=metrics,
        answer=answer,
    )


def expected_agreement(design: Planted) -> float:
    """How often both answers agree where nothing is remembered and no guise is harder, to first order."""
    skills = design.skill**2 + SKILL_SPREAD**2  # both right
    wrong = 1 - 2 * design.skill + skills
    return design.same + (1 - design.same) * (skills + wrong / 3)


def simulate(design: Planted, *, jobs: int, seed: int) -> dict[str, float]:
    """How often each interval holds what was planted, and the mean of the estimates."""
    random = np.random.default_rng(seed)
    held: dict[str, list[bool]] = {"drop": [], "remembered": [], "memory": [], "agree": []}
    means: dict[str, list[float]] = {"drop": [], "remembered": [], "memory": [], "agree": []}
    memory = design.memory * (1 - design.skill)
    for _ in range(jobs):
        published = list(rows_of(random, design, benchmark="gtr-bench", memory=design.memory))
        control = list(rows_of(random, design, benchmark="worlds", memory=0.0))
        collector = TransformedAnswers()
        for row in published:
            collector.add(row)
        (pair,) = collector.pairs()
        drop, remembered, agreement = (
            pair.drop("mean_of_cells"),
            pair.remembered("mean_of_cells"),
            pair.agreement(),
        )
        (estimate,) = count([*published, *control], lambda row: row.cell)["estimates"]
        truth = {
            "drop": (drop.diff, drop.ci95, design.drop),
            "memory": (estimate["memory"], estimate["memory_ci95"], memory),
            "agree": (agreement.mean, agreement.ci95, expected_agreement(design)),
            "remembered": (remembered.value, remembered.ci95, design.drop / (1 - design.skill + design.hard)),
        }
        for name, (value, ends, true) in truth.items():
            held[name].append(ends[0] <= true <= ends[1])
            means[name].append(value)
    return {f"{name} held": float(np.mean(held[name])) for name in held} | {
        f"{name} mean": float(np.mean(means[name])) for name in means
    }


def asked(samples: int, *, memory: float, skill: float, seed: int) -> Iterator[str]:
    """A model with planted memory, asked real prompts of generated questions through the trial runner.

    It remembers a share of the original prompts with their answers, word for word, and else answers by skill.
    """
    arms = [{"name": "raw", "agent": "direct"}]
    arms += [{**arms[0], "name": f"raw_{name}", "transform": name} for name in TRANSFORMS]
    written = {
        "benchmark": "worlds",
        "select": {"limit": samples, "seed": seed},
        "models": [{"id": "scripted", "options": {"replies": [""]}}],
        "arms": arms,
    }
    spec = parse_spec(written, agents=AGENTS.names())
    with tempfile.TemporaryDirectory() as folder:
        job = open_spec(spec, MediaStore(Path(folder)))
        collector, agent = TransformedAnswers(), AGENTS.get("direct")
        for ref in job.samples.refs:
            random = np.random.default_rng(stable_seed("planted", seed, ref.sample_id))
            is_known = bool(random.random() < memory)
            for arm in spec.arms:
                question = question_under(arm, job.samples.get(ref.sample_id), job.bench)
                is_right = bool(random.random() < skill) or (is_known and arm.transform is None)
                model = PlantedModel(_reply(question, random, is_right=is_right))
                trial = Trial(
                    trial_id=ref.sample_id + arm.name,
                    job_id="j",
                    ref=ref,
                    model="scripted",
                    arm=arm.name,
                    repeat=0,
                )
                row, _ = asyncio.run(
                    run_trial(
                        trial,
                        bench=job.bench,
                        sample=partial(job.samples.get, ref.sample_id),
                        agent=agent,
                        model=model,
                    )
                )
                collector.add(row)
    for pair in collector.pairs():
        row = consistency_row(pair, "mean_of_samples")
        ends = [100 * end for end in row["drop_ci95"] or (0.0, 0.0)]
        yield (
            f"| {row['transform']} | {row['compared']} | {100 * row['original_mean']:.1f} "
            f"| {100 * row['transformed_mean']:.1f} | {100 * row['drop']:.1f} [{ends[0]:.1f}, {ends[1]:.1f}] "
            f"| {100 * (row['remembered'] or 0):.1f} % |"
        )


class PlantedModel:
    """A model that gives one reply, whatever it is asked."""

    id = "planted"

    def __init__(self, text: str) -> None:
        self._text = text

    async def reply(self, request: Request) -> Reply:
        return Reply(text=self._text)

    async def close(self) -> None:
        return None


def _reply(question: Sample, random: Generator, *, is_right: bool) -> str:
    case = case_of(question)
    gold = [choice[:1] for choice in case.gold]
    wrong = [choice[:1] for choice in case.choices if choice[:1] not in gold]
    letters = gold if is_right else [str(random.choice(wrong)) for _ in gold]
    body: dict[str, object] = {"answer": letters if len(letters) > 1 else letters[0]}
    if case.correct_time_str:
        body["time_duration"] = list(case.correct_time_str)
    return json.dumps(body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=280, help="asked through the runner; 0: none")
    options = parser.parse_args()
    print("| design | drop: true, mean | held | remembered | held | memory by control: true, mean | held |")
    print("|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        figures = simulate(design, jobs=options.jobs, seed=options.seed)
        memory = 100 * design.memory * (1 - design.skill)
        cells = (
            design.name,
            f"{100 * design.drop:.1f}, {100 * figures['drop mean']:.1f}",
            f"{100 * figures['drop held']:.1f} %",
            f"{100 * figures['remembered mean']:.1f} %",
            f"{100 * figures['remembered held']:.1f} %",
            f"{memory:.1f}, {100 * figures['memory mean']:.1f}",
            f"{100 * figures['memory held']:.1f} %",
        )
        print(f"| {' | '.join(cells)} |", flush=True)
        if design.memory == 0 and design.hard == 0:
            print(
                f"  agreement: expected {100 * expected_agreement(design):.1f}, "
                f"found {100 * figures['agree mean']:.1f}, held {100 * figures['agree held']:.1f} %"
            )
    if options.samples:
        print("\n| transform | samples | original | transformed | drop | remembered |\n" + 6 * "|---" + "|")
        for line in asked(options.samples, memory=0.3, skill=0.4, seed=options.seed):
            print(line)


if __name__ == "__main__":
    main()
