"""Parts of conversations that models are tested with."""

import io
from typing import Any

from PIL import Image

from gnomon.core.model import Request
from gnomon.media import MediaStore

ASK: dict[str, Any] = {"role": "user", "content": "hi"}
FLY: dict[str, Any] = {
    "type": "function",
    "function": {"name": "fly", "description": "d", "parameters": {"type": "object", "properties": {}}},
}


def asking(*messages: Any, **more: Any) -> Request:
    """A request of these messages; a question without tools, where nothing else is said."""
    more = {"tools": [], "timeout_s": 10.0, **more}
    return Request(messages=list(messages) or [ASK], **more)


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    """A call of `fly` with that id."""
    return {"id": name, "type": "function", "function": {"name": "fly", "arguments": arguments}}


def result(name: str, content: Any = "{}") -> dict[str, Any]:
    """What the tool said to the call with that id."""
    return {"role": "tool", "tool_call_id": name, "content": content}


def turn_of(dialect: str, body: Any, *calls: dict[str, Any]) -> dict[str, Any]:
    """A turn of the model with what its provider sent, and the calls that the agent kept of it."""
    said = {"role": "assistant", "content": None, "provider_turn": {"dialect": dialect, "body": body}}
    return {**said, "tool_calls": list(calls)} if calls else said


def picture(media: MediaStore) -> tuple[dict[str, Any], bytes]:
    """A picture in the store: its block and its bytes."""
    file = io.BytesIO()
    Image.new("RGB", (4, 3)).save(file, "PNG")
    ref = media.put(file.getvalue())
    return {"type": "image", "sha256": ref.sha256, "media_type": ref.media_type}, file.getvalue()
