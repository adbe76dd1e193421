"""Measures how good Shapley values and their intervals are on studies with a known truth.

    python -m bench.shapley_levels [--rounds 1000]

Tools `a` and `b` replace one another (substitutes) or only help together (complements), `c` adds by itself
or hurts, `d` does nothing; or six tools get on with one another as chance will have it (uneven). Samples lie
in clusters whose effects vary, answers are 0 or 1, or graded. Each study is estimated from all 16 sets of
tools, or from those that 8 drawn orders pass through.
Prints the mean error and how often the 95 % interval holds the truth, over all four values.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bench.simulated import simulate
from gnomon.statistics.coalitions import Coalition, antithetic_orders, coalitions
from gnomon.statistics.shapley import Attribution, shapley

PLAYERS = ("a", "b", "c", "d")
CLUSTERS, SIZE, REPEATS, VARIES = 60, 4, 2, 0.5
Game = Callable[[Coalition], float]
Run = tuple[str, bool, bool, float]  # game, whether orders are drawn, whether scores are graded, missing


def substitutes(one: Coalition) -> float:
    return 0.2 + 0.3 * bool(one & {"a", "b"}) + 0.1 * ("c" in one)


def complements(one: Coalition) -> float:
    return 0.3 + 0.3 * ({"a", "b"} <= one) - 0.1 * ("c" in one)


WORTH = {
    one: 0.25 + 0.08 * len(one) + 0.1 * float(np.random.default_rng(len(one) * 100 + at).random())
    for at, one in enumerate(coalitions("abcdef", ()))
}
GAMES: dict[str, tuple[Game, Sequence[str]]] = {
    "substitutes": (substitutes, PLAYERS),
    "complements": (complements, PLAYERS),
    "uneven": (WORTH.__getitem__, "abcdef"),
}
RUNS: tuple[Run, ...] = (
    ("substitutes", False, False, 0.0),
    ("substitutes", True, False, 0.0),
    ("substitutes", False, True, 0.0),
    ("substitutes", False, False, 0.05),
    ("complements", False, False, 0.0),
    ("complements", True, False, 0.0),
    ("complements", False, True, 0.0),
    ("complements", False, False, 0.05),
    ("uneven", True, False, 0.0),
)


def truth(name: str) -> list[float]:
    """The exact values, from scores without noise."""
    game, players = GAMES[name]
    scores = {one: np.full((2, 1), game(one)) for one in coalitions(players, ())}
    found = shapley(scores, players=players, orders=(), clusters=np.arange(2), draws=2)
    return [one.value for one in found.values]


def study(
    game: Game,
    players: Sequence[str],
    *,
    orders: Sequence[Sequence[str]],
    graded: bool,
    missing: float,
    seed: int,
) -> Attribution:
    random = np.random.default_rng(seed)
    kin = np.repeat(np.arange(CLUSTERS), SIZE)
    own = random.uniform(1 - VARIES, 1 + VARIES, CLUSTERS)[kin]
    ease = random.uniform(-0.1, 0.1, CLUSTERS)[kin]
    none = game(frozenset())
    scores = {}
    for one in coalitions(players, orders):
        rate = np.clip(none + ease + own * (game(one) - none), 0, 1)[:, None]
        drawn = (
            random.beta(4 * rate + 1e-3, 4 * (1 - rate) + 1e-3, (len(kin), REPEATS))
            if graded
            else (random.random((len(kin), REPEATS)) < rate)
        )
        lost = random.random((len(kin), REPEATS)) < missing
        scores[one] = np.where(lost, np.nan, drawn.astype(np.float64))
    return shapley(scores, players=players, orders=orders, clusters=kin, draws=400, seed=seed)


def measured(
    name: str, *, sampled: bool, graded: bool, missing: float, seeds: Iterable[int]
) -> tuple[float, float, float]:
    """Mean error, coverage, largest gap."""
    errors, held, gaps = [], [], []
    (game, players), true_values = GAMES[name], truth(name)
    for seed in seeds:
        orders = antithetic_orders(players, 8, seed=seed) if sampled else ()
        found = study(game, players, orders=orders, graded=graded, missing=missing, seed=seed)
        gaps.append(abs(found.gap))
        for one, true in zip(found.values, true_values, strict=True):
            errors.append(one.value - true)
            held.append(one.ci95 is not None and one.ci95[0] <= true <= one.ci95[1])
    return float(np.mean(errors)), float(np.mean(held)), max(gaps)


def _row(run: Run, *, rounds: int, seed: int) -> list[str]:
    name, sampled, graded, missing = run
    error, coverage, gap = measured(
        name, sampled=sampled, graded=graded, missing=missing, seeds=range(seed, seed + rounds)
    )
    return [f"{100 * error:+.2f}", f"{coverage:.1%}", f"{100 * gap:.2f}"]


def main() -> None:
    """Print the table."""
    heads = (
        "tools are, scores, sets, missing",
        "mean error, points",
        "interval holds",
        "largest gap, points",
    )
    simulate(__doc__, heads, {_name_of(run): run for run in RUNS}, _row, rounds=1000)


def _name_of(run: Run) -> str:
    name, sampled, graded, missing = run
    sets = "8 drawn orders" if sampled else "all 16"
    return f"{name}, {'graded' if graded else '0 or 1'}, {sets}, {missing:.0%}"


if __name__ == "__main__":
    main()
