"""Writes trials as ATIF trajectories, version 1.7: one JSON document per trial, one per line of a file."""

import json
from collections.abc import Iterator
from typing import Any

from gnomon.core.question_view import QuestionView
from gnomon.core.row import Row
from gnomon.exchange.conversation import (
    MARK,
    Entry,
    Json,
    Noted,
    Ran,
    Said,
    arguments_of,
    conversation,
    kept_of,
    name_of,
    prompt_of,
    without_none,
)
from gnomon.exchange.job_export import ExportedJob, ExportFile, asked_of, json_line
from gnomon.exchange.pictures import SUFFIXES, path_of, placeholder, tool_blocks
from gnomon_formats.row_mark import mark_of
from gnomon_tools.core.json_text import json_object

SCHEMA = "ATIF-v1.7"
COUNTS = {  # of a reply's metrics: ATIF's name, ours
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "cached_tokens": "cached_tokens",
    "cost_usd": "usd",
}
SHOWN = ("text", "reasoning", "tool_calls", *COUNTS.values())


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """The trajectories, and with media the pictures that they name."""
    hashes: dict[str, str] = {}
    yield ExportFile(name="trajectories.jsonl", chunks=_lines(job, hashes))
    if job.with_media:
        for sha256, media_type in hashes.items():
            data = job.picture(sha256)
            if data is not None:
                yield ExportFile(name=path_of(sha256, media_type), chunks=[data])


def _lines(job: ExportedJob, hashes: dict[str, str]) -> Iterator[bytes]:
    agents = {arm.name: arm.agent_label for arm in job.spec.arms}
    for row, trace in job.trials():
        hashes |= dict(_pictures(trace))
        question = job.question(row.sample_id, row.arm)
        yield json_line(
            trajectory_of(row, trace, agent=agents[row.arm], version=job.version, question=question)
        )


def _pictures(trace: Json | None) -> Iterator[tuple[str, str]]:
    for message in prompt_of(trace):
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "image":
                yield str(block["sha256"]), str(block["media_type"])
    for step in (trace or {}).get("steps") or ():
        for block in tool_blocks(step.get("pictures") or ()):
            yield block["sha256"], block["media_type"]


def trajectory_of(
    row: Row, trace: Json | None, *, agent: str, version: str, question: QuestionView | None = None
) -> dict[str, Any]:
    """A trial as a trajectory.

    Prompt and replies are steps, results stand beside the calls of their step; a call that the agent made by
    itself is a step without a model's call, a note one of the system. What ATIF has no field for is under
    `extra`.
    """
    steps = [_asked(message) for message in prompt_of(trace)]
    steps += [_step(entry, row) for entry in conversation(trace)]
    steps = steps or [{"source": "system", "message": f"no trace: {row.stop_reason}", "extra": {MARK: {}}}]
    totals = {
        "total_prompt_tokens": row.prompt_tokens,
        "total_completion_tokens": row.completion_tokens,
        "total_cached_tokens": row.cached_tokens,
        "total_cost_usd": row.usd,
    }
    choices, target = asked_of(question, trace)
    asked = {"asked": {"choices": choices, "target": target}} if choices or target else {}
    ours = {"row": mark_of(row), "response": (trace or {}).get("response"), **asked}
    return {
        "schema_version": SCHEMA,
        "session_id": row.job_id,
        "trajectory_id": row.trial_id,
        "agent": {
            "name": agent,
            "version": version,
            "model_name": row.model,
            "extra": {"arm": row.arm, "benchmark": row.benchmark},
        },
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": {**without_none(totals), "total_steps": len(steps), "extra": {"wall_s": row.wall_s}},
        "extra": {
            "sample_id": row.sample_id,
            "score": row.score,
            "outcome": row.outcome.value,
            "stop_reason": row.stop_reason,
            MARK: ours if trace is not None else {**ours, "has_trace": False},
        },
    }


