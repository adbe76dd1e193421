"""Flags calls that stand in a reply's text, and takes them for the model's own where the trial says so."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from gnomon.core.message import ProviderTurn, ToolCall, ToolSchema
from gnomon.core.model import UNREADABLE, Reply
from gnomon.core.text_calls import TextCalls, find_text_calls
from gnomon.core.thinking import without_thinking
from gnomon.core.trace import Trace

ToolCallsIn = Literal["native", "text", "auto"]
AnyReply = TypeVar("AnyReply", bound=Reply)

IN_TEXT = "call_in_text:"  # flag of a reply, before the form's name: its text holds a call
READ_FROM_TEXT = "read_from_text"  # flag of a reply: the calls in its text are those that it made


def text_calls(text: str, tools: Sequence[ToolSchema]) -> TextCalls | None:
    """The calls that a text holds beside its thinking: of these tools, or of any if there are none."""
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    return find_text_calls(without_thinking(text), schemas)


def flag_of(calls: TextCalls) -> str:
    """The flag of a reply whose text holds such calls."""
    return f"{IN_TEXT}{calls.form}"


def read_calls(
    reply: AnyReply, tools: Sequence[ToolSchema], *, may_call: bool, mode: ToolCallsIn, trace: Trace
) -> tuple[AnyReply, AnyReply]:
    """The reply as the trace keeps it, flagged and with its text as written, and as the agent gets it.

    Calls in its text are the model's where they `may_call` tools and the mode says so: `auto` does while it
    has not called natively in this trial. What is quoted within an explanation is no call. A reply that calls
    natively stays as it is.
    """
    calls = None if reply.tool_calls else text_calls(reply.text, tools)
    if calls is None:
        return reply, reply
    kept = replace(reply, flags=(*reply.flags, flag_of(calls)))
    calls_natively = any(
        READ_FROM_TEXT not in earlier.flags for earlier in trace.replies if earlier.tool_calls
    )
    is_read = bool(tools) and may_call and (mode == "text" or (mode == "auto" and not calls_natively))
    if not is_read or not calls.is_meant:
        return kept, kept
    kept = replace(kept, tool_calls=_with_ids(calls, trace), flags=(*kept.flags, READ_FROM_TEXT))
    turn = kept.provider_turn
    turn = None if turn is None else _turn_without_calls(turn, reply.text, calls.rest)
    # The calls go back beside the words, where templates expect them, and not once more among them.
    return kept, replace(kept, text=calls.rest, provider_turn=turn)


def _with_ids(calls: TextCalls, trace: Trace) -> tuple[ToolCall, ...]:
    """The calls with ids that are new in the trial: nine letters and digits, as Mistral's templates ask."""
    made = sum(len(reply.tool_calls) for reply in trace.replies)
    return tuple(
        {"id": f"text{number:05d}", "type": "function", "function": function}
        for number, function in enumerate(calls.calls, start=made)
    )


def _turn_without_calls(turn: ProviderTurn, text: str, rest: str) -> ProviderTurn | None:
    """The provider's turn with `rest` for the text. One of another protocol than chat has a place for each
    call, and none for these.
    """
    if turn["dialect"] != "chat":
        return None
    body = dict(turn["body"])
    content = body.pop("content", None)
    if isinstance(content, str) and content.endswith(text):  # what it thought stands before
        body["content"] = content[: len(content) - len(text)] + rest
    return {**turn, "body": body} if body else None


def flags_in_words(flags: Iterable[str]) -> Iterator[str]:
    """The flags of a reply as a trace tells them; one that needs no other words stays as it is.

    >>> list(flags_in_words(["call_in_text:hermes", "read_from_text", "reply_cut"]))
    ['read from text (hermes)', 'reply_cut']
    >>> list(flags_in_words(["call_in_text:hermes"]))
    ['call in text (hermes): not run; tool_calls: text runs such calls']
    """
    flags = list(flags)
    for flag in flags:
        form = flag.removeprefix(IN_TEXT)
        if flag == UNREADABLE:
            yield "the provider's token counts could not be read"
        elif form == flag:
            if flag != READ_FROM_TEXT:
                yield flag
        elif READ_FROM_TEXT in flags:
            yield f"read from text ({form})"
        else:
            yield f"call in text ({form}): not run; tool_calls: text runs such calls"
