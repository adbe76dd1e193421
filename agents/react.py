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
"""

import functools
from typing import TYPE_CHECKING, Any

from agents.core.langgraph_runtime import is_loaded, run_graph, trial_context
from agents.core.tool_turn import run_call, tool_choice_now, tool_loop_calls, with_unique_ids
from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.arm import Arm
from gnomon.core.message import Message

if TYPE_CHECKING:
    from langgraph.pregel import Pregel


class _React:
    """Reason and act: ask the model, run the tools it calls, show it the results, repeat."""

    name = "react"
    uses_tools = True
    description = "The model calls tools in turns, sees what they say, and answers when it is ready."

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        return tool_loop_calls(arm)

    async def answer(self, context: AgentContext) -> str:
        return await react_from(context, context.prompt)


async def react_from(context: AgentContext, messages: list[Message]) -> str:
    """Run the loop from this conversation on; the text of the last reply.

    Raises:
        LimitReached: a limit of the arm ended it.
        ProviderFault, ModelFault: as the model raises them.
    """
    if not is_loaded():  # one trial on the command line: the import takes a second, the loop is the same
        return await _loop(context, messages)
    return str(await run_graph(_workflow(), messages, context))


@functools.cache
def _workflow() -> "Pregel[Any, Any, Any, Any]":
    """The loop as a workflow of LangGraph's functional API."""
    from langgraph.func import entrypoint

    @entrypoint(context_schema=AgentContext)
    async def react_workflow(messages: list[Message]) -> str:
        return await _loop(trial_context(), messages)

    return react_workflow


async def _loop(context: AgentContext, messages: list[Message]) -> str:
    while True:
        choice = tool_choice_now(context)
        reply = await context.generate(messages, tool_choice=choice)
        if reply.tool_calls and choice == "none" and context.arm.tool_choice != "none":
            raise LimitReached("max_tool_calls")
        if not reply.tool_calls or choice == "none":  # where the arm forbids calls, only what it said counts
            return reply.text
        turn = reply.message(calls=with_unique_ids(reply.tool_calls, messages))
        observations = [run_call(context, call) for call in turn["tool_calls"]]
        messages = [*messages, turn, *observations]


react = _React()
