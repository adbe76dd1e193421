"""Reads rows of JSONL, JSON, CSV, TSV, Excel and Parquet files one by one, and single rows again.

Only where each row lies is kept, so that a file of any size takes little memory; JSON and Excel stay whole.
"""

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol

from gnomon.core.errors import DataError, SpecError
from gnomon.exchange.json_lines import count_values
from gnomon.exchange.xlsx_sheet import sheet_lines
from gnomon.large_cells import allow_large_cells
from gnomon.media.clip_samples import cell_at
from gnomon.media.uploads import TABLES, sheet_hint
from gnomon.parquet_file import read_group, row_counts
from gnomon_tools.core.regular_file import open_regular

SUFFIXES = tuple(f".{kind}" for kind in TABLES)
MAX_LINE = 64_000_000  # bytes of a row, its pictures included
MAX_JSON = 64_000_000  # bytes of a file that is read whole
MAX_VALUES = 2_000_000  # of what is decoded at a time: an object takes 200 bytes
MAX_ROWS = 600_000  # some 700 bytes of memory each
BOM, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row with the place where it lies; `fault` says why it cannot be read, and then it has no values."""

    number: int  # for people: of its first line, or of the row
    at: tuple[int, int]  # for `Table.row`
    values: Values = field(default_factory=dict)
    fault: str = ""


class Table(Protocol):
    """A file of rows. `unit` is what people count there: lines or rows; `same_columns` says whether every
    row has the columns of the first.
    """

    unit: str
    same_columns: bool

    def rows(self) -> Iterator[TableRow]:
        """Every row that is not blank, in the order of the file.

        Raises:
            DataError: the file is not of its kind.
        """
        ...

    def row(self, at: tuple[int, int]) -> Values:
        """The row that lies there.

        Raises:
            DataError: the file has changed since, or is gone.
        """
        ...


def open_table(path: Path) -> Table:
    """The table of a file, by its ending.

    Raises:
        DataError: it cannot be read, or has another ending.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        allowed = f"allowed are files in {', '.join(SUFFIXES)}"
        raise DataError(f"{path.name}: {allowed}{sheet_hint(path.name)}", field="data")
    try:
        with open_regular(path) as file:
            head = file.read(4)
        stamp = _stamp(path)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or error}", field="data") from None
    if kind == ".parquet":
        return ParquetTable(path)
    if kind == ".xlsx":
        return SheetTable(path)
    if head[:2] in UTF_16:
        raise DataError(f"{path.name} is UTF-16; save it as UTF-8", field="data")
    if kind == ".json":
        return JsonTable(path)
    if kind in (".csv", ".tsv"):
        return CsvTable(path, stamp, "\t" if kind == ".tsv" else _delimiter(path))
    return JsonLines(path, stamp)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal.

    Raises:
        DataError: it cannot be read.
    """
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or error}", field="data") from None


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _bytes_at(path: Path, stamp: tuple[int, int], at: tuple[int, int]) -> bytes:
    try:
        if _stamp(path) != stamp:
            raise DataError(f"{path.name} has changed since the job opened it", field="data")
        with open_regular(path) as file:
            file.seek(at[0])
            return file.read(at[1] - at[0])
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or error}", field="data") from None


def _lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """The lines with where they begin and end, without a byte order mark; too long ones as they are cut."""
    begin = 0
    while line := file.readline(MAX_LINE + 1):
        end = begin + len(line)
        yield begin, end, line.removeprefix(BOM) if begin == 0 else line
        begin = end


def not_utf8(error: UnicodeDecodeError) -> str:
    r"""What to say of text in another encoding.

    >>> try:
    ...     b"caf\xe9".decode()
    ... except UnicodeDecodeError as error:
    ...     not_utf8(error)
    'is not UTF-8: byte 0xe9 at 4; save the file as UTF-8'
    """
    return (
        f"is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start + 1}; save the file as UTF-8"
    )


class JsonLines:
    """A JSON object on each line."""

    unit = "line"
    same_columns = False

    def __init__(self, path: Path, stamp: tuple[int, int]) -> None:
        self._path, self._stamp = path, stamp

    def rows(self) -> Iterator[TableRow]:
        with open_regular(self._path) as file:
            for number, (begin, end, line) in enumerate(_lines(file), start=1):
                at = (begin, end)
                if len(line) > MAX_LINE:
                    yield TableRow(number=number, at=at, fault=f"is longer than {MAX_LINE:,} bytes")
                    return
                if not line.strip():
                    continue
                try:
                    yield TableRow(number=number, at=at, values=_object(line))
                except _Unreadable as error:
                    yield TableRow(number=number, at=at, fault=str(error))

    def row(self, at: tuple[int, int]) -> Values:
        line = _bytes_at(self._path, self._stamp, at)
        return _object(line.removeprefix(BOM) if at[0] == 0 else line)


class _Unreadable(ValueError):
    """A row that cannot be read; the message says why."""


def _object(line: bytes) -> Values:
    try:
        value = _decoded(line)
    except UnicodeDecodeError as error:
        raise _Unreadable(not_utf8(error)) from None
    except json.JSONDecodeError as error:
        raise _Unreadable(f"is no JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f"is no JSON: {str(error) or 'nested too deeply'}") from None
    if not isinstance(value, dict):
        raise _Unreadable(f"is no JSON object but {type(value).__name__}; a question is {{…}}")
    return value


def _decoded(text: bytes) -> Any:
    if count_values(text) > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES:,} values; write JSONL, with fewer on a line")
    return json.loads(text.decode(), parse_constant=_refuse_constant)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


class JsonTable:
    """A JSON list of objects, or an object whose `questions` are such a list; kept whole."""

    unit = "entry"
    same_columns = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: list[Any] | None = None

    def rows(self) -> Iterator[TableRow]:
        for number, entry in enumerate(self._read(), start=1):
            at = (number - 1, number)
            if isinstance(entry, dict):
                yield TableRow(number=number, at=at, values=entry)
            else:
                yield TableRow(number=number, at=at, fault=f"is no object but {type(entry).__name__}")

    def row(self, at: tuple[int, int]) -> Values:
        values: Values = self._read()[at[0]]
        return values

    def _read(self) -> list[Any]:
        if self._entries is not None:
            return self._entries
        name = self._path.name
        try:
            with open_regular(self._path) as file:
                data = file.read(MAX_JSON + 1)
            if len(data) > MAX_JSON:
                raise DataError(f"{name} is larger than {MAX_JSON:,} bytes; write JSONL", field="data")
            value = _decoded(data.removeprefix(BOM))
        except UnicodeDecodeError as error:
            raise DataError(f"{name} {not_utf8(error)}", field="data") from None
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, character {error.colno}"
            raise DataError(f"{name} is no JSON: {error.msg}: {where}", field="data") from None
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{name} cannot be read as JSON: {error}", field="data") from None
        entries = value.get("questions") if isinstance(value, dict) else value
        if not isinstance(entries, list):
            message = f"{name} is no list of questions, nor an object with a list `questions`"
            raise DataError(message, field="data")
        self._entries = entries
        return entries


class CsvTable:
    """Rows of text under a header, parted by commas, semicolons or tabs, quoted as spreadsheets do."""

    unit = "line"
    same_columns = True

    def __init__(self, path: Path, stamp: tuple[int, int], delimiter: str) -> None:
        self._path, self._stamp, self._delimiter = path, stamp, delimiter
        self._header: list[str] = []

    def rows(self) -> Iterator[TableRow]:
        allow_large_cells()
        with open_regular(self._path) as file:
            walk = _Walk(file)
            reader = csv.reader(walk.lines(), delimiter=self._delimiter, strict=True)
            self._header = [name.strip() for name in self._next(reader, walk) or []]
            self._check_header()
            while True:
                begin, number = walk.end, walk.number + 1
                walk.fault = ""
                try:
                    cells = self._next(reader, walk)
                except csv.Error as error:
                    fault = f"cannot be read: {error}; is a quotation mark left open?"
                    yield TableRow(number=number, at=(begin, walk.end), fault=fault)
                    return
                if cells is None:
                    return
                at = (begin, walk.end)
                if not any(cell.strip() for cell in cells):
                    continue
                fault = walk.fault or self._misfit(cells)
                values = {} if fault else dict(zip(self._header, cells, strict=True))
                yield TableRow(number=number, at=at, values=values, fault=fault)

    def row(self, at: tuple[int, int]) -> Values:
        allow_large_cells()
        text = _bytes_at(self._path, self._stamp, at).decode()
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=self._delimiter, strict=True)
        return dict(zip(self._header, next(reader), strict=True))

    def _next(self, reader: Iterator[list[str]], walk: "_Walk") -> list[str] | None:
        cells = next(reader, None)
        if walk.is_cut:
            raise DataError(
                f"{self._path.name}: line {walk.number} is longer than {MAX_LINE:,} bytes", field="data"
            )
        return cells

    def _check_header(self) -> None:
        names = [name for name in self._header if name]
        if not names:
            raise DataError(f"{self._path.name} has no header that names its columns", field="data")
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            raise DataError(f"{self._path.name} has two columns {twice[0]!r}", field="data")

    def _misfit(self, cells: list[str]) -> str:
        if len(cells) == len(self._header):
            return ""
        return f"has {len(cells)} fields where the header names {len(self._header)}"


class _Walk:
    """Lines of a file as text, and where the last one that was read lies."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.end, self.number = file, 0, 0
        self.fault, self.is_cut = "", False

    def lines(self) -> Iterator[str]:
        for _, end, line in _lines(self._file):
            self.end, self.number = end, self.number + 1
            self.is_cut = self.is_cut or len(line) > MAX_LINE
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                self.fault = self.fault or not_utf8(error)
                yield line.decode(errors="replace")


