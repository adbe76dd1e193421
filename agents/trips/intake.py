"""Intake: the request and what was not found, read out of the prompt that every model gets."""

import json
from collections.abc import Sequence
from typing import Any

from gnomon.message import Message

REQUEST, TOLD = "REQUEST:", "ALSO:"


def asked_for(prompt: Sequence[Message]) -> dict[str, Any]:
    """The request; empty where the prompt has none."""
    return _after(prompt, REQUEST)


def lost_names(prompt: Sequence[Message]) -> list[str]:
    """Names of the request that mean no place, or too many."""
    lost = _after(prompt, TOLD).get("not_found", {})
    return sorted(lost) if isinstance(lost, dict) else []


def _after(prompt: Sequence[Message], mark: str) -> dict[str, Any]:
    text = "\n".join(_text(message) for message in prompt)
    line = text.partition(f"{mark}\n")[2].split("\n", 1)[0]
    try:
        value = json.loads(line) if line else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(message: Message) -> str:
    content = message["content"]
    if isinstance(content, list):
        return "".join(block["text"] for block in content if block["type"] == "text")
    return content or ""
