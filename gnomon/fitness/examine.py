"""Calls an endpoint, and keeps what it was asked, what came and how long that took.

The questions are so easy that whoever gets them wrong did not get them as they were sent.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from gnomon.core.decoding import NO_DECODING
from gnomon.core.errors import GnomonError, ModelFault
from gnomon.core.message import Block, ImageBlock, Message, ToolCall, ToolChoice
from gnomon.core.model import Reply, Request
from gnomon.core.read_calls import read_calls, text_calls
from gnomon.core.text_calls import TextCalls
from gnomon.core.trace import Trace
from gnomon.fitness.needs import Needs

OPENING = "This is a connection test."  # of the first message to every endpoint
HELLO = f"{OPENING} Reply with the word OK."
CODE_WORD, SYSTEM_WORD = "heron", "marten"
SYSTEM = f"Begin every reply with the word {SYSTEM_WORD}."
FORM = f"""{OPENING} Which of these is a bird?
A. otter
B. heron
C. salmon
D. lynx
Say in one sentence how you know, then end with a line of the form
Answer: <letter>"""
LONG = f"{OPENING} Count from 1 to 200, in digits."
SHORT_TOKENS = 16  # that the reply to LONG may have: fewer are refused by some
CALL = (
    OPENING
    + " Call the tool `{name}` once, with any arguments that it takes. Its result holds a code word. Then "
    "reply with that code word."
)
PICTURE = (
    f"{OPENING} A picture has two halves. Name the colour of the left half, then that of the right half."
)
PICTURE_COLOURS, TOOL_PICTURE_COLOURS = ("red", "blue"), ("yellow", "green")
TEXT_RESULT = f'{{"code_word": "{CODE_WORD}"}}'
PICTURE_RESULT = "The picture follows. Name the colour of its left half, then that of its right half."

FIRST = "first reply"

Ask = Callable[[Request], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One call: what came, or the fault that came in its place."""

    what: str  # was waited for, in words
    reply: Reply | None
    fault: GnomonError | None = None
    seconds: float = 0.0

    @property
    def has_answered(self) -> bool:
        """Whether the model itself replied, even if it refused."""
        return self.reply is not None or isinstance(self.fault, ModelFault)


@dataclass(slots=True, kw_only=True)
class Exchanges:
    """All that an examination has heard; None: it was not asked."""

    first: Exchange | None = None
    system: Exchange | None = None  # the first question, with a system message before it
    short: Exchange | None = None  # a reply that had to be cut
    call: Exchange | None = None
    text_calls: TextCalls | None = None  # that came in place of native calls
    turn: Reply | None = None  # the reply to `call`, with the calls that a trial would run
    result: Exchange | None = None  # the reply to the call's result
    picture: Exchange | None = None
    tool_picture: Exchange | None = None
    in_order: list[Exchange] = field(default_factory=list)


class Examination:
    """The calls of one examination, one after another. `says` gets what is waited for, before each call."""

    def __init__(self, ask: Ask, needs: Needs, *, says: Callable[[str], None] = lambda _: None) -> None:
        self._ask, self._needs, self._says = ask, needs, says
        self.heard = Exchanges()

    async def briefly(self, pictures: Sequence[ImageBlock] = ()) -> Exchanges:
        """One call; with tools two: a call of one of them, and its result back where the model called. One
        more with the first of the `pictures`, which are as in `wholly`, where prompts hold some.
        """
        if self._needs.tools:
            await self._try_call(FIRST, number=1)
            self.heard.first = self.heard.call
        else:
            self.heard.first = await self._hear(FIRST, [_user(HELLO)])
        if self._needs.pictures and pictures and self.heard.first and self.heard.first.has_answered:
            await self._try_picture(pictures[0])
        return self.heard

    async def wholly(self, ask_short: Ask, pictures: Sequence[ImageBlock]) -> Exchanges:
        """All that is needed, or, where all is tried, everything.

        `ask_short` asks for at most SHORT_TOKENS; `pictures` are one in PICTURE_COLOURS and one in
        TOOL_PICTURE_COLOURS.
        """
        heard, needs = self.heard, self._needs
        heard.first = await self._hear(FIRST, [_user(FORM)])
        if not heard.first.has_answered:
            return heard
        if needs.system or needs.tries_all:
            said: Message = {"role": "system", "content": SYSTEM}
            heard.system = await self._hear("a reply under a system message", [said, _user(HELLO)])
        heard.short = await self._hear("a reply of few tokens", [_user(LONG)], ask=ask_short)
        if needs.tools:
            await self._try_call("a call of a tool", number=len(needs.tools))
            if (needs.tool_pictures or needs.tries_all) and heard.call and heard.call.reply:
                content: list[Block] = [{"type": "text", "text": PICTURE_RESULT}, pictures[1]]
                heard.tool_picture = await self._hear_result("a reply to a picture of a tool", content)
        if needs.pictures or needs.tries_all:
            await self._try_picture(pictures[0])
        return heard

    async def _try_picture(self, picture: ImageBlock) -> None:
        shown: Message = {"role": "user", "content": [{"type": "text", "text": PICTURE}, picture]}
        self.heard.picture = await self._hear("a reply to a picture", [shown])

    async def _try_call(self, what: str, *, number: int) -> None:
        """Offer the first `number` of the tools, and give the result of a call back."""
        heard, tools = self.heard, self._needs.tools[:number]
        self._asked = [_user(CALL.format(name=tools[0]["function"]["name"]))]
        choice = self._needs.tool_choice
        heard.call = await self._hear(what, self._asked, tools=number, tool_choice=choice)
        reply = heard.call.reply
        if reply is None:
            return
        written = None if reply.tool_calls else text_calls(reply.text, tools)
        heard.text_calls = written if written and written.is_meant else None
        _, heard.turn = read_calls(
            reply, tools, may_call=True, mode=self._needs.tool_calls, trace=Trace(response=None)
        )
        heard.result = await self._hear_result("a reply to a tool's result", TEXT_RESULT, tools=number)

    async def _hear_result(
        self, what: str, content: str | list[Block], *, tools: int | None = None
    ) -> Exchange | None:
        """The reply to a result of the call that was heard; None where there was no call to answer."""
        turn = self.heard.turn
        if turn is None or not turn.tool_calls:
            return None
        results = [_result(call, content) for call in turn.tool_calls]
        return await self._hear(what, [*self._asked, turn.message(), *results], tools=tools)

    async def _hear(
        self,
        what: str,
        messages: list[Message],
        *,
        tools: int | None = 0,
        tool_choice: ToolChoice = "auto",
        ask: Ask | None = None,
    ) -> Exchange:
        needs = self._needs
        request = Request(
            messages=messages,
            tools=list(needs.tools[:tools]),
            tool_choice=tool_choice,
            timeout_s=needs.call_seconds,
            decoding=NO_DECODING if ask else needs.decoding,
        )
        self._says(what)
        began_s = time.monotonic()
        reply: Reply | None = None
        fault: GnomonError | None = None
        try:
            reply = await (ask or self._ask)(request)
        except ModelFault as error:
            reply, fault = error.reply, error
        except GnomonError as error:
            fault = error
        seconds = time.monotonic() - began_s
        heard = Exchange(what=what, reply=reply, fault=fault, seconds=seconds)
        self.heard.in_order.append(heard)
        return heard


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _result(call: ToolCall, content: str | list[Block]) -> Message:
    return {"role": "tool", "tool_call_id": call["id"], "content": content}
