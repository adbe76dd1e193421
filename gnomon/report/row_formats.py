"""Writes result rows as CSV, NDJSON and Parquet."""

import csv
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

from gnomon.core.row import COLUMNS, ROW_COLUMNS, Row
from gnomon.core.score import Outcome

if TYPE_CHECKING:
    import pyarrow as pa

FORMULA_STARTS = ("=", "+", "-", "@")  # in any width
UNSEEN = ("Cc", "Cf", "Mn", "Me")  # classes of characters that a spreadsheet may pass over
BATCH = 10_000
TEXTS = tuple(column.name for column in ROW_COLUMNS if column.kind == "texts")
CHOICES = {column.name: column.type for column in ROW_COLUMNS if column.kind == "choice"}


def row_to_json(row: Row) -> dict[str, Any]:
    """A row as plain JSON data: what is not finite becomes null, what UTF-8 cannot hold is written out."""
    return {name: _plain(getattr(row, name)) for name in COLUMNS}


def row_from_json(values: Mapping[str, Any]) -> Row:
    """The row that `row_to_json` gave; columns that this version does not know are left out.

    Raises:
        TypeError, ValueError: it is not a row.
    """
    known: dict[str, Any] = {name: values[name] for name in COLUMNS if name in values}
    known |= {name: tuple(known[name]) for name in TEXTS if name in known}
    for name, choice in CHOICES.items():
        known[name] = choice(known[name]) if known.get(name) is not None else None
    return Row(**known | {"outcome": Outcome(known["outcome"] or "")})


def ndjson_line(row: Row) -> str:
    """A row as one line of JSON in ASCII, so that no character within can break the line."""
    return json.dumps(row_to_json(row), allow_nan=False) + "\n"


def rows_ndjson(rows: Iterable[Row], file: TextIO) -> None:
    """Write rows as JSON lines."""
    file.writelines(ndjson_line(row) for row in rows)


def rows_csv(rows: Iterable[Row], file: TextIO) -> None:
    """Write rows as CSV with a header; open `file` with `newline=""`.

    Texts that a spreadsheet would run as a formula get a leading apostrophe; nested values are JSON.
    """
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows([csv_cell(value) for value in row_to_json(row).values()] for row in rows)


def rows_parquet(rows: Iterable[Row], file: Path | IO[bytes]) -> None:
    """Write rows as one Parquet file, ten thousand at a time; metrics and tools are JSON text."""
    import pyarrow.parquet as pq  # heavy, and needed here only

    with pq.ParquetWriter(file, _arrow_schema()) as writer:
        for batch in _arrow_batches(rows):
            writer.write_batch(batch)


def rows_arrow(rows: Iterable[Row]) -> "pa.Table":
    """Rows as an Arrow table with the columns of the Parquet file."""
    import pyarrow as pa  # as above

    return pa.Table.from_batches(_arrow_batches(rows), schema=_arrow_schema())


def _arrow_schema() -> "pa.Schema":
    import pyarrow as pa  # as above

    kinds = {"integer": pa.int64(), "fraction": pa.float64(), "texts": pa.list_(pa.string())}
    return pa.schema([(column.name, kinds.get(column.kind, pa.string())) for column in ROW_COLUMNS])


def _arrow_batches(rows: Iterable[Row]) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa  # as above

    schema, remaining = _arrow_schema(), iter(rows)
    while batch := [_flat(row_to_json(row)) for row in islice(remaining, BATCH)]:
        yield pa.RecordBatch.from_pylist(batch, schema=schema)


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(value) if isinstance(value, dict) else value for name, value in values.items()}


def csv_cell(value: object) -> object:
    """A value as CSV has it: nested ones are JSON, and no text starts as a spreadsheet's formula does."""
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    if isinstance(value, str) and is_formula(value):
        return f"'{value}"
    return "" if value is None else value


def is_formula(text: str) -> bool:
    r"""Whether a spreadsheet may run a text: it begins as a formula does, whatever stands unseen before it.

    >>> [is_formula(text) for text in ("=1", "＝1", "＋1", "\u200b@A1", "\ufeff\u0301-1", "\t1", "a=1", "")]
    [True, True, True, True, True, True, False, False]
    """
    seen = next((at for at, char in enumerate(text) if unicodedata.category(char) not in UNSEEN), len(text))
    begins = unicodedata.normalize("NFKC", text[seen : seen + 1])
    return begins.startswith(FORMULA_STARTS) or text.startswith(("\t", "\r", "\n"))


def _plain(value: object) -> Any:
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {escape_surrogates(str(name)): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def escape_surrogates(text: str) -> str:
    r"""The text with what UTF-8 cannot hold written out.

    >>> print(escape_surrogates("a\ud800"))
    a\ud800
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
