"""Simulates studies whose truth is known, and prints what becomes of them, a row for each design."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from bench.tables import head_of, line_of, parser_of, tell
from gnomon.report.adjustment import adjusted_alone
from gnomon.report.compared_pair import PairResult, compare_pair
from gnomon.report.comparing import rulings
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import SampleScores
from gnomon.statistics.design import Codes, Design, Floats, design

Study = TypeVar("Study")
ARMS = ("raw", "tools")


def hits(random: Generator, chances: Floats) -> Floats:
    """1 with each of these chances, else 0."""
    return (random.random(chances.shape) < chances).astype(np.float64)


def clusters_of(sizes: Sequence[int]) -> Codes:
    """The cluster of each sample, of clusters of these sizes.

    >>> clusters_of([2, 1]).tolist()
    [0, 0, 1]
    """
    return np.repeat(np.arange(len(sizes)), sizes)


def grouping_of(clusters: Codes) -> Design:
    """One subset, its samples in these clusters."""
    return design(np.zeros_like(clusters), clusters)


def compared(
    scores: Sequence[Floats],
    clusters: Codes,
    *,
    cells: Codes | None = None,
    crossing: Codes | None = None,
    model: str = "",
    is_primary: bool = True,
) -> PairResult:
    """What a report makes of two arms: their scores by sample, or by sample and repeat; NaN: lost trials."""
    trials = [np.atleast_2d(of_arm.T).T for of_arm in scores]
    of_samples = SampleScores(
        cells=np.zeros_like(clusters) if cells is None else cells,
        clusters=clusters,
        crossing=crossing,
        score_sums=np.stack([np.nansum(of_arm, axis=1) for of_arm in trials]),
        answered=np.stack([np.sum(~np.isnan(of_arm), axis=1) for of_arm in trials]),
        missing=np.stack([np.sum(np.isnan(of_arm), axis=1) for of_arm in trials]),
    )
    pair = ArmPair(model=model, baseline=ARMS[0], variant=ARMS[1], is_primary=is_primary)
    everywhere = np.ones(len(clusters), dtype=np.bool_)
    return compare_pair(of_samples, pair, "all", everywhere, headline="mean_of_cells")


def verdict_of(result: PairResult, adjust: Callable[[float], float] = float) -> str:
    """The verdict on a comparison, its p adjusted, with unknown replies and lost trials at worst too."""
    return rulings(result, adjusted_alone(result, adjust))[1][0]


def simulate(
    description: str | None,
    heads: Sequence[str],
    studies: Mapping[str, Study],
    row: Callable[..., Iterable[float | str]],
    *,
    rounds: int,
    level: float = 0.05,
) -> None:
    """Print a row for each study, as the command line asks, by `row(study, rounds=…, seed=…)`.

    Numbers are printed as shares, texts as they are. `rounds` is what `--rounds` is by
    default; `level` is the share whose Monte Carlo error is told.
    """
    parser = parser_of(description)
    parser.add_argument("--rounds", type=int, default=rounds, help="simulated jobs in a row of the table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    options = parser.parse_args()
    error = (level * (1 - level) / options.rounds) ** 0.5
    tell(f"{options.rounds:,} jobs a row; Monte Carlo standard error at {level:.0%}: {error:.4f}\n")
    tell(head_of(heads))
    for name, study in studies.items():
        if options.only in name:
            cells = row(study, rounds=options.rounds, seed=options.seed)
            tell(line_of([name, *(cell if isinstance(cell, str) else f"{cell:.3f}" for cell in cells)]))
