"""Writes spans of OpenTelemetry, as lines of OTLP/JSON."""

from gnomon.exchange.format import LINES, Format
from gnomon_formats.otel_write import files

otel = Format(
    name="otel",
    about="spans.jsonl, OTLP/JSON spans of agents, chats and tools",
    files=files,
    media_type=LINES,
    is_single=True,
    is_of=lambda start: "resourceSpans" in start.fields,
    unread="these are spans of OpenTelemetry, which are written and not read",
)
