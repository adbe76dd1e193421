"""Imports LangGraph before a worker forks, and runs graphs without tracing."""

import importlib
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from gnomon.core.agent import AgentContext
from tools.core.lazy_imports import blocked

OnResume = Callable[[dict[str, Any]], Awaitable[None]]

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.pregel import Pregel

# All that a run imports when it is first made; the tracers, used or not.
TRACERS = ("context", "run_collector", "stdout")
NEEDED = (
    "langgraph.func",
    "langgraph.graph",
    "langsmith",
    "agents.core.checkpointer",
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
    graph: "Pregel[Any, Any, Any, Any]",
    graph_input: Any,
    context: AgentContext,
    *,
    max_steps: int = 25,
    is_whole: bool = False,
    state_types: Sequence[type] = (),
    on_resume: OnResume | None = None,
) -> Any:
    """Run a compiled graph, or a workflow of the functional API, within a trial: what it returns.

    Its nodes find the trial's context as `runtime.context`. Nothing is sent to LangSmith, whatever the
    environment says. If the graph `is_whole`, all that the agent does, it has checkpoints where the trial
    keeps any, and goes on from the last one; `state_types` are the classes in its state beside plain data.
    `on_resume` is awaited before that, with the values of its channels.
    """
    from langsmith import tracing_context

    config: RunnableConfig = {"recursion_limit": max_steps}
    with tracing_context(enabled=False):
        if not is_whole or context.checkpoints is None or graph.checkpointer is not None:
            return await graph.ainvoke(graph_input, config, context=context)
        from agents.core.checkpointer import THREAD, TrialSaver

        saver = TrialSaver(context.checkpoints, context.prompt, state_types)
        if saver.load():
            graph_input = None
            if on_resume is not None:
                await on_resume(saver.values())
        saved = graph.copy(update={"checkpointer": saver})
        config["configurable"] = {"thread_id": THREAD}
        return await saved.ainvoke(graph_input, config, context=context, durability="sync")


def trial_context() -> AgentContext:
    """The context of the trial that this node or workflow runs in."""
    from langgraph.runtime import get_runtime

    return get_runtime(AgentContext).context
