"""The wire: our messages to a provider's shape, and a provider's calls and counts back to ours."""

import base64
import functools
import json
import re
from typing import Any

from gnomon.errors import DataError, NotFound
from gnomon.media import MediaStore
from gnomon.message import FunctionCall, ImageBlock, Message, TextBlock, ToolCall

MAX_REPLY_CHARS = 1_000_000

_UNWRITABLE = re.compile("[\ud800-\udfff\0]")


def clean(text: str) -> str:
    r"""Text that every database and encoder takes: lone surrogates and NUL become U+FFFD, the rest is capped.

    >>> clean("a\0b\ud800c")
    'a�b�c'
    """
    return _UNWRITABLE.sub("\ufffd", text[:MAX_REPLY_CHARS])


def messages_out(messages: list[Message], media: MediaStore, *, pictures: bool) -> list[dict[str, Any]]:
    """A conversation as the provider wants it: pictures as data URLs, call arguments as JSON objects.

    Most providers take no pictures in a tool's message, so those of a turn's calls follow as one message of
    the user. For a model that takes no pictures, words stand in their places.

    Raises:
        DataError: a picture is not in the store.
    """
    sent: list[dict[str, Any]] = []
    seen: list[TextBlock | ImageBlock] = []
    for message in messages:
        if message["role"] != "tool" and seen:
            sent.append(_message_out({"role": "user", "content": seen}, media, pictures=pictures))
            seen = []
        if message["role"] == "tool" and isinstance(message["content"], list):
            shown = [block for block in message["content"] if block["type"] == "image"]
            told = "".join(block["text"] for block in message["content"] if block["type"] == "text")
            seen += [{"type": "text", "text": f"Pictures of call {message['tool_call_id']}:"}, *shown]
            message = {**message, "content": told}
        sent.append(_message_out(message, media, pictures=pictures))
    if seen:
        sent.append(_message_out({"role": "user", "content": seen}, media, pictures=pictures))
    return sent


def _message_out(message: Message, media: MediaStore, *, pictures: bool) -> dict[str, Any]:
    out: dict[str, Any] = {**message}
    if isinstance(message["content"], list):
        out["content"] = [_block_out(block, media, pictures=pictures) for block in message["content"]]
    elif message["content"] is not None:
        out["content"] = clean(message["content"])
    if "tool_calls" in message:
        out["tool_calls"] = [_call_out(call) for call in message["tool_calls"]]
    return out


def _block_out(block: TextBlock | ImageBlock, media: MediaStore, *, pictures: bool) -> dict[str, Any]:
    if block["type"] == "text":
        return {"type": "text", "text": clean(block["text"])}
    if not pictures:
        return {"type": "text", "text": "(a picture, left out: this model takes text only)"}
    url = _data_url(media, block["sha256"], block["media_type"])
    return {"type": "image_url", "image_url": {"url": url}}


@functools.lru_cache(maxsize=128)
def _data_url(media: MediaStore, sha256: str, media_type: str) -> str:
    """Kept per process: the arms of a sample lie side by side and show the same pictures."""
    try:
        data = media.read(sha256)
    except NotFound as error:
        raise DataError(f"a picture of the prompt is missing: {error}") from None
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def _call_out(call: ToolCall) -> ToolCall:
    """Several providers parse the history's arguments and fail on bad JSON, so that travels wrapped.

    The trace keeps what the model wrote, and the tool message tells the model what was wrong with it.
    """
    arguments = call["function"]["arguments"]
    try:
        usable = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        usable = False
    if usable:
        return call
    wrapped = json.dumps({"not_a_json_object": arguments})
    return {**call, "function": {"name": call["function"]["name"], "arguments": wrapped}}


def call_in(call: Any) -> ToolCall:
    """A provider's tool call as it was written; nothing is repaired.

    Raises:
        AttributeError, TypeError: it is no function call.
    """
    arguments = call.function.arguments
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments if arguments is not None else {})
    function: FunctionCall = {"name": clean(str(call.function.name or "")), "arguments": clean(arguments)}
    return {"id": clean(str(call.id or "")), "type": "function", "function": function}


def usage_in(response: Any) -> tuple[int | None, int | None]:
    """Prompt and completion tokens, None where the provider does not say.

    LiteLLM fills in zeros where there is no usage; no prompt has zero tokens.
    """
    usage = getattr(response, "usage", None)
    prompt, completion = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    return (prompt, completion) if prompt else (None, None)
