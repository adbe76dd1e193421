"""Measures how often the analyses of one job err if the truth is known; prints tables of docs/analyses.md.

    python -m bench.analyses_levels wild|mixed|dose [--rounds 1000] [--seed 1] [--only TEXT]

`wild`: p below 0.05 where there is no difference, of three tests, and coverage of two intervals. `mixed`: the
true effect, interaction and average effect inside their intervals. `dose`: the true slope inside its
interval, as it is and without the noise of the difficulty, and what a difficulty read off the compared trials
would make of it.
"""

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bench.simulated import clusters_of, grouping_of, hits, print_rows, with_options
from bench.tables import parser_of
from gnomon.statistics.design import Codes, Floats
from gnomon.statistics.permutation import sign_flip_p
from gnomon_analyses.statistics.dose_response import reliability, slope
from gnomon_analyses.statistics.mixed_logistic import Answers, mixed_logistic, share_right
from gnomon_analyses.statistics.wild_bootstrap import wild_bootstrap

Clustered = tuple[list[int], float]
Dose = tuple[int, int, int, int, float, float]
"""Clusters, items in each, models, repeats, slope, widening of the chances around a half."""
LEVELS = np.array([-0.3, 0.5, 0.1, 0.9])  # logits: model 1 raw and tools, model 2 raw and tools
DEVIATIONS = (1.0, 0.7)  # of items and of clusters
CLUSTERED: dict[str, Clustered] = {  # sizes, spread of the effect over clusters
    "5 clusters of 20": ([20] * 5, 0.2),
    "6 clusters of 40, 20, 10, 5, 5, 5": ([40, 20, 10, 5, 5, 5], 0.2),
    "8 clusters of 60 to 4": ([60, 30, 15, 10, 8, 6, 4, 4], 0.2),
    "11 clusters of 7": ([7] * 11, 0.2),
    "15 clusters, one of 60, others of 5": ([60] + [5] * 14, 0.2),
    "20 clusters of 2 to 21": (list(range(2, 22)), 0.2),
    "40 clusters of 7": ([7] * 40, 0.2),
}
MIXED: dict[str, Clustered] = {  # sizes, deviation of the arm's effect over clusters
    "8 clusters of 12 items": ([12] * 8, 0.0),
    "20 clusters of 5 items": ([5] * 20, 0.0),
    "40 clusters of 5 items, the arm acts unlike by cluster": ([5] * 40, 0.6),
}
DOSES: dict[str, Dose] = {
    "20 clusters of 7, 1 other model": (20, 7, 2, 1, 0.0, 1.0),
    "20 clusters of 7, 4 other models": (20, 7, 5, 1, 0.0, 1.0),
    "60 single items, 3 other models": (60, 1, 4, 1, 0.0, 1.0),
    "10 clusters of 12, 3 other models": (10, 12, 4, 1, 0.0, 1.0),
    "20 clusters of 7, 4 repeats": (20, 7, 1, 4, 0.0, 1.0),
    "60 clusters of 7, 6 other models, slope 0.5": (60, 7, 7, 1, 0.5, 1.0),
    "60 clusters of 7, 6 other models, chances 0.05 to 0.95, slope 0.5": (60, 7, 7, 1, 0.5, 1.8),
    "60 clusters of 7, 8 repeats, chances 0.05 to 0.95, slope 0.5": (60, 7, 1, 8, 0.5, 1.8),
}


def wild(design: Clustered, *, rounds: int, seed: int) -> list[float]:
    """Without a difference: p below 0.05 by t, by sign flips and by the bootstrap; then coverage of both."""
    random, (sizes, spread) = np.random.default_rng(seed), design
    clusters = clusters_of(sizes)
    grouping, counted = grouping_of(clusters), np.zeros(5)
    for _ in range(rounds):
        base = random.uniform(0.3, 0.7, len(clusters))
        moved = random.uniform(-1.5 * spread, 1.5 * spread, len(sizes))[clusters]
        d = hits(random, base + np.clip(moved, -0.3, 0.3)) - hits(random, base)
        estimate, drawn = grouping.estimate(d, limits=(-1.0, 1.0)), wild_bootstrap(d, grouping)
        ends, p = estimate.interval(), estimate.p_value()
        low, high = drawn.ci95 if drawn else (None, None)
        counted += (
            p is not None and p < 0.05,
            sign_flip_p(grouping.sums(d)) < 0.05,
            drawn is not None and drawn.p < 0.05,
            ends is not None and ends[0] <= 0 <= ends[1],
            (low is None or low <= 0) and (high is None or high >= 0),
        )
    return [float(share) for share in counted / rounds]


def _answers(random: Generator, sizes: list[int], spread: float) -> Answers:
    clusters = clusters_of(sizes)
    ease = (
        random.normal(0, DEVIATIONS[0], len(clusters)) + random.normal(0, DEVIATIONS[1], len(sizes))[clusters]
    )
    moved = random.normal(0, spread, len(sizes))[clusters] if spread else np.zeros(len(clusters))
    eta = LEVELS + ease[:, None] + moved[:, None] * np.array([0, 1, 0, 1])
    right = np.stack([hits(random, expit(eta[:, k])) for k in range(len(LEVELS))], axis=1)
    return Answers(right=right, trials=np.ones_like(right), clusters=clusters)