def _asked(message: Json) -> dict[str, Any]:
    """A message of the prompt; what a step cannot hold of it is under `extra`."""
    role = message.get("role")
    source = role if role in ("system", "user") else "agent" if role == "assistant" else "user"
    content = message.get("content")
    step: dict[str, Any] = {"source": source, "message": _content(content)}
    blocks = content if isinstance(content, list) else []
    is_plain = set(message) <= {"role", "content"} and content is not None and role in ("system", "user")
    if is_plain and all(_is_plain(block) for block in blocks):
        return {**step, "extra": {MARK: {"is_prompt": True}}}
    return {**step, "extra": {MARK: {"is_prompt": True, "message": dict(message)}}}


def _is_plain(block: Json) -> bool:
    return block.get("type") == "text" or _is_image(block)


def _is_image(block: Json) -> bool:
    return block.get("type") == "image" and block.get("media_type") in SUFFIXES


def _content(content: object) -> str | list[dict[str, Any]]:
    return [_part(block) for block in content] if isinstance(content, list) else str(content or "")


def _part(block: Json) -> dict[str, Any]:
    if block.get("type") == "text":
        return {"type": "text", "text": str(block.get("text") or "")}
    if not _is_image(block):
        return {"type": "text", "text": placeholder(block)}
    media_type = str(block["media_type"])
    return {
        "type": "image",
        "source": {"media_type": media_type, "path": path_of(str(block["sha256"]), media_type)},
    }


def _step(entry: Entry, row: Row) -> dict[str, Any]:
    if isinstance(entry, Noted):
        mark = kept_of(entry.step, entry.place, shown=("text",))
        return {"source": "system", "message": str(entry.step.get("text") or ""), "extra": {MARK: mark}}
    if isinstance(entry, Ran):
        step = entry.step or {}
        call = _call(str(step.get("name")), str(step.get("arguments") or ""), f"own_{entry.place}")
        return {
            "source": "agent",
            "message": "",
            "tool_calls": [call],
            "observation": {"results": [_result(entry, call["tool_call_id"], shown=("name", "observation"))]},
            "llm_call_count": 0,
            "extra": {MARK: {}},
        }
    return _reply(entry, row)


def _reply(said: Said, row: Row) -> dict[str, Any]:
    step = said.step
    metrics = without_none({name: step.get(ours) for name, ours in COUNTS.items()})
    calls = [
        _call(name_of(ran.wish or {}), arguments_of(ran.wish or {}), _id_of(said, number))
        for number, ran in enumerate(said.calls)
    ]
    mark = kept_of(step, said.place, shown=SHOWN)
    ids = [(ran.wish or {}).get("id") for ran in said.calls]
    if ids != [call["tool_call_id"] for call in calls]:
        mark["call_ids"] = ids
    results = [
        _result(ran, call["tool_call_id"], shown=("name", "observation"))
        for ran, call in zip(said.calls, calls, strict=True)
        if ran.step is not None
    ]
    written: dict[str, Any] = {
        "source": "agent",
        "model_name": row.model,
        "message": str(step.get("text") or ""),
        "llm_call_count": 1,
        "extra": {MARK: mark},
    }
    if step.get("reasoning"):
        written["reasoning_content"] = step["reasoning"]
    if calls:
        written["tool_calls"] = calls
    if results:
        written["observation"] = {"results": results}
    return {**written, "metrics": metrics} if metrics else written


def _id_of(said: Said, number: int) -> str:
    """The call's id, made unique within its step."""
    ids = [str((ran.wish or {}).get("id") or "") for ran in said.calls]
    own = ids[number]
    return own if own and ids.count(own) == 1 else f"call_{said.place}_{number}"


def _call(name: str, text: str, call_id: str) -> dict[str, Any]:
    """A call; the arguments as the model wrote them where JSON says them otherwise."""
    arguments = json_object(text)
    call: dict[str, Any] = {"tool_call_id": call_id, "function_name": name, "arguments": arguments}
    return call if json.dumps(arguments) == text else {**call, "extra": {MARK: {"arguments": text}}}


def _result(ran: Ran, call_id: str, *, shown: tuple[str, ...]) -> dict[str, Any]:
    step = ran.step or {}
    said, pictures = str(step.get("observation") or ""), tool_blocks(step.get("pictures") or ())
    content = [{"type": "text", "text": said}, *map(_part, pictures)] if pictures else said
    return {
        "source_call_id": call_id,
        "content": content,
        "extra": {MARK: kept_of(step, ran.place, shown=shown)},
    }
