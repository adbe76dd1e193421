"""The wire: our messages to a provider's shape, and a provider's calls and counts back to ours."""

import base64
import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from gnomon.errors import DataError, NotFound, ProviderFault
from gnomon.media import MediaStore
from gnomon.message import FunctionCall, ImageBlock, Message, TextBlock, ToolCall
from gnomon.spec import ModelSpec

MAX_REPLY_CHARS = 1_000_000

_UNWRITABLE = re.compile("[\ud800-\udfff\0]")


def clean(text: str) -> str:
    r"""Text that every database and encoder takes: lone surrogates and NUL become U+FFFD, the rest is capped.

    >>> clean("a\0b\ud800c")
    'a�b�c'
    """
    return _UNWRITABLE.sub("\ufffd", text[:MAX_REPLY_CHARS])


def turns(messages: Sequence[Message]) -> Iterator[Message]:
    """The conversation with pictures in messages of the user only: most providers take none in a tool's.

    Those of a turn's calls follow it as one message, each behind the id of its call.
    """
    seen: list[TextBlock | ImageBlock] = []
    for message in messages:
        if message["role"] != "tool" and seen:
            yield {"role": "user", "content": seen}
            seen = []
        if message["role"] == "tool" and isinstance(message["content"], list):
            shown = [block for block in message["content"] if block["type"] == "image"]
            told = "".join(block["text"] for block in message["content"] if block["type"] == "text")
            seen += [{"type": "text", "text": f"Pictures of call {message['tool_call_id']}:"}, *shown]
            message = {**message, "content": told}
        yield message
    if seen:
        yield {"role": "user", "content": seen}


def message_out(message: Message, media: MediaStore, *, pictures: bool) -> dict[str, Any]:
    """A turn as the provider wants it: pictures as data URLs, call arguments as JSON objects.

    For a model that takes no pictures, words stand in their places.

    Raises:
        DataError: a picture is not in the store.
    """
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
    url = data_url(media, block["sha256"], block["media_type"])
    return {"type": "image_url", "image_url": {"url": url}}


def data_url(media: MediaStore, sha256: str, media_type: str) -> str:
    """A picture as a data URL.

    Raises:
        DataError: it is not in the store.
    """
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


def call_in(call_id: object, name: object, arguments: object) -> ToolCall:
    """A provider's tool call as it was written; nothing is repaired."""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments if arguments is not None else {})
    function: FunctionCall = {"name": clean(str(name or "")), "arguments": clean(arguments)}
    return {"id": clean(str(call_id or "")), "type": "function", "function": function}


def key_of(spec: ModelSpec) -> str | None:
    """The provider's key, or a stand-in for an endpoint of one's own, which would get the user's general
    key else. None: the provider's usual variable holds it.

    Raises:
        ProviderFault: the variable that the spec names is not set.
    """
    if spec.api_key_env is None:
        return "none" if spec.api_base else None
    value = os.environ.get(spec.api_key_env, "")
    if not value:
        message = f"the environment variable {spec.api_key_env} is not set, so {spec.id} has no key"
        raise ProviderFault(message, cause="no_api_key", transient=False)
    return value


def usage_in(response: Any) -> tuple[int | None, int | None]:
    """Prompt and completion tokens, None where the provider does not say.

    LiteLLM fills in zeros where there is no usage; no prompt has zero tokens.
    """
    usage = getattr(response, "usage", None)
    prompt, completion = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    return (prompt, completion) if prompt else (None, None)
