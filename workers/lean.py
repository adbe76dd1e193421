"""Lean: Redis' client in as little memory as it takes; first of all in a worker, before others import it."""

import importlib

from gnomon.imports import without

# Tried for metrics of Redis calls, which nobody asks for. Spans (`workers.tracing`) are made without it.
METRICS = "opentelemetry.sdk.metrics"  # 4.6 MB, with psutil


def load_redis() -> None:
    """Import Redis' client without OpenTelemetry's metrics."""
    with without(METRICS):
        importlib.import_module("redis")
