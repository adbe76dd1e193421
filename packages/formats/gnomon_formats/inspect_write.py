"""Writes rows as logs of Inspect AI, one for each model and arm, as JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gnomon.core.question_view import QuestionView
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.conversation import (
    MARK,
    Json,
    Noted,
    Ran,
    Said,
    arguments_of,
    in_turn,
    kept_of,
    name_of,
    prompt_of,
    without_none,
)
from gnomon.exchange.job_export import ExportedJob, ExportFile, asked_of, file_name
from gnomon.exchange.pictures import ReadPicture, data_url, placeholder, tool_blocks
from gnomon_formats.row_mark import mark_of
from gnomon_tools.core.json_text import json_object

VERSION = 2
SCORER = "gnomon"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHeader:
    """What a log says before its samples; counted over its rows, without their traces."""

    job_id: str
    created: str
    benchmark: str
    model: str
    arm: str
    sample_ids: Sequence[str]
    epochs: int
    total: int
    scored: int
    mean: float

    def as_json(self) -> dict[str, Any]:
        started = _iso(self.created)
        metric = {"name": "mean", "value": self.mean, "params": {}, "metadata": {}}
        return {
            "version": VERSION,
            "status": "success",
            "eval": {
                "run_id": self.job_id,
                "eval_id": f"{self.job_id}-{self.model}-{self.arm}",
                "task_id": self.job_id,
                "created": started,
                "task": self.benchmark,
                "task_version": 0,
                "task_args": {},
                "solver": self.arm,
                "dataset": {
                    "name": self.benchmark,
                    "samples": len(self.sample_ids),
                    "sample_ids": list(self.sample_ids),
                },
                "model": self.model,
                "model_args": {},
                "config": {"epochs": self.epochs},
                "packages": {},
                "metadata": {"gnomon_job": self.job_id},
            },
            "plan": {"name": "plan", "steps": [{"solver": self.arm, "params": {}}], "config": {}},
            "results": {
                "total_samples": self.total,
                "completed_samples": self.scored,
                "scores": [{"name": SCORER, "scorer": SCORER, "params": {}, "metrics": {"mean": metric}}],
            },
            "stats": {"started_at": started, "completed_at": started, "model_usage": {}},
        }


def header_of(rows: Iterable[Row], *, job_id: str, created: str) -> LogHeader:
    """What a log of these rows says before its samples; `created` is a time in ISO 8601.

    Raises:
        ValueError: there are no rows, or they are of several arms.
    """
    groups: set[tuple[str, str, str]] = set()
    samples: dict[str, None] = {}
    epochs = total = scored = 0
    summed = 0.0
    for row in rows:
        groups.add((row.benchmark, row.model, row.arm))
        samples[row.sample_id] = None
        epochs, total = max(epochs, row.repeat + 1), total + 1
        if row.score is not None:
            scored, summed = scored + 1, summed + row.score
    if len(groups) != 1:
        raise ValueError("a log holds the rows of one model and one arm")
    [(benchmark, model, arm)] = groups
    return LogHeader(
        job_id=job_id,
        created=created,
        benchmark=benchmark,
        model=model,
        arm=arm,
        sample_ids=sorted(samples),
        epochs=epochs,
        total=total,
        scored=scored,
        mean=summed / scored if scored else 0.0,
    )


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """A log for each model and arm; with media, pictures are data URLs in it."""
    for model, arm in job.groups():
        yield ExportFile(name=f"{file_name(job.job_id, model, arm)}.json", chunks=_pieces(job, model, arm))


def _pieces(job: ExportedJob, model: str, arm: str) -> Iterator[bytes]:
    header = header_of(job.rows(model, arm), job_id=job.job_id, created=job.created).as_json()
    yield json.dumps(header, allow_nan=False)[:-1].encode() + b', "samples": ['
    for number, sample in enumerate(samples_of(job, model, arm)):
        yield (b", " if number else b"") + json.dumps(sample, allow_nan=False).encode()
    yield b"]}"


def samples_of(job: ExportedJob, model: str, arm: str) -> Iterator[dict[str, Any]]:
    """The samples of a log, one for each trial."""
    picture = job.picture if job.with_media else None
    for row, trace in job.trials(model, arm):
        yield sample_of(row, trace, job.question(row.sample_id, row.arm), picture=picture)


def _iso(created: str) -> str:
    time = datetime.fromisoformat(created) if created else datetime.fromtimestamp(0, UTC)
    return time.astimezone(UTC).isoformat(timespec="seconds")


def sample_of(
    row: Row, trace: Json | None, view: QuestionView | None, *, picture: ReadPicture | None = None
) -> dict[str, Any]:
    """A trial as a sample of a log.

    Its input is the prompt in the trace, pictures as their hashes in words unless `picture` gives their
    bytes; without a trace it is the question's text. `view` gives the options and the truth; without it they
    are those that the trace was imported with, or the target is empty. What Inspect has no field for is in
    the metadata.
    """
    prompt = [_prompt(message, picture) for message in prompt_of(trace)]
    response = (trace or {}).get("response")
    text = response if isinstance(response, str) else (row.answer or "")
    choice = {"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}
    usage = {"input_tokens": row.prompt_tokens or 0, "output_tokens": row.completion_tokens or 0}
    parts = {"input_tokens_cache_read": row.cached_tokens, "reasoning_tokens": row.reasoning_tokens}
    choices, target = asked_of(view, trace)
    messages, notes = _messages(trace, picture)
    sample: dict[str, Any] = {
        "id": row.sample_id,
        "epoch": row.repeat + 1,
        "input": prompt or (view.question if view else ""),
        "choices": choices,
        "target": target,
        "messages": [*prompt, *messages],
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
            MARK: {"row": mark_of(row), "notes": notes, "response": response},
        },
        "model_usage": {row.model: {**usage, "total_tokens": sum(usage.values()), **without_none(parts)}}
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


def _prompt(message: Json, picture: ReadPicture | None) -> dict[str, Any]:
    """A message of the prompt as Inspect's; what that cannot hold is in its metadata."""
    written = {"role": message.get("role", "user"), "content": _content(message.get("content"), picture)}
    is_plain = set(message) <= {"role", "content"} and not _has_video(message)
    return written if is_plain else {**written, "metadata": {MARK: {"message": dict(message)}}}


