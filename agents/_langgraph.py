"""LangGraph, loaded before a worker forks, and without what it never uses here: 38 MB become 30."""

import importlib

from gnomon.imports import without

# All that a walk through a graph imports when it is first made; the tracers, used or not.
TRACERS = ("context", "run_collector", "stdout")
NEEDED = ("langgraph.graph", "langsmith", *(f"langchain_core.tracers.{name}" for name in TRACERS))
# What these try to import and do without where it is not installed.
DISPENSABLE = (
    "httpx._main",  # httpx' own command line, with click, rich and pygments: 4.4 MB
    "charset_normalizer",  # guesses the encoding of pages without one, for requests: 3.2 MB
    "opentelemetry",  # spans of langsmith, which is switched off: 1.1 MB
    "psutil",  # figures for langsmith: 0.7 MB
    "httpx2",  # langsmith takes httpx where it is absent, which is loaded anyway: 1.2 MB
)


def load() -> None:
    """Import what a trial on a graph needs."""
    with without(*DISPENSABLE):
        for name in NEEDED:
            importlib.import_module(name)
