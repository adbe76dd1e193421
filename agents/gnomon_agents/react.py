"""ReAct: the model calls tools in turns until it answers.

The loop of Yao et al. (ReAct, 2023), a plain `while` loop without LangGraph
([why](adr/0098-public-interfaces-only.md)):

```
prompt ──> model ──(no calls)──> answer
             ▲  │
             │  └─(calls)──> tools
             └─────────────────┘
```

- **A bad call is never fatal and never repaired.** Unknown tool, arguments that are no JSON or not what the
  schema says, a tool's own error: each comes back to the model as a tool message with an `error`, and is
  counted in the row (`tool_errors`, and by kind in `tools_used`). A missing or repeated call id gets a new
  one.
- **`tool_choice: required`** holds until there was a call. A trial without one gets the flag
  `required_call_missing`.
- **`tool_choice: none`** shows the tools and forbids calls, as in `direct`. A call made nevertheless is kept
  in the trace, not run, and flagged `forbidden_call`.
- **A call that repeats an earlier one to the letter** is run and counted (`repeated` in `tools_used`, the
  flag `repeated_calls`); if its result is the same, the model is told so with it.
- **The last reply without a call is the answer.** With the last result that it may have the model is told
  that no call is left. Every further call of that reply is answered so, and the model is asked one last time
  without tools to choose from; if it calls again, the trial ends as `max_tool_calls`.
- **A worker that dies loses little.** Turns are kept with the trial whenever ten seconds or a cent would be
  lost, and another worker goes on after the last one that was kept.
"""

import json

from gnomon.core.agent import AgentContext, Checkpoints, LimitReached
from gnomon.core.arm import Arm
from gnomon.core.message import Message
from gnomon_agents.core.tool_turn import run_calls, tool_choice_now, tool_loop_calls, with_unique_ids


class _React:
    """Reason and act: ask the model, run the tools it calls, show it the results, repeat."""

    name = "react"
    uses_tools = True
    description = "The model calls tools in turns, sees what they say, and answers when it is ready."

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        return tool_loop_calls(arm)

    async def answer(self, context: AgentContext) -> str:
        return await react_from(context, context.prompt, is_whole=True)


async def react_from(context: AgentContext, start: list[Message], *, is_whole: bool = False) -> str:
    """Run the loop from this conversation on; the text of the last reply.

    If the loop `is_whole`, all that the agent does, it has checkpoints where the trial keeps any.

    Raises:
        LimitReached: a limit of the arm ended it.
        ProviderFault, ModelFault: as the model raises them.
    """
    checkpoints = context.checkpoints if is_whole else None
    messages = [*start, *(_turns_before(checkpoints) if checkpoints is not None else ())]

    async def keep(after: str) -> None:
        if checkpoints is not None:
            await checkpoints.keep(lambda: json.dumps(messages[len(start) :]).encode(), after=after)

    while True:
        if len(messages) == len(start) or messages[-1]["role"] == "tool":
            messages = [*messages, await _ask(context, messages)]
            if messages[-1].get("tool_calls"):
                await keep("the model")
        turn = messages[-1]
        if not turn.get("tool_calls"):
            return str(turn["content"] or "")
        messages = [*messages, *await run_calls(context, turn["tool_calls"])]
        await keep("its calls")


async def _ask(context: AgentContext, messages: list[Message]) -> Message:
    """The model's turn; where the arm forbids calls, only what it said counts."""
    choice = tool_choice_now(context)
    reply = await context.generate(messages, tool_choice=choice)
    if reply.tool_calls and choice == "none" and context.arm.tool_choice != "none":
        raise LimitReached("max_tool_calls")
    return reply.message(calls=[] if choice == "none" else with_unique_ids(reply.tool_calls, messages))


def _turns_before(checkpoints: Checkpoints) -> list[Message]:
    """The turns of an earlier attempt, kept as JSON."""
    if checkpoints.state is None:
        return []
    try:
        turns: list[Message] = json.loads(checkpoints.state)
        if turns and {turn["role"] for turn in turns} <= {"assistant", "tool"}:
            return turns
        reason = "no turns"
    except (ValueError, TypeError, KeyError) as error:
        reason = repr(error)
    checkpoints.begin_anew(reason)
    return []


react = _React()
