"""Messages between agents and models, in the OpenAI chat shape that every provider's adapter knows.

Images travel by content hash; a model's adapter turns hashes into bytes at the last moment.
"""

from typing import Any, Literal, NotRequired, TypedDict


class TextBlock(TypedDict):
    """A stretch of text."""

    type: Literal["text"]
    text: str


class ImageBlock(TypedDict):
    """A picture, by the hash of its bytes."""

    type: Literal["image"]
    sha256: str
    media_type: str


class FunctionCall(TypedDict):
    """Name and arguments of a call, the arguments as the model wrote them."""

    name: str
    arguments: str


class ToolCall(TypedDict):
    """A model's wish to call a tool."""

    id: str
    type: Literal["function"]
    function: FunctionCall


class Message(TypedDict):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[TextBlock | ImageBlock] | None
    tool_calls: NotRequired[list[ToolCall]]
    tool_call_id: NotRequired[str]


ToolSchema = dict[str, Any]
ToolChoice = Literal["auto", "required", "none"]
