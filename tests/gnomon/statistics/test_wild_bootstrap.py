"""The wild cluster bootstrap against its definition, drawn sample by sample, and against its known level."""

from itertools import product

import numpy as np
import pytest

from gnomon.statistics.design import Codes, Floats, design
from gnomon_analyses.statistics.wild_bootstrap import WEBB, wild_bootstrap


def by_definition(d: Floats, cells: Codes, clusters: Codes, null: float, points: Floats) -> float:
    """p of a mean of `null`: every pattern of weights, its samples made one by one."""
    grouping = design(cells, clusters)
    estimate = grouping.estimate(d, limits=(-1.0, 1.0))
    assert estimate.se is not None
    means = np.bincount(cells, d) / np.bincount(cells)
    under_null = means[cells] - (estimate.value - null)
    reached = []
    for pattern in product(points, repeat=grouping.clusters_n):
        drawn = grouping.estimate(
            under_null + np.array(pattern)[clusters] * (d - under_null), limits=(-9.0, 9.0)
        )
        assert drawn.se is not None
        reached.append(abs(drawn.value - null) / drawn.se >= abs(estimate.value - null) / estimate.se - 1e-9)
    return float(np.mean(reached))


@pytest.mark.parametrize("cells_n", [1, 2])
def test_it_is_what_its_definition_says(cells_n: int) -> None:
    random = np.random.default_rng(5)
    clusters = np.repeat(np.arange(4), [2, 5, 3, 6])
    cells = np.arange(len(clusters)) % cells_n
    d = random.choice([-1.0, 0.0, 1.0, 1.0], len(clusters))
    bootstrapped = wild_bootstrap(d, design(cells, clusters))
    assert bootstrapped is not None
    assert bootstrapped.is_exhaustive
    assert bootstrapped.draws == 6**4
    points = np.concatenate([-WEBB, WEBB])
    assert bootstrapped.p == pytest.approx(by_definition(d, cells, clusters, 0.0, points))
    for end in bootstrapped.ci95:
        if end is not None:
            step = 1e-4 if end > d.mean() else -1e-4
            assert by_definition(d, cells, clusters, end - step, points) > 0.05
            assert by_definition(d, cells, clusters, end + step, points) <= 0.05


def test_from_twelve_clusters_on_it_draws_signs() -> None:
    d = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], 26)
    many = wild_bootstrap(d, design(np.zeros(26, dtype=int), np.arange(26) % 13))
    assert many is not None
    assert (many.weights, many.draws, many.is_exhaustive) == ("Rademacher signs", 2**13, True)


def test_without_spread_there_is_nothing_to_draw() -> None:
    assert wild_bootstrap(np.ones(6), design(np.zeros(6, dtype=int), np.arange(6))) is None
    assert (
        wild_bootstrap(np.array([0.0, 1.0]), design(np.zeros(2, dtype=int), np.zeros(2, dtype=int))) is None
    )


def test_of_five_unequal_clusters_it_seldom_rejects_what_is_true() -> None:
    random, clusters = np.random.default_rng(3), np.repeat(np.arange(5), [40, 15, 8, 5, 4])
    grouping = design(np.zeros_like(clusters), clusters)
    rejected = []
    for _ in range(120):
        d = random.normal(0, 0.3, 5)[clusters] + random.normal(0, 0.5, len(clusters))
        bootstrapped = wild_bootstrap(np.clip(d, -1, 1), grouping)
        assert bootstrapped is not None
        rejected.append(bootstrapped.p < 0.05)
    assert 0.01 < np.mean(rejected) < 0.11
