"""Talk: adding a turn of ours to a conversation."""

from gnomon.message import Message, TextBlock


def told(messages: list[Message], text: str) -> list[Message]:
    """The conversation with `text` said by the user at its end; two turns of one speaker become one.

    >>> told([{"role": "user", "content": "Where?"}], "Think first.")[0]["content"]
    [{'type': 'text', 'text': 'Where?'}, {'type': 'text', 'text': 'Think first.'}]
    >>> len(told([{"role": "assistant", "content": "Here."}], "Sure?"))
    2
    """
    block: TextBlock = {"type": "text", "text": text}
    if not messages or messages[-1]["role"] != "user":
        return [*messages, {"role": "user", "content": text}]
    content = messages[-1]["content"]
    said = content if isinstance(content, list) else [TextBlock(type="text", text=content or "")]
    return [*messages[:-1], {"role": "user", "content": [*said, block]}]
