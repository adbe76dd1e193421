"""Rows in batches are the same rows, and a report of batches is that of the rows."""

import json
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.row import Row
from gnomon.core.row_batch import RowBatch, batch_of, distinct_codes, in_batches
from gnomon.report.build import build_report
from gnomon.spec.job_spec import JobSpec

METRICS: Sequence[dict[str, float | str | None]] = ({}, {"score": 1.0, "MCQacc": 1.0}, {"floor:near": 0.5})


def some_rows(row: Callable[..., Row], count: int) -> list[Row]:
    """Rows that differ in all that a report looks at."""
    return [
        row(
            n // 4,
            ("raw", "tools")[n % 2],
            None if n % 7 == 0 else n % 3 / 2,
            repeat=n // 2 % 2,
            answer=("A", "B", None)[n % 3],
            metrics=METRICS[n % 3],
            flags=(("late",), ())[n % 2],
            tools_used={"lookup": {"calls": n % 4, "bad_arguments": 0, "errors": 1}} if n % 2 else {},
            usd=None if n % 5 == 0 else 0.1 * n,
            error="gone" if n % 7 == 0 else "",
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_hold_the_rows_that_came(row: Callable[..., Row], size: int) -> None:
    rows = some_rows(row, 30)
    batches = list(in_batches(rows, size))
    assert [again for batch in batches for again in batch.rows()] == rows
    assert [len(batch) for batch in batches] == [
        len(rows[start : start + size]) for start in range(0, len(rows), size)
    ]
    assert list(in_batches(batches)) == batches


@pytest.mark.parametrize("size", [1, 7])
def test_a_report_does_not_depend_on_the_size_of_batches(
    row: Callable[..., Row], spec: Callable[..., JobSpec], size: int
) -> None:
    rows, job = some_rows(row, 60), spec()

    def report(of: object) -> str:
        facts = {"job_id": "j", "spec": job, "status": "completed", "planned": 60}
        return json.dumps(build_report(rows=of, **facts))  # type: ignore[arg-type]

    assert report(in_batches(rows, size)) == report(rows)


def test_values_are_numbered_in_the_order_in_which_they_first_come(row: Callable[..., Row]) -> None:
    batch = batch_of(some_rows(row, 30))
    pairs = batch.distinct("arm", "answer")
    by_row = [(again.arm, again.answer) for again in batch.rows()]
    assert list(pairs.values) == list(dict.fromkeys(by_row))
    assert [pairs.values[code] for code in pairs.codes] == by_row
    assert dict(zip(pairs.values, pairs.counts.tolist(), strict=True)) == Counter(by_row)
    assert [by_row[first] for first in pairs.firsts] == list(pairs.values)
    assert pairs.places(lambda pair: pair[0] == "raw").tolist() == list(range(0, 30, 2))


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1))
def test_codes_are_those_of_the_distinct_tuples(tuples: list[tuple[int, int, int]]) -> None:
    huge = [np.array(column) * 10**7 for column in zip(*tuples, strict=True)]  # their product needs 75 bits
    codes, firsts = distinct_codes(*huge)
    distinct = list(dict.fromkeys(tuples))
    assert codes.tolist() == [distinct.index(each) for each in tuples]
    assert firsts.tolist() == [tuples.index(each) for each in distinct]


@given(st.lists(st.none() | st.floats(0.0, 1.0), max_size=5))
def test_a_number_that_is_unknown_is_nan_in_its_column(values: list[float | None]) -> None:
    numbers = RowBatch({"usd": values}).numbers("usd")
    assert numbers.dtype == np.float64
    assert [None if np.isnan(number) else number for number in numbers] == values
