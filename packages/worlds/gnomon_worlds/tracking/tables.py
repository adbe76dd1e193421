"""Reads tables of text: their columns, their lines with numbers, and what is wrong with them."""

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from gnomon.core.errors import DataError
from gnomon_tools.core.regular_file import read_regular

MAX_BYTES = 4_000_000_000
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*", re.ASCII)
TIMES = ("time_s", "time", "frame")  # of which a table has one: seconds, ISO 8601 or seconds, frames at `fps`


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        DataError: it is absent, too large, or no UTF-8 text.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path} is larger than {MAX_BYTES:,} bytes")
        return read_regular(path).decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is no text in UTF-8") from None


def columns_of(path: Path) -> "tuple[csv.DictReader[str], bool]":
    """A table, its columns in small letters; and whether semicolons part it, so that numbers have commas.

    Raises:
        DataError: the first line does not end, as its quotes say.
    """
    text = text_of(path)
    first, *_ = text.splitlines() or [""]
    mark = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text), strict=True, delimiter=mark)
    try:
        reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
    except csv.Error as error:
        raise DataError(f"{path.name}, line 1: {error}") from None
    return reader, mark == ";"


def csv_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The lines of a table with their numbers; all have the fields of the first, which names `columns`.

    Fields are parted by commas or tabs; or by semicolons, with decimal commas as spreadsheets write them.

    Raises:
        DataError: a column is absent, or a line is not as the first; file and line are named.
    """
    reader, has_decimal_commas = columns_of(path)
    refuse_missing(path, reader.fieldnames or (), columns)
    try:
        for fields in reader:
            short = next((name for name, value in fields.items() if value is None), None)
            if short is not None or None in fields:
                raise DataError(
                    f"{path.name}, line {reader.line_num}: not as many fields as the first line has; decimal"
                    " commas need semicolons between fields",
                    field=short or "",
                )
            if has_decimal_commas:
                fields = {
                    name: value.replace(",", ".") if DECIMAL_COMMA.fullmatch(value) else value
                    for name, value in fields.items()
                }
            yield reader.line_num, fields
    except csv.Error as error:
        raise DataError(f"{path.name}, line {reader.line_num}: {error}") from None


def refuse_missing(path: Path, names: Collection[str], columns: Sequence[str]) -> None:
    """Refuse a table without one of its columns; that of its times may be any of TIMES."""
    for name in columns:
        if name not in names and not (name == "time_s" and any(time in names for time in TIMES)):
            raise DataError(f"{path.name} has no column {name}; it needs {', '.join(columns)}", field=name)
