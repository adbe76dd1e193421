"""Imports LangGraph before a worker forks, and runs graphs without tracing."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from gnomon.core.agent import AgentContext
from tools.core.lazy_imports import blocked

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

# All that a run imports when it is first made; the tracers, used or not.
TRACERS = ("context", "run_collector", "stdout")
NEEDED = (
    "langgraph.func",
    "langgraph.graph",
    "langsmith",
    *(f"langchain_core.tracers.{name}" for name in TRACERS),
)
# What these try to import and do without where it is not installed: 38 MB become 30.
DISPENSABLE = (
    "httpx._main",  # httpx' own command line, with click, rich and pygments: 4.4 MB
    "charset_normalizer",  # guesses the encoding of pages without one, for requests: 3.2 MB
    "opentelemetry",  # spans of langsmith, which is switched off: 1.1 MB
    "psutil",  # figures for langsmith: 0.7 MB
    "httpx2",  # langsmith takes httpx where it is absent, which is loaded anyway: 1.2 MB
)


def load() -> None:
    """Import what a trial on a graph needs."""
    with blocked(*DISPENSABLE):
        for name in NEEDED:
            importlib.import_module(name)


def is_loaded() -> bool:
    """Whether LangGraph has been imported, as it has in every worker."""
    return "langgraph.func" in sys.modules


async def run_graph(
    graph: "Pregel[Any, Any, Any, Any]", graph_input: Any, context: AgentContext, *, max_steps: int = 25
) -> Any:
    """Run a compiled graph, or a workflow of the functional API, within a trial: what it returns.

    Its nodes find the trial's context as `runtime.context`. Nothing is sent to LangSmith, whatever the
    environment says.
    """
    from langsmith import tracing_context

    with tracing_context(enabled=False):
        return await graph.ainvoke(graph_input, {"recursion_limit": max_steps}, context=context)


def trial_context() -> AgentContext:
    """The context of the trial that this node or workflow runs in."""
    from langgraph.runtime import get_runtime

    return get_runtime(AgentContext).context
