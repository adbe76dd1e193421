"""Writes trials as lines of chat JSONL, the form in which models are tuned."""

from collections.abc import Iterator
from typing import Any

from gnomon.core.row import Row
from gnomon.exchange.conversation import Json, Said, conversation, prompt_of
from gnomon.exchange.job_export import ExportedJob, ExportFile, json_line
from gnomon.exchange.pictures import ReadPicture, data_url


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """The one file; with media, pictures are data URLs in it."""
    yield ExportFile(name="chat.jsonl", chunks=_lines(job))


def _lines(job: ExportedJob) -> Iterator[bytes]:
    picture = job.picture if job.with_media else None
    for row, trace in job.trials():
        line = chat_of(row, trace, picture=picture)
        if line is not None:
            yield json_line(line)


def chat_of(row: Row, trace: Json | None, *, picture: ReadPicture | None = None) -> dict[str, Any] | None:
    """The conversation in the shape of OpenAI's messages, with sample, model and arm; None without a reply.

    Pictures stay hashes, as the trace has them, unless `picture` gives their bytes. Calls keep the arguments
    as the model wrote them. A call that was not run, and a tool that the agent called by itself, are left
    out: each call has its result.
    """
    said = [entry for entry in conversation(trace) if isinstance(entry, Said)]
    if not said:
        return None
    messages: list[Any] = [_message(message, picture) for message in prompt_of(trace)]
    for reply in said:
        messages += _turn(reply)
    facts = {"sample_id": row.sample_id, "model": row.model, "arm": row.arm, "repeat": row.repeat}
    task = {"benchmark": row.benchmark, "task": row.task, "cell": row.cell, "cluster": row.cluster}
    return {"messages": messages, **facts, **task, "score": row.score}


def _message(message: Json, picture: ReadPicture | None) -> Json:
    content = message.get("content")
    if picture is None or not isinstance(content, list):
        return message
    urls = [data_url(block, picture) if block.get("type") != "text" else None for block in content]
    blocks = [
        block if url is None else {"type": "image_url", "image_url": {"url": url}}
        for block, url in zip(content, urls, strict=True)
    ]
    return {**message, "content": blocks}


def _turn(reply: Said) -> Iterator[dict[str, Any]]:
    """A reply with those of its calls that were run, then their results."""
    run = [(call.wish, call.step) for call in reply.calls if call.wish and call.step]
    message: dict[str, Any] = {"role": "assistant", "content": reply.step.get("text") or ""}
    if reply.step.get("reasoning"):
        message["reasoning_content"] = reply.step["reasoning"]
    yield {**message, "tool_calls": [wish for wish, _ in run]} if run else message
    for wish, result in run:
        yield {"role": "tool", "tool_call_id": wish.get("id"), "content": result.get("observation") or ""}