def _effect(levels: Floats, _: float) -> float:
    return float(levels[1] - levels[0])


def _interaction(levels: Floats, _: float) -> float:
    return float(levels[3] - levels[2] - levels[1] + levels[0])


def _average(levels: Floats, deviation: float) -> float:
    return share_right(float(levels[1]), deviation) - share_right(float(levels[0]), deviation)


def mixed(design: Clustered, *, rounds: int, seed: int) -> list[float]:
    """Coverage of effect, interaction, average effect, and of the effect by the model; refused; mean."""
    random, (sizes, spread) = np.random.default_rng(seed), design
    counted, fitted, total = np.zeros(4), 0, 0.0
    average = _true_average(spread)
    for _ in range(rounds):
        try:
            fit = mixed_logistic(_answers(random, sizes, spread))
        except ValueError:
            continue
        effect, interaction, shares = (fit.figure(of) for of in (_effect, _interaction, _average))
        fitted += 1
        total += effect.value
        counted += (
            effect.ci95[0] <= 0.8 <= effect.ci95[1],
            interaction.ci95[0] <= 0 <= interaction.ci95[1],
            shares.ci95[0] <= average <= shares.ci95[1],
            abs(effect.value - 0.8) <= 1.96 * effect.model_se,
        )
    return [*(counted / fitted).tolist(), 1 - fitted / rounds, total / fitted]


def _true_average(spread: float) -> float:
    own = float(np.hypot(*DEVIATIONS))
    return share_right(0.5, float(np.hypot(own, spread))) - share_right(-0.3, own)


def dose(design: Dose, *, rounds: int, seed: int) -> list[float]:
    """Coverage of the true slope: over the difficulty of other trials, without noise, of the same trials."""
    random, (clusters_n, per, models, repeats, planted, widening) = np.random.default_rng(seed), design
    counted, total, cleared = np.zeros(3), np.zeros(3), 0
    for _ in range(rounds):
        hard, clusters = _difficulties(random, clusters_n, per)
        hard = 0.5 + widening * (hard - 0.5)
        move = random.uniform(-0.1, 0.1, clusters_n)[clusters]
        right = 1 - hard
        baseline = hits(random, np.repeat(right[:, None], repeats, axis=1))
        variant = hits(
            random, np.repeat((right + 0.1 + move + planted * (hard - 0.5))[:, None], repeats, axis=1)
        )
        naive = slope(1 - baseline.mean(axis=1), variant.mean(axis=1) - baseline.mean(axis=1), clusters)
        if models > 1:
            others = 1 - hits(random, np.repeat(right[:, None], models - 1, axis=1))
            shares = [reliability(others)]
            line = slope(others.mean(axis=1), variant.mean(axis=1) - baseline.mean(axis=1), clusters)
        else:
            halves = [baseline[:, half::2].mean(axis=1) for half in (0, 1)]
            shares = [reliability(baseline[:, half::2]) for half in (0, 1)]
            line = slope(
                1 - np.concatenate(halves),
                np.tile(variant.mean(axis=1), 2) - np.concatenate(halves[::-1]),
                np.tile(clusters, 2),
                np.repeat(np.arange(2), len(hard)),
            )
        known = [share for share in shares if share is not None]
        factor = float(np.mean(known)) if len(known) == len(shares) else float("nan")
        cleared += np.isfinite(factor)
        counted += (
            line.ci95[0] <= planted <= line.ci95[1],
            line.ci95[0] <= planted * factor <= line.ci95[1],
            naive.ci95[0] <= planted <= naive.ci95[1],
        )
        total += line.value, np.nan_to_num(line.value / factor), naive.value
    of = np.array([rounds, max(cleared, 1), rounds])
    return [*(counted / of).tolist(), *(total / of).tolist(), cleared / rounds]


def _difficulties(random: Generator, clusters_n: int, per: int) -> tuple[Floats, Codes]:
    """Chances of a wrong answer, 0.25 to 0.75, alike within clusters."""
    clusters = np.repeat(np.arange(clusters_n), per)
    own = random.uniform(-0.12, 0.12, len(clusters))
    return 0.5 + own + random.uniform(-0.13, 0.13, clusters_n)[clusters], clusters


HEADS = {
    "wild": ("t", "sign flips", "wild", "t covers", "wild covers"),
    "mixed": ("effect", "interaction", "average", "effect, model-based", "refused", "mean of 0.8"),
    "dose": (
        "covered", "without noise", "naive", "mean slope", "without noise", "naive", "noise known",
    ),
}  # fmt: skip


def main() -> None:
    """Print one of the tables."""
    parser = with_options(parser_of(__doc__))
    parser.add_argument("kind", choices=HEADS)
    options = parser.parse_args()
    heads = ("design", *HEADS[options.kind])
    if options.kind == "wild":
        print_rows(options, heads, CLUSTERED, wild, rounds=1000)
    elif options.kind == "mixed":
        print_rows(options, heads, MIXED, mixed, rounds=200)
    else:
        print_rows(options, heads, DOSES, dose, rounds=2000)


if __name__ == "__main__":
    main()