def _delimiter(path: Path) -> str:
    """What parts the columns of a .csv: spreadsheets write semicolons where a comma is the decimal mark."""
    with open_regular(path) as file:
        header = file.readline(100_000).decode(errors="replace")
    return max(",;\t", key=header.count)


class SheetTable:
    """Rows of the first sheet of an Excel workbook, as a person sees them there; kept whole."""

    unit = "row"
    same_columns = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: tuple[str, ...] = ()
        self._rows: list[tuple[int, tuple[str, ...]]] = []  # numbers and values, as far as they were read
        self._is_whole = False

    def rows(self) -> Iterator[TableRow]:
        return map(self._at, range(len(self._rows))) if self._is_whole else self._read()

    def row(self, at: tuple[int, int]) -> Values:
        return self._at(at[0]).values

    def _at(self, place: int) -> TableRow:
        number, values = self._rows[place]
        named = dict(zip(self._names, values, strict=True))
        return TableRow(number=number, at=(place, place + 1), values=named)

    def _read(self) -> Iterator[TableRow]:
        self._rows = []
        try:
            for number, values in sheet_lines(self._path):
                if any(values.values()):
                    self._names = tuple(values)
                    self._rows.append((number, tuple(values.values())))
                    yield self._at(len(self._rows) - 1)
        except SpecError as error:
            raise DataError(error.message, field="data") from None
        self._is_whole = True


class ParquetTable:
    """Rows of a Parquet file; the last row group that was read stays in memory for a while."""

    unit = "row"
    same_columns = True

    def __init__(self, path: Path) -> None:
        self._counts = row_counts(path)
        self._group = lru_cache(maxsize=2)(partial(read_group, path))

    def rows(self) -> Iterator[TableRow]:
        number = 0
        for group in range(len(self._counts)):
            for at, values in enumerate(_plain_rows(self._group(group))):
                number += 1
                yield TableRow(number=number, at=(group, at), values=values)

    def row(self, at: tuple[int, int]) -> Values:
        group, place = at
        return next(iter(_plain_rows(self._group(group).slice(place, 1))))


def _plain_rows(table: Any) -> Iterable[Values]:
    """Rows as plain data, a few at a time; a text that is no UTF-8 is None, as if it were absent."""
    for batch in table.to_batches(max_chunksize=256):
        try:
            yield from batch.to_pylist()
        except UnicodeDecodeError:
            for at in range(batch.num_rows):
                yield {name: cell_at(batch.column(name), at) for name in batch.schema.names}