def _has_video(message: Json) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(block.get("type") == "video" for block in content)


def _content(content: object, picture: ReadPicture | None) -> str | list[dict[str, Any]]:
    if not isinstance(content, list):
        return str(content or "")
    return [_block(block, picture) for block in content]


def _block(block: Json, picture: ReadPicture | None) -> dict[str, Any]:
    if block.get("type") == "text":
        return {"type": "text", "text": block["text"]}
    url = data_url(block, picture) if picture else None
    return {"type": "text", "text": placeholder(block)} if url is None else {"type": "image", "image": url}


def _messages(
    trace: Json | None, picture: ReadPicture | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Replies and tool results of a trace, and its notes, for which Inspect has no message."""
    messages: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for entry in in_turn(trace):
        if isinstance(entry, Noted):
            notes.append(kept_of(entry.step, entry.place, shown=()))
        else:
            messages.append(_result(entry, picture) if isinstance(entry, Ran) else _reply(entry))
    return messages, notes


def _reply(said: Said) -> dict[str, Any]:
    step = said.step
    message: dict[str, Any] = {"role": "assistant", "content": step.get("text") or ""}
    if step.get("reasoning"):
        spoken = {"type": "text", "text": message["content"]}
        message["content"] = [{"type": "reasoning", "reasoning": step["reasoning"]}, spoken]
    calls = [_call(call.wish or {}) for call in said.calls]
    mark = kept_of(step, said.place, shown=("text", "reasoning", "tool_calls"))
    texts = [arguments_of(call.wish or {}) for call in said.calls]
    if any(json.dumps(call["arguments"]) != text for call, text in zip(calls, texts, strict=True)):
        mark["arguments"] = texts  # as the model wrote them
    message["metadata"] = {MARK: mark}
    return {**message, "tool_calls": calls} if calls else message


def _result(ran: Ran, picture: ReadPicture | None) -> dict[str, Any]:
    step = ran.step or {}
    pictures = tool_blocks(step.get("pictures") or ()) if picture else []
    blocks = [_block(block, picture) for block in pictures]
    said = step.get("observation") or ""
    result: dict[str, Any] = {
        "role": "tool",
        "content": [{"type": "text", "text": said}, *blocks] if blocks else said,
        "function": step.get("name"),
        "tool_call_id": (ran.wish or {}).get("id"),
        "metadata": {MARK: kept_of(step, ran.place, shown=("name", "observation"))},
    }
    if step.get("error"):
        result["error"] = {"type": "unknown", "message": str(step["error"])}
    return result


def _call(wish: Json) -> dict[str, Any]:
    arguments = json_object(arguments_of(wish))
    return {"id": str(wish.get("id")), "function": name_of(wish), "arguments": arguments}
