"""A column of a row is declared by its field alone: everything that holds rows follows."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import pytest

from gnomon.core.errors import SpecError
from gnomon.core.row import COLUMNS, ROW_COLUMNS, Filled, Form, Row, RowColumn, columns_of
from gnomon.core.score import Outcome
from gnomon.core.trace import NoteStep, Trace
from gnomon.exchange.row_file import MOMENTS, read_rows
from gnomon.report.row_formats import row_to_json, rows_csv, rows_ndjson, rows_parquet
from gnomon_workers.store.serialization import row_in_order, row_values


@dataclass
class Shape:
    name: Annotated[str, Form(sql_length=9)]
    size: Annotated[int, Form(least=0)] | None
    side: Annotated[float | None, Form(most=2)] = None
    end: Outcome = Outcome.SCORED
    marks: tuple[str, ...] = ()
    parts: Mapping[str, int] = field(default_factory=dict)


def test_the_type_and_the_form_of_a_field_say_all_of_its_column() -> None:
    columns = {column.name: column for column in columns_of(Shape)}
    kinds = {name: (column.kind, column.is_nullable) for name, column in columns.items()}
    assert kinds == {
        "name": ("text", False),
        "size": ("integer", True),
        "side": ("fraction", True),
        "end": ("choice", False),
        "marks": ("texts", False),
        "parts": ("mapping", False),
    }
    assert columns["name"].form == Form(sql_length=9)
    assert (columns["size"].form.least, columns["side"].form.most) == (0, 2)
    assert (columns["side"].default, columns["parts"].default, columns["end"].form) == (None, {}, Form())


def test_a_field_says_how_its_column_follows_from_a_trace() -> None:
    @dataclass
    class WithNotes:
        notes: Annotated[Annotated[int, Form(least=0)] | None, Filled(lambda trace: len(trace.steps))] = None

    [column] = columns_of(WithNotes)
    assert column.filled is not None
    assert column.filled.of(Trace(steps=[NoteStep(text="wait")])) == 1
    assert (column.form.least, column.kind, column.is_nullable) == (0, "integer", True)


def test_a_field_that_no_column_can_hold_is_refused_by_name() -> None:
    @dataclass
    class Odd:
        when: complex

    with pytest.raises(TypeError, match=r"when: no column holds .*complex.*; allowed: .*str"):
        columns_of(Odd)


def a_value(column: RowColumn) -> Any:
    """A value that is not the column's default."""
    values = {
        "text": "2026-01-02T03:04:05.678Z" if column.name in MOMENTS else f"of {column.name}",
        "integer": 7,
        "fraction": 0.5,
        "choice": next(iter(column.type)) if column.kind == "choice" else None,
        "texts": ("a", "b"),
        "mapping": {"x": 1.0} if column.name == "metrics" else {"x": {"calls": 1}},
    }
    return values[column.kind]


FULL = Row(**{column.name: a_value(column) for column in ROW_COLUMNS})


def test_every_column_comes_back_from_the_store_as_it_was() -> None:
    columns = row_values(FULL)
    assert tuple(columns) == COLUMNS
    assert row_in_order(list(columns.values())) == FULL


@pytest.mark.parametrize(("name", "write"), [("r.ndjson", rows_ndjson), ("r.csv", rows_csv)])
def test_every_column_comes_back_from_a_row_file_as_it_was(name: str, write: Any, tmp_path: Path) -> None:
    text = io.StringIO(newline="")
    write([FULL], text)
    (tmp_path / name).write_text(text.getvalue(), newline="")
    assert read_rows(tmp_path / name) == [FULL]


def test_every_column_is_in_a_parquet_file(tmp_path: Path) -> None:
    rows_parquet([FULL], tmp_path / "r.parquet")
    [found] = pq.read_table(tmp_path / "r.parquet").to_pylist()
    plain = row_to_json(FULL)
    assert found == {name: json.dumps(v) if isinstance(v, dict) else v for name, v in plain.items()}


@pytest.mark.parametrize("name", [column.name for column in ROW_COLUMNS])
def test_a_row_file_of_an_older_version_lacks_a_column_and_is_read(name: str, tmp_path: Path) -> None:
    line = row_to_json(FULL)
    del line[name]
    path = tmp_path / "r.ndjson"
    path.write_text(json.dumps(line) + "\n")
    if name in ("sample_id", "arm", "score"):
        with pytest.raises(SpecError, match=f"line 1: {name}: Field required"):
            read_rows(path)
    else:
        [row] = read_rows(path)
        assert replace(row, **{name: getattr(FULL, name)}) == FULL


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"usd": 2e9}, "usd is 2000000000.0, not between 0 and 1,000,000,000"),
        ({"score": float("nan")}, "score is nan, not between 0 and 1"),
        ({"wall_s": float("inf")}, "wall_s is inf"),
        ({"cached_tokens": -1}, "cached_tokens is -1, not between 0"),
    ],
)
def test_a_number_beyond_its_bounds_is_not_stored(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        row_values(replace(FULL, **changes))
