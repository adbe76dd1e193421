"""Simulates jobs that may stop early; prints the table of docs/sequential.md.

    python -m bench.sequential_levels [--rounds 1000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of one design. A look comes after every cluster, which is the most looks
that a job can have.

covered: the truth is within the 95 % interval at every look of the job
wrong:   the interval is at some look clear of zero on a side where the truth is not
peeking: the same of the cluster-robust t interval, looked at after every cluster from the tenth on
equal:   some look says "no difference" though the truth is not within the margin of 5 points
decided: the sign is decided at a look, with looks as a job has them: each time a tenth more has ended
samples: the mean share of the planned samples that runs until then
fixed:   the cluster-robust t test of all samples finds the difference
"""

import functools
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.random import Generator
from scipy.special import stdtrit

from bench.simulated import simulate
from gnomon.statistics.design import Floats
from gnomon.statistics.sequential import log_wealth_path

MARGIN, ALPHA, FIRST_PEEK, GROWTH = 0.05, 0.05, 10, 1.1
CHUNK = 50  # jobs at a time
Draw = Callable[
    [Generator], tuple[Floats, Floats]
]  # weighted sums (contrasts × clusters), weights (clusters)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialDesign:
    """A design: its truth, and how one job of it is drawn, clusters in a random order."""

    name: str
    truth: float
    draw: Draw
    contrasts: int = 1


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the jobs simulated; `samples` is the mean share of the samples that ran."""

    covered: float
    wrong: float
    peeking: float
    equal: float
    decided: float
    samples: float
    fixed: float


def flips(up: float, down: float, sizes: Callable[[Generator], Floats], *, spread: float = 0.0) -> Draw:
    """0/1 scores: shares of samples that turn right, and wrong; both move with the cluster by `spread`."""

    def draw(random: Generator) -> tuple[Floats, Floats]:
        n = sizes(random)
        shift = spread * random.choice([-1.0, 1.0], len(n))
        share = np.stack([up + shift, down - shift, 1.0 - up - down + 0.0 * shift], axis=1)
        counts = random.multinomial(n.astype(int), share)
        return (counts[:, 0] - counts[:, 1])[None].astype(np.float64), n.astype(np.float64)

    return draw


def graded(clusters: int, size: int) -> Draw:
    """Half of the samples change by any part of the scale, and those of a cluster alike; no difference."""

    def draw(random: Generator) -> tuple[Floats, Floats]:
        shared = random.normal(0.0, 0.15, (clusters, 1))
        own = random.normal(0.0, 0.3, (clusters, size)) * (random.random((clusters, size)) < 0.5)
        return np.clip(shared + own, -1.0, 1.0).sum(1)[None], np.full(clusters, float(size))

    return draw


def shared_baseline(contrasts: int, samples: int, share: float) -> Draw:
    """Several variants against one baseline, all of them equal."""

    def draw(random: Generator) -> tuple[Floats, Floats]:
        scores = random.random((contrasts + 1, samples)) < share
        return scores[1:].astype(np.float64) - scores[0], np.ones(samples)

    return draw


def cells(sizes: list[int], effects: list[float], noise: float) -> Draw:
    """The mean of unequal cells whose effects differ; independent samples, as many of each as planned."""

    def draw(random: Generator) -> tuple[Floats, Floats]:
        of = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
        effect, half = np.array(effects)[of], noise / 2
        flip = random.random(len(of))
        d = np.where(flip < half + effect / 2, 1.0, np.where(flip > 1 - half + effect / 2, -1.0, 0.0))
        weights = 1.0 / (len(sizes) * np.array(sizes, dtype=np.float64)[of])
        return (weights * d)[None], weights

    return draw


def alone(samples: int) -> Callable[[Generator], Floats]:
    """Every sample a cluster of its own."""
    return lambda _: np.ones(samples)


def unequal(clusters: int, least: int, most: int) -> Callable[[Generator], Floats]:
    """Clusters of sizes drawn evenly."""
    return lambda random: random.integers(least, most, clusters, endpoint=True).astype(np.float64)


def size_matters(clusters: int) -> Draw:
    """Large clusters gain what small ones lose: no difference in all."""

    def draw(random: Generator) -> tuple[Floats, Floats]:
        is_large = random.random(clusters) < 0.5
        n = np.where(is_large, 12, 4)
        up, down = np.where(is_large, 0.2, 0.1), np.where(is_large, 0.1, 0.4)
        counts = random.multinomial(n, np.stack([up, down, 1 - up - down], axis=1))
        return (counts[:, 0] - counts[:, 1])[None].astype(np.float64), n.astype(np.float64)

    return draw


DESIGNS = (
    SequentialDesign(name="1,000 independent", truth=0.0, draw=flips(0.2, 0.2, alone(1000))),
    SequentialDesign(
        name="20 x 1-13 unequal", truth=0.0, draw=flips(0.25, 0.25, unequal(20, 1, 13), spread=0.2)
    ),
    SequentialDesign(
        name="100 x 2-30 unequal", truth=0.0, draw=flips(0.2, 0.2, unequal(100, 2, 30), spread=0.1)
    ),
    SequentialDesign(name="150 x 6 graded", truth=0.0, draw=graded(150, 6)),
    SequentialDesign(name="1,000 near 0 (2 %)", truth=0.0, draw=flips(0.02, 0.02, alone(1000))),
    SequentialDesign(name="100 x 10 near 1 (98 %)", truth=0.0, draw=flips(0.02, 0.02, unequal(100, 10, 10))),
    SequentialDesign(
        name="3 contrasts, 600 samples", truth=0.0, draw=shared_baseline(3, 600, 0.4), contrasts=3
    ),
    SequentialDesign(
        name="6 unequal cells, opposite effects",
        truth=0.0,
        draw=cells([20, 40, 60, 80, 200, 400], [0.2, -0.2, 0.2, -0.2, 0.2, -0.2], 0.5),
    ),
    SequentialDesign(name="200 x 4 or 12, size matters", truth=0.0, draw=size_matters(200)),
    SequentialDesign(name="2,000 at the margin", truth=0.05, draw=flips(0.06, 0.01, alone(2000))),
)
EFFECTS = (
    tuple(
        SequentialDesign(
            name=f"1,000 independent, {100 * diff:+.0f}",
            truth=diff,
            draw=flips(0.2 + diff / 2, 0.2 - diff / 2, alone(1000)),
        )
        for diff in (0.05, 0.10, 0.15, 0.20, 0.30)
    )
    + tuple(
        SequentialDesign(
            name=f"100 x 2-18, {100 * diff:+.0f}",
            truth=diff,
            draw=flips(0.2 + diff / 2, 0.2 - diff / 2, unequal(100, 2, 18), spread=0.05),
        )
        for diff in (0.05, 0.10, 0.20, 0.30)
    )
    + tuple(
        SequentialDesign(
            name=f"20 x 1-13, {100 * diff:+.0f}",
            truth=diff,
            draw=flips(0.25 + diff / 2, 0.25 - diff / 2, unequal(20, 1, 13), spread=0.04),
        )
        for diff in (0.20, 0.40)
    )
)


def rates(design: SequentialDesign, *, rounds: int, seed: int) -> Rates:
    """What happens in so many jobs of the design."""
    random = np.random.default_rng(seed)
    parts = [
        _shares(design, [design.draw(random) for _ in range(start, min(start + CHUNK, rounds))])
        for start in range(0, rounds, CHUNK)
    ]
    means = np.concatenate(parts, axis=0).mean(axis=0)
    return Rates(*means.tolist())


def _shares(design: SequentialDesign, jobs: list[tuple[Floats, Floats]]) -> Floats:
    """By job: whether each of these happened (jobs × rates)."""
    sums = np.stack([job[0] for job in jobs])  # jobs × contrasts × clusters
    weights = np.stack([job[1] for job in jobs])[:, None, :] + 0.0 * sums
    scale = weights.max()
    sums, weights = sums / scale, weights / scale
    truth, one = design.truth, design.contrasts

    @functools.cache
    def wealth(side: float, mean: float) -> Floats:
        return log_wealth_path(side * sums, weights, largest=1.0, mean=side * mean)

    covered = (np.maximum(wealth(1, truth), wealth(-1, truth)) < np.log(2 / ALPHA)).all(axis=(1, 2))
    up, down = (wealth(side, 0.0) >= np.log(2 * one / ALPHA) for side in (1, -1))  # the first step of Holm
    wrong = up | down if truth == 0 else (down if truth > 0 else up)
    t = _t_path(sums, weights)
    enough = np.arange(sums.shape[-1]) >= FIRST_PEEK - 1
    peeked = np.abs(t) > 1 if truth == 0 else (np.sign(truth) * t < -1)
    is_equal = np.zeros(len(jobs), dtype=np.bool_)
    if abs(truth) >= MARGIN:
        within = (wealth(-1, MARGIN) >= np.log(1 / ALPHA)) & (wealth(1, -MARGIN) >= np.log(1 / ALPHA))
        is_equal = within.any(axis=(1, 2))
    right = (up | down).all(axis=1) if truth == 0 else (up if truth > 0 else down).all(axis=1)
    looks = _looks(sums.shape[-1])
    stopped = right[:, looks]
    has_stopped = stopped.any(axis=1)
    at = np.where(has_stopped, looks[stopped.argmax(axis=1)], sums.shape[-1] - 1)
    run = np.cumsum(weights[:, 0], axis=1)
    samples = run[np.arange(len(run)), at] / run[:, -1]
    fixed = (np.abs(t[:, :, -1]) > 1).all(axis=1)
    return np.stack(
        [
            covered,
            wrong.any(axis=(1, 2)),
            (peeked & enough).any(axis=(1, 2)),
            is_equal,
            has_stopped,
            samples,
            fixed,
        ],
        axis=1,
    ).astype(np.float64)


def _t_path(sums: Floats, weights: Floats) -> Floats:
    """The cluster-robust t after each cluster, in units of its two-sided 5 % limit."""
    n = np.arange(1, sums.shape[-1] + 1)
    total = np.cumsum(weights, axis=-1)
    value = np.cumsum(sums, axis=-1) / total
    squares = (
        np.cumsum(sums**2, axis=-1)
        - 2 * value * np.cumsum(sums * weights, axis=-1)
        + value**2 * np.cumsum(weights**2, axis=-1)
    )
    se = np.sqrt(np.maximum(squares, 0.0) * n / np.maximum(n - 1, 1)) / total
    limit = stdtrit(np.maximum(n - 1, 1), 1 - ALPHA / 2)
    path: Floats = np.divide(value, limit * se, out=np.zeros_like(value), where=se > 1e-12)
    return path


def _looks(clusters: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """After which clusters, from 0, a job is looked at."""
    at, places = 8.0, list[int]()
    while at < clusters:
        places.append(int(at) - 1)
        at = max(at + 1, at * GROWTH)
    return np.array([*places, clusters - 1], dtype=np.intp)


def _row(design: SequentialDesign, *, rounds: int, seed: int) -> list[str | float]:
    shares = rates(design, rounds=rounds, seed=seed)
    return [f"{100 * design.truth:+.0f}", *astuple(shares)]


def main() -> None:
    """Print the table."""
    heads = ("Jobs", "truth", *(field.name for field in fields(Rates)))
    simulate(__doc__, heads, {each.name: each for each in (*DESIGNS, *EFFECTS)}, _row, rounds=1000)


if __name__ == "__main__":
    main()
