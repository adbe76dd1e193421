"""The queue of doubtful questions for a person, and what the person decided."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from gnomon.core.errors import DataError
from gnomon.core.validation import StrictModel
from gnomon_analyses.reviews.consensus import Consensus

REVIEW_FILE = Path("build", "review.ndjson")  # in a folder of questions that were built


class QueueLine(StrictModel):
    """A line of the queue: those of its fields that matter here."""

    sample_id: str


L = TypeVar("L", bound=QueueLine)


class Decision(QueueLine):
    """A line of the queue with a person's decision; the line's other fields are for the person."""

    decision: Literal["keep", "fix", "drop"] | None = None
    answer: Annotated[str, Field(min_length=1)] | None = None
    note: str = ""

    @model_validator(mode="after")
    def _a_fix_has_an_answer(self) -> Self:
        if (self.decision == "fix") != (self.answer is not None):
            raise ValueError("`answer` goes with the decision `fix`, and with no other")
        return self


def queue_lines(results: Sequence[Consensus], questions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One JSON line for each question that is not agreed, with what a person needs to decide on it."""
    lines = []
    for result in results:
        if result.standing != "agreed":
            entry = questions.get(result.sample_id, {})
            fields = {
                **asdict(result),
                **{name: entry[name] for name in ("P", "Q", "A") if name in entry},
                "decision": None,
                "answer": None,
                "note": "",
            }
            lines.append(json.dumps(fields, ensure_ascii=False))
    return lines


class Measured(StrictModel):
    """What a rule has measured, and its limit."""

    value: float
    limit: float


class RawRows(StrictModel):
    """The rows of a target in a camera; the first and the last: second, frame, left, top, width, height."""

    target: str
    camera: str
    shown_as: str | None
    rows: int
    first: tuple[float, ...] = ()
    last: tuple[float, ...] = ()


class Doubt(QueueLine):
    """Why a question is doubtful: the rules whose limits are near, and the rows that it stands on."""

    near: dict[str, Measured]
    rows: list[RawRows]


def read_doubts(data: Path | None) -> dict[str, Doubt]:
    """What the build of a folder of questions says of those near a limit, the most doubtful first.

    Raises:
        DataError: as `read_decisions` does.
    """
    path = None if data is None else data / REVIEW_FILE
    return _read_lines(path, Doubt) if path and path.is_file() else {}


def read_decisions(path: Path) -> dict[str, Decision]:
    """The decisions in a reviewed queue file, by sample.

    Raises:
        DataError: a line is not a decision; the message names it and the field.
    """
    return _read_lines(path, Decision)


def _read_lines(path: Path, kind: type[L]) -> dict[str, L]:
    names = set(kind.model_fields)
    by_sample: dict[str, L] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            fields = TypeAdapter(dict[str, Any]).validate_json(line)
            read = kind.model_validate({name: fields[name] for name in names & set(fields)})
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"])) or "line"
            raise DataError(f"{path.name}, line {number}, {where}: {fault['msg']}") from None
        by_sample[read.sample_id] = read
    return by_sample
