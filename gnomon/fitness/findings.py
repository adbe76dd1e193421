"""Judges what an endpoint replied: a table of findings, and in one sentence whether it is fit."""

import json
from collections.abc import Callable, Sequence

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.finish_reason import is_cut
from gnomon.core.missing import ADVICE, beginning, keepable, said_in_short
from gnomon.core.model import Reply
from gnomon.core.read_calls import READ_FROM_TEXT, text_calls
from gnomon.core.thinking import without_thinking
from gnomon.fitness.examine import (
    CODE_WORD,
    PICTURE_COLOURS,
    SHORT_TOKENS,
    SYSTEM_WORD,
    TOOL_PICTURE_COLOURS,
    Exchange,
    Exchanges,
)
from gnomon.fitness.needs import Needs
from gnomon.fitness.table import SEE_REASONING, Finding, Fitness, State

USUAL_PROMPT, USUAL_REPLY = 2_000, 300  # tokens of a call in an arm with tools, for an estimate
IN_WORDS = "use `agent: text-react`, which calls tools in words"
ARGUMENTS_CHARS = 80  # of a call that are quoted
NOT_ASKED = "not asked"
# The findings by which an endpoint is fit or not, where they are needed; others are only told.
DECIDING = {
    "answers",
    "system_role",
    "answer_form",
    "reasoning",
    "tool_call",
    "tool_result",
    "picture",
    "tool_picture",
    "tokens",
}
TOLD = {
    "answer_form",
    "stop_reason",
    "reasoning",
    "speed",
}  # named in the sentence even if they do not decide


def judge(heard: Exchanges, needs: Needs, *, model: str, is_whole: bool = True) -> Fitness:
    """The findings of an examination; of one that was not `is_whole` only what was asked."""
    is_heard = any(each.has_answered for each in heard.in_order)
    findings = [make(heard, needs) for make in (*_ROWS, *(_OF_REPLIES if is_heard else ()))]
    by_name = {finding["check"]: finding for finding in findings}
    replies = [each.reply for each in heard.in_order if each.reply is not None]
    native = _native(by_name, needs)
    deciding = DECIDING if needs.room else {"answers", "tool_call", "tool_result"}
    faults = [row["check"] for row in findings if row["state"] == "unfit" and row["check"] in deciding | TOLD]
    is_fit = deciding.isdisjoint(faults)
    prompt_s, reply_s = seconds_by_tokens(heard.in_order)
    return {
        "model": model,
        "fit": is_fit,
        "native_tools": native,
        "sentence": _sentence(model, faults, native, is_fit=is_fit),
        "findings": [row for row in findings if is_whole or row["came"] != NOT_ASKED],
        "calls": len(heard.in_order),
        "seconds": round(sum(each.seconds for each in heard.in_order), 3),
        "prompt_tokens": _total([reply.prompt_tokens for reply in replies]),
        "completion_tokens": _total([reply.completion_tokens for reply in replies]),
        "usd": None
        if any(reply.usd is None for reply in replies)
        else sum(reply.usd or 0.0 for reply in replies),
        "seconds_per_100_prompt_tokens": None if prompt_s is None else round(100 * prompt_s, 4),
        "seconds_per_10_reply_tokens": None if reply_s is None else round(10 * reply_s, 4),
    }


def seconds_by_tokens(heard: Sequence[Exchange]) -> tuple[float | None, float | None]:
    """Seconds for a prompt token and for one of the reply, by least squares over all calls, never negative;
    None where two calls or more do not tell them. Tokens from a prompt cache count as none.

    >>> call = lambda prompt, reply, seconds: Exchange(what="", seconds=seconds, reply=Reply(
    ...     text="", prompt_tokens=prompt, completion_tokens=reply))
    >>> seconds_by_tokens([call(100, 10, 2.0), call(300, 10, 4.0)])
    (0.01, 0.1)
    >>> seconds_by_tokens([call(100, 10, 2.0)])
    (None, None)
    """
    counted = [
        (reply.prompt_tokens - (reply.cached_tokens or 0), reply.completion_tokens, each.seconds)
        for each in heard
        if (reply := each.reply) and reply.prompt_tokens is not None and reply.completion_tokens is not None
    ]
    pp = sum(prompt * prompt for prompt, _, _ in counted)
    rr = sum(reply * reply for _, reply, _ in counted)
    pr = sum(prompt * reply for prompt, reply, _ in counted)
    ps = sum(prompt * seconds for prompt, _, seconds in counted)
    rs = sum(reply * seconds for _, reply, seconds in counted)
    determinant = pp * rr - pr * pr
    if len(counted) < 2 or determinant <= 0:
        return None, None
    by_prompt, by_reply = (ps * rr - rs * pr) / determinant, (rs * pp - ps * pr) / determinant
    if by_prompt < 0:
        return 0.0, rs / rr
    return (ps / pp, 0.0) if by_reply < 0 else (round(by_prompt, 9), round(by_reply, 9))


