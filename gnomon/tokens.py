"""How many tokens a request has, estimated before it is sent: for plan, rate limit and spending limit alike.

One walk counts the least and most that a request can be: bytes of text, schemas and calls, and what surrounds
them. A token holds at least one byte, so these bytes are the most tokens there can be; text has four of them,
so a quarter is the estimate. The same factor holds for pictures and for what surrounds a message.
"""

import json
from collections.abc import Sequence

from gnomon.core.message import Message, ToolSchema
from gnomon.core.model import Request, memoize_by_tools

BYTES_PER_TOKEN = 4  # of English; a prompt full of coordinates has two, one of Japanese three
# By the providers' published rules a picture of 1280 x 720 has 1,104 tokens at OpenAI (patches of 32 px,
# times 1.2), 1,101 at Gemini and 1,229 at Anthropic (750 px each). Four times as many is more than one of
# 2560 x 1440 has at any of them (4,320).
PICTURE_TOKENS = 1_100
VIDEO_TOKENS_PER_S = 300
MESSAGE_TOKENS = 5  # what surrounds each message and each call
NOTE_BYTES = 48  # in place of a picture, to a model that takes text only
REPLY_TOKENS = 300  # where nothing says how long replies are


class TokenEstimator:
    """Counts the tokens of requests. Schemas are measured once for each toolset.

    Without `pictures` the model takes text only, and gets a note in place of each.
    """

    def __init__(self, *, pictures: bool = True) -> None:
        self._pictures = pictures
        self._schema_bytes = memoize_by_tools(_schema_bytes)

    def prompt(self, request: Request) -> int:
        """About as many tokens as the request's messages and tools have.

        >>> ask = Request(messages=[{"role": "user", "content": "x" * 400}], tools=[])
        >>> TokenEstimator().prompt(ask)
        105
        """
        return round(self.prompt_at_most(request) / BYTES_PER_TOKEN)

    def prompt_at_most(self, request: Request) -> int:
        """As many tokens as the request's messages and tools have at most.

        >>> ask = Request(messages=[{"role": "user", "content": "x" * 400}], tools=[])
        >>> TokenEstimator().prompt_at_most(ask)
        420
        """
        of_messages = sum(_bytes_of(message, pictures=self._pictures) for message in request.messages)
        return self._schema_bytes(request.tools) + of_messages


def _schema_bytes(tools: Sequence[ToolSchema]) -> int:
    return len(json.dumps(tools)) if tools else 0


def _bytes_of(message: Message, *, pictures: bool) -> int:
    """Bytes of a message, with pictures and surroundings as the bytes that would have as many tokens.

    Of a turn that goes back whole its provider's body is counted: the text and calls in it are sent once.
    """
    pictures_n, parts, video_s = 0, 1, 0.0
    content = message["content"]
    turn = message.get("provider_turn")
    body = None if turn is None else turn["body"]
    holds_calls = turn is not None and turn["dialect"] != "chat"
    holds_text = holds_calls or (isinstance(body, dict) and "content" in body)
    size = _size(content) if isinstance(content, str) and not holds_text else 0
    for block in content if isinstance(content, list) else ():
        if block["type"] != "text" and not pictures:
            size += NOTE_BYTES
        elif block["type"] == "image":
            pictures_n += 1
        elif block["type"] == "video":
            video_s += block["seconds"]
        else:
            size += _size(block["text"])
    for call in message.get("tool_calls", ()):
        parts += 1
        if not holds_calls:
            size += _size(call["id"]) + _size(call["function"]["name"]) + _size(call["function"]["arguments"])
    if turn is not None:
        size += len(json.dumps(body))  # reasoning that goes back is read again
    tokens = PICTURE_TOKENS * pictures_n + MESSAGE_TOKENS * parts + round(VIDEO_TOKENS_PER_S * video_s)
    return size + BYTES_PER_TOKEN * tokens


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
