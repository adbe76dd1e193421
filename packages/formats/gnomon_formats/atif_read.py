"""Reads ATIF trajectories as rows and traces: a document or a list of them (.json), or one per line (.jsonl).

Versions 1.0 to 1.8; what a document has beyond the fields below is left aside.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.conversation import MARK, Json, in_order, place_in, step_of, wish_of
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.json_lines import LenientModel, checked, document, lines
from gnomon.exchange.named_field import NamedField
from gnomon.exchange.pictures import MEDIA_TYPES, PATH
from gnomon.exchange.row_file import finite, moment_in, summed, tools_used
from gnomon_formats.reply_states import state_of
from gnomon_formats.row_mark import marked_row

Count = Annotated[int, Field(ge=0)]
SCORES = ("extra.score", "extra.reward", "final_metrics.extra.score", "final_metrics.extra.reward")
SAMPLES = ("extra.sample_id", "extra.task_id", "extra.task_name", "trajectory_id", "session_id")


class Source(LenientModel):
    """Where a picture lies."""

    media_type: str
    path: str


class ContentPart(LenientModel):
    """A part of a message."""

    type: str
    text: str | None = None
    source: Source | None = None


class Call(LenientModel):
    """A call of a tool."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] | None = None


class Result(LenientModel):
    """What came back."""

    source_call_id: str | None = None
    content: str | list[ContentPart] | None = None
    extra: dict[str, Any] | None = None


class Observation(LenientModel):
    """What came back of a step's calls."""

    results: list[Result]


