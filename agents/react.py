"""ReAct: the model calls tools in turns until it answers.

The loop of Yao et al. (ReAct, 2023), a plain `while` in [`agents/react.py`](../agents/react.py) that runs as
a workflow of LangGraph's functional API ([why](adr/0013-functional-api.md)):

```
prompt ──> model ──(no calls)──> answer
             ▲  │
             │  └─(calls)──> tools
             └─────────────────┘
```

- **A bad call is never fatal and never repaired.** Unknown tool, arguments that are no JSON or not what the
  schema says, a tool's own error: each comes back to the model as a tool message with an `error`, and is
  counted in the row (`tool_errors`, and by kind in `tools_used`).
- **Call ids.** A missing or repeated id gets a new one that is unique in the conversation, in the call and in
  its answer alike. Good ids are kept.
- **`tool_choice: required`** holds until there was a call. Held longer, no model could ever answer. A trial
  in which the model does not call nevertheless gets the flag `required_call_missing`.
- **`tool_choice: none`** shows the tools and forbids calls, as in `direct`. A call made nevertheless is kept
  in the trace, not run, and flagged `forbidden_call`.
- **The last reply without a call is the answer.** When the arm's tool calls are used up, every further call
  of that reply is answered so, and the model is asked one last time without tools to choose from; if it calls
  again, the trial ends as `max_tool_calls`.
- **A worker that dies loses no turn.** In a job each turn and the run of its calls is a task of the workflow;
  what they returned is kept with the trial, and another worker goes on after the last one.
"""

import functools
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from agents.core.langgraph_runtime import is_loaded, run_graph, trial_context
from agents.core.tool_turn import run_call, tool_choice_now, tool_loop_calls, with_unique_ids
from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.arm import Arm
from gnomon.core.message import Message, ToolCall, ToolChoice

if TYPE_CHECKING:
    from langgraph.pregel import Pregel


class Turn(TypedDict):
    """A turn of the model, and what it was allowed to do."""

    message: Message
    text: str
    choice: ToolChoice


Ask = Callable[[list[Message]], Awaitable[Turn]]
Run = Callable[[Sequence[ToolCall]], Awaitable[list[Message]]]


class _React:
    """Reason and act: ask the model, run the tools it calls, show it the results, repeat."""

    name = "react"
    uses_tools = True
    description = "The model calls tools in turns, sees what they say, and answers when it is ready."

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        return tool_loop_calls(arm)

    async def answer(self, context: AgentContext) -> str:
        if is_loaded() and context.checkpoints is not None:
            return str(await run_graph(_resumable(), context.prompt, context, is_whole=True))
        return await react_from(context, context.prompt)


async def react_from(context: AgentContext, messages: list[Message]) -> str:
    """Run the loop from this conversation on; the text of the last reply.

    Raises:
        LimitReached: a limit of the arm ended it.
        ProviderFault, ModelFault: as the model raises them.
    """
    if not is_loaded():  # one trial on the command line: the import takes a second, the loop is the same
        return await _loop(messages, partial(_ask, context), partial(_run, context))
    return str(await run_graph(_workflow(), messages, context))


@functools.cache
def _workflow() -> "Pregel[Any, Any, Any, Any]":
    """The loop as a workflow of LangGraph's functional API."""
    from langgraph.func import entrypoint

    @entrypoint(context_schema=AgentContext)
    async def react_workflow(messages: list[Message]) -> str:
        context = trial_context()
        return await _loop(messages, partial(_ask, context), partial(_run, context))

    return react_workflow


@functools.cache
def _resumable() -> "Pregel[Any, Any, Any, Any]":
    """The workflow with each turn and its calls as tasks: what they returned is kept, and not done again."""
    from langgraph.func import entrypoint, task

    @task
    async def ask(messages: list[Message]) -> Turn:
        return await _ask(trial_context(), messages)

    @task
    async def run(calls: Sequence[ToolCall]) -> list[Message]:
        return await _run(trial_context(), calls)

    @entrypoint(context_schema=AgentContext)
    async def resumable_react(messages: list[Message]) -> str:
        return await _loop(messages, ask, run)

    return resumable_react


async def _loop(messages: list[Message], ask: Ask, run: Run) -> str:
    while True:
        turn = await ask(messages)
        message, calls = turn["message"], turn["message"].get("tool_calls", [])
        if not calls or turn["choice"] == "none":  # where the arm forbids calls, only what it said counts
            return turn["text"]
        messages = [*messages, message, *await run(calls)]


async def _ask(context: AgentContext, messages: list[Message]) -> Turn:
    choice = tool_choice_now(context)
    reply = await context.generate(messages, tool_choice=choice)
    if reply.tool_calls and choice == "none" and context.arm.tool_choice != "none":
        raise LimitReached("max_tool_calls")
    calls = [] if choice == "none" else with_unique_ids(reply.tool_calls, messages)
    return {"message": reply.message(calls=calls), "text": reply.text, "choice": choice}


async def _run(context: AgentContext, calls: Sequence[ToolCall]) -> list[Message]:
    return [run_call(context, call) for call in calls]


react = _React()
