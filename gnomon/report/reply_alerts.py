"""Finds arms whose replies tell little of the model: cut, unreadable, or with tools that are never called."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.core.agent import runs_tools, sends_schemas
from gnomon.core.arm import Arm
from gnomon.core.finish_reason import kind_of
from gnomon.core.missing import plain
from gnomon.core.reply_state import PICTURES_LEFT_OUT, UNKNOWN_STATES, ReplyState
from gnomon.core.row import OVER_MAX_TOKENS, REPEATED_CALLS
from gnomon.core.text_calls import find_text_calls
from gnomon.core.thinking import without_thinking
from gnomon.report.alert import Alert, alert
from gnomon.report.group_totals import GroupTotals
from gnomon.report.reply_words import NEXT_STEPS, WORTH_SAYING, were
from gnomon.report.section import ReportInput
from gnomon.report.text_formats import capitalised, count, short
from gnomon.spec.model_spec import ModelSpec

QUOTED_CHARS = 120
MALFORMED = "The server could not read the model's calls: give the arm `agent: text-react`."


def reply_alerts(report_input: ReportInput) -> Iterator[Alert]:
    """By arm, each state of which there is more than a twentieth, with one reply and what to do next."""
    for model, arm, totals in _by_arm(report_input):
        for state in UNKNOWN_STATES:
            n = totals.states[state]
            if n > WORTH_SAYING * totals.replies:
                trace = report_input.trace(totals.examples[state]) or {}
                yield alert(
                    state.value,
                    f"{n:,} of {_replies(totals.replies)} {were(n, state)}",
                    model=model.label,
                    arm=arm.name,
                    concerned=n,
                    n=totals.replies,
                    example=short(plain(last_words(trace)), QUOTED_CHARS),
                    advice=MALFORMED if _are_malformed(totals, state) else _advice(model, arm, state, trace),
                )


def call_alerts(report_input: ReportInput) -> Iterator[Alert]:
    """By arm: the same call again and again, and tools that were offered and never called."""
    for model, arm, totals in _by_arm(report_input):
        repeated = totals.flags[REPEATED_CALLS] - totals.states[ReplyState.REPEATED]
        if repeated > WORTH_SAYING * totals.replies:
            yield alert(
                REPEATED_CALLS,
                f"{repeated:,} of {count(totals.replies, 'trial')} made the same call again, to the letter",
                model=model.label,
                arm=arm.name,
                concerned=repeated,
                n=totals.replies,
                advice=NEXT_STEPS[ReplyState.REPEATED],
            )
        if not _may_call(arm) or _is_explained(totals):
            continue
        if totals.tools_offered == (0, 0):
            yield alert(
                "never_offered",
                f"no tool was offered in {count(totals.replies, 'trial')}, as no sample has what they need",
                model=model.label,
                arm=arm.name,
                concerned=totals.replies,
                n=totals.replies,
                advice="Give the samples what the tools need, such as a `scene`, or the arm other `tools`.",
            )
        elif _never_called(totals):
            yield alert(
                "never_called",
                f"no tool was ever called, in {count(totals.replies, 'trial')}",
                model=model.label,
                arm=arm.name,
                concerned=totals.replies,
                n=totals.replies,
                advice=_how_to_get_calls(arm),
            )


def setting_alerts(report_input: ReportInput) -> Iterator[Alert]:
    """By arm: replies longer than was asked for, and replies from the cache beside an arm that has fewer."""
    groups = list(_by_arm(report_input))
    for model, arm, totals in groups:
        too_long = totals.flags[OVER_MAX_TOKENS]
        if too_long > WORTH_SAYING * totals.replies:
            yield alert(
                OVER_MAX_TOKENS,
                f"{too_long:,} of {count(totals.replies, 'trial')} had replies longer than the model's "
                f"`max_tokens` of {model.max_tokens:,}, which its endpoint does not keep",
                model=model.label,
                arm=arm.name,
                concerned=too_long,
                n=totals.replies,
                advice="Set the limit on the server, or under the name it knows in the model's `options`.",
            )
        asked = [each for each in groups if each[0] is model and each[2].sums["model_calls"]]
        fewest = min(asked, key=lambda each: _kept(each[2]), default=None)
        if fewest and _kept(totals) > _kept(fewest[2]) + WORTH_SAYING:
            own, others = (
                f"{each.sums['cache_hits']:,} of {each.sums['model_calls']:,}" for each in (totals, fewest[2])
            )
            yield alert(
                "kept_replies",
                f"{own} replies are from the response cache, of “{fewest[1].name}” {others}: they were made "
                "before, for another arm or an earlier job",
                model=model.label,
                arm=arm.name,
                concerned=totals.sums["cache_hits"],
                n=totals.sums["model_calls"],
                advice="Where a model may have changed since, run it anew with `cache: false`.",
            )


def _kept(totals: GroupTotals) -> float:
    """The share of replies that are from the response cache."""
    return totals.sums["cache_hits"] / max(totals.sums["model_calls"], 1)


def uncalled_arms(report_input: ReportInput) -> Iterator[tuple[str, str]]:
    """Models and arms of which it is known that tools were offered and none was ever called."""
    for model, arm, totals in _by_arm(report_input):
        if _may_call(arm) and not _is_explained(totals) and _never_called(totals):
            yield model.label, arm.name


def picture_alerts(report_input: ReportInput) -> Iterator[Alert]:
    """By arm: pictures of the prompt that the model did not get, as its entry says that it takes none."""
    for model, arm, totals in _by_arm(report_input):
        left_out = totals.flags[PICTURES_LEFT_OUT]
        if left_out:
            yield alert(
                PICTURES_LEFT_OUT,
                f"{left_out:,} of {count(totals.replies, 'prompt')} have pictures, and all were left out",
                model=model.label,
                arm=arm.name,
                concerned=left_out,
                n=totals.replies,
                advice="Set the model's `pictures: true` if it takes them, or give the arm `show: []`.",
            )


def _is_explained(totals: GroupTotals) -> bool:
    """Whether most replies are in a state after which nobody expects a call."""
    return sum(totals.states[state] for state in UNKNOWN_STATES) > totals.replies / 2


def _how_to_get_calls(arm: Arm) -> str:
    """What may make the model call, and is not set yet."""
    if arm.outside:
        return "See whether the agent asks the tool server that it is handed (docs/outside-agents.md)."
    ways = []
    if sends_schemas(arm):
        ways.append("give the arm `agent: text-react`")
    if arm.tool_choice != "required":
        ways.append("set `tool_choice: required`")
    ways.append("try other words (`gnomon wording`)")
    text = ", or ".join(ways)
    return f"{capitalised(text)}."


def _by_arm(report_input: ReportInput) -> Iterator[tuple[ModelSpec, Arm, GroupTotals]]:
    scores, spec = report_input.scores, report_input.spec
    models, arms = {model.label: model for model in spec.models}, {arm.name: arm for arm in spec.arms}
    for (label, name), totals in zip(scores.groups, scores.totals, strict=True):
        if totals.replies and label in models and name in arms:
            yield models[label], arms[name], totals


def _may_call(arm: Arm) -> bool:
    return bool(arm.tools) and runs_tools(arm) and arm.tool_choice != "none" and arm.max_tool_calls > 0


def _never_called(totals: GroupTotals) -> bool:
    """Whether tools were offered, and it is known that none was called."""
    is_known = not totals.unknown["tool_calls"]
    return bool(
        totals.tools_offered and totals.tools_offered[1] and is_known and not totals.sums["tool_calls"]
    )


def _are_malformed(totals: GroupTotals, state: ReplyState) -> bool:
    """Whether most replies in a state are calls that the server itself could not read."""
    malformed = sum(reasons["model:malformed_call"] for reasons in totals.stop_reasons.values())
    return state == ReplyState.UNREADABLE and malformed > totals.states[state] / 2


def _advice(model: ModelSpec, arm: Arm, state: ReplyState, trace: Mapping[str, Any]) -> str:
    """The next step that is not taken yet, with what the spec and a trace say of it."""
    if state == ReplyState.CUT:
        reply = _last_reply(trace)
        if kind_of(str(reply.get("finish_reason"))) == "model_context_window_exceeded":
            return (
                "The model's context was full: lower the arm's `max_turns`, or give the model more context."
            )
        limit = model.max_tokens or reply.get("completion_tokens")
        return f"Raise `models[].max_tokens` above {limit:,}." if limit else NEXT_STEPS[state]
    if state == ReplyState.CALL_IN_TEXT:
        if not _may_call(arm):
            return "The arm runs no tools: give it an `agent` that does, or another `arms[].wording`."
        if not arm.outside and not sends_schemas(arm):
            return "Give the arm `agent: react`, and the model `tool_calls: text`."
        calls = find_text_calls(without_thinking(last_words(trace)))
        if calls is not None and not calls.is_meant:
            return "Give the arm `agent: text-react`: words follow these calls, so `text` would not run them."
        if model.tool_calls == "text":
            return "Raise the arm's `max_tool_calls`: the model still calls where they are used up."
        if calls is not None:
            return NEXT_STEPS[state].replace("such calls", f"such calls ({calls.form})")
    return NEXT_STEPS[state]


def last_words(trace: Mapping[str, Any]) -> str:
    """What the model said last; where that is nothing, what it thought, why the trial ended, or its call."""
    last = _last_reply(trace)
    notes = [step["text"] for step in trace.get("steps", ()) if step["kind"] == "note"]
    calls = [
        f"{step['name']} {step['arguments']}" for step in trace.get("steps", ()) if step["kind"] == "tool"
    ]
    said = (trace.get("response"), last.get("text"), last.get("reasoning"), *notes[-1:], *calls[-1:])
    return next((text for text in said if text and text.strip()), "")


def _last_reply(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    replies = [step for step in trace.get("steps", ()) if step["kind"] == "reply"]
    return replies[-1] if replies else {}


def _replies(n: int) -> str:
    return f"{n:,} repl{'y' if n == 1 else 'ies'}"