class Metrics(LenientModel):
    """What a step's reply has used."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost_usd: Annotated[float, Field(ge=0)] | None = None


class Step(LenientModel):
    """A turn."""

    step_id: int
    source: Literal["system", "user", "agent"]
    message: str | list[ContentPart]
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[Call] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    llm_call_count: Count | None = None
    timestamp: str | None = None
    extra: dict[str, Any] | None = None


class AgentPart(LenientModel):
    """The agent."""

    name: str
    version: str
    model_name: str | None = None


class FinalMetrics(LenientModel):
    """What the whole trajectory has used."""

    total_prompt_tokens: Count | None = None
    total_completion_tokens: Count | None = None
    total_cached_tokens: Count | None = None
    total_cost_usd: Annotated[float, Field(ge=0)] | None = None


class Trajectory(LenientModel):
    """A trajectory, as far as it is read."""

    schema_version: Annotated[str, Field(pattern=r"^ATIF-v1\.[0-8]$")]
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: AgentPart
    steps: list[Step]
    final_metrics: FinalMetrics | None = None
    extra: dict[str, Any] | None = None


def read_trajectories(path: Path, reading: Reading) -> Iterator[Ended]:
    """A trial for each trajectory. `arm` names the arm, else the agent's name does.

    `scorer` is the path of the score in a document, such as `extra.reward`, else the first of SCORES that it
    has; `cluster` and `cell` are paths as well. A trajectory without a score is missing.

    Raises:
        SpecError: a document breaks the format's rules, or a score is no share; names line and field.
    """
    for where, value in _documents(path):
        trajectory = checked(Trajectory, value, where=where)
        for number, step in enumerate(trajectory.steps, start=1):
            if step.step_id != number:
                raise SpecError(
                    f"steps.{number - 1}.step_id: {step.step_id} where {number} is due", field=where
                )
        yield _ended(trajectory, value, where, reading)


def _documents(path: Path) -> Iterator[tuple[str, Any]]:
    if path.suffix != ".json":
        for number, value in lines(path):
            yield f"line {number}", value
        return
    value = document(path)
    if isinstance(value, list):
        for number, item in enumerate(value, start=1):
            yield f"document {number}", item
    else:
        yield path.name, value


def at_path(value: object, path: str) -> object:
    """What a document holds at a path with dots; None where there is nothing.

    >>> at_path({"extra": {"reward": 1}}, "extra.reward")
    1
    """
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _ended(
    trajectory: Trajectory,
    value: Json,
    where: str,
    reading: Reading,
) -> Ended:
    mark = (trajectory.extra or {}).get(MARK)
    mark = mark if isinstance(mark, Mapping) else {}
    score = _score(value, reading.scorer, where)
    trace = _trace(trajectory, mark)
    replies = [step for step in trace["steps"] if step["kind"] == "reply"]
    tools = [step for step in trace["steps"] if step["kind"] == "tool"]
    totals, times = trajectory.final_metrics or FinalMetrics(), _times(trajectory, where)
    group = _field(value, reading.cell) or _named(value, "agent.extra.benchmark") or "trajectories"
    row = Row(
        job_id="",
        trial_id="",
        benchmark=_named(value, "agent.extra.benchmark") or "trajectories",
        task=group,
        cell=group,
        sample_id=next((name for path in SAMPLES if (name := _named(value, path))), "") or where,
        cluster=_field(value, reading.cluster),
        model=trajectory.agent.model_name
        or next((step.model_name for step in trajectory.steps if step.model_name), "model"),
        arm=(reading.arm or trajectory.agent.name)[:80],
        repeat=0,
        outcome=Outcome.INFRA_MISSING if score is None else Outcome.SCORED,
        stop_reason="atif:unscored" if score is None else "answered",
        score=score,
        answer=trace["response"],
        model_calls=_calls(trajectory),
        tool_calls=len(tools),
        tool_errors=sum(step.get("error") is not None for step in tools),
        tools_used=tools_used(tools),
        prompt_tokens=_total(totals.total_prompt_tokens, replies, "prompt_tokens"),
        completion_tokens=_total(totals.total_completion_tokens, replies, "completion_tokens"),
        cached_tokens=_total(totals.total_cached_tokens, replies, "cached_tokens"),
        usd=_cost(totals.total_cost_usd, replies),
        reply_state=state_of(trace["steps"], score=score, answer=None),
        started_at=times[0] if times else None,
        ended_at=times[-1] if times else None,
    )
    ours = marked_row(mark, where=f"{where}: extra.{MARK}.row")
    if ours is not None and ours.score == score:
        row = replace(ours, arm=reading.arm or ours.arm)  # else it has been scored again since
    return row, None if mark.get("has_trace") is False else trace


def _times(trajectory: Trajectory, where: str) -> list[str]:
    """When its steps were, as far as it says.

    Raises:
        SpecError: a step's time is none.
    """
    times = []
    for step in trajectory.steps:
        try:
            time = moment_in(step.timestamp)
        except ValueError as error:
            field = f"{where}: steps.{step.step_id - 1}.timestamp"
            raise SpecError(str(error), field=field) from None
        times += [time] if time else []
    return times


def _field(value: Json, named: NamedField | None) -> str:
    if named is None:
        return ""
    extra = value.get("extra")
    fields = {f"extra.{name}": each for name, each in extra.items()} if isinstance(extra, Mapping) else {}
    return named.of(fields | {named.name: at_path(value, named.name)})


def _named(value: Json, path: str) -> str:
    name = at_path(value, path)
    return str(name) if isinstance(name, (str, int, float)) and not isinstance(name, bool) else ""


def _score(value: Json, scorer: str | None, where: str) -> float | None:
    paths = (scorer,) if scorer else SCORES
    path, score = next(
        ((path, each) for path in paths if (each := at_path(value, path)) is not None), (paths[0], None)
    )
    if score is None:
        return None
    share = finite(score)
    if share is None:
        raise SpecError(f"{path}: {score!r}; allowed: a number in [0, 1]", field=where)
    return share


def _calls(trajectory: Trajectory) -> int:
    agents = [step for step in trajectory.steps if step.source == "agent" and not _is_prompt(step)]
    return sum(1 if step.llm_call_count is None else step.llm_call_count for step in agents)


def _total(total: int | None, replies: Sequence[Json], name: str) -> int | None:
    return summed(replies, name) if total is None else total


def _cost(total: float | None, replies: Sequence[Json]) -> float | None:
    costs = [reply.get("usd") for reply in replies]
    if total is None and costs and None not in costs:
        total = math.fsum(cost for cost in costs if cost is not None)
    return total


def _mark(extra: Json | None) -> Json | None:
    mark = (extra or {}).get(MARK)
    return mark if isinstance(mark, Mapping) else None


def _is_prompt(step: Step) -> bool:
    return bool((_mark(step.extra) or {}).get("is_prompt"))


def _trace(trajectory: Trajectory, mark: Json) -> dict[str, Any]:
    """Prompt, steps, the answer, and what was asked for, if it is known.

    Of another program's document what comes before the agent's first step is the prompt; what people say
    later is a note.
    """
    marks = [_mark(step.extra) for step in trajectory.steps]
    is_ours = all(each is not None for each in marks)
    first = next((at for at, step in enumerate(trajectory.steps) if step.source == "agent"), len(marks))
    prompt: list[dict[str, Any]] = []
    steps: list[tuple[object, dict[str, Any]]] = []
    for at, step in enumerate(trajectory.steps):
        if _is_prompt(step) if is_ours else at < first:
            prompt.append(_asked(step))
        else:
            steps += _steps(step)
    if is_ours:
        response = mark.get("response")
    else:
        texts = [step["text"] for _, step in steps if step["kind"] == "reply" and step["text"]]
        response = texts[-1] if texts else None
    asked = mark.get("asked")
    trace = {
        "prompt": prompt,
        "steps": in_order(steps),
        "response": response if isinstance(response, str) else None,
    }
    return {**trace, "asked": asked} if isinstance(asked, Mapping) else trace


def _asked(step: Step) -> dict[str, Any]:
    whole = (_mark(step.extra) or {}).get("message")
    if isinstance(whole, Mapping) and whole.get("role") in ("system", "user", "assistant", "tool"):
        return dict(whole)
    role = "assistant" if step.source == "agent" else step.source
    if isinstance(step.message, str):
        return {"role": role, "content": step.message}
    return {"role": role, "content": [_block(part) for part in step.message]}


def _block(part: ContentPart) -> dict[str, str]:
    if part.source is None:
        return {"type": "text", "text": part.text or ""}
    path = f"<{part.source.media_type} {part.source.path}>"
    return _picture_at(part.source.path) or {"type": "text", "text": path}


def _picture_at(path: str) -> dict[str, str] | None:
    """The block of a picture at such a path; None of any other path."""
    match = PATH.fullmatch(path)
    if match is None or match[2] not in MEDIA_TYPES:
        return None
    return {"type": "image", "sha256": match[1], "media_type": MEDIA_TYPES[match[2]]}


def _text(content: str | list[ContentPart] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    return "\n".join(block["text"] for part in content if (block := _block(part))["type"] == "text")


def _steps(step: Step) -> Iterator[tuple[object, dict[str, Any]]]:
    mark = _mark(step.extra)
    if step.source != "agent":
        yield place_in(mark), step_of("note", {"text": _text(step.message)}, mark)
        yield from _results(step)
        return
    calls = step.tool_calls or []
    if step.llm_call_count != 0:
        ids = (mark or {}).get("call_ids")
        names = ids if isinstance(ids, list) and len(ids) == len(calls) else [c.tool_call_id for c in calls]
        metrics = step.metrics or Metrics()
        shown = {
            "text": _text(step.message),
            "reasoning": step.reasoning_content or "",
            "tool_calls": [
                wish_of(name, call.function_name, _arguments(call))
                for name, call in zip(names, calls, strict=True)
            ],
            "prompt_tokens": metrics.prompt_tokens,
            "completion_tokens": metrics.completion_tokens,
            "cached_tokens": metrics.cached_tokens,
            "usd": metrics.cost_usd,
        }
        yield place_in(mark), step_of("reply", shown, mark)
    yield from _results(step)


def _arguments(call: Call) -> str:
    text = (_mark(call.extra) or {}).get("arguments")
    return text if isinstance(text, str) else json.dumps(call.arguments)


def _results(step: Step) -> Iterator[tuple[object, dict[str, Any]]]:
    calls = {call.tool_call_id: call for call in step.tool_calls or ()}
    for result in (step.observation or Observation(results=[])).results:
        call, mark = calls.get(result.source_call_id or ""), _mark(result.extra)
        if call is None:
            yield place_in(mark), step_of("note", {"text": _text(result.content)})
            continue
        shown = {"name": call.function_name, "observation": _text(result.content)}
        if mark is None:
            shown["arguments"] = _arguments(call)
            yield None, {**step_of("tool", shown), "error": None}
        else:
            yield place_in(mark), step_of("tool", shown, mark)
