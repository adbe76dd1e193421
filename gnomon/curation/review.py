"""The queue of doubtful questions for a person, and what the person decided."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from gnomon.core.errors import DataError
from gnomon.core.validation import StrictModel
from gnomon.curation.consensus import Consensus


class Decision(StrictModel):
    """A line of the queue with a person's decision; the line's other fields are for the person."""

    sample_id: str
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


def read_decisions(path: Path) -> dict[str, Decision]:
    """The decisions in a reviewed queue file, by sample.

    Raises:
        DataError: a line is not a decision; the message names it and the field.
    """
    names = set(Decision.model_fields)
    decisions: dict[str, Decision] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            fields = TypeAdapter(dict[str, Any]).validate_json(line)
            decision = Decision.model_validate({name: fields[name] for name in names & set(fields)})
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"])) or "line"
            raise DataError(f"{path.name}, line {number}, {where}: {fault['msg']}") from None
        decisions[decision.sample_id] = decision
    return decisions
