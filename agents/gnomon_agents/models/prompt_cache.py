"""Marks the messages that end a prefix to be cached, for providers that cache only marked prefixes.

A prefix holds tools, prompt and conversation in this order, so a mark on a message covers the tools too.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

MARK = {"type": "ephemeral"}  # five minutes from the last use: longer than a turn takes
# The other providers keep prefixes unasked. Gemini takes marks too, but has what it keeps for them paid by
# the hour, while what it keeps unasked is free.
_WANTS_MARKS = re.compile(r"anthropic/|openrouter/~?anthropic/")


def wants_marks(model_id: str) -> bool:
    """Whether this model's provider caches only those prefixes of a prompt that are marked.

    >>> wants_marks("openrouter/anthropic/claude-sonnet-4.5"), wants_marks("openai/gpt-4o")
    (True, False)
    """
    return _WANTS_MARKS.match(model_id) is not None


def marked_places(messages: Sequence[Mapping[str, Any]], *, offers_tools: bool) -> tuple[int, ...]:
    """Places of the messages that get a mark: the end of the prompt, and the end of the conversation.

    A question that is answered in one turn gets none: writing a prefix costs extra, and nobody would read it.

    >>> marked_places([{"role": "user"}], offers_tools=False)
    ()
    >>> marked_places([{"role": "system"}, {"role": "user"}, {"role": "assistant"}, {"role": "tool"}],
    ...               offers_tools=True)
    (1, 3)
    """
    roles = [message["role"] for message in messages]
    if not roles or not (offers_tools or "assistant" in roles):
        return ()
    prompt = roles.index("assistant") - 1 if "assistant" in roles else len(roles) - 1
    return tuple(sorted({place for place in (prompt, len(roles) - 1) if roles[place] in ("user", "tool")}))


def mark(message: dict[str, Any]) -> dict[str, Any]:
    """The message, in the shape of a chat completion, with a mark on its last part; one without parts that
    could bear it is left as it is. What was given is not changed.

    >>> mark({"role": "user", "content": "hi"})["content"]
    [{'type': 'text', 'text': 'hi', 'cache_control': {'type': 'ephemeral'}}]
    """
    content = message.get("content")
    if isinstance(content, str) and content:
        return {**message, "content": [{"type": "text", "text": content, "cache_control": MARK}]}
    if isinstance(content, list) and content:
        return {**message, "content": [*content[:-1], {**content[-1], "cache_control": MARK}]}
    return message
