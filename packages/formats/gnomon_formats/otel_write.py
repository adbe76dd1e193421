"""Writes trials as OpenTelemetry spans in OTLP/JSON, one trial per line: agent, chats, calls of tools.

A trace keeps how long each step took and not when: within a trial steps lie one after another, and all trials
begin when the job did.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from gnomon.core.row import Row
from gnomon.exchange.conversation import Json, Ran, Said, in_turn, prompt_of, without_none
from gnomon.exchange.job_export import ExportedJob, ExportFile, json_line
from gnomon.exchange.otel_names import (
    AGENT,
    OPERATION,
    PROVIDER,
    REQUESTED,
    SCHEMA_URL,
    Value,
    chat_attributes,
    evaluation_of,
    input_messages,
    output_messages,
    provider_of,
    tool_attributes,
)
from gnomon.exchange.pictures import placeholder
from gnomon.spec.model_spec import ModelSpec

INTERNAL, CLIENT = 1, 3  # kinds of spans
ERROR = 2  # a status
NANOSECONDS = 1_000_000_000


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """The one file."""
    yield ExportFile(name="spans.jsonl", chunks=_lines(job))


def _lines(job: ExportedJob) -> Iterator[bytes]:
    agents = {arm.name: arm.agent_label for arm in job.spec.arms}
    models = {model.label: model for model in job.spec.models}
    start = int(datetime.fromisoformat(job.started).timestamp()) * NANOSECONDS
    for row, trace in job.trials():
        spans = spans_of(row, trace, agent=agents[row.arm], model=models[row.model], start_ns=start)
        yield json_line(_document(spans, job.version))


def _document(spans: list[dict[str, Any]], version: str) -> dict[str, Any]:
    resource = {"service.name": "gnomon", "service.version": version}
    scope = {"scope": {"name": "gnomon", "version": version}, "spans": spans, "schemaUrl": SCHEMA_URL}
    return {"resourceSpans": [{"resource": {"attributes": _listed(resource)}, "scopeSpans": [scope]}]}


def spans_of(
    row: Row, trace: Json | None, *, agent: str, model: ModelSpec, start_ns: int
) -> list[dict[str, Any]]:
    """The spans of a trial: the agent's first, with the score as its event."""
    spans = _Spans(row.trial_id, start_ns)
    provider = provider_of(model.id)
    messages = list(prompt_of(trace))
    root = {
        OPERATION: AGENT,
        PROVIDER: provider,
        "gen_ai.agent.name": agent,
        "gen_ai.request.model": model.id,
        "gen_ai.conversation.id": row.trial_id,
        "gen_ai.usage.input_tokens": row.prompt_tokens,
        "gen_ai.usage.output_tokens": row.completion_tokens,
        "gen_ai.input.messages": input_messages(messages) if trace else None,
        "error.type": None if row.score is not None else row.stop_reason,
        "gnomon.job": row.job_id,
        "gnomon.trial": row.trial_id,
        "gnomon.arm": row.arm,
        "gnomon.model": row.model,
        "gnomon.sample": row.sample_id,
        "gnomon.repeat": row.repeat,
        "gnomon.outcome": row.outcome.value,
        "gnomon.stop_reason": row.stop_reason,
        "gnomon.usd": row.usd,
    }
    inner: list[dict[str, Any]] = []
    options = {name: getattr(model, name) for name in REQUESTED}
    for entry in in_turn(trace):
        if isinstance(entry, Said):
            attributes = chat_attributes(entry.step, model=model.id, provider=provider, options=options)
            attributes["gen_ai.input.messages"] = input_messages(messages)
            attributes["gen_ai.output.messages"] = output_messages(entry.step)
            inner.append(spans.add(f"chat {model.id}", CLIENT, attributes, _seconds(entry.step)))
            messages.append(_as_message(entry.step))
        elif isinstance(entry, Ran):
            step = entry.step or {}
            call_id = None if entry.wish is None else str(entry.wish.get("id") or "") or None
            attributes = tool_attributes(step, call_id=call_id, has_content=True)
            inner.append(spans.add(f"execute_tool {step.get('name')}", INTERNAL, attributes, _seconds(step)))
            messages.append(_as_message(step, call_id))
    return [spans.root(f"invoke_agent {agent}", without_none(root), row), *inner]


def _seconds(step: Json) -> float:
    return float(step.get("wall_s") or 0.0)


class _Spans:
    """Makes the spans of one trial; ids are hashes, so that the same trial gives the same spans."""

    def __init__(self, trial_id: str, start_ns: int) -> None:
        self._trial, self._start, self._now, self._count = trial_id, start_ns, start_ns, 0

    def add(self, name: str, kind: int, attributes: Mapping[str, Value], seconds: float) -> dict[str, Any]:
        """A span below the root that begins where the last one ended."""
        self._count += 1
        begun, self._now = self._now, self._now + round(seconds * NANOSECONDS)
        return {
            **self._span(name, kind, self._count, begun, self._now, attributes),
            "parentSpanId": self._id(0),
        }

    def root(self, title: str, attributes: Mapping[str, Value], row: Row) -> dict[str, Any]:
        end = max(self._now, self._start + round(row.wall_s * NANOSECONDS))
        span = self._span(title, INTERNAL, 0, self._start, end, attributes)
        if row.score is None:
            return span
        name, evaluation = evaluation_of(row)
        event = {"timeUnixNano": str(end), "name": name, "attributes": _listed(evaluation)}
        return {**span, "events": [event]}

    def _span(
        self, name: str, kind: int, number: int, begun: int, end: int, attributes: Mapping[str, Value]
    ) -> dict[str, Any]:
        return {
            "traceId": hashlib.sha256(self._trial.encode()).hexdigest()[:32],
            "spanId": self._id(number),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(begun),
            "endTimeUnixNano": str(end),
            "attributes": _listed(attributes),
            "status": {"code": ERROR} if "error.type" in attributes else {},
        }

    def _id(self, number: int) -> str:
        return hashlib.sha256(f"{self._trial}/{number}".encode()).hexdigest()[:16]


def _listed(attributes: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items()]


def _value(value: Value) -> dict[str, Any]:
    """A value as OTLP/JSON has it; 64-bit integers are strings there."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [{"stringValue": item} for item in value]}}


def _as_message(step: Json, call_id: str | None = None) -> dict[str, Any]:
    """A reply or a result as a message of a trace's shape, for the input of the next reply."""
    if step.get("kind") == "reply":
        return {
            "role": "assistant",
            "content": step.get("text"),
            "tool_calls": step.get("tool_calls") or [],
        }
    pictures = [{"media_type": "image/png", "sha256": each} for each in step.get("pictures") or ()]
    said = "\n".join([str(step.get("observation") or ""), *map(placeholder, pictures)])
    return {"role": "tool", "content": said, "tool_call_id": call_id}
