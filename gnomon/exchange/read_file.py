"""Reads a file of any format that `gnomon import` takes; which one it is, its ending and first lines say."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gnomon.core.errors import SpecError
from gnomon.exchange import json_lines, row_file
from gnomon.exchange.format import FORMATS, Format, Reading, Start, format_called, read_names
from gnomon.exchange.imported_job import Ended

ENDINGS = (".eval", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx")
READ = (
    "read are logs of Inspect AI (.eval, .json), samples of lm-eval and lmms-eval (.jsonl with `doc_id`), "
    "results of VLMEvalKit (.tsv, .xlsx or .csv with `index`), ATIF trajectories (`schema_version`), samples "
    "of Every Eval Ever (`evaluation_id`), chat lines (`messages`), rows (`sample_id`, `arm`, `score`)"
)
START = 4_096  # bytes in which a document says what it is


def read_file(path: Path, reading: Reading, *, kind: str | None = None) -> Iterator[Ended]:
    """The trials of a file, one at a time; `kind` names its format, else it is found.

    Raises:
        SpecError: it is of no format that is read here, or breaks its rules; names the line and the field.
    """
    form = format_called(kind, read_names()) if kind else format_of(path)
    if form.read is None:
        raise SpecError(form.unread or f"{form.name} is written and not read", field="FILE")
    return form.read(path, reading)


def format_of(path: Path) -> Format:
    """The format of a file.

    Raises:
        SpecError: its ending is none of those that are read, or it holds no trials.
    """
    if path.suffix not in ENDINGS:
        allowed = ", ".join(ENDINGS)
        raise SpecError(
            f"{path.name!r} is neither a log nor a row file; allowed endings: {allowed}", field="FILE"
        )
    start = _start_of(path)
    form = next((each for each in FORMATS if each.is_of(start)), None)
    if form is not None:
        if form.unread:
            raise SpecError(form.unread, field="FILE")
        return form
    raise SpecError(f"{_says(start)}; {READ}", field="FILE")


def _start_of(path: Path) -> Start:
    if path.suffix == ".csv":
        return Start(ending=path.suffix, columns=_columns(path))
    if path.suffix in row_file.ENDINGS:
        first = next(json_lines.lines(path), (0, None))[1]
        # An empty file, and one whose lines are no objects, is taken for rows, which say what is wrong.
        return Start(ending=path.suffix, fields=first if isinstance(first, Mapping) else {"sample_id": None})
    if path.suffix != ".json":
        return Start(ending=path.suffix)
    try:
        with path.open("rb") as file:
            return Start(ending=path.suffix, document=file.read(START))
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}", field="FILE") from None


def _columns(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path} cannot be read: {error}", field="FILE") from None


def _says(start: Start) -> str:
    if start.ending == ".csv":
        return f"it has the columns {_listed(start.columns)}"
    if start.ending != ".json":
        return f"its first line has the fields {_listed(start.fields)}"
    if b'"results"' in start.document:
        return "it holds totals, and scores of single samples are needed (`--log_samples`)"
    return "it begins as none of them does"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(str(name)[:40] for name in list(names)[:12]) or "none"
