"""Agreement of judges who did not all judge the same items, against calculations by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_analyses.statistics.agreement import agreement, cohen_kappa

labels = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("abc")), min_size=1, max_size=30)


@given(labels)
def test_two_judges_of_the_same_items_have_cohens_kappa(pairs: list[tuple[str, str]]) -> None:
    found = agreement([[("ann", first), ("bob", second)] for first, second in pairs])
    expected = cohen_kappa([first for first, _ in pairs], [second for _, second in pairs])
    assert found.method == "Cohen's kappa"
    assert (found.coefficient is None) == (expected is None)
    assert expected is None or found.coefficient == pytest.approx(expected)
    assert found.share == pytest.approx(sum(first == second for first, second in pairs) / len(pairs))


def by_hand(items: list[str]) -> float:
    """Krippendorff's alpha from its definition: pairs within items against pairs of all labels."""
    items = [item for item in items if len(item) > 1]
    every = "".join(items)
    observed = sum(
        sum(a != b for a, b in itertools.permutations(item, 2)) / (len(item) - 1) for item in items
    ) / len(every)
    expected = sum(a != b for a, b in itertools.permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


@pytest.mark.parametrize("items", [["aab", "bb", "abc", "a"], ["ab", "ab", "aaa"], ["aabb", "cc", "ca"]])
def test_other_judges_have_krippendorffs_alpha(items: list[str]) -> None:
    judged = [[(f"judge {at + len(item)}", label) for at, label in enumerate(item)] for item in items]
    found = agreement(judged)
    assert found.method == "Krippendorff's alpha"
    assert found.items == sum(len(item) > 1 for item in items)
    assert found.coefficient == pytest.approx(by_hand(items))


def test_an_interval_is_that_of_items_drawn_again() -> None:
    random = np.random.default_rng(0)
    first = random.integers(0, 2, 200)
    second = np.where(random.random(200) < 0.8, first, 1 - first)
    found = agreement([[("a", int(x)), ("b", int(y))] for x, y in zip(first, second, strict=True)])
    drawn = [
        cohen_kappa(first[chosen].tolist(), second[chosen].tolist()) or 0.0
        for chosen in (random.integers(0, 200, 200) for _ in range(1_000))
    ]
    assert found.ci95 == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.03)


def test_few_items_have_no_interval_and_equal_labels_no_coefficient() -> None:
    assert agreement([[("a", 1), ("b", 1)], [("a", 2), ("b", 2)]]).ci95 is None
    same = agreement([[("a", 1), ("b", 1)]] * 20)
    assert (same.share, same.coefficient, same.ci95) == (1.0, None, None)
    assert agreement([[("a", 1)]]).share is None
