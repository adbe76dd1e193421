"""Lean: Redis' client in as little memory as it takes; first of all in a worker, before others import it."""

import importlib

from gnomon.imports import without

# Tried for metrics of Redis calls, which nobody asks for. Spans (`workers.tracing`) are made without it.
DISPENSABLE = ("opentelemetry",)  # 5.5 MB


def load_redis() -> None:
    """Import Redis' client without what it can do without."""
    with without(*DISPENSABLE):
        importlib.import_module("redis")
