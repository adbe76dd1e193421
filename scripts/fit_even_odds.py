"""Fits what hard questions of worlds are evened out by: `python -m scripts.fit_even_odds`.

Draws situations in places that no job has, fits a learner that sees no map on them, and writes it to
packages/worlds/gnomon_worlds/even_odds.npz. It takes scikit-learn, which the extra `audit` brings. What is
written changes hard questions: then their name in ids changes too.
"""

import argparse
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.ensemble import GradientBoostingClassifier

from gnomon.core.option_features import Floats, comparisons
from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_published.benchmarks.gtr_bench.option_features import option_features
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import Evidence
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.drawing import ASK, SIGHTINGS, draw, world_of
from gnomon_worlds.even_odds import FITTED, PARTS, EvenOdds, centred_ranks, comparable
from gnomon_worlds.question import evidence_in
from gnomon_worlds.sample_numbers import CELLS, HARD, Number
from gnomon_worlds.trajectory import renewed, trips_of

SEED = 2_000_000_000  # of places in which nothing else is asked
PASSES = 3  # through each place's trips
MOST = 900  # situations of a task and scene
KEPT = 100  # questions of each task that the second learner is fitted on
REAL = ("threshold", "value")  # parts of a tree that are no whole numbers
RIDGES = (10.0, 30.0, 100.0)
BESIDE = 5  # wrong options that are looked at beside each right one
LEARNER: Mapping[str, Any] = {
    "n_estimators": 80,
    "learning_rate": 0.1,
    "max_depth": 4,
    "min_samples_leaf": 10,
    "subsample": 0.6,
    "max_features": 0.12,
    "random_state": 0,
}

Places = NDArray[np.signedinteger[Any]]  # of questions
Met = tuple[Evidence, str, tuple[str, ...]]  # a situation: evidence, the right option, all that were offered


class Seen(EvenOdds):
    """Notes what it is asked, and refuses it."""

    def __init__(self, scene: str) -> None:
        super().__init__(scene)
        self.met: list[Met] = []

    def is_hopeless(self, *_: Any, **__: Any) -> bool:
        return False

    def wrong(
        self,
        rng: Random,  # noqa: ARG002 (the signature of what it stands for)
        question: Evidence,
        *,
        right: str,
        candidates: Collection[str],
        count: int,  # noqa: ARG002
        beside: Sequence[str] = (),
    ) -> list[str] | None:
        self.met.append((question, right, tuple(sorted({right, *beside, *candidates}))))
        return None


def situations(task_id: str, scene: str, worlds: int) -> list[Met]:
    """What is met on trips through so many places."""
    seen, hard = Seen(scene), Difficulty(level="hard", is_even=True)
    for place in range(worlds):
        world = world_of(SEED, scene, place, 0, hard)
        rng = Random(f"{task_id} {place}")
        for _ in range(PASSES):
            for taken in rng.sample(trips_of(world), len(trips_of(world))):
                if trip := renewed(rng, taken, least=SIGHTINGS[task_id]):
                    ASK[task_id](world, rng, trip, seen)
        if len(seen.met) >= MOST:
            break
    return seen.met


def fit(met: Sequence[Met]) -> Mapping[str, Any]:
    """The learner as arrays of trees × nodes."""
    rows, is_right, rng = [], [], Random(0)
    for question, right, offered in met:
        every = comparable(question, offered)
        features = comparisons(option_features([(question, every)])[1])[0]
        wrong = [option for option in offered if option != right]
        taken = {right, *rng.sample(wrong, min(BESIDE, len(wrong)))}
        for option, row in zip(every, features, strict=True):
            if option in taken:
                rows.append(row)
                is_right.append(option == right)
    made = GradientBoostingClassifier(**LEARNER).fit(np.array(rows), np.array(is_right))
    trees = [tree.tree_ for tree in made.estimators_[:, 0]]
    most = max(tree.node_count for tree in trees)
    arrays = {
        part: np.zeros((len(trees), most), dtype=np.float32 if part in REAL else np.uint8) for part in PARTS
    }
    for row, tree in enumerate(trees):
        count, inner = tree.node_count, tree.children_left >= 0
        arrays["feature"][row, :count] = np.where(inner, tree.feature, 0)
        arrays["threshold"][row, :count] = np.where(inner, tree.threshold, 0)
        arrays["left"][row, :count] = np.where(inner, tree.children_left, 0)
        arrays["more"][row, :count] = np.where(inner, tree.children_right, 0)
        arrays["value"][row, :count] = LEARNER["learning_rate"] * tree.value[:, 0, 0]
    return arrays


def fit_ranks(task_id: str, scene: str) -> Floats:
    """The weights of ranks, fitted on questions that the first learner keeps."""
    even, cell = Difficulty(level="hard", is_even=True), CELLS.index((scene, task_id))
    drawn = [draw(Number(SEED, round_ * len(CELLS) + cell, even)) for round_ in range(KEPT)]
    asked = [(evidence_in(each.world, each.question), sorted(each.question.options)) for each in drawn]
    right = np.array(
        [options.index(each.question.right[0]) for each, (_, options) in zip(drawn, asked, strict=True)]
    )
    ranks, rows = centred_ranks(asked), np.arange(len(drawn))

    def likelihood(weights: Floats, of: Places) -> float:
        """The logarithm of the chance that the right options of these questions are right."""
        odds = ranks[of] @ weights
        log_shares = odds - np.log(np.exp(odds).sum(axis=1, keepdims=True))
        return float(log_shares[np.arange(len(of)), right[of]].sum())

    def fitted_on(of: Places, ridge: float) -> Floats:
        def loss(weights: Floats) -> float:
            return float(ridge / 2 * weights @ weights - likelihood(weights, of))

        weights: Floats = minimize(loss, np.zeros(ranks.shape[2]), method="L-BFGS-B").x
        return weights

    def elsewhere(ridge: float) -> float:
        """The likelihood of each fifth under weights fitted on the others."""
        fifths = [rows % 5 == fifth for fifth in range(5)]
        return sum(likelihood(fitted_on(rows[~own], ridge), rows[own]) for own in fifths)

    best = max(RIDGES, key=elsewhere)
    is_better = elsewhere(best) > len(rows) * np.log(1 / ranks.shape[1])
    return fitted_on(rows, best) if is_better else np.zeros(ranks.shape[2])


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=14, help="places a scene")
    chosen = parser.parse_args()
    arrays: dict[str, Any] = {}
    for scene, task_id in sorted(HARD):
        met, short = situations(task_id, scene, chosen.worlds), TASKS[task_id].short
        arrays |= {f"{short} {scene} {part}": values for part, values in fit(met).items()}
        count = len(option_features([(met[0][0], met[0][2])])[0])
        arrays[f"{short} {scene} ranks"] = np.zeros(count, dtype=np.float32)
        print(f"{scene}.{short}: {len(met)} situations", flush=True)  # noqa: T201 (a script)
    np.savez_compressed(FITTED, **arrays)
    for scene, task_id in sorted(HARD):
        weights = fit_ranks(task_id, scene)
        arrays[f"{TASKS[task_id].short} {scene} ranks"] = weights.astype(np.float32)
        print(f"{scene}.{TASKS[task_id].short}: {np.abs(weights).max():.2f}", flush=True)  # noqa: T201
    np.savez_compressed(FITTED, **arrays)


if __name__ == "__main__":
    main()
