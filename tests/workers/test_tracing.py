"""Spans reach a collector over HTTP; where none is named nothing is sent or imported."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.context import Context
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.trace import StatusCode

from gnomon.core.sample import SampleRef
from gnomon.core.trace import NoteStep, ToolStep, Trace
from gnomon.trials.trial_plan import Trial
from gnomon_workers.shard import run_shard
from gnomon_workers.store import Store
from gnomon_workers.store.records import JobRecord
from gnomon_workers.tracing import CONTENT, ENDPOINT, SaidOfTrial, follow_steps, no_spans, tracing
from tests.workers.conftest import create
from tests.workers.tiny_worker import context_of


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A loopback collector, and the bodies it was sent."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    thread.join()
    server.server_close()


def run_and_collect(store: Store, job: JobRecord, folder: Path, patch: pytest.MonkeyPatch) -> list[Span]:
    """The spans that a collector gets of a job's shards."""
    with collector() as (url, bodies):
        patch.setenv(ENDPOINT, url)
        for shard in range(job.shards):
            run_shard(job.id, shard, context=context_of(store, folder))
    sent = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    return [
        span
        for request in sent
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def test_each_trial_is_a_span_below_its_shards(
    real_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(real_store, 2, concurrency=64)
    spans = run_and_collect(real_store, job, tmp_path, monkeypatch)
    shards = {span.span_id for span in spans if span.name == "shard"}
    trials = [span for span in spans if span.name == "trial"]
    assert (len(shards), len(trials)) == (job.shards, 4)
    assert {span.parent_span_id for span in trials} == shards
    facts = {item.key: item.value for item in trials[0].attributes}
    assert facts["gnomon.outcome"].string_value == "scored"
    assert facts["gnomon.model_calls"].int_value == 1
    ended = {row.trial_id: row for row in real_store.iter_rows(job.id)}[facts["gnomon.trial"].string_value]
    assert (facts["gnomon.arm"].string_value, facts["gnomon.model"].string_value) == (ended.arm, ended.model)
    assert facts["gnomon.score"].double_value == ended.score


def test_each_reply_is_a_span_below_its_trial_without_its_words(
    real_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(real_store, 1, concurrency=64)
    spans = run_and_collect(real_store, job, tmp_path, monkeypatch)
    trials = {span.span_id: span for span in spans if span.name == "trial"}
    chats = [span for span in spans if span.name.startswith("chat ")]
    assert {span.parent_span_id for span in chats} == set(trials)
    facts = {item.key: item.value for span in chats for item in span.attributes}
    assert facts["gen_ai.operation.name"].string_value == "chat"
    assert not any("messages" in name for name in facts)
    for trial in trials.values():
        assert [event.name for event in trial.events] == ["gen_ai.evaluation.result"]
        assert {"gen_ai.agent.name", "gen_ai.request.model"} <= {item.key for item in trial.attributes}


def test_words_are_sent_where_they_are_asked_for(
    real_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTENT, "true")
    spans = run_and_collect(real_store, create(real_store, 1), tmp_path, monkeypatch)
    chat = next(span for span in spans if span.name.startswith("chat "))
    facts = {item.key: item.value.string_value for item in chat.attributes}
    [message] = json.loads(facts["gen_ai.output.messages"])
    assert message["role"] == "assistant"


def test_a_call_of_a_tool_is_a_span_as_long_as_the_call() -> None:
    sent: list[ReadableSpan] = []

    class Kept(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            sent.append(span)

    provider = TracerProvider()
    provider.add_span_processor(Kept())
    ref = SampleRef(sample_id="s", task="t", cell="c", cluster="")
    trial = Trial(trial_id="t", job_id="j", ref=ref, model="m", arm="a", repeat=0)
    said, steps = SaidOfTrial.of(trial, None, has_content=False), Trace()
    follow_steps(steps, provider.get_tracer("gnomon"), Context(), said)
    steps.add(NoteStep(text="waited"))
    steps.add(ToolStep(name="speed", arguments="{}", observation="no", error="timeout", wall_s=2.0))
    [span] = sent
    assert (span.name, span.status.status_code) == ("execute_tool speed", StatusCode.ERROR)
    assert span.start_time is not None
    assert span.end_time == span.start_time + 2 * 10**9
    assert dict(span.attributes or {})["error.type"] == "timeout"
    assert "gen_ai.tool.call.arguments" not in dict(span.attributes or {})


def test_a_collector_that_is_away_costs_no_trial(
    real_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    job = create(real_store, 1)
    run_shard(job.id, 0, context=context_of(real_store, tmp_path))
    assert real_store.job(job.id).counts.scored == 2


def test_without_a_collector_there_are_no_spans() -> None:
    with tracing("j", 0, worker="w", environ={}) as tracer:
        assert tracer is no_spans
