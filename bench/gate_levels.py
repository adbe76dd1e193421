"""Measures how often a gate passes a NEW that is worse by the margin, and one that is equal.

    python -m bench.gate_levels [--rounds 400] [--seed 1] [--only TEXT]

Each row simulates so many pairs of jobs with a score per sample, and tests them as `gnomon gate` does. NEW
repeats BASE on a share of the samples, and answers the others anew. Prints the share that passes where NEW is
worse by exactly the margin (at most 5 % is wanted), the same counting results in which nothing changed at all
as passed, the share that passes where NEW is equal, and the mean of what the gate says an equal NEW would
pass in 8 of 10 cases beside the share that does. docs/gate.md holds the table.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from bench.simulated import clusters_of, grouping_of, simulate
from gnomon.report.verdict import judge_not_worse
from gnomon.statistics.design import Design, Floats
from gnomon.statistics.paired import compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    """BASE's accuracy, the margin, cluster sizes, how like samples of a cluster are, and what NEW keeps."""

    base: float
    margin: float
    sizes: tuple[int, ...]
    alike: float = 0.0  # ICC of difficulties in a cluster
    kept: float = 0.5  # share of answers that NEW repeats
    graded: bool = False
    falling: float = 0.0  # share of clusters that alone fall; 0: NEW falls in all that it does not repeat


STUDIES = {
    "40 samples, 60 %, margin 10": Builds(base=0.6, margin=0.10, sizes=(1,) * 40, kept=0.8),
    "100 samples, 60 %, margin 10": Builds(base=0.6, margin=0.10, sizes=(1,) * 100),
    "100 samples, 95 %, margin 5": Builds(base=0.95, margin=0.05, sizes=(1,) * 100, kept=0.8),
    "190 samples, 98 %, margin 2": Builds(base=0.98, margin=0.02, sizes=(1,) * 190, kept=0.9),
    "400 samples, 60 %, margin 5": Builds(base=0.6, margin=0.05, sizes=(1,) * 400),
    "400 samples, 90 % kept, margin 3": Builds(base=0.6, margin=0.03, sizes=(1,) * 400, kept=0.9),
    "2,000 samples, 60 %, margin 3": Builds(base=0.6, margin=0.03, sizes=(1,) * 2000),
    "8 clusters of 10, margin 10": Builds(base=0.6, margin=0.10, sizes=(10,) * 8, alike=0.3),
    "40 clusters of 10, margin 5": Builds(base=0.6, margin=0.05, sizes=(10,) * 40, alike=0.3),
    "40 clusters of 10, graded, margin 5": Builds(
        base=0.6, margin=0.05, sizes=(10,) * 40, alike=0.3, graded=True
    ),
    "120 samples, graded, margin 5": Builds(base=0.6, margin=0.05, sizes=(1,) * 120, graded=True),
    "8 unequal clusters of which 3 in 10 fall, margin 10": Builds(
        base=0.8, margin=0.10, sizes=(40, 25, 15, 10, 8, 5, 4, 3), kept=0.95, falling=0.3
    ),
    "40 clusters of 6 of which 3 in 20 fall, margin 5": Builds(
        base=0.8, margin=0.05, sizes=(6,) * 40, kept=0.95, falling=0.15
    ),
}


def scores(builds: Builds, fall: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores of BASE and NEW, whose true mean is lower by `fall`."""
    clusters = clusters_of(builds.sizes)
    n = len(clusters)
    # NEW falls in what it does not repeat, and more in some clusters than in others where they are alike.
    share = 0.0 if builds.falling else fall / (1.0 - builds.kept)
    shared = random.normal(size=len(builds.sizes))[clusters]

    def eases() -> Floats:
        return np.sqrt(builds.alike) * shared + np.sqrt(1 - builds.alike) * random.normal(size=n)

    base = _drawn(eases(), builds.base, builds, random)
    anew = _drawn(eases(), builds.base - share, builds, random)
    new: Floats = np.where(random.random(n) < builds.kept, base, anew)
    if builds.falling:
        is_in_fall = (random.random(len(builds.sizes)) < builds.falling)[clusters]
        is_lost = is_in_fall & (random.random(n) < fall / builds.falling / builds.base)
        new = np.where(is_lost, 0.0, new)
    return base, new


def _drawn(ease: Floats, mean: float, builds: Builds, random: np.random.Generator) -> Floats:
    right = (ease < ndtri(min(max(mean, 1e-9), 1 - 1e-9))).astype(np.float64)
    if not builds.graded:
        return right
    return np.asarray(right * random.beta(4, 2, size=len(ease)), dtype=np.float64)


def passes(
    builds: Builds, fall: float, grouping: Design, random: np.random.Generator
) -> tuple[bool, bool, float]:
    """Whether the test passes, whether the gate does, and the margin it says it could have shown."""
    base, new = scores(builds, fall, random)
    comparison = compare(base, new, grouping)
    judged = judge_not_worse(comparison, loss=None, fall=-builds.margin)
    is_shown = not judged.reasons
    could = 1.0
    if judged.lower is not None and comparison.se is not None:
        could = comparison.diff - judged.lower + float(ndtri(0.8)) * comparison.se
    return is_shown, is_shown or bool(np.all(base == new)), could


def row(builds: Builds, *, rounds: int, seed: int) -> list[float]:
    """The figures of a study."""
    random = np.random.default_rng(seed)
    grouping = grouping_of(clusters_of(builds.sizes))
    scale = 4 / 6 if builds.graded else 1.0  # the mean of a right answer's grade
    worse = np.mean(
        [passes(builds, builds.margin / scale, grouping, random)[:2] for _ in range(rounds)], axis=0
    )
    equal = [passes(builds, 0.0, grouping, random) for _ in range(rounds)]
    could = float(np.mean([each[2] for each in equal]))
    at_could = replace(builds, margin=could)
    shown = np.mean([passes(at_could, 0.0, grouping, random)[0] for _ in range(rounds)])
    return [
        float(worse[0]),
        float(worse[1]),
        float(np.mean([each[0] for each in equal])),
        could,
        float(shown),
    ]


def _shown(builds: Builds, *, rounds: int, seed: int) -> list[str]:
    worse, unchanged, equal, could, shown = row(builds, rounds=rounds, seed=seed)
    return [f"{worse:.1%}", f"{unchanged:.1%}", f"{equal:.0%}", f"{100 * could:.1f} points", f"{shown:.0%}"]


def main() -> None:
    """Print the table."""
    heads = (
        "BASE and NEW", "worse by the margin passes", "or nothing changed", "equal passes", "could show",
        "passes at that",
    )  # fmt: skip
    simulate(__doc__, heads, STUDIES, _shown, rounds=400)


if __name__ == "__main__":
    main()
