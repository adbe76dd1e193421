"""Sends a span for every shard, every trial, and every reply and call of a tool in it, to the collector that
OTEL_EXPORTER_OTLP_ENDPOINT names.

Where that is not set nothing is imported and nothing is done. The spans carry ids, names and counts, by the
conventions for generative AI; prompts, answers and results stay in the store unless
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for them.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gnomon.core.row import Row
from gnomon.core.trace import NoteStep, ReplyStep, Step, ToolStep, Trace
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.trials.trial_plan import Trial

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span
    from opentelemetry.trace import Tracer as SpanTracer

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"  # of the OpenTelemetry specification, as are all OTEL_* variables
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"  # of OpenTelemetry's own instrumentations
FLUSH_MS = 5_000
NANOSECONDS = 1_000_000_000

log = logging.getLogger(__name__)
EndSpan = Callable[[Row], None]  # what the caller says when the trial has ended
Tracer = Callable[[Trial, Trace], AbstractContextManager[EndSpan]]


def _say_nothing(_row: Row) -> None:
    pass


def no_spans(_trial: Trial, _trace: Trace) -> AbstractContextManager[EndSpan]:
    """The tracer of a process that sends no spans."""
    return nullcontext(_say_nothing)


@contextmanager
def tracing(
    job_id: str,
    shard: int,
    *,
    worker: str,
    spec: JobSpec | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Iterator[Tracer]:
    """Trace what is done within: one span, which names the process' first shard, below it one for each trial,
    and below that those of its steps. `spec` says what the trials' models and agents are.

    Spans are sent in the background; a collector that is away costs some of them and never a trial.
    """
    if not environ.get(ENDPOINT):
        yield no_spans
        return
    if find_spec("opentelemetry") is None:
        log.warning(
            "no spans are sent to %s: that needs `pip install gnomon-eval[tracing]`", environ[ENDPOINT]
        )
        yield no_spans
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from gnomon.exchange.otel_names import SCHEMA_URL

    provider = TracerProvider(resource=Resource.create({"service.name": "gnomon-worker"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("gnomon", schema_url=SCHEMA_URL)
    names: dict[str, str | int] = {
        "gnomon.job": job_id,
        "gnomon.shard": shard,
        "gnomon.worker": worker,
    }
    with tracer.start_as_current_span("shard", attributes=names) as shard_span:
        parent = trace.set_span_in_context(shard_span)

        @contextmanager
        def span_of(trial: Trial, steps: Trace) -> Iterator[EndSpan]:
            said = SaidOfTrial.of(trial, spec, has_content=_is_on(environ.get(CONTENT)))
            with tracer.start_as_current_span("trial", context=parent, attributes=said.attributes()) as span:
                follow_steps(steps, tracer, trace.set_span_in_context(span), said)

                def end(row: Row) -> None:
                    span.set_attributes(facts_of(row))
                    said.end(span, row, steps)

                yield end

        yield span_of
    provider.force_flush(FLUSH_MS)
    provider.shutdown()


def _is_on(value: str | None) -> bool:
    return (value or "").lower() in ("true", "1", "span_only", "span_and_event")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfTrial:
    """What the spans of a trial say of it beside its steps."""

    trial: Trial
    model: ModelSpec
    agent: str
    has_content: bool

    @classmethod
    def of(cls, trial: Trial, spec: JobSpec | None, *, has_content: bool) -> "SaidOfTrial":
        """Of a trial of that spec; without one, the names in the trial."""
        model = spec.model(trial.model) if spec else ModelSpec(id=trial.model)
        agent = spec.arm(trial.arm).agent_label if spec else trial.arm
        return cls(trial=trial, model=model, agent=agent, has_content=has_content)

    def attributes(self) -> dict[str, Any]:
        """Of the trial's own span, at its start."""
        from gnomon.exchange.otel_names import AGENT, OPERATION, PROVIDER, provider_of

        return {
            "gnomon.trial": self.trial.trial_id,
            "gnomon.arm": self.trial.arm,
            "gnomon.model": self.trial.model,
            "gnomon.sample": self.trial.ref.sample_id,
            OPERATION: AGENT,
            PROVIDER: provider_of(self.model.id),
            "gen_ai.agent.name": self.agent,
            "gen_ai.request.model": self.model.id,
            "gen_ai.conversation.id": self.trial.trial_id,
        }

    def end(self, span: "Span", row: Row, steps: Trace) -> None:
        """Add what is known once the trial has ended: its score, and the conversation where it is wanted."""
        from gnomon.exchange.otel_names import evaluation_of, input_messages, output_messages

        if self.has_content:
            span.set_attribute("gen_ai.input.messages", input_messages(steps.prompt))
            if steps.response is not None:
                span.set_attribute("gen_ai.output.messages", output_messages({"text": steps.response}))
        if row.score is not None:
            name, attributes = evaluation_of(row)
            span.add_event(name, attributes)
        else:
            span.set_attribute("error.type", row.stop_reason)

    def of_step(self, step: ReplyStep | ToolStep) -> tuple[str, dict[str, Any]]:
        """Name and attributes of a step's span."""
        from gnomon.exchange.otel_names import (
            REQUESTED,
            chat_attributes,
            output_messages,
            provider_of,
            tool_attributes,
        )

        plain = {name: getattr(step, name) for name in step.__slots__}
        if isinstance(step, ToolStep):
            return f"execute_tool {step.name}", tool_attributes(
                plain, call_id=None, has_content=self.has_content
            )
        options = {name: getattr(self.model, name) for name in REQUESTED}
        said = chat_attributes(
            plain, model=self.model.id, provider=provider_of(self.model.id), options=options
        )
        if self.has_content:
            said["gen_ai.output.messages"] = output_messages(plain)
        return f"chat {self.model.id}", said


def follow_steps(steps: Trace, tracer: "SpanTracer", parent: "Context", said: SaidOfTrial) -> None:
    """Make a span of each step as it comes, as long as the step has taken."""
    from opentelemetry.trace import SpanKind, Status, StatusCode

    before = steps.watch

    def watch(step: Step) -> None:
        before(step)
        if isinstance(step, NoteStep):
            return
        name, attributes = said.of_step(step)
        end = time.time_ns()
        kind = SpanKind.CLIENT if isinstance(step, ReplyStep) else SpanKind.INTERNAL
        start = end - round(step.wall_s * NANOSECONDS)
        span = tracer.start_span(name, context=parent, kind=kind, attributes=attributes, start_time=start)
        if "error.type" in attributes:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end_time=end)

    steps.watch = watch


def facts_of(row: Row) -> dict[str, str | int | float]:
    """How a trial ended, as attributes of its span; what is unknown is left out."""
    facts = {
        "gnomon.outcome": row.outcome.value,
        "gnomon.stop_reason": row.stop_reason,
        "gnomon.score": row.score,
        "gnomon.model_calls": row.model_calls,
        "gnomon.tool_calls": row.tool_calls,
        "gnomon.attempt": row.attempt,
        "gen_ai.usage.input_tokens": row.prompt_tokens,
        "gen_ai.usage.output_tokens": row.completion_tokens,
        "gnomon.usd": row.usd,
    }
    return {name: value for name, value in facts.items() if value is not None}
