"""Reads the request and the places not found out of the prompt; free words and films by the model's help."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.core.agent import AgentContext
from gnomon.core.errors import SpecError
from gnomon.core.message import Message, text_of
from gnomon_tools.core.json_text import json_object
from gnomon_trips.benchmarks.itinerary.brief import BRIEF, Brief
from gnomon_trips.benchmarks.itinerary.prompt import parts_of
from gnomon_trips.benchmarks.itinerary.sayings import request_now

REQUEST, TOLD = "REQUEST:", "ALSO:"
TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A request in fields, or None; the turns that led to it, and a word on how it went."""

    request: dict[str, Any] | None
    messages: list[Message]
    word: str


def is_brief(messages: Sequence[Message]) -> bool:
    """Whether the prompt holds a brief: words or frames instead of a whole request."""
    return bool(messages) and text_of(messages[0], "").startswith(f"{BRIEF}\n")


def film_shown(messages: Sequence[Message]) -> str:
    """Says for the trace how the model gets the film of a brief, whole or as frames; empty without a film."""
    content = messages[0]["content"] if messages else None
    blocks = content if isinstance(content, list) else []
    videos = [block["seconds"] for block in blocks if block["type"] == "video"]
    if videos:
        return f"the model gets the whole film of {videos[0]:.1f} s"
    frames = sum(block["type"] == "image" for block in blocks)
    return f"the model gets {frames} frames of the film" if frames else ""


async def understand(context: AgentContext) -> Understood:
    """Have the model put a brief into fields, find its places, and bind the tools to that trip.

    A reading that is no request, or names what nobody knows, goes back with what is wrong; there are TRIES.

    Raises:
        LimitReached, ProviderFault, ModelFault, DataError: as asking and looking up raise them.
    """
    brief = Brief(fields=_after(context.prompt, BRIEF))
    messages: list[Message] = []
    fault = ""
    for tries_left in reversed(range(TRIES)):
        reply = await context.generate([*context.prompt, *messages], tool_choice="none", offer_tools=False)
        messages.append(reply.message(calls=[]))
        try:
            task = await asyncio.to_thread(brief.task, reply.text)
            fault = "; ".join(task.trip.lost.values())
        except SpecError as error:
            task, fault = None, str(error)
        if task is not None and not (fault and tries_left):
            context.toolbox.learn(task.trip)
            words = "".join(part.content for part in parts_of(task) if isinstance(part.content, str))
            request = brief.understood(reply.text)
            return Understood(
                request=request,
                messages=[*messages, {"role": "user", "content": words}],
                word=f"understood as {json.dumps(request, ensure_ascii=False)}",
            )
        messages.append({"role": "user", "content": f"{fault}. Answer with the whole request again."})
    return Understood(request=None, messages=messages, word=f"not understood: {fault}")


def asked_for(prompt: Sequence[Message]) -> dict[str, Any]:
    """The request; empty where the prompt has none."""
    return _after(prompt, REQUEST)


def must_visit(prompt: Sequence[Message]) -> list[str]:
    """The names of the places that every plan must visit, after what the traveller said since."""
    said = [text_of(message, "") for message in prompt if message["role"] == "user"]
    places = request_now(asked_for(prompt), said).get("places", [])
    return [name for name in places if isinstance(name, str)] if isinstance(places, list) else []


def lost_names(prompt: Sequence[Message]) -> list[str]:
    """Names of the request that mean no place, or too many."""
    lost = _after(prompt, TOLD).get("not_found", {})
    return sorted(lost) if isinstance(lost, dict) else []


def _after(prompt: Sequence[Message], mark: str) -> dict[str, Any]:
    text = "\n".join(text_of(message, "") for message in prompt)
    line = text.partition(f"{mark}\n")[2].split("\n", 1)[0]
    return json_object(line)
