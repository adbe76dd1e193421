"""Messages between agents and models, in the OpenAI chat shape that every provider's adapter knows.

Pictures and videos travel by content hash; a model's adapter turns hashes into bytes at the last moment.
"""

from collections.abc import Sequence
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


class VideoBlock(TypedDict):
    """A whole video, by the hash of its bytes; `seconds` is how long it lasts."""

    type: Literal["video"]
    sha256: str
    media_type: str
    seconds: float


Block = TextBlock | ImageBlock | VideoBlock


class FunctionCall(TypedDict):
    """Name and arguments of a call, the arguments as the model wrote them."""

    name: str
    arguments: str


class ToolCall(TypedDict):
    """A model's wish to call a tool."""

    id: str
    type: Literal["function"]
    function: FunctionCall


class ProviderTurn(TypedDict):
    """What a provider hung on its turn beside text and tool calls, to be sent back to it unchanged:
    reasoning, signatures, encrypted items.

    `dialect` names the protocol that `body` is written in; an adapter of another protocol ignores it. An
    agent may have renamed the turn's calls or dropped them, so an adapter matches what belongs to a call by
    its place. Plain JSON, so that the digest of a conversation knows it.
    """

    dialect: Literal["chat", "anthropic", "responses"]
    body: Any


class Message(TypedDict):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[Block] | None
    tool_calls: NotRequired[list[ToolCall]]
    tool_call_id: NotRequired[str]
    provider_turn: NotRequired[ProviderTurn]  # of an assistant's turn


def text_of(message: Message, joined_by: str = "\n") -> str:
    """The text of a message without its media; empty where it has none."""
    content = message["content"]
    if isinstance(content, list):
        return joined_by.join(block["text"] for block in content if block["type"] == "text")
    return content or ""


def blocks_of(content: str | list[Block] | None) -> list[Block]:
    """What a message holds, as blocks."""
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def pictures_of(message: Message) -> list[ImageBlock]:
    """The pictures of a message, in order."""
    return [block for block in blocks_of(message["content"]) if block["type"] == "image"]


def before_question(messages: Sequence[Message], text: str) -> list[Message]:
    """The conversation with a text before all that its user says: equal over questions, it is a prefix that
    providers keep.

    >>> asked = before_question([{"role": "user", "content": "Where?"}], "Think first.")
    >>> [block["text"] for block in asked[0]["content"]]
    ['Think first.', 'Where?']
    """
    at = next(at for at, message in enumerate(messages) if message["role"] == "user")
    both = [*blocks_of(text), *blocks_of(messages[at]["content"])]
    return [*messages[:at], {**messages[at], "content": both}, *messages[at + 1 :]]


ToolSchema = dict[str, Any]
ToolChoice = Literal["auto", "required", "none"]
