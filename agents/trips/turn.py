"""A model's turn: whether it may call, and calls with an id each."""

from collections.abc import Sequence

from gnomon.agent import AgentContext
from gnomon.message import Message, ToolCall, ToolChoice


def choice_of(context: AgentContext) -> ToolChoice:
    """What the model may do now: no calls when they are used up; `required` holds for the first turn only."""
    if context.tool_calls_left <= 0 or not context.toolbox.schemas:
        return "none"
    if context.arm.tool_choice == "required" and context.trace.replies:
        return "auto"
    return context.arm.tool_choice


def distinct(calls: Sequence[ToolCall], messages: Sequence[Message]) -> list[ToolCall]:
    """The calls with ids that the conversation does not know yet; good ids are kept."""
    taken = {call["id"] for message in messages for call in message.get("tool_calls", ())}
    found: list[ToolCall] = []
    for call in calls:
        name, number = call["id"], 0
        while not name or name in taken:
            name, number = f"call_{number}", number + 1
        taken.add(name)
        found.append({**call, "id": name})
    return found
