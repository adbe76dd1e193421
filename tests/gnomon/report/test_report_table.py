"""Result rows as files: complete, safe to open, the same in every format."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gnomon.core.row import COLUMNS, Row
from gnomon.report.row_formats import row_to_json, rows_csv, rows_ndjson, rows_parquet

Maker = Callable[..., Row]


def as_csv(rows: list[Row]) -> list[dict[str, str]]:
    file = io.StringIO(newline="")
    rows_csv(rows, file)
    return list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_of_a_csv_is_a_formula(row: Maker, start: str) -> None:
    [found] = as_csv([row(0, answer=f"{start}HYPERLINK(1)", model=f"{start}m")])
    assert found["answer"] == f"'{start}HYPERLINK(1)"
    assert found["model"] == f"'{start}m"


def test_a_csv_has_every_column_and_empty_cells_for_the_unknown(row: Maker) -> None:
    [found] = as_csv([row(0, score=None, usd=None, answer='a,"b"\nc', flags=("x",), metrics={"f1": 0.5})])
    assert tuple(found) == COLUMNS
    assert (found["score"], found["usd"], found["outcome"]) == ("", "", "infra_missing")
    assert found["answer"] == 'a,"b"\nc'
    assert (json.loads(found["flags"]), json.loads(found["metrics"])) == (["x"], {"f1": 0.5})


def test_a_json_line_is_one_line_whatever_the_model_wrote(row: Maker) -> None:
    file = io.StringIO()
    answer = "one\ntwo\u2028three\x85four\ud800"
    rows_ndjson([row(0, answer=answer, metrics={"bad": float("nan")}), row(1)], file)
    lines = file.getvalue().splitlines()
    assert len(lines) == 2
    found = json.loads(lines[0])
    assert (found["answer"], found["metrics"]) == ("one\ntwo\u2028three\x85four\\ud800", {"bad": None})
    assert tuple(found) == COLUMNS


def test_parquet_holds_the_same_rows(row: Maker, tmp_path: Path) -> None:
    used = {"bearing": {"calls": 2}}
    rows = [row(0, answer="\ud800", tools_used=used, flags=("x", "y")), row(1, score=None, usd=None)]
    rows_parquet(rows, tmp_path / "rows.parquet")
    found = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [tuple(one) for one in found] == [COLUMNS, COLUMNS]
    assert (found[0]["score"], found[0]["flags"], found[0]["answer"]) == (1.0, ["x", "y"], "\\ud800")
    assert json.loads(found[0]["tools_used"]) == used
    assert (found[1]["score"], found[1]["usd"], found[1]["outcome"]) == (None, None, "infra_missing")


def test_no_rows_make_files_with_a_head(tmp_path: Path) -> None:
    rows_parquet([], tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == 0
    assert as_csv([]) == []


def test_a_record_is_plain_json(row: Maker) -> None:
    assert json.loads(json.dumps(row_to_json(row(0)), allow_nan=False)) == row_to_json(row(0))
