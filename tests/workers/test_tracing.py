"""Spans reach a collector over HTTP; where none is named nothing is sent or imported."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.workers.conftest import create
from tests.workers.tiny_worker import context_of
from workers.shard import run_shard
from workers.store import Store
from workers.tracing import ENDPOINT, no_spans, tracing


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


def test_each_trial_is_a_span_below_its_shards(
    real_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(real_store, 2, concurrency=64)
    with collector() as (url, bodies):
        monkeypatch.setenv(ENDPOINT, url)
        for shard in range(job.shards):
            run_shard(job.id, shard, context=context_of(real_store, tmp_path))
    sent = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    spans = [
        span
        for request in sent
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
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
