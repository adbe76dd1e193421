"""Runs LangGraph graphs within a trial, with its checkpoints and without tracing.

LangGraph takes a second to import, so this module does it when a graph is run.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from gnomon.core.agent import AgentContext

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.pregel import Pregel

OnResume = Callable[[dict[str, Any]], Awaitable[None]]
MAX_STEPS = 25


async def run_graph(
    graph: "Pregel[Any, Any, Any, Any]",
    graph_input: Any,
    context: AgentContext,
    *,
    max_steps: int = MAX_STEPS,
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
        from gnomon_agents.core.checkpointer import THREAD, TrialSaver

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