def _native(rows: dict[str, Finding], needs: Needs) -> State:
    if not needs.tools:
        return "not_needed"
    states = [rows[name]["state"] for name in ("tool_call", "tool_result")]
    if rows["calls_in_text"]["state"] != "fit" and rows["tool_call"]["state"] == "fit":
        return "unfit"  # read from words, as the spec wants
    return "unfit" if "unfit" in states else "fit" if states == ["fit", "fit"] else "unknown"


def _sentence(model: str, faults: Sequence[str], native: State, *, is_fit: bool) -> str:
    tools = {
        "fit": "fit for native tools",
        "unfit": "not fit for native tools",
        "not_needed": "native tools are not needed",
        "unknown": "whether it is fit for native tools is not known",
    }[native]
    names = f" ({', '.join(faults)})" if faults else ""
    if is_fit:
        return f"{model} is fit for what is asked of it{', with faults' if faults else ''}{names}; {tools}."
    return f"{model} is not fit{names}; {tools}."


def _row(check: str, asked: str, came: str, state: State, advice: str = "") -> Finding:
    return {"check": check, "asked": asked, "came": keepable(came), "state": state, "advice": advice}


def _unasked(check: str, asked: str, *, is_needed: bool) -> Finding:
    """The row of what was not asked: because it is not needed, or as nothing came before it."""
    return _row(check, asked, NOT_ASKED, "unknown" if is_needed else "not_needed")


def _fault(heard: Exchange) -> str:
    return said_in_short(heard.fault.message) if heard.fault is not None else "nothing"


def _advice(heard: Exchange) -> str:
    """What helps where a call has failed."""
    fault = heard.fault
    if isinstance(fault, ProviderFault) and fault.cause == "timeout":
        return "See whether the server runs; if it is slow, raise the model's `call_seconds`."
    cause = getattr(fault, "cause", "")
    return ADVICE.get(f"provider:{cause}", "Trials will end as missing so: see the server's log.")


def _is_wordless(reply: Reply) -> bool:
    """Whether a reply holds neither a call nor words beside its thinking."""
    return not reply.tool_calls and not without_thinking(reply.text)


def _has_thought(reply: Reply) -> bool:
    return bool(reply.reasoning.strip() or reply.reasoning_tokens or "<think" in reply.text)


def _wordless(reply: Reply) -> str:
    """What helps where no words came."""
    return SEE_REASONING if _has_thought(reply) else "The reply is empty: see the server's template."


def _cut(reply: Reply, needs: Needs) -> str:
    """That a reply was cut, where, and what helps."""
    counted, limit = reply.completion_tokens, needs.decoding.max_tokens
    after = "" if counted is None else f" after {counted} tokens"
    if limit is None:
        return (
            f"Cut{after}, though the spec sets no `max_tokens`: the server caps replies by itself. Raise the "
            "model's `max_tokens`, or the server's own limit."
        )
    if counted is not None and counted < limit:
        return f"Cut{after}, though `max_tokens` is {limit}: the server caps replies. Raise its own limit."
    return f"Cut{after}, `max_tokens` being {limit}. Raise the model's `max_tokens`."


def _said(reply: Reply) -> str:
    """What a reply says, in short."""
    if without_thinking(reply.text):
        return said_in_short(reply.text)
    if reply.tool_calls:
        return f"a call of `{reply.tool_calls[0]['function']['name']}`"
    return "reasoning alone" if _has_thought(reply) else "no words"


def _answers(heard: Exchanges, needs: Needs) -> Finding:
    asked, first = "a first reply", heard.first
    if first is None:
        return _unasked("answers", asked, is_needed=True)
    if not first.has_answered:
        return _row("answers", asked, _fault(first), "unfit", _advice(first))
    came = f"{_said(first.reply)} after {first.seconds:.1f} s" if first.reply else _fault(first)
    if first.reply is not None and _is_wordless(first.reply):
        return _row("answers", asked, came, "unfit", _wordless(first.reply))
    whole = [each.reply for each in heard.in_order if each.reply is not None and each is not heard.short]
    if first.reply is not None and all(map(_is_cut, whole)):
        return _row("answers", asked, f"{came}, cut as every reply", "unfit", _cut(first.reply, needs))
    return _row("answers", asked, came, "fit")


