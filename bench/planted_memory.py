"""Plants memory and inconsistency of known size, and prints how often the report's intervals hold them.

    python -m bench.planted_memory [--rounds 1000] [--seed 1]

Each design is so many simulated jobs. A question's skill is drawn by cluster; a share of the questions is
remembered, and then the original is answered right whatever the skill. The transformed question is answered
by skill alone, which a harder guise lowers by `hard`. A second set of rows, with the same skill and the same
harder guise and without memory, is the control. `same` is the planted chance that the second answer repeats
the first; else it is drawn anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bench.simulated import row_of, simulate
from gnomon.core.row import Row
from gnomon.core.row_batch import batch_of
from gnomon_analyses.analyses.contamination import count
from gnomon_analyses.transformed_answers import TransformedAnswers

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
    place = {"task": "MotionState", "cell": "outdoor.MS", "cluster": str(cluster)}
    fields = {"job_id": benchmark, "benchmark": benchmark, "metrics": metrics, "answer": answer}
    return row_of(arm, name, float(answer == gold), **place, **fields)


def expected_agreement(design: Planted) -> float:
    """How often both answers agree where nothing is remembered and no guise is harder, to first order."""
    skills = design.skill**2 + SKILL_SPREAD**2  # both right
    wrong = 1 - 2 * design.skill + skills
    return design.same + (1 - design.same) * (skills + wrong / 3)


def simulated(design: Planted, *, jobs: int, seed: int) -> dict[str, float]:
    """How often each interval holds what was planted, and the mean of the estimates."""
    random = np.random.default_rng(seed)
    held: dict[str, list[bool]] = {"drop": [], "remembered": [], "memory": [], "agree": []}
    means: dict[str, list[float]] = {"drop": [], "remembered": [], "memory": [], "agree": []}
    memory = design.memory * (1 - design.skill)
    for _ in range(jobs):
        published = list(rows_of(random, design, benchmark="gtr-bench", memory=design.memory))
        control = list(rows_of(random, design, benchmark="worlds", memory=0.0))
        collector = TransformedAnswers()
        collector.add(batch_of(published))
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


def _shown(design: Planted, *, rounds: int, seed: int) -> list[str]:
    rates = simulated(design, jobs=rounds, seed=seed)
    memory = 100 * design.memory * (1 - design.skill)
    return [
        f"{100 * design.drop:.1f}, {100 * rates['drop mean']:.1f}",
        f"{rates['drop held']:.1%}",
        f"{rates['remembered mean']:.1%}",
        f"{rates['remembered held']:.1%}",
        f"{memory:.1f}, {100 * rates['memory mean']:.1f}",
        f"{rates['memory held']:.1%}",
        f"{100 * expected_agreement(design):.1f}, {100 * rates['agree mean']:.1f}",
        f"{rates['agree held']:.1%}",
    ]


def main() -> None:
    """Print the table; agreement is known only where nothing is remembered and no guise is harder."""
    heads = (
        "design", "drop: true, mean", "held", "remembered", "held", "memory by control: true, mean", "held",
        "agreement: expected, mean", "held",
    )  # fmt: skip
    simulate(__doc__, heads, {design.name: design for design in DESIGNS}, _shown, rounds=1000)


if __name__ == "__main__":
    main()
