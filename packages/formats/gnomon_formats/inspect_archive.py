"""Writes rows as Inspect AI's `.eval` logs: a zip with a file for each sample, so that a log of any size is
written and read in little memory.
"""

import json
from collections.abc import Iterator
from typing import Any

from gnomon.exchange.job_export import ExportedJob, ExportFile, file_name, zipped
from gnomon_formats.inspect_write import SCORER, LogHeader, header_of, samples_of

SHOWN = 300  # characters of an input in a log's list of samples


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """A log for each model and arm; with media, pictures are data URLs in it."""
    for model, arm in job.groups():
        header = header_of(job.rows(model, arm), job_id=job.job_id, created=job.created)
        name = f"{file_name(job.job_id, model, arm)}.eval"
        yield ExportFile(name=name, chunks=zipped(_members(job, header)))


def _members(job: ExportedJob, header: LogHeader) -> Iterator[ExportFile]:
    log = header.as_json()
    start = {name: log[name] for name in ("version", "eval", "plan")}
    yield _member("_journal/start.json", start)
    summaries: list[bytes] = []
    for sample in samples_of(job, header.model, header.arm):
        summaries.append(json.dumps(_summary(sample), allow_nan=False).encode())
        yield _member(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
    yield ExportFile(name="summaries.json", chunks=[b"[", b",".join(summaries), b"]"])
    yield _member("header.json", log)


def _member(name: str, value: object) -> ExportFile:
    return ExportFile(name=name, chunks=[json.dumps(value, allow_nan=False).encode()])


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    """A sample as the list of samples shows it."""
    blocks = sample["input"] if isinstance(sample["input"], list) else []
    texts = [str(_text(message.get("content"))) for message in blocks] or [str(sample["input"])]
    summary = {name: sample[name] for name in ("id", "epoch", "target", "total_time", "working_time", "uuid")}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {
        **summary,
        "input": "\n".join(texts)[:SHOWN],
        "scores": {SCORER: sample["scores"][SCORER]} if "scores" in sample else None,
        "model_usage": sample["model_usage"],
        "completed": True,
        "message_count": len(sample["messages"]),
        **error,
    }


def _text(content: object) -> str:
    blocks = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(str(block.get("text") or "") for block in blocks)