def _system_role(heard: Exchanges, needs: Needs) -> Finding:
    asked, said = f"a system message: begin with “{SYSTEM_WORD}”", heard.system
    if said is None:
        return _unasked("system_role", asked, is_needed=needs.system)
    if said.reply is None:
        advice = "Start the server with a template that takes system messages, or ask questions without one."
        return _row("system_role", asked, _fault(said), "unfit", advice)
    if SYSTEM_WORD in said.reply.text.lower():
        return _row("system_role", asked, _said(said.reply), "fit")
    if unknown := _unfinished("system_role", asked, said.reply, needs):
        return unknown
    return _row(
        "system_role",
        asked,
        _said(said.reply),
        "unfit",
        "The server's template may drop system messages: start it with one that keeps them.",
    )


def _is_cut(reply: Reply) -> bool:
    return is_cut(reply.finish_reason)


def _unfinished(check: str, asked: str, reply: Reply, needs: Needs) -> Finding | None:
    """The row of a reply that shows nothing, as it was cut or holds no words; None where it is whole."""
    if _is_cut(reply):
        return _row(check, asked, f"{_said(reply)}, cut", "unknown", _cut(reply, needs))
    if _is_wordless(reply):
        return _row(check, asked, _said(reply), "unknown", _wordless(reply))
    return None


def _answer_form(heard: Exchanges, needs: Needs) -> Finding:
    asked = "room for an answer in the asked form"
    first = heard.first
    if first is None or first.reply is None:
        return _unasked("answer_form", asked, is_needed=True)
    reply = first.reply
    came = f"{_said(reply)}, ended by {reply.finish_reason!r}"
    if _is_cut(reply):
        return _row("answer_form", asked, came, "unfit", _cut(reply, needs))
    if unknown := _unfinished("answer_form", asked, reply, needs):
        return unknown
    if _stop_reason(heard, needs)["state"] == "unfit" and "answer:" not in reply.text.lower():
        return _row("answer_form", asked, came, "unknown", "It may have been cut: see `stop_reason`.")
    return _row("answer_form", asked, came, "fit")


def _stop_reason(heard: Exchanges, needs: Needs) -> Finding:  # noqa: ARG001 (every row is made so)
    asked, short = f"why a long reply ends that may have {SHORT_TOKENS} tokens", heard.short
    if short is None or short.reply is None:
        came = NOT_ASKED if short is None else _fault(short)
        return _row("stop_reason", asked, came, "not_needed" if short is None else "unknown")
    came = f"{short.reply.finish_reason!r}"
    if is_cut(short.reply.finish_reason):
        return _row("stop_reason", asked, came, "fit")
    counted = short.reply.completion_tokens
    if counted is not None and counted > SHORT_TOKENS:
        advice = "Start the server so that it keeps to `max_tokens`, which limits nothing here."
    else:
        advice = (
            "A cut reply is told as a whole one, and counts as `unreadable`: start the server so that it "
            "says `length`, or give replies room by `max_tokens`."
        )
    return _row("stop_reason", asked, came, "unfit", advice)


def _reasoning(heard: Exchanges, needs: Needs) -> Finding:  # noqa: ARG001 (every row is made so)
    asked = "where thinking comes"
    replies = [each.reply for each in heard.in_order if each.reply is not None and each is not heard.short]
    if not replies:
        return _unasked("reasoning", asked, is_needed=True)
    in_text = any(
        "<think" in reply.text or (reply.reasoning and "</think" in json.dumps(reply.provider_turn))
        for reply in replies
    )
    thought = [reply for reply in replies if _has_thought(reply)]
    if not thought and not in_text:
        return _row("reasoning", asked, "no thinking", "fit")
    came = "in the text, between tags" if in_text else "in a field of its own"
    if not in_text and not any(reply.reasoning.strip() for reply in thought):
        came = "counted, not shown"
    alone = [reply for reply in thought if _is_wordless(reply)]
    if alone:
        words = f"{came}; {len(alone)} of {len(replies)} replies had no words beside it"
        helps = (
            "raise the model's `max_tokens`"
            if any(map(_is_cut, alone))
            else "turn thinking off by `options: {chat_template_kwargs: {enable_thinking: false}}`"
        )
        advice = f"Such replies count as `thought_only`: {helps}, or see the server's template."
        return _row("reasoning", asked, words, "unfit", advice)
    return _row("reasoning", asked, came, "fit")


