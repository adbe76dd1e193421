"""The rules of a turn in which a model may call tools, for every agent that runs them."""

import json
from collections.abc import Sequence

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.message import Message, ToolCall, ToolChoice, text_of
from gnomon.core.words import ANSWER_ASKED, FIRST_WORDS, TOOLS_FIRST

USE_IT = "You have made this call before, and this is the same result. Use it to answer."
SAME_RESULT = (
    "You have made this call before, and this is the same result. "
    "If you have what you need, answer now, in the form that the question asks for."
)
NO_CALLS_LEFT = "All tool calls are used up. Answer now, in the form that the question asks for."
LAST_TURN = "This is your last reply. Answer now, in the form that the question asks for."


def tool_choice_now(context: AgentContext) -> ToolChoice:
    """What the model may do in its next turn: no call once they are used up; `required` holds until there
    was one, for no model could ever answer otherwise.
    """
    if context.tool_calls_left <= 0:
        return "none"
    if context.arm.tool_choice == "required" and any(reply.tool_calls for reply in context.trace.replies):
        return "auto"
    return context.arm.tool_choice


def with_unique_ids(calls: Sequence[ToolCall], messages: Sequence[Message]) -> list[ToolCall]:
    """The calls, each with an id that the conversation does not know yet; good ids are kept.

    >>> call = {"id": "a", "type": "function", "function": {"name": "distance", "arguments": "{}"}}
    >>> [unique["id"] for unique in with_unique_ids([call, call, {**call, "id": ""}], [])]
    ['a', 'call_0', 'call_1']
    """
    if not calls:
        return []
    taken = {call["id"] for message in messages for call in message.get("tool_calls", ())}
    unique: list[ToolCall] = []
    for call in calls:
        call_id, number = call["id"], 0
        while not call_id or call_id in taken:
            call_id, number = f"call_{number}", number + 1
        taken.add(call_id)
        unique.append({**call, "id": call_id})
    return unique


async def run_calls(context: AgentContext, calls: Sequence[ToolCall]) -> list[Message]:
    """Run the calls of a turn in their order, and return what the model is told of each.

    A call that repeats an earlier one and gives the same result is told so; so is, with the last result, that
    no call is left. Jobs of the first words are told neither.
    """
    same_result = SAME_RESULT if context.words >= ANSWER_ASKED else USE_IT
    results = []
    for call in calls:
        message, is_same = await run_noted(context, call)
        is_noted = is_same and context.words != FIRST_WORDS
        results.append(with_note(message, same_result) if is_noted else message)
    if limit := limit_now(context):
        results[-1] = with_note(results[-1], limit)
    return results


def limit_now(context: AgentContext) -> str:
    """What the model is told before a turn in which it must answer; empty before others."""
    if context.words != FIRST_WORDS and context.tool_calls_left <= 0:
        return NO_CALLS_LEFT
    return LAST_TURN if context.words >= TOOLS_FIRST and context.turns_left == 1 else ""


async def run_noted(context: AgentContext, call: ToolCall) -> tuple[Message, bool]:
    """Run a call as `run_call`; what the model is told, and whether an earlier call was the same, to the
    letter, and gave the same result.
    """
    name, arguments = context.toolbox.own_name(call["function"]["name"]), call["function"]["arguments"]
    earlier = [
        step.observation
        for step in context.trace.tool_steps
        if (step.name, step.arguments) == (name, arguments)
    ]
    message = await run_call(context, call)
    return message, bool(earlier) and text_of(message) == earlier[-1]


def with_note(message: Message, note: str) -> Message:
    r"""The message with a line of ours after what it holds; a turn of its own would break the order of roles
    that some templates ask for.

    >>> with_note({"role": "tool", "content": "3 km"}, "Answer now.")["content"]
    '3 km\nAnswer now.'
    """
    content = message["content"]
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": note}]}
    return {**message, "content": f"{content}\n{note}"}


async def run_call(context: AgentContext, call: ToolCall) -> Message:
    """Run a call and return what the model is told; a call beyond the arm's limit is not run, and told so."""
    if context.tool_calls_left > 0:
        return await context.call_tool(call)
    error = f"All {context.arm.max_tool_calls} tool calls are used up; this one was not run. Answer now."
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"error": error})}


def tool_loop_calls(arm: Arm, *, before: int = 0) -> tuple[int, int]:
    """The fewest and the most calls of the model in a loop of model and tools, after `before` calls.

    A model that calls one tool per turn takes one turn more than it calls tools.

    >>> arm = Arm(name="a", agent="react", tools=("speed",), tool_choice="required", max_tool_calls=3)
    >>> tool_loop_calls(arm), tool_loop_calls(arm, before=1)
    ((2, 4), (3, 5))
    """
    if not arm.tools or arm.tool_choice == "none":
        return 1 + before, 1 + before
    required = int(arm.tool_choice == "required" and arm.max_tool_calls > 0)
    return 1 + before + required, min(arm.max_turns, arm.max_tool_calls + 1 + before)
