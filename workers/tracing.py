"""Sends a span for every shard and every trial to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names.

Where that is not set nothing is imported and nothing is done. The spans carry ids, names and counts; prompts
and answers stay in the store.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from gnomon.core.row import Row
from gnomon.trials.trial_plan import Trial

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"  # of the OpenTelemetry specification, as are all OTEL_* variables
FLUSH_MS = 5_000

EndSpan = Callable[[Row], None]  # what the caller says when the trial has ended
Tracer = Callable[[Trial], AbstractContextManager[EndSpan]]


def _say_nothing(_row: Row) -> None:
    pass


def no_spans(_trial: Trial) -> AbstractContextManager[EndSpan]:
    """The tracer of a process that sends no spans."""
    return nullcontext(_say_nothing)


@contextmanager
def tracing(
    job_id: str, shard: int, *, worker: str, environ: Mapping[str, str] = os.environ
) -> Iterator[Tracer]:
    """Trace what is done within: one span, which names the process' first shard, and one below it a trial.

    Spans are sent in the background; a collector that is away costs some of them and never a trial.
    """
    if not environ.get(ENDPOINT):
        yield no_spans
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "gnomon-worker"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("gnomon")
    names: dict[str, str | int] = {
        "gnomon.job": job_id,
        "gnomon.shard": shard,
        "gnomon.worker": worker,
    }
    with tracer.start_as_current_span("shard", attributes=names) as shard_span:
        parent = trace.set_span_in_context(shard_span)

        @contextmanager
        def span_of(trial: Trial) -> Iterator[EndSpan]:
            names_of_trial = {
                "gnomon.trial": trial.trial_id,
                "gnomon.arm": trial.arm,
                "gnomon.model": trial.model,
            }
            with tracer.start_as_current_span("trial", context=parent, attributes=names_of_trial) as span:
                yield lambda row: span.set_attributes(facts_of(row))

        yield span_of
    provider.force_flush(FLUSH_MS)
    provider.shutdown()


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