def _tool_call(heard: Exchanges, needs: Needs) -> Finding:
    asked, call = "a call of a tool", heard.call
    if call is None:
        return _unasked("tool_call", asked, is_needed=bool(needs.tools))
    reply, forms = call.reply, heard.text_calls
    if isinstance(call.fault, ModelFault) or reply is None:
        return _failed_call(asked, call, is_first=call is heard.first)
    if reply.tool_calls:
        function = reply.tool_calls[0]["function"]
        came = f"`{function['name']}({beginning(function['arguments'], ARGUMENTS_CHARS)})`"
        try:
            is_object = isinstance(json.loads(function["arguments"] or "{}"), dict)
        except ValueError:
            is_object = False
        if not is_object:
            advice = f"Such calls count as bad: see the server's tool parser, or {IN_WORDS}."
            return _row("tool_call", asked, came, "unfit", advice)
        return _row("tool_call", asked, came, "fit")
    if forms is not None:
        came = f"written as text, in the form {forms.form}: {said_in_short(reply.text)}"
        if heard.turn is not None and READ_FROM_TEXT in heard.turn.flags:
            return _row("tool_call", asked, came, "fit", "Calls are read from words, as the spec says.")
        helps = "Set the model's `tool_calls: text`, or" if needs.tool_calls == "native" else "None is run:"
        return _row(
            "tool_call", asked, came, "unfit", f"Such replies count as `call_in_text`. {helps} {IN_WORDS}."
        )
    if _is_cut(reply):
        return _row("tool_call", asked, f"{_said(reply)}, cut", "unfit", _cut(reply, needs))
    advice = f"Expect no call in its trials: see the server's tool parser, or {IN_WORDS}."
    return _row("tool_call", asked, f"no call: {_said(reply)}", "unfit", advice)


def _failed_call(asked: str, call: Exchange, *, is_first: bool) -> Finding:
    if isinstance(call.fault, ModelFault):
        advice = (
            f"Such calls end trials as `model:malformed_call`: see the server's tool parser, or {IN_WORDS}."
        )
    elif getattr(call.fault, "cause", "") == "bad_request":
        advice = (
            f"Every trial with tools will be missing: start the server with a tool parser, or {IN_WORDS}."
        )
    elif is_first:  # of an endpoint that was never heard nobody knows how it calls
        return _row("tool_call", asked, _fault(call), "unknown")
    else:
        advice = _advice(call)
    return _row("tool_call", asked, _fault(call), "unfit", advice)


def _tool_result(heard: Exchanges, needs: Needs) -> Finding:
    asked = f"the result of the call, with the word “{CODE_WORD}”, and a reply with that word"
    result = heard.result
    if result is None:
        return _unasked("tool_result", asked, is_needed=bool(needs.tools))
    if result.reply is None:
        advice = f"Every trial that calls a tool will end so: {IN_WORDS}."
        return _row("tool_result", asked, _fault(result), "unfit", advice)
    reply = result.reply
    if CODE_WORD in without_thinking(reply.text).lower():
        return _row("tool_result", asked, _said(reply), "fit")
    if reply.tool_calls or text_calls(reply.text, needs.tools):
        advice = f"Trials will repeat calls until `max_tool_calls`: {IN_WORDS}."
        return _row("tool_result", asked, "another call", "unfit", advice)
    if _is_cut(reply):
        return _row("tool_result", asked, f"{_said(reply)}, cut", "unfit", _cut(reply, needs))
    if _is_wordless(reply):
        return _row("tool_result", asked, _said(reply), "unfit", _wordless(reply))
    advice = f"The server may leave results of tools out: {IN_WORDS}."
    return _row("tool_result", asked, _said(reply), "unfit", advice)


def _calls_in_text(heard: Exchanges, needs: Needs) -> Finding:
    asked = "calls that stand in the words of a reply"
    if heard.call is None or heard.call.reply is None:
        return _unasked("calls_in_text", asked, is_needed=bool(needs.tools))
    if heard.text_calls is None:
        return _row("calls_in_text", asked, "none", "fit")
    advice = "" if needs.tool_calls != "native" else "See `tool_call`."
    return _row("calls_in_text", asked, f"form {heard.text_calls.form}", "unfit", advice)


