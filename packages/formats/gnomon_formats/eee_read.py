"""Reads samples of Every Eval Ever (`…_samples.jsonl`, or the record beside them) as rows and traces."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.conversation import step_of, wish_of
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.json_lines import LenientModel, checked, document, lines
from gnomon.exchange.row_file import finite, tools_used
from gnomon_formats.eee_write import ROW
from gnomon_formats.reply_states import state_of
from gnomon_formats.row_mark import marked_row

SAMPLES = "_samples.jsonl"
Tokens = Annotated[int, Field(ge=0)]


class Asked(LenientModel):
    """What was asked."""

    raw: str
    formatted: str | None = None
    reference: list[str]
    choices: list[str] | None = None


class Output(LenientModel):
    """What was answered at once."""

    raw: list[str]
    reasoning_trace: list[str] | None = None


class ToolUse(LenientModel):
    """A call of a tool."""

    id: str
    name: str
    arguments: dict[str, str] | None = None


class Turn(LenientModel):
    """A message."""

    role: str
    content: str | None = None
    reasoning_trace: str | None = None
    tool_calls: list[ToolUse] | None = None
    tool_call_id: list[str] | None = None


class Extracted(LenientModel):
    """An answer that was read."""

    extracted_value: str
    is_terminal: bool


class Evaluation(LenientModel):
    """How it was scored."""

    score: float


class Usage(LenientModel):
    """What it has used."""

    input_tokens: Tokens
    output_tokens: Tokens
    input_tokens_cache_read: Tokens | None = None
    reasoning_tokens: Tokens | None = None


class Performance(LenientModel):
    """How long it took."""

    latency_ms: Annotated[float, Field(ge=0)] | None = None


class SampleLine(LenientModel):
    """A sample, as far as it is read."""

    evaluation_id: str
    model_id: Annotated[str, Field(min_length=1)]
    evaluation_name: str
    evaluation_result_id: str | None = None
    sample_id: Annotated[str, Field(min_length=1)]
    interaction_type: Literal["single_turn", "multi_turn", "agentic"]
    input: Asked
    output: Output | None = None
    messages: list[Turn] | None = None
    answer_attribution: tuple[Extracted, ...] = ()
    evaluation: Evaluation
    token_usage: Usage | None = None
    performance: Performance | None = None
    error: str | None = None
    metadata: dict[str, str] | None = None


@dataclass(slots=True)
class _Results:
    """Which result each sample has had, and how often."""

    of: dict[str, tuple[str, int]] = field(default_factory=dict)

    def repeat(self, line: SampleLine, where: str) -> int:
        """The number of the repeat that this line is.

        Raises:
            SpecError: the sample has come with another result.
        """
        name = line.evaluation_result_id or line.evaluation_name
        first, count = self.of.get(line.sample_id, (name, 0))
        if first != name:
            message = f"sample {line.sample_id!r} has several results; name one of them: {first}, {name}"
            raise SpecError(message, field=f"{where}, --scorer")
        self.of[line.sample_id] = (name, count + 1)
        return count


def read_records(path: Path, reading: Reading) -> Iterator[Ended]:
    """A trial for each sample; a sample that comes again is a further repeat.

    `arm` names the arm, else the sample's metadata do, else the evaluation's id. `scorer` picks one of
    several results by its id or name; `cluster` and `cell` name fields of the metadata.

    Raises:
        SpecError: a line breaks the format's rules, or a score is no share; names the line and the field.
    """
    results = _Results()
    for number, value in lines(_samples_of(path)):
        where = f"line {number}"
        line = checked(SampleLine, value, where=where)
        if reading.scorer in (None, line.evaluation_result_id, line.evaluation_name):
            yield _ended(line, where, reading, results.repeat(line, where))


def _samples_of(path: Path) -> Path:
    """The samples that a record names, which lie beside it; any other file as it is."""
    if path.suffix != ".json":
        return path
    record = document(path)
    detail = record.get("detailed_evaluation_results") if isinstance(record, Mapping) else None
    named = detail.get("file_path") if isinstance(detail, Mapping) else None
    beside = path.with_name(f"{path.stem}{SAMPLES}")
    if not isinstance(named, str) or not beside.is_file():
        message = f"{path.name} has no {beside.name} beside it: scores of single samples are needed"
        raise SpecError(message, field="FILE")
    return beside


def _ended(
    line: SampleLine,
    where: str,
    reading: Reading,
    repeat: int,
) -> Ended:
    metadata = line.metadata or {}
    score = finite(line.evaluation.score)
    if score is None:
        message = f"evaluation.score: {line.evaluation.score!r}; allowed: a number in [0, 1]"
        raise SpecError(message, field=where)
    trace = _trace(line)
    group = reading.cell.of(metadata) if reading.cell else ""
    cluster = reading.cluster.of(metadata) if reading.cluster else ""
    ours = _marked(metadata, where)
    if ours is not None and ours.score == score:
        return replace(ours, arm=reading.arm or ours.arm), trace
    tools = [step for step in trace["steps"] if step["kind"] == "tool"]
    usage, latency = line.token_usage, line.performance.latency_ms if line.performance else None
    final = next((each.extracted_value for each in line.answer_attribution if each.is_terminal), None)
    row = Row(
        job_id="",
        trial_id="",
        benchmark=line.evaluation_name,
        task=group or line.evaluation_name,
        cell=group or line.evaluation_name,
        sample_id=line.sample_id,
        cluster=cluster,
        model=line.model_id,
        arm=(reading.arm or metadata.get("arm") or line.evaluation_id)[:80],
        repeat=repeat,
        outcome=Outcome.SCORED,
        stop_reason="answered",
        score=score,
        answer=final,
        model_calls=sum(step["kind"] == "reply" for step in trace["steps"]),
        tool_calls=len(tools),
        tools_used=tools_used(tools),
        prompt_tokens=usage.input_tokens if usage else None,
        completion_tokens=usage.output_tokens if usage else None,
        cached_tokens=usage.input_tokens_cache_read if usage else None,
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        wall_s=(latency or 0.0) / 1000,
        error=(line.error or "")[:500],
        reply_state=state_of(trace["steps"], score=score, answer=final),
    )
    return row, trace


def _marked(metadata: Mapping[str, str], where: str) -> Row | None:
    text = metadata.get(ROW)
    if text is None:
        return None
    try:
        mark = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", field=f"{where}: metadata.{ROW}") from None
    return marked_row({"row": mark}, where=f"{where}: metadata.{ROW}")


def _trace(line: SampleLine) -> dict[str, Any]:
    if line.messages is None:
        prompt: list[dict[str, Any]] = [{"role": "user", "content": line.input.formatted or line.input.raw}]
        texts = line.output.raw if line.output else []
        thoughts = (line.output.reasoning_trace if line.output else None) or []
        steps = [
            step_of("reply", {"text": text, "reasoning": "\n".join(thoughts), "tool_calls": []})
            for text in texts
        ]
    else:
        first = next((at for at, turn in enumerate(line.messages) if turn.role == "assistant"), None)
        later = [] if first is None else line.messages[first:]
        prompt = [
            {"role": turn.role if turn.role in ("system", "user") else "user", "content": turn.content or ""}
            for turn in line.messages[:first]
        ]
        steps = list(_steps(later))
    replies = [step["text"] for step in steps if step["kind"] == "reply"]
    asked = {"choices": line.input.choices, "target": _target(line.input.reference)}
    return {"prompt": prompt, "steps": steps, "response": replies[-1] if replies else None, "asked": asked}


def _target(reference: Sequence[str]) -> str | list[str]:
    return reference[0] if len(reference) == 1 else list(reference)


def _steps(turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    calls: dict[str, ToolUse] = {}
    for turn in turns:
        wishes = turn.tool_calls or []
        calls |= {call.id: call for call in wishes}
        if turn.role == "assistant":
            shown = {
                "text": turn.content or "",
                "reasoning": turn.reasoning_trace or "",
                "tool_calls": [
                    wish_of(call.id, call.name, json.dumps(call.arguments or {})) for call in wishes
                ],
            }
            yield step_of("reply", shown)
        elif turn.role == "tool":
            call = calls.get((turn.tool_call_id or [""])[0])
            arguments = json.dumps(call.arguments or {}) if call else ""
            shown = {"name": call.name if call else "?", "arguments": arguments}
            yield step_of("tool", {**shown, "observation": turn.content or "", "error": None})
        else:
            yield step_of("note", {"text": f"{turn.role}: {turn.content or ''}"})
