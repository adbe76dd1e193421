"""A constant is never fitted on the fold that it is scored on."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bench.folds import fit, folds_of, mean_of_cells

CLUSTERS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=60)


@given(CLUSTERS, st.integers(min_value=1, max_value=6))
def test_a_cluster_lies_in_one_fold(clusters, count):
    found = folds_of(clusters, count)
    assert found.min() >= 0
    assert found.max() < count
    for cluster in set(clusters):
        assert len({fold for fold, name in zip(found, clusters, strict=True) if name == cluster}) == 1


def test_clusters_fill_the_folds_evenly():
    sizes = np.bincount(folds_of([f"c{index % 7}" for index in range(70)], 5))
    assert sorted(sizes) == [10, 10, 10, 20, 20]


def test_what_a_held_out_fold_likes_does_not_move_its_constants():
    fold = np.array([0, 0, 1, 1])
    likes = np.array([5.0, 5.0, 1.0, 1.0])  # the value that is right for each question
    tried = {"pace": (1.0, 3.0, 5.0)}

    def fitted_without(number):
        train = fold != number
        cells = ["only"] * int(train.sum())
        return fit(tried, lambda values: mean_of_cells((likes == values["pace"])[train].astype(float), cells))

    assert [fitted_without(number) for number in (0, 1)] == [{"pace": 1.0}, {"pace": 5.0}]


def test_without_any_gain_the_middle_value_stays():
    assert fit({"pace": (1.0, 3.0, 5.0)}, lambda _: 0.0) == {"pace": 3.0}
