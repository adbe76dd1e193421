"""The report pairs answers with those to transformed questions, in the terms of the original."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.row_batch import batch_of
from gnomon_analyses.analyses.contamination import contamination
from gnomon_analyses.sections.consistency import consistency, consistency_row
from gnomon_analyses.statistics.consistency import gap, share_of_strangers
from gnomon_analyses.transformed_answers import TransformedAnswers
from tests.gnomon.report.conftest import a_row


def row(sample: int, arm: str, answer: str | None, score: float, **changes: Any) -> Row:
    metrics: dict[str, Any] = {"original_answer": answer}
    if arm != "raw":
        metrics |= {"transform": "rotate", "original_arm": "raw"}
    return a_row(sample, arm, score, metrics=metrics, **changes)


def pair_of(rows: list[Row]) -> Any:
    collector = TransformedAnswers()
    for each in rows:
        collector.add(batch_of([each]))
    (pair,) = collector.pairs()
    return pair


def two(answers: str, **changes: Any) -> Iterator[Row]:
    """Rows of raw and raw_rotate from pairs of letters; gold is always A."""
    for sample, pair in enumerate(answers.split()):
        for arm, letter in zip(("raw", "raw_rotate"), pair, strict=True):
            yield row(sample, arm, None if letter == "-" else letter, float(letter == "A"), **changes)


def test_every_pair_of_answers_is_counted_once() -> None:
    found = consistency_row(pair_of(list(two("AA AB BA BB BC -A"))), "mean_of_samples")
    assert found["outcomes"] == {
        "both_right": 1,
        "right_then_wrong": 1,
        "wrong_then_right": 2,
        "both_wrong_same": 1,
        "both_wrong_other": 1,
    }
    assert (found["n"], found["compared"]) == (5, 6)
    assert found["agree"] == pytest.approx(2 / 5)
    assert found["drop"] == pytest.approx((2 - 3) / 6)


def test_a_model_that_always_says_the_same_letter_agrees_as_often_as_by_chance() -> None:
    found = consistency_row(pair_of(list(two("AA AA AA AA"))), "mean_of_samples")
    assert (found["agree"], found["chance"], found["kappa"]) == (1.0, 1.0, None)


def test_agreement_by_chance_leaves_out_a_sample_with_itself() -> None:
    assert share_of_strangers([("A", "A"), ("B", "B")]) == 0.0
    assert share_of_strangers([("A", "B"), ("B", "A")]) == 1.0


def test_repeats_tell_how_often_an_arm_agrees_with_itself() -> None:
    rows = [
        row(sample, arm, letter, 1.0, repeat=repeat)
        for sample in range(3)
        for arm, letters in (("raw", "AAB"), ("raw_rotate", "AAA"))
        for repeat, letter in enumerate(letters)
    ]
    found = consistency_row(pair_of(rows), "mean_of_samples")
    assert found["repeats_agree"] == pytest.approx(1 / 3)
    assert found["transformed_repeats_agree"] == 1.0
    assert found["agree"] == pytest.approx(2 / 3)


def test_times_are_compared_by_their_overlap() -> None:
    rows = [row(0, arm, "A", 1.0) for arm in ("raw", "raw_rotate")]
    for each, times in zip(rows, ("12:00:00.000-12:00:02.000", "12:00:01.000-12:00:03.000"), strict=True):
        dict.update(each.metrics, original_times=times)  # type: ignore[arg-type]
    assert pair_of(rows).overlap_of_times() == (pytest.approx(1 / 3), 1)


def test_a_job_without_transforms_has_no_such_section() -> None:
    collector = TransformedAnswers()
    collector.add(batch_of([a_row(0, "raw", 1.0)]))
    assert list(collector.pairs()) == []
    assert consistency.view is not None
    assert consistency.view({"consistency": []}) is None


def planted(random: np.random.Generator, benchmark: str, memory: float) -> Iterator[Row]:
    for cluster in range(30):
        for item in range(5):
            is_known = random.random() < memory
            first = "A" if is_known or random.random() < 0.4 else "B"
            second = "A" if random.random() < 0.35 else "B"  # the guise is five points harder
            for arm, letter in (("raw", first), ("raw_rotate", second)):
                yield row(
                    100 * cluster + item,
                    arm,
                    letter,
                    float(letter == "A"),
                    cluster=str(cluster),
                    benchmark=benchmark,
                )


def test_planted_memory_is_found_beside_a_control_that_cannot_have_been_seen() -> None:
    held, estimates = 0, []
    for seed in range(40):
        random = np.random.default_rng(seed)
        rows = [*planted(random, "gtr-bench", 0.3), *planted(random, "worlds", 0.0)]
        (found,) = contamination.count(rows, lambda each: each.cell)["estimates"]
        low, high = found["memory_ci95"]
        held += low <= 0.18 <= high
        estimates.append(found["memory"])
    assert held >= 36
    assert np.mean(estimates) == pytest.approx(0.18, abs=0.03)


def test_memory_needs_a_job_of_published_questions() -> None:
    with pytest.raises(SpecError):
        contamination.count(list(planted(np.random.default_rng(0), "worlds", 0.0)), lambda each: each.cell)


def test_a_gap_of_independent_differences_has_the_interval_of_welch() -> None:
    found = gap((0.2, 0.03, 10.0), (0.1, 0.0, 10.0))
    assert (found.value, found.se, found.df) == (pytest.approx(0.1), pytest.approx(0.03), pytest.approx(10.0))


def test_drops_of_nothing_do_not_make_a_memory_that_is_surely_nothing() -> None:
    rows = [
        row(sample, arm, "A", 1.0, benchmark=benchmark)
        for benchmark in ("gtr-bench", "worlds")
        for sample in range(40)
        for arm in ("raw", "raw_rotate")
    ]
    (found,) = contamination.count(rows, lambda each: each.cell)["estimates"]
    assert found["memory"] == 0.0
    low, high = found["memory_ci95"]
    assert low == pytest.approx(2**0.5 * found["published"]["ci95"][0])
    assert high == -low > 0.1
