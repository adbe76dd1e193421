"""Asks the model one question of a step, in JSON, beside the conversation about the plan."""

import json
from collections.abc import Mapping
from typing import Any

from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.message import Message
from gnomon_trips.itinerary.draft import read_object


async def asked(
    context: AgentContext, mark: str, data: Mapping[str, Any], form: str, *, key: str
) -> dict[str, Any] | None:
    """The reply's JSON object that has `key`; None where it has none, or a limit of the arm is reached.

    Raises:
        ProviderFault, ModelFault: as the model raises them.
    """
    text = f"{mark}\n{json.dumps(data, ensure_ascii=False)}\n\n{form}"
    messages: list[Message] = [{"role": "user", "content": text}]
    try:
        reply = await context.generate(messages, tool_choice="none", offer_tools=False)
    except LimitReached:
        return None
    return read_object(reply.text, (key,))