def _picture(heard: Exchanges, needs: Needs) -> Finding:
    advice = "Set `pictures: false` for a note in place of each picture, or take an endpoint that sees."
    return _seen("picture", heard.picture, needs, is_needed=needs.pictures, advice=advice)


def _tool_picture(heard: Exchanges, needs: Needs) -> Finding:
    advice = "Calls that return a picture will end so; leave out the tools that show pictures."
    return _seen("tool_picture", heard.tool_picture, needs, is_needed=needs.tool_pictures, advice=advice)


def _seen(check: str, heard: Exchange | None, needs: Needs, *, is_needed: bool, advice: str) -> Finding:
    is_of_prompt = check == "picture"
    where = "the prompt" if is_of_prompt else "a tool's result"
    colours = PICTURE_COLOURS if is_of_prompt else TOOL_PICTURE_COLOURS
    asked = f"a picture in {where}, {colours[0]} on the left and {colours[1]} on the right"
    if heard is None:
        return _unasked(check, asked, is_needed=is_needed)
    if heard.reply is None:
        return _row(check, asked, _fault(heard), "unfit", advice)
    text = without_thinking(heard.reply.text).lower()
    places = [text.find(colour) for colour in colours]
    if -1 < places[0] < places[1]:
        return _row(check, asked, _said(heard.reply), "fit")
    unknown = _unfinished(check, asked, heard.reply, needs)
    return unknown or _row(check, asked, _said(heard.reply), "unfit", advice)


def _tokens(heard: Exchanges, needs: Needs) -> Finding:
    asked, replies = "counts of tokens", [each.reply for each in heard.in_order if each.reply is not None]
    if not replies:
        return _unasked("tokens", asked, is_needed=needs.counts)
    first = replies[0]
    if all(reply.prompt_tokens is not None and reply.completion_tokens is not None for reply in replies):
        return _row(
            "tokens", asked, f"{first.prompt_tokens} + {first.completion_tokens} of the first call", "fit"
        )
    advice = "Tokens and price will be unknown: start the server so that it reports `usage`"
    advice += ", or leave the spec's `limits` out." if needs.counts else "."
    return _row("tokens", asked, "none", "unfit" if needs.counts else "not_needed", advice)


def _speed(heard: Exchanges, needs: Needs) -> Finding:
    asked = "seconds for 100 prompt tokens, and for 10 of a reply"
    prompt_s, reply_s = seconds_by_tokens(heard.in_order)
    if prompt_s is None or reply_s is None:
        return _row("speed", asked, "not known from these calls", "not_needed")
    came = f"{100 * prompt_s:.2f} s and {10 * reply_s:.2f} s"
    expected_s = USUAL_PROMPT * prompt_s + USUAL_REPLY * reply_s
    if expected_s > needs.call_seconds:
        advice = (
            f"A call of {USUAL_PROMPT:,} + {USUAL_REPLY} tokens would take about {expected_s:,.0f} s, more "
            f"than `call_seconds` ({needs.call_seconds:g}): raise it, and `limits.trial_seconds` with it."
        )
        return _row("speed", asked, came, "unfit", advice)
    return _row("speed", asked, came, "fit")


def _model_version(heard: Exchanges, needs: Needs) -> Finding:  # noqa: ARG001 (every row is made so)
    asked = "the version of the model"
    versions = dict.fromkeys(
        each.reply.model_version
        for each in heard.in_order
        if each.reply is not None and each.reply.model_version
    )
    if versions:
        return _row("model_version", asked, ", ".join(versions), "fit")
    advice = "The report cannot see whether the model changes while the job runs."
    return _row("model_version", asked, "none", "not_needed", advice)


_ROWS: tuple[Callable[[Exchanges, Needs], Finding], ...] = (
    _answers,
    _system_role,
    _answer_form,
    _stop_reason,
    _reasoning,
    _tool_call,
    _tool_result,
    _calls_in_text,
    _picture,
    _tool_picture,
    _tokens,
    _speed,
)
_OF_REPLIES = (_model_version,)  # rows that say nothing where nobody replied


def _total(counts: Sequence[int | None]) -> int | None:
    tokens = [count for count in counts if count is not None]
    return sum(tokens) if counts and len(tokens) == len(counts) else None
