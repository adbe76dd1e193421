"""Adds a user's turn to a conversation."""

from gnomon.core.message import Block, Message, blocks_of

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
    both = [*blocks_of(messages[-1]["content"]), *blocks_of(content)]
    return [*messages[:-1], {"role": "user", "content": both}]


def as_observation(content: Content) -> list[Block]:
    """What a tool gave back, marked as an observation."""
    return [{"type": "text", "text": "Observation:"}, *blocks_of(content)]
