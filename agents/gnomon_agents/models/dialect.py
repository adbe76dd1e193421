"""Rewrites a request that an endpoint refuses in the form that its error asks for.

A server puts its model's template between us and the model, whatever the id is: some take no system role,
some no user's message right after a tool's, some call the limit of a reply otherwise. A request that is
refused so is written otherwise and sent again, once for each way; when that is taken, the model's next
requests are written so at first. Each change is told with the reply.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.message import Block, Message
from gnomon.core.model import Reply, Request
from gnomon_agents.models.chat_format import arranged

BETWEEN = "Now I look at what came back."  # the assistant's words where the user may not follow a tool
_REFUSES = ("bad_request", "server_error", "not_found")  # llama.cpp answers 500, OpenRouter 404
_NOT = r"(?:not (?:supported|permitted|allowed|enabled)|unsupported|unknown|unrecognized|does not support)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Another way to write a request: the words in which an endpoint asks for it, and what is done."""

    name: str  # before the colon: what is changed, as rows keep it
    asked_by: re.Pattern[str]
    write: Callable[[Request], Request]  # the same object where there is nothing to change


def _between(request: Request) -> Request:
    """The assistant says a few words between a tool and the user."""
    messages = arranged(request.messages, between=BETWEEN)
    sent: list[Message] = []
    for message in messages:
        if message["role"] == "user" and sent and sent[-1]["role"] == "tool":
            sent.append({"role": "assistant", "content": BETWEEN})
        sent.append(message)
    return request if sent == request.messages else replace(request, messages=sent)


def _in_turn(request: Request) -> Request:
    """As `_between`, and messages of one role that follow each other are one."""
    sent: list[Message] = []
    for message in _between(request).messages:
        if sent and message["role"] == sent[-1]["role"] == "user":
            sent[-1] = {**sent[-1], "content": [*_blocks(sent[-1]), *_blocks(message)]}
        else:
            sent.append(message)
    return request if sent == request.messages else replace(request, messages=sent)


def _without_system(request: Request) -> Request:
    """What the system says stands at the head of the user's first message."""
    said = [
        block for message in request.messages if message["role"] == "system" for block in _blocks(message)
    ]
    rest = [message for message in request.messages if message["role"] != "system"]
    if not said:
        return request
    if rest and rest[0]["role"] == "user":
        first: Message = {**rest[0], "content": [*said, *_blocks(rest[0])]}
        return replace(request, messages=[first, *rest[1:]])
    return replace(request, messages=[{"role": "user", "content": said}, *rest])


def _blocks(message: Message) -> list[Block]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _as_text(request: Request) -> Request:
    """Messages of texts alone are one text each."""
    sent = [_one_text(message) for message in request.messages]
    return request if sent == request.messages else replace(request, messages=sent)


def _one_text(message: Message) -> Message:
    blocks = _blocks(message)
    if not isinstance(message["content"], list) or any(block["type"] != "text" for block in blocks):
        return message
    return {**message, "content": "\n".join(block["text"] for block in blocks if block["type"] == "text")}


def _choosing_itself(request: Request) -> Request:
    return replace(request, tool_choice="auto") if request.tool_choice == "required" else request


def _without_seed(request: Request) -> Request:
    return request if request.seed is None else replace(request, seed=None)


def _without_temperature(request: Request) -> Request:
    drawn = request.decoding
    if drawn.temperature is None and drawn.top_p is None:
        return request
    return replace(request, decoding=drawn.model_copy(update={"temperature": None, "top_p": None}))


def _limited_by(name: str) -> Callable[[Request], Request]:
    return lambda request: request if request.limit_name == name else replace(request, limit_name=name)


