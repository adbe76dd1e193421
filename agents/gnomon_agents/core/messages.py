"""Adds what a user says to a conversation."""

from collections.abc import Sequence

from gnomon.core.message import Block, Message

Content = str | list[Block] | None


def with_user_turn(messages: list[Message], content: Content) -> list[Message]:
    """The conversation with a user turn of this content at its end; two turns of one speaker become one.

    >>> with_user_turn([{"role": "user", "content": "Where?"}], "Think first.")[0]["content"]
    [{'type': 'text', 'text': 'Where?'}, {'type': 'text', 'text': 'Think first.'}]
    >>> len(with_user_turn([{"role": "assistant", "content": "Here."}], "Sure?"))
    2
    """
    if not messages or messages[-1]["role"] != "user":
        return [*messages, {"role": "user", "content": content}]
    both = [*_blocks(messages[-1]["content"]), *_blocks(content)]
    return [*messages[:-1], {"role": "user", "content": both}]


def before_question(messages: Sequence[Message], text: str) -> list[Message]:
    """The conversation with a text before all that its user says: equal over questions, it is a prefix that
    providers keep.

    >>> asked = before_question([{"role": "user", "content": "Where?"}], "Think first.")
    >>> [block["text"] for block in asked[0]["content"]]
    ['Think first.', 'Where?']
    """
    at = next(at for at, message in enumerate(messages) if message["role"] == "user")
    both = [*_blocks(text), *_blocks(messages[at]["content"])]
    return [*messages[:at], {**messages[at], "content": both}, *messages[at + 1 :]]


def as_observation(content: Content) -> list[Block]:
    """What a tool gave back, marked as an observation."""
    return [{"type": "text", "text": "Observation:"}, *_blocks(content)]


def _blocks(content: Content) -> list[Block]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
