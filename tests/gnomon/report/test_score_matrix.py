"""A score matrix holds rows as columns: every figure is found again under its group and sample."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.row import Row
from gnomon.core.row_batch import in_batches
from gnomon.report.score_matrix import ANSWER_CHARS, KEPT_DESIGNS, read_scores

RAW, TOOLS = ("m", "raw"), ("m", "tools")


def test_a_sample_is_shown_by_its_first_repeat_alone(row: Callable[..., Row]) -> None:
    rows = [
        row(1, "tools", 1.0, repeat=1, answer="later"),
        row(1, "tools", 0.0, repeat=0, answer="first" * 100),
        row(0, "raw", 1.0, repeat=1, answer="no first"),
    ]
    scores = read_scores(rows, [RAW, TOOLS])
    at = {name: index for index, name in enumerate(scores.samples)}
    shown, unshown = at[rows[0].sample_id], at[rows[2].sample_id]
    assert scores.answer(1, shown) == ("first" * 100)[:ANSWER_CHARS]
    assert scores.trial(1, shown) == rows[1].trial_id
    assert (scores.answer(0, unshown), scores.trial(0, unshown)) == (None, None)
    assert scores.means(1)[shown] == 0.5


def test_a_group_that_only_rows_know_follows_the_others(row: Callable[..., Row]) -> None:
    scores = read_scores([row(0, "raw", 1.0), row(0, "new", 0.0)], [RAW, TOOLS])
    assert scores.groups == (RAW, TOOLS, ("m", "new"))
    assert [totals.trials for totals in scores.totals] == [1, 0, 1]


def test_rows_of_samples_that_are_known_may_come_in_a_batch_of_their_own(row: Callable[..., Row]) -> None:
    rows = [row(sample, arm, 1.0) for arm in ("raw", "tools") for sample in range(3)]
    scores = read_scores(in_batches(rows, 3), [RAW, TOOLS])
    assert scores.answered.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_no_rows_make_a_matrix_too() -> None:
    scores = read_scores([], [RAW, TOOLS])
    assert (list(scores.samples), scores.cell_names, scores.answered.shape) == ([], (), (2, 0))


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 6), st.sampled_from(["raw", "tools"]), st.integers(0, 2)),
        st.one_of(st.none(), st.floats(0, 1)),
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_columns_say_what_the_rows_say(
    row: Callable[..., Row], by_trial: dict[tuple[int, str, int], float | None], dice: random.Random
) -> None:
    rows = [row(n, arm, score, repeat=repeat, usd=0.5) for (n, arm, repeat), score in by_trial.items()]
    dice.shuffle(rows)
    scores = read_scores(rows, [RAW, TOOLS])
    for group, (_, arm) in enumerate(scores.groups):
        for sample, name in enumerate(scores.samples):
            mine = [one for one in rows if (one.arm, one.sample_id) == (arm, name)]
            known = [one.score for one in mine if one.score is not None]
            assert scores.answered[group, sample] == len(known)
            assert scores.missing[group, sample] == len(mine) - len(known)
            first = [one.trial_id for one in mine if one.repeat == 0]
            assert scores.trial(group, sample) == (first[0] if first else None)
            if known:
                assert scores.means(group)[sample] == pytest.approx(sum(known) / len(known))
            else:
                assert np.isnan(scores.means(group)[sample])


def test_the_same_samples_have_one_design(row: Callable[..., Row]) -> None:
    scores = read_scores([row(sample, "raw", 1.0) for sample in range(9)], [RAW])
    everywhere, few = scores.everywhere(), np.arange(9) < 4
    first, of_few = (scores.design(mask, "mean_of_cells") for mask in (everywhere, few))
    assert scores.design(scores.everywhere(), "mean_of_cells") is first
    assert scores.design(everywhere, "mean_of_samples") is not first
    assert (first.n, of_few.n, scores.design(few, "mean_of_cells").n) == (9, 4, 4)


def test_designs_of_many_choices_are_let_go(row: Callable[..., Row]) -> None:
    scores = read_scores([row(sample, "raw", 1.0) for sample in range(9)], [RAW])
    for left_out in range(9):
        within = np.arange(9) != left_out
        assert scores.design(within, "mean_of_samples").n == 8
    assert sum(kept.n for kept in scores._designs.values()) <= (KEPT_DESIGNS + 1) * 9
