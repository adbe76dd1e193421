"""How many samples would show a difference, in clusters like those that are planned."""

import numpy as np
import pytest

from gnomon.report.comparing import rule_of
from gnomon.report.detectable import share_claimed
from gnomon.report.enough_samples import enough_samples, grown
from gnomon.statistics.design import design
from gnomon.statistics.power import PlantedStudy, right_or_wrong

ONE = rule_of("primary", looks=1)


def study(*sizes: int) -> PlantedStudy:
    """Right-or-wrong scores that differ on 30 % of the samples, in clusters of these sizes."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    grouping = design(np.zeros_like(clusters), clusters)
    return PlantedStudy(grouping=grouping, spread=right_or_wrong(0.3))


def test_a_grown_design_repeats_its_clusters_with_their_sizes_and_strata() -> None:
    planned = design(np.array([0, 1, 1]), np.array([0, 0, 1]))
    larger = grown(planned, 5)
    assert np.bincount(larger.clusters).tolist() == [2, 1, 2, 1, 2]
    assert larger.strata[larger.clusters == 4].tolist() == [0, 1]
    assert larger.strata[larger.clusters == 3].tolist() == [1]
    with pytest.raises(ValueError, match="1 clusters, and the design has 2"):
        grown(planned, 1)


@pytest.mark.parametrize("sizes", [(1, 1), (4, 4), (6,)])
def test_what_is_enough_claims_the_effect_in_eight_of_ten_studies(sizes: tuple[int, ...]) -> None:
    planned = study(*sizes)
    larger = enough_samples(planned, ONE, 0.2)
    assert larger is not None
    assert set(np.bincount(larger.clusters)) == set(sizes)
    found = PlantedStudy(grouping=larger, spread=planned.spread)
    assert share_claimed(found, ONE, 0.2, draws=300) == pytest.approx(0.8, abs=0.09)


def test_a_smaller_effect_and_larger_clusters_need_more_samples() -> None:
    needed = [
        enough_samples(study(*sizes), ONE, effect)
        for sizes, effect in (((1,), 0.2), ((8,), 0.2), ((1,), 0.1))
    ]
    alone, together, smaller = (each.n if each else 0 for each in needed)
    assert 0 < alone < together
    assert alone < smaller


def test_an_effect_that_would_take_too_many_samples_has_no_number() -> None:
    assert enough_samples(study(1, 1), ONE, 0.005) is None
