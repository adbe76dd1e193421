"""Imports LangGraph before a worker forks, and runs graphs and plain loops in it, without tracing."""

import asyncio
import functools
import importlib
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from gnomon.core.agent import AgentContext
from tools.core.lazy_imports import blocked, hollow, late, late_validators

OnResume = Callable[[dict[str, Any]], Awaitable[None]]
T = TypeVar("T")
MAX_STEPS = 25  # of a graph; what a loop runs within inherits it

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
# What these try to import and do without where it is not installed.
DISPENSABLE = ("psutil",)  # figures for langsmith: 0.8 MB
# Packages of which these need one type each; the rest is clients of servers that nothing here calls.
LARGE = ("langgraph_sdk", "langgraph_sdk.auth", "langsmith.types")
# What they name at their start and use in runs that are sent to LangSmith, or with models that nobody has
# here: 9 MB. In such a run it is imported then.
LATE = (
    "langsmith.client",
    "requests",
    "langsmith._httpx",
    "html",
    "jsonpatch",
    "langchain_protocol",
    "langchain_protocol.protocol",
)


def load() -> None:
    """Import what a trial on a graph needs; of LangSmith's and LangChain's models few are ever used."""
    with blocked(*DISPENSABLE), hollow(*LARGE), late(*LATE), late_validators():
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


class SharedRun:
    """A run of one workflow, in which the loops of many trials run beside each other.

    It begins with the first of them and ends with the last. A run for each trial would cost as much CPU time
    as all HTTP calls of a short trial, and 33 kB while it waits for the model.
    """

    def __init__(self) -> None:
        """Begin the run, on the loop that is running."""
        self.loops = 0
        self._config: asyncio.Future[RunnableConfig] = asyncio.get_running_loop().create_future()
        self._is_over = asyncio.Event()
        # In a context of its own: that of the trial which comes first ends with it.
        self._run = asyncio.create_task(self._hold(), context=Context())
        self._run.add_done_callback(self._ended)

    async def run(self, loop: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a trial's loop within, in the task of the caller: what it calls finds its configuration.

        Context variables that the loop sets stay set.
        """
        from langchain_core.runnables.config import var_child_runnable_config

        token = var_child_runnable_config.set(await asyncio.shield(self._config))
        try:
            return await loop()
        finally:
            var_child_runnable_config.reset(token)

    def end(self) -> None:
        """No loop is in it any more."""
        self._is_over.set()

    async def _hold(self) -> None:
        from langsmith import tracing_context

        with tracing_context(enabled=False):
            await _shared_workflow().ainvoke((self._config, self._is_over), {"recursion_limit": MAX_STEPS})

    def _ended(self, run: "asyncio.Task[None]") -> None:
        error = None if run.cancelled() else run.exception()
        if error is not None and not self._config.done():
            self._config.set_exception(error)


_shared_runs: "WeakKeyDictionary[asyncio.AbstractEventLoop, SharedRun]" = WeakKeyDictionary()


async def in_shared_run(loop: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What a trial's loop returns, run in the workflow that all trials of this event loop share."""
    here = asyncio.get_running_loop()
    if (shared := _shared_runs.get(here)) is None:
        shared = _shared_runs[here] = SharedRun()
    shared.loops += 1
    try:
        return await shared.run(loop)
    finally:
        shared.loops -= 1
        if not shared.loops:
            del _shared_runs[here]
            shared.end()


@functools.cache
def _shared_workflow() -> "Pregel[Any, Any, Any, Any]":
    """A workflow of LangGraph's functional API that tells its configuration and stays until all is over."""
    from langgraph.config import get_config
    from langgraph.func import entrypoint

    @entrypoint()
    async def trials(run: "tuple[asyncio.Future[RunnableConfig], asyncio.Event]") -> None:
        config, is_over = run
        if not config.done():
            config.set_result(get_config())
        await is_over.wait()

    return trials
