"""Measures how often arms are called equal, and what several contrasts claim; prints a table of the docs.

    python -m bench.equivalence_levels [--rounds 1000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of one or more models, all with the same two accuracies, the effect varying by
cluster by a few points. Prints the share of jobs in which any comparison claims `helps` or `hurts`; in which
any says `no_effect` by the plain rule (the 90 % interval inside ±5 points, nothing adjusted); in which any
does by the rule as it is; and in which all adjusted intervals hold the true difference at once.
"""

from dataclasses import dataclass

import numpy as np

from bench.simulated import clusters_of, compared, hits, simulate
from gnomon.report.adjustment import adjust
from gnomon.report.verdict import judge
from gnomon.spec.analysis_spec import AnalysisSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Accuracies of baseline and variant, cluster sizes, and how many models are compared."""

    baseline: float
    variant: float
    sizes: tuple[int, ...]
    models: int = 1
    margin: object = 0.05
    spread: float = 0.0  # of the effect over the clusters


VIDEOS, SMALL = (10,) * 60, (7,) * 20
STUDIES: dict[str, Jobs] = {
    "2 % to 5 %, 600 samples": Jobs(baseline=0.02, variant=0.05, sizes=(1,) * 600),
    "2 % to 5 %, 3,000 samples": Jobs(baseline=0.02, variant=0.05, sizes=(1,) * 3000),
    "98 % to 95 %, 600 samples": Jobs(baseline=0.98, variant=0.95, sizes=(1,) * 600),
    "5 % to 2 %, 60 clusters of 10": Jobs(baseline=0.05, variant=0.02, sizes=VIDEOS),
    "45 % to 50 %, 2,000 samples: the margin itself": Jobs(baseline=0.45, variant=0.5, sizes=(1,) * 2000),
    "45 % to 45 %, 2,000 samples": Jobs(baseline=0.45, variant=0.45, sizes=(1,) * 2000),
    "45 % to 45.8 %, 40,000 samples": Jobs(baseline=0.45, variant=0.458, sizes=(1,) * 40_000),
    "six models, 45 % to 50 %, 2,000 samples": Jobs(baseline=0.45, variant=0.5, sizes=(1,) * 2000, models=6),
    "six models, 45 % to 45 %, 60 clusters of 10": Jobs(
        baseline=0.45, variant=0.45, sizes=VIDEOS, models=6, spread=0.2
    ),
    "six models, 45 % to 45 %, 20 clusters of 7": Jobs(
        baseline=0.45, variant=0.45, sizes=SMALL, models=6, spread=0.2
    ),
    "relative 0.1: 50 % to 55 %, 4,000 samples: the margin itself": Jobs(
        baseline=0.5, variant=0.55, sizes=(1,) * 4000, margin={"relative": 0.1}
    ),
    "relative 0.1: 20 % to 20 %, 8,000 samples": Jobs(
        baseline=0.2, variant=0.2, sizes=(1,) * 8000, margin={"relative": 0.1}
    ),
    "odds 1.2: 10 % to 11.76 %, 8,000 samples: the margin itself": Jobs(
        baseline=0.1, variant=0.12 / 1.02, sizes=(1,) * 8000, margin={"odds": 1.2}
    ),
}


def rates(jobs: Jobs, *, rounds: int, seed: int) -> list[float]:
    """Shares of jobs: any claim; any called equal by the plain rule, and by the rule; all covered."""
    random = np.random.default_rng(seed)
    clusters = clusters_of(jobs.sizes)
    analysis, counted = AnalysisSpec.model_validate({"margin": jobs.margin}), np.zeros(4)
    for _ in range(rounds):
        results = []
        for model in range(jobs.models):
            moved = random.uniform(-jobs.spread, jobs.spread, len(jobs.sizes))[clusters]
            scores = [hits(random, np.full(len(clusters), jobs.baseline)), hits(random, jobs.variant + moved)]
            results.append(compared(np.stack(scores), clusters, model=f"m{model}"))
        verdicts, plain, covered = [], False, True
        for result, adjusted in zip(results, adjust(results, analysis), strict=True):
            comparison = result.comparison
            if comparison is None or adjusted.limits is None or adjusted.ci95 is None:
                continue
            verdicts.append(
                judge(
                    comparison,
                    p_adjusted=adjusted.p,
                    loss=None,
                    margin=adjusted.limits.ends,
                    equivalence_p=adjusted.equivalence_p_adjusted,
                )[0]
            )
            low, high = comparison.ci90 or (-1.0, 1.0)
            plain |= verdicts[-1] in ("no_effect", "undecided") and low > -0.05 and high < 0.05
            covered &= adjusted.ci95[0] <= jobs.variant - jobs.baseline <= adjusted.ci95[1]
        counted += ("helps" in verdicts or "hurts" in verdicts, plain, "no_effect" in verdicts, covered)
    return [float(share) for share in counted / rounds]


def main() -> None:
    """Print the table."""
    heads = ("Jobs", "any claim", "no effect, before", "no effect, after", "adjusted intervals hold")
    simulate(__doc__, heads, STUDIES, rates, rounds=1000)


if __name__ == "__main__":
    main()
