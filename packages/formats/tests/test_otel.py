"""Spans in OTLP/JSON: read by OpenTelemetry's own messages, named as its conventions name them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes
from opentelemetry.semconv.schemas import Schemas

from gnomon.core.errors import SpecError
from gnomon.exchange.format import files_of
from gnomon.exchange.otel_names import PROVIDERS, SCHEMA_URL
from gnomon.exchange.read_file import format_of
from tests.exchange_jobs import small_job

IDS = ("traceId", "spanId", "parentSpanId")


def lines() -> list[dict[str, Any]]:
    [file] = files_of("otel", small_job())
    return [json.loads(line) for line in b"".join(file.chunks).splitlines()]


def read(document: dict[str, Any]) -> list[Span]:
    """The spans of a line. OTLP/JSON has ids in hexadecimal, where Protobuf's JSON has base64."""
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                changed = {
                    name: base64.b64encode(bytes.fromhex(span[name])).decode() for name in IDS if name in span
                }
                span.update(changed)
    return list(Parse(json.dumps(document), TracesData()).resource_spans[0].scope_spans[0].spans)


def facts(span: Span) -> dict[str, Any]:
    kinds = ("string_value", "int_value", "double_value", "bool_value")
    return {
        item.key: next((getattr(item.value, kind) for kind in kinds if item.value.HasField(kind)), None)
        for item in span.attributes
    }


def test_a_trial_is_an_agent_with_its_chats_and_calls() -> None:
    root, *steps = read(lines()[0])
    assert root.name == "invoke_agent react"
    assert [span.name for span in steps] == [
        "chat openai/small",
        "execute_tool speed",
        "execute_tool speed",
        "chat openai/small",
        "execute_tool speed",
        "execute_tool plan",
        "chat openai/small",
    ]
    assert {span.parent_span_id for span in steps} == {root.span_id}
    assert {span.trace_id for span in [root, *steps]} == {root.trace_id}
    assert len({span.span_id for span in [root, *steps]}) == 8
    assert [span.start_time_unix_nano for span in steps[1:]] == [
        span.end_time_unix_nano for span in steps[:-1]
    ]
    assert root.end_time_unix_nano >= steps[-1].end_time_unix_nano
    assert root.events[0].name == "gen_ai.evaluation.result"
    assert facts(steps[0])["gen_ai.usage.input_tokens"] == 100
    assert facts(steps[0])["gen_ai.usage.reasoning.output_tokens"] == 7
    assert facts(steps[2])["error.type"] == "bad_arguments"
    assert steps[2].status.code == Status.STATUS_CODE_ERROR


def test_messages_have_the_form_of_the_conventions() -> None:
    _, first, _, _, second, *_ = read(lines()[0])
    [answer] = json.loads(facts(first)["gen_ai.output.messages"])
    assert [part["type"] for part in answer["parts"]] == ["reasoning", "tool_call", "tool_call"]
    asked = json.loads(facts(second)["gen_ai.input.messages"])
    assert [message["role"] for message in asked] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert [part["type"] for part in asked[1]["parts"]] == ["text", "uri", "uri"]
    assert asked[5]["parts"][0]["type"] == "tool_call_response"
    assert asked[5]["parts"][0]["id"] == "c1"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"resourceSpans": []}', "these are spans of OpenTelemetry, which are written and not read"),
        ('{"gnomon_cassette": 1}', "this is a cassette: an arm replays it"),
    ],
)
def test_spans_and_cassettes_are_refused_as_what_they_are(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "ours.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(SpecError, match=says):
        format_of(path)


def test_what_is_unknown_is_left_out() -> None:
    _, chat = read(lines()[1])
    assert "gen_ai.usage.input_tokens" not in facts(chat)
    missing = read(lines()[2])
    assert [span.name for span in missing] == ["invoke_agent react"]
    assert facts(missing[0])["error.type"] == "provider:timeout"
    assert not missing[0].events


def test_names_are_those_of_the_pinned_conventions() -> None:
    defined = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    defined.add(error_attributes.ERROR_TYPE)
    used = {
        name
        for document in lines()
        for span in read(document)
        for item in [*span.attributes, *(each for event in span.events for each in event.attributes)]
        if not (name := item.key).startswith("gnomon.")
    }
    assert used <= defined
    assert max(Schemas, key=lambda schema: tuple(map(int, schema.name[1:].split("_")))).value == SCHEMA_URL
    values = gen_ai_attributes.GenAiProviderNameValues
    assert set(PROVIDERS.values()) <= {value.value for value in values}
    operations = {value.value for value in gen_ai_attributes.GenAiOperationNameValues}
    assert {"chat", "execute_tool", "invoke_agent"} <= operations
