"""Reads row files: one result per line, as JSON or CSV; a report needs at least sample, arm and score."""

import csv
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome

ENDINGS = (".ndjson", ".jsonl", ".csv")


def _parsed(value: object) -> object:
    """A CSV cell that holds JSON, or nothing."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.startswith(("{", "[")) else value


Line = TypeVar("Line", bound=BaseModel)
Nested = BeforeValidator(_parsed)
Count = Annotated[int, Field(ge=0)]


class RowLine(BaseModel):
    """A line of a row file. Only `sample_id`, `arm` and `score` are needed; null as a score: missing."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    sample_id: Annotated[str, Field(min_length=1)]
    arm: Annotated[str, Field(min_length=1, max_length=80)]
    score: Annotated[float, Field(ge=0, le=1)] | None
    model: Annotated[str, Field(min_length=1)] = "model"
    repeat: Count = 0
    benchmark: str = "imported"
    task: str = "imported"
    cell: str = ""
    cluster: str = ""
    outcome: Outcome | None = None
    stop_reason: str = ""
    metrics: Annotated[dict[str, float | str | None], Nested] = {}
    answer: str | None = None
    flags: Annotated[list[str], Nested] = []
    model_calls: Count = 0
    tool_calls: Count = 0
    tool_errors: Count = 0
    tools_used: Annotated[dict[str, dict[str, int]], Nested] = {}
    cache_hits: Count = 0
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    usd: Annotated[float, Field(ge=0)] | None = None
    wall_s: Annotated[float, Field(ge=0)] = 0.0
    attempt: int = 1
    error: str = ""
    tools_offered: Count | None = None
    job_id: str = ""
    trial_id: str = ""

    def row(self) -> Row:
        """The row; without a score it is `infra_missing`, else `scored`, unless `outcome` says otherwise."""
        outcome = self.outcome or (Outcome.INFRA_MISSING if self.score is None else Outcome.SCORED)
        if (self.score is None) != (outcome == Outcome.INFRA_MISSING):
            raise ValueError("a score is null where the outcome is infra_missing, and nowhere else")
        reason = self.stop_reason or ("imported:missing" if self.score is None else "answered")
        values = self.model_dump(exclude={"outcome", "stop_reason", "cell", "flags"})
        return Row(
            **values,
            outcome=outcome,
            stop_reason=reason,
            cell=self.cell or self.task,
            flags=tuple(self.flags),
        )


def read_rows(path: Path) -> list[Row]:
    """The rows of a .ndjson, .jsonl or .csv file.

    Raises:
        SpecError: it cannot be read, or a line is not a row; the message names the line and the field.
    """
    rows = []
    for number, line in lines_of(path, absent=("score",)):
        try:
            rows.append(read_line(RowLine, number, line).row())
        except ValueError as error:
            raise SpecError(str(error), field=f"line {number}") from None
    return rows


def lines_of(path: Path, *, absent: Sequence[str] = ()) -> list[tuple[int, object]]:
    """The lines of such a file with their numbers; in CSV an empty cell is none, or null in `absent` columns.

    Raises:
        SpecError: it cannot be read; the message names the line.
    """
    if path.suffix not in ENDINGS:
        raise SpecError(f"{path.name!r} is no row file; allowed: {', '.join(ENDINGS)}", field="FILE")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(_csv(file, absent) if path.suffix == ".csv" else _json(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path} cannot be read: {error}", field="FILE") from None


def _json(file: Any) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(file, start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise SpecError(f"not JSON: {error}", field=f"line {number}") from None


def _csv(file: Any, absent: Sequence[str]) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(csv.DictReader(file), start=2):
        named = {name: value for name, value in line.items() if value != ""}
        yield number, {**dict.fromkeys(absent), **named}


def read_line(kind: type[Line], number: int, line: object) -> Line:
    """A line of that kind.

    Raises:
        SpecError: it is none; the message names the line and the field.
    """
    try:
        return kind.model_validate(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        message = first["msg"]
        if first["type"] == "extra_forbidden":
            message = f"not permitted; allowed: {', '.join(kind.model_fields)}"
        raise SpecError(f"{field}: {message}" if field else message, field=f"line {number}") from None


def finite(value: object) -> float | None:
    """A number in [0, 1] as it is, else None.

    >>> finite(1), finite(True), finite(0.5), finite(2), finite("x")
    (1.0, 1.0, 0.5, None, None)
    """
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= 1:
        return None
    return float(value)
