"""Reads row files: one result per line, as JSON or CSV; a report needs at least sample, arm and score."""

import csv
import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from gnomon.core.clusters import read_cluster
from gnomon.core.errors import SpecError
from gnomon.core.moments import moment_text
from gnomon.core.row import COLUMNS, ROW_COLUMNS, Row, RowColumn
from gnomon.core.score import Outcome
from gnomon.exchange import json_lines
from gnomon.large_cells import allow_large_cells

ENDINGS = (".ndjson", ".jsonl", ".csv")
MOMENTS = ("started_at", "ended_at")
A_TIME = "such as 2026-11-28T12:00:00Z"
TEXTS = tuple(column.name for column in ROW_COLUMNS if column.kind == "texts")


def _parsed(value: object) -> object:
    """A CSV cell that holds JSON, or nothing."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.startswith(("{", "[")) else value


DEFAULTS: dict[str, Any] = {  # of columns that every row has and a file need not have
    "job_id": "",
    "trial_id": "",
    "benchmark": "imported",
    "task": "imported",
    "cell": "",  # the task
    "cluster": "",
    "model": "model",
    "repeat": 0,
    "outcome": None,  # by the score
    "stop_reason": "",  # by the score
}


@functools.cache
def row_line() -> type[BaseModel]:
    """A line of a row file: the columns of `Row`. Needed are those without a default here and there."""
    return create_model(
        "RowLine",
        __config__=ConfigDict(extra="forbid", allow_inf_nan=False),
        **{column.name: _line_field(column) for column in sorted(ROW_COLUMNS, key=_has_default)},
    )


def _has_default(column: RowColumn) -> bool:
    return column.name in DEFAULTS or column.default is not MISSING


def _line_field(column: RowColumn) -> Any:
    form = column.form
    if column.name == "cluster":
        return Annotated[str, BeforeValidator(read_cluster)], DEFAULTS["cluster"]
    bounds = Field(ge=form.least, le=form.most, min_length=form.min_length, max_length=form.max_length)
    read_as = list[str] if column.kind == "texts" else column.type  # messages then call it a list
    kind = (
        Annotated[read_as, bounds, BeforeValidator(_parsed)] if column.is_json else Annotated[read_as, bounds]
    )
    default = DEFAULTS.get(column.name, column.default)
    return (
        kind | None if column.is_nullable or default is None else kind,
        ... if default is MISSING else default,
    )


def row_of_line(line: BaseModel) -> Row:
    """The row; without a score it is `infra_missing`, else `scored`, unless `outcome` says otherwise.

    Raises:
        ValueError: score and outcome contradict each other, a time is none, or the end is before the start.
    """
    values = {name: getattr(line, name) for name in COLUMNS}
    for name in MOMENTS:
        try:
            values[name] = moment_in(values[name])
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    began, ended = (values[name] for name in MOMENTS)
    if began and ended and ended < began:
        raise ValueError(f"ended_at: {ended} is before started_at, {began}")
    values |= {name: tuple(values[name]) for name in TEXTS}
    is_missing = values["score"] is None
    outcome = values["outcome"] or (Outcome.INFRA_MISSING if is_missing else Outcome.SCORED)
    if is_missing != (outcome == Outcome.INFRA_MISSING):
        raise ValueError("a score is null where the outcome is infra_missing, and nowhere else")
    reason = values["stop_reason"] or ("imported:missing" if is_missing else "answered")
    cell = values["cell"] or values["task"]
    return Row(**values | {"outcome": outcome, "stop_reason": reason, "cell": cell})


def read_rows(path: Path) -> list[Row]:
    """The rows of a .ndjson, .jsonl or .csv file.

    Raises:
        SpecError: it cannot be read, or a line is not a row; the message names the line and the field.
    """
    return list(iter_rows(path))


def iter_rows(path: Path) -> Iterator[Row]:
    """The rows of such a file, one at a time.

    Raises:
        SpecError: it cannot be read, or a line is not a row; the message names the line and the field.
    """
    for number, line in lines_of(path, absent=("score",)):
        try:
            yield row_of_line(json_lines.checked(row_line(), line, where=f"line {number}"))
        except ValueError as error:
            raise SpecError(str(error), field=f"line {number}") from None


def lines_of(path: Path, *, absent: Sequence[str] = ()) -> Iterator[tuple[int, object]]:
    """The lines of such a file with their numbers; in CSV an empty cell is none, or null in `absent` columns.

    Raises:
        SpecError: it cannot be read; the message names the line.
    """
    if path.suffix not in ENDINGS:
        raise SpecError(f"{path.name!r} is no row file; allowed: {', '.join(ENDINGS)}", field="FILE")
    if path.suffix != ".csv":
        yield from json_lines.lines(path)
        return
    try:
        with path.open(encoding="utf-8", newline="") as file:
            yield from _csv(file, absent)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path} cannot be read: {error}", field="FILE") from None


def _csv(file: Any, absent: Sequence[str]) -> Iterator[tuple[int, object]]:
    allow_large_cells()
    for number, line in enumerate(csv.DictReader(file), start=2):
        named = {name: value for name, value in line.items() if value != ""}
        yield number, {**dict.fromkeys(absent), **named}


def finite(value: object) -> float | None:
    """A number in [0, 1] as it is, else None.

    >>> finite(1), finite(True), finite(0.5), finite(2), finite("x")
    (1.0, 1.0, 0.5, None, None)
    """
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= 1:
        return None
    return float(value)


def moment_in(value: object) -> str | None:
    """A time in ISO 8601 as rows tell it: UTC, to the millisecond; a time without a zone is taken for UTC.

    >>> moment_in("2026-01-02T03:04:05+01:00"), moment_in("")
    ('2026-01-02T02:04:05.000Z', None)

    Raises:
        ValueError: it is no time; the message says what is allowed.
    """
    if value is None or value == "":
        return None
    try:
        return moment_text(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError):
        raise ValueError(f"{str(value)[:80]!r}; allowed: a time in ISO 8601, {A_TIME}") from None


def summed(parts: Sequence[Mapping[str, Any]], name: str) -> int | None:
    """The sum of a count over replies, or over models; None where there are none, or one is unknown."""
    counts = [part.get(name) for part in parts]
    return None if not counts or None in counts else sum(int(count or 0) for count in counts)


def tools_used(
    steps: Sequence[Mapping[str, Any]], *, bad: str = "bad_arguments"
) -> dict[str, dict[str, int]]:
    """The column `tools_used` of the steps of tools; `bad` is the error that says the arguments were."""
    used: dict[str, dict[str, int]] = {}
    for step in steps:
        counts = used.setdefault(str(step.get("name")), {"calls": 0, "bad_arguments": 0, "errors": 0})
        counts["calls"] += 1
        counts["bad_arguments"] += step.get("error") == bad
        counts["errors"] += step.get("error") is not None
    return used