def _words(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


# In the order in which they are tried; the words are those of the templates and servers named beside them.
WAYS: tuple[Way, ...] = (
    Way(  # mistral-common: "Unexpected role 'user' after role 'tool'"
        name="messages: words of the assistant between a tool and the user",
        asked_by=_words(r"unexpected role .?user.? after role .?tool"),
        write=_between,
    ),
    Way(  # Gemma's, Llama's and Mistral's templates
        name="messages: the roles of user and assistant alternate",
        asked_by=_words(r"roles must alternate|must alternate between .{0,40}user"),
        write=_in_turn,
    ),
    Way(  # Gemma's and Mistral's templates, in vLLM and llama.cpp: "System role not supported"
        name="messages: the system's words are in the user's first message",
        asked_by=_words(
            rf"system (?:role|message|prompt|instruction)s?\b.{{0,20}}{_NOT}|developer instruction is {_NOT}"
            r"|does not support .?system|unexpected role .?system|only user,? (?:and )?assistant"
            r"|roles must alternate"
        ),
        write=_without_system,
    ),
    Way(  # Groq, DeepSeek: "invalid type: sequence, expected a string"
        name="content: of texts alone is one text",
        asked_by=_words(
            r"expected a string|content.{0,60}(?:must be|should be|be) a (?:valid )?string|valid string"
        ),
        write=_as_text,
    ),
    Way(  # DeepSeek, Moonshot, OpenRouter: "does not support this tool_choice"
        name="tool_choice: required → auto",
        asked_by=_words(rf"tool_choice.{{0,80}}(?:{_NOT}|incompatible|only)|{_NOT}.{{0,80}}tool_choice"),
        write=_choosing_itself,
    ),
    Way(  # OpenAI: "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        name="max_tokens: called max_completion_tokens",
        asked_by=_words(rf"\bmax_tokens\b.{{0,40}}{_NOT}.{{0,80}}\bmax_completion_tokens\b"),
        write=_limited_by("max_completion_tokens"),
    ),
    Way(
        name="max_tokens: called max_tokens",
        asked_by=_words(
            rf"\bmax_completion_tokens\b.{{0,80}}(?:{_NOT}|extra)|{_NOT}.{{0,40}}max_completion_tok"
        ),
        write=_limited_by("max_tokens"),
    ),
    Way(  # Gemini: 'Unknown name "seed"'
        name="seed: absent",
        asked_by=_words(rf"\bseed\b.{{0,80}}(?:{_NOT}|extra)|(?:{_NOT}|extra).{{0,80}}\bseed\b"),
        write=_without_seed,
    ),
    Way(  # OpenAI: "Unsupported value: 'temperature' does not support 0 with this model."
        name="temperature: the protocol's is absent",
        asked_by=_words(
            rf"(?:temperature|top_p)\b.{{0,80}}(?:{_NOT}|only)|{_NOT}.{{0,40}}(?:temperature|top_p)"
        ),
        write=_without_temperature,
    ),
)


class Dialect:
    """The ways in which one model's endpoint takes requests, as far as its answers have told."""

    def __init__(self) -> None:
        """For a model whose endpoint has refused nothing yet."""
        self._ways: tuple[Way, ...] = ()

    async def ask(self, request: Request, call: Callable[[Request], Awaitable[Reply]]) -> Reply:
        """The reply to a request, written otherwise and sent again where the endpoint asks for another way;
        each way is tried once. The reply tells the changes.

        Raises:
            ProviderFault, ModelFault, DataError: as `call` raises them.
        """
        ways = self._ways
        while True:
            written, changes = _written(request, ways)
            try:
                reply = await call(written)
            except ProviderFault as fault:
                way = _asked_for(fault, written, ways)
                if way is None:
                    raise
                ways = _together(ways, (way,))
            except ModelFault as fault:
                if changes and fault.reply is not None:
                    fault.reply = _told(fault.reply, changes)
                raise
            else:
                self._ways = ways if ways == self._ways else _together(self._ways, ways)
                return _told(reply, changes) if changes else reply


def _together(ways: tuple[Way, ...], more: tuple[Way, ...]) -> tuple[Way, ...]:
    return tuple(way for way in WAYS if way in ways or way in more)


def _written(request: Request, ways: tuple[Way, ...]) -> tuple[Request, tuple[str, ...]]:
    changes: list[str] = []
    for way in ways:
        written = way.write(request)
        if written is not request:
            request = written
            changes.append(way.name)
    return request, tuple(changes)


def _asked_for(fault: ProviderFault, request: Request, ways: tuple[Way, ...]) -> Way | None:
    """The way that the endpoint asks for, if it would change anything in the request."""
    if fault.cause not in _REFUSES:
        return None
    asked = (way for way in WAYS if way not in ways and way.asked_by.search(fault.message))
    return next((way for way in asked if way.write(request) is not request), None)


def _told(reply: Reply, changes: tuple[str, ...]) -> Reply:
    return replace(reply, request_changes=(*changes, *reply.request_changes))
