"""Rows written as a log of Inspect AI, one for each model and arm."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gnomon.core.question_view import QuestionView
from gnomon.core.row import Row
from gnomon.core.score import Outcome

VERSION = 2
SCORER = "gnomon"
ReadTrace = Callable[[str], Mapping[str, Any] | None]
ReadQuestion = Callable[[str], QuestionView | None]


def log_of(
    rows: Sequence[Row], *, job_id: str, created: str, trace: ReadTrace, question: ReadQuestion
) -> dict[str, Any]:
    """A log of these rows, which are of one model and one arm; `created` is a time in ISO 8601.

    A sample's input is the prompt in its trace, pictures as their hashes in words; without a trace it is the
    question's text. `question` gives a sample's options and truth; where it gives none, the target is empty.
    What Inspect has no field for is in each sample's metadata.

    Raises:
        ValueError: there are no rows, or they are of several arms.
    """
    if len({(row.model, row.arm) for row in rows}) != 1:
        raise ValueError("a log holds the rows of one model and one arm")
    first, scored = rows[0], [row.score for row in rows if row.score is not None]
    samples = sorted({row.sample_id for row in rows})
    started = _iso(created)
    mean = sum(scored) / len(scored) if scored else 0.0
    metric = {"name": "mean", "value": mean, "params": {}, "metadata": {}}
    return {
        "version": VERSION,
        "status": "success",
        "eval": {
            "run_id": job_id,
            "eval_id": f"{job_id}-{first.model}-{first.arm}",
            "task_id": job_id,
            "created": started,
            "task": first.benchmark,
            "task_version": 0,
            "task_args": {},
            "solver": first.arm,
            "dataset": {"name": first.benchmark, "samples": len(samples), "sample_ids": samples},
            "model": first.model,
            "model_args": {},
            "config": {"epochs": max(row.repeat for row in rows) + 1},
            "packages": {},
            "metadata": {"gnomon_job": job_id},
        },
        "plan": {"name": "plan", "steps": [{"solver": first.arm, "params": {}}], "config": {}},
        "results": {
            "total_samples": len(rows),
            "completed_samples": len(scored),
            "scores": [{"name": SCORER, "scorer": SCORER, "params": {}, "metrics": {"mean": metric}}],
        },
        "stats": {"started_at": started, "completed_at": started, "model_usage": {}},
        "samples": [_sample(row, trace(row.trial_id), question(row.sample_id)) for row in rows],
    }


def _iso(created: str) -> str:
    time = datetime.fromisoformat(created) if created else datetime.fromtimestamp(0, UTC)
    return time.astimezone(UTC).isoformat(timespec="seconds")


def _sample(row: Row, trace: Mapping[str, Any] | None, view: QuestionView | None) -> dict[str, Any]:
    prompt = _prompt((trace or {}).get("prompt") or ())
    response = (trace or {}).get("response")
    text = response if isinstance(response, str) else (row.answer or "")
    choice = {"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}
    usage = {"input_tokens": row.prompt_tokens or 0, "output_tokens": row.completion_tokens or 0}
    parts = {"input_tokens_cache_read": row.cached_tokens, "reasoning_tokens": row.reasoning_tokens}
    sample: dict[str, Any] = {
        "id": row.sample_id,
        "epoch": row.repeat + 1,
        "input": prompt or (view.question if view else ""),
        "choices": [option.text for option in view.options] if view and view.options else None,
        "target": _target(view),
        "messages": [*prompt, *_messages(trace or {})],
        "output": {"model": row.model, "choices": [choice], "completion": text},
        "metadata": {
            "task": row.task,
            "cell": row.cell,
            "cluster": row.cluster,
            "outcome": row.outcome.value,
            "stop_reason": row.stop_reason,
            "flags": list(row.flags),
            "metrics": dict(row.metrics),
            "usd": row.usd,
            "trial_id": row.trial_id,
        },
        "model_usage": {row.model: {**usage, "total_tokens": sum(usage.values()), **_known(parts)}}
        if row.prompt_tokens is not None or row.completion_tokens is not None
        else {},
        "total_time": row.wall_s,
        "working_time": row.wall_s,
        "uuid": row.trial_id,
    }
    if row.outcome == Outcome.INFRA_MISSING:
        sample["error"] = {"message": row.stop_reason, "traceback": "", "traceback_ansi": ""}
    else:
        sample["scores"] = {SCORER: {"value": row.score, "answer": row.answer, "metadata": {}}}
    return sample


def _known(counts: Mapping[str, int | None]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count is not None}


def _prompt(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The prompt as Inspect's messages; a picture is named by its hash, as its bytes are media."""
    return [
        {"role": message.get("role", "user"), "content": _content(message.get("content"))}
        for message in messages
    ]


def _content(content: object) -> str | list[dict[str, Any]]:
    if not isinstance(content, list):
        return str(content or "")
    return [
        {"type": "text", "text": block["text"]}
        if block.get("type") == "text"
        else {"type": "text", "text": f"<{block.get('media_type')} {block.get('sha256')}>"}
        for block in content
    ]


def _target(view: QuestionView | None) -> str | list[str]:
    """The right option's letter, those of several in their order, or the truth in words."""
    if view is None:
        return ""
    right = sorted((option for option in view.options if option.right), key=lambda option: option.right)
    letters = [option.letter for option in right]
    return view.truth_text if not letters else letters[0] if len(letters) == 1 else letters


def _messages(trace: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Replies and tool results of a trace."""
    messages: list[dict[str, Any]] = []
    waiting: list[Mapping[str, Any]] = []
    for step in trace.get("steps", ()):
        if step.get("kind") == "reply":
            waiting = list(step.get("tool_calls") or ())
            calls = [_call(call) for call in waiting]
            message: dict[str, Any] = {"role": "assistant", "content": step.get("text") or ""}
            if step.get("reasoning"):
                spoken = {"type": "text", "text": message["content"]}
                message["content"] = [{"type": "reasoning", "reasoning": step["reasoning"]}, spoken]
            messages.append({**message, "tool_calls": calls} if calls else message)
        elif step.get("kind") == "tool":
            call = waiting.pop(0) if waiting else {}
            result = {"role": "tool", "content": step.get("observation") or "", "function": step.get("name")}
            result["tool_call_id"] = call.get("id")
            if step.get("error"):
                result["error"] = {"type": "unknown", "message": str(step["error"])}
            messages.append(result)
    return messages


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    return {
        "id": str(call.get("id")),
        "function": str(function.get("name")),
        "arguments": arguments if isinstance(arguments, dict) else {},
    }
