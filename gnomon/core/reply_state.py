"""Says what became of a trial's reply, by a closed list that is kept in every row and counted by arm."""

from enum import StrEnum

from gnomon.core.finish_reason import CUT_REASONS, REFUSED_REASONS, kind_of
from gnomon.core.score import Outcome
from gnomon.core.text_calls import find_text_calls
from gnomon.core.thinking import without_thinking
from gnomon.core.trace import Trace

PICTURES_LEFT_OUT = "pictures_left_out"  # flag: the prompt has pictures, which the model does not take


class ReplyState(StrEnum):
    """What became of a reply. `UNKNOWN_STATES` are those after which nobody knows what the model would have
    answered.
    """

    READ = "read"  # an answer was read
    READ_CUT = "read_cut"  # an answer was read, but the reply was cut at its limit
    CUT = "cut"  # cut at its limit, and no answer in it
    CALL_IN_TEXT = "call_in_text"  # a call of a tool, written as text, stands where the answer should be
    THOUGHT_ONLY = "thought_only"  # nothing but reasoning
    # Words without an answer in any known form, or a call that nobody can parse or had offered.
    UNREADABLE = "unreadable"
    REFUSED = "refused"  # the model or its provider's filter refused
    EMPTY = "empty"  # no words at all
    REPEATED = "repeated_calls"  # the same call, to the letter, until a limit ended it
    LIMIT = "limit"  # turns, calls, tokens, seconds or context were used up before it answered
    MISSING = "missing"  # the provider's fault, an agent's or ours


UNKNOWN_STATES = (
    ReplyState.CUT,
    ReplyState.CALL_IN_TEXT,
    ReplyState.THOUGHT_ONLY,
    ReplyState.UNREADABLE,
    ReplyState.EMPTY,
    ReplyState.REFUSED,
    ReplyState.REPEATED,
)

_UNDECLARED = ("last_line", "only_mention")  # rules of reading
_BY_STOP_REASON = {
    "model:refused": ReplyState.REFUSED,
    "model:malformed_call": ReplyState.UNREADABLE,
    "model:context_overflow": ReplyState.LIMIT,
}


def reply_state(
    outcome: Outcome, stop_reason: str, answer: str | None, trace: Trace, *, read_by: str = ""
) -> ReplyState:
    """The state of a trial that has ended so, with this answer read by this rule.

    What stands last in a reply that was cut, and nothing declares, is no answer: it is where it was cut.
    """
    if outcome == Outcome.INFRA_MISSING:
        return ReplyState.MISSING
    if trace.response is None:
        made = [(step.name, step.arguments) for step in trace.tool_steps]
        limit = ReplyState.REPEATED if made and made[-1] in made[:-1] else ReplyState.LIMIT
        return _BY_STOP_REASON.get(stop_reason, limit)
    replies = trace.replies
    reason = kind_of(replies[-1].finish_reason) if replies else ""
    is_cut = reason in CUT_REASONS
    words = without_thinking(trace.response)
    calls = find_text_calls(words, trace.tool_names)
    if calls is not None and not calls.rest:
        return ReplyState.CUT if is_cut and answer is None else ReplyState.CALL_IN_TEXT
    if is_cut and (answer is None or read_by in _UNDECLARED):
        return ReplyState.CUT
    if answer is not None:
        return ReplyState.READ_CUT if is_cut else ReplyState.READ
    if calls is not None:
        return ReplyState.CALL_IN_TEXT
    if reason in REFUSED_REASONS:
        return ReplyState.REFUSED
    last = replies[-1] if replies else None
    if words.strip() or (last is not None and last.tool_calls):
        return ReplyState.UNREADABLE
    has_thought = bool(trace.response.strip()) or (
        last is not None and (last.has_reasoning or bool(last.reasoning_tokens))
    )
    return ReplyState.THOUGHT_ONLY if has_thought else ReplyState.EMPTY
