"""The queue of doubtful questions for a person, and what the person decided."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from gnomon.benchmarks.escherverse.loader import FILE
from gnomon.core.errors import DataError
from gnomon.core.validation import StrictModel
from gnomon.curation.consensus import Consensus
from gnomon.media.clip_folders import USUAL
from gnomon.whole_file import require_new_folder
from tools.core.regular_file import read_regular


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


def read_questions(data: Path) -> list[dict[str, Any]]:
    """The published entries, each with its index as text under `sample_id`'s rule.

    Raises:
        DataError: the file is absent or holds no list.
    """
    try:
        entries = json.loads(read_regular(data / FILE))
    except (OSError, ValueError) as error:
        raise DataError(f"{data / FILE} cannot be read: {error}", field="data") from None
    if not isinstance(entries, list):
        raise DataError(f"{data / FILE} holds no list of questions", field="data")
    return [entry for entry in entries if isinstance(entry, dict)]


def by_index(entries: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The entries by the id that their samples carry."""
    return {str(entry.get("index", number)).strip(): entry for number, entry in enumerate(entries)}


def write_reviewed(
    results: Sequence[Consensus], decisions: Mapping[str, Decision], *, data: Path, out: Path
) -> dict[str, int]:
    """Write the published file with agreed, kept and fixed questions only, the clips linked; how many each.

    A question without a decision is left out and counted as `undecided`.

    Raises:
        SpecError: `out` is not new or empty.
        DataError: as `read_questions`.
    """
    require_new_folder(out)
    entries = by_index(read_questions(data))
    counts = dict.fromkeys(("agreed", "keep", "fix", "drop", "undecided"), 0)
    kept = []
    for result in results:
        decided = decisions.get(result.sample_id)
        choice = decided.decision if decided else None
        name = choice or ("agreed" if result.standing == "agreed" else "undecided")
        counts[name] += 1
        if name in {"agreed", "keep", "fix"} and result.sample_id in entries:
            answer = {"A": decided.answer} if decided and choice == "fix" else {}
            kept.append({**entries[result.sample_id], **answer})
    out.mkdir(parents=True, exist_ok=True)
    (out / FILE).write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
    for folder in USUAL:
        if (data / folder).is_dir():
            (out / folder).symlink_to((data / folder).resolve(), target_is_directory=True)
    return counts
