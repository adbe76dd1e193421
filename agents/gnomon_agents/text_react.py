"""ReAct in plain text: tools are described and called in words, for models without function calling.

The same tools without function calling: names, descriptions and schemas stand before the question, the model
writes `Action: {"tool": "...", "arguments": {...}}`, and gets the result as a line `Observation: ...`. What a
reply says after its first action (observations it makes up) is cut off. Errors, counts and limits are those
of `react`.
"""

import json
import re

from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.arm import Arm
from gnomon.core.message import Message, ToolCall, before_question
from gnomon.core.words import TOOLS_FIRST
from gnomon_agents.core.messages import as_observation, with_user_turn
from gnomon_agents.core.tool_turn import run_calls, tool_loop_calls

ACTION = re.compile(r"^\s*\**Action:\**\s*", re.MULTILINE)
INTRO = """You may use tools. To call one, end your reply with one line of this form:
Action: {"tool": "<name>", "arguments": {...}}
You will be told what it says as an observation. A reply without such a line is your answer. The tools:"""
FORBIDDEN = "These tools exist; none of them may be called for this question:"
QUESTION = "\nThe question:\n"
REMINDER = (
    "To call a tool first, end your reply with an `Action:` line instead."  # docs/wording.md: what it does
)
USED_UP = "All tool calls are used up. Answer now, without an action."  # of jobs of earlier words


class _TextReact:
    """ReAct as first published (Yao et al. 2023): thoughts, actions and observations are text."""

    name = "text-react"
    uses_tools = True
    calls_in_words = True
    description = "The model calls tools by writing `Action: {...}` lines; no function calling is needed."

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        return tool_loop_calls(arm)

    async def answer(self, context: AgentContext) -> str:
        messages = _with_tools_listed(context)
        while True:
            reply = await context.generate(messages, tool_choice="none", offer_tools=False)
            text, call = read_action(reply.text, len(context.trace.tool_steps))
            if call is None or not context.toolbox.schemas or context.arm.tool_choice == "none":
                return reply.text
            if context.tool_calls_left <= 0:
                raise LimitReached("max_tool_calls")
            is_told = context.words >= TOOLS_FIRST
            [result] = await run_calls(context, [call]) if is_told else [await context.call_tool(call)]
            observation = as_observation(result["content"])
            # A turn that was cut goes back as bare text: what its provider hung on it belongs to the whole.
            turn = reply.message(calls=[]) if text == reply.text else _bare(text)
            messages = with_user_turn([*messages, turn], observation)
            if context.tool_calls_left <= 0 and not is_told:
                messages = with_user_turn(messages, USED_UP)


def _bare(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _with_tools_listed(context: AgentContext) -> list[Message]:
    is_first = context.words >= TOOLS_FIRST
    if not context.toolbox.schemas or not (context.may_call_tools or is_first):
        return list(context.prompt)
    listed = [json.dumps(schema["function"], ensure_ascii=False) for schema in context.toolbox.schemas]
    first = ["Call at least one tool before you answer."] if context.arm.tool_choice == "required" else []
    introduction = [INTRO, *listed, *first] if context.may_call_tools else [FORBIDDEN, *listed]
    if is_first:
        asked = before_question(context.prompt, "\n".join([*introduction, QUESTION]))
        return with_user_turn(asked, REMINDER) if context.may_call_tools else asked
    return with_user_turn(context.prompt, "\n".join(introduction))


def read_action(text: str, number: int) -> tuple[str, ToolCall | None]:
    r"""The reply up to the end of its first action, and the call it stands for; None without an action.

    >>> said, call = read_action('Action: {"tool": "speed", "arguments": {}}\nObservation: 3', 0)
    >>> said, call["function"]
    ('Action: {"tool": "speed", "arguments": {}}', {'name': 'speed', 'arguments': '{}'})
    """
    match = ACTION.search(text)
    if match is None:
        return text, None
    try:
        action, end = json.JSONDecoder().raw_decode(text, match.end())
        name, arguments = str(action["tool"]), json.dumps(action.get("arguments", {}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        line = text[match.end() :].partition("\n")[0]
        name, arguments, end = "", line, match.end() + len(line)
    call: ToolCall = {
        "id": f"action_{number}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    return text[:end], call


text_react = _TextReact()
