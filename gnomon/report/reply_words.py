"""Says in words what became of replies, and what to do where they tell nothing of the model."""

from collections.abc import Iterable, Mapping

from gnomon.core.reply_state import ReplyState

WORTH_SAYING = 0.05  # the share of an arm's replies above which their state is told before any figure
STATE_WORDS: Mapping[ReplyState, str] = {  # a reply is …
    ReplyState.READ: "read",
    ReplyState.READ_CUT: "read, but cut",
    ReplyState.CUT: "cut",
    ReplyState.CALL_IN_TEXT: "a call written as text",
    ReplyState.THOUGHT_ONLY: "thought only",
    ReplyState.UNREADABLE: "unreadable",
    ReplyState.REFUSED: "refused",
    ReplyState.EMPTY: "empty",
    ReplyState.REPEATED: "spent on the same call",
    ReplyState.LIMIT: "stopped by a limit",
    ReplyState.MISSING: "missing",
}
NEXT_STEPS: Mapping[ReplyState, str] = {
    ReplyState.CUT: "Raise `models[].max_tokens`.",
    ReplyState.CALL_IN_TEXT: (
        "Set the model's `tool_calls: text`, or start its server with the parser for such calls "
        "(docs/models.md)."
    ),
    ReplyState.THOUGHT_ONLY: (
        "Turn thinking off in the model's `options` (`chat_template_kwargs: {enable_thinking: false}`), or "
        "start its server without a reasoning parser."
    ),
    ReplyState.UNREADABLE: (
        "Compare a reply with the form that is asked for (`gnomon show`). If it has another, change the "
        "`scorer` or the arm's `agent`; if it names what is no option, the mistake is the model's."
    ),
    ReplyState.EMPTY: (
        "Raise `models[].max_tokens`, or turn thinking off in the model's `options`: hidden reasoning may "
        "have used the reply up."
    ),
    ReplyState.REPEATED: "Raise `models[].temperature`, or give the arm another `agent`.",
    ReplyState.REFUSED: "Ask another model, or ask in other words (`arms[].wording`).",
}


def were(n: int, state: ReplyState) -> str:
    """What became of so many replies.

    >>> were(1, ReplyState.CUT), were(2, ReplyState.CALL_IN_TEXT)
    ('was cut', 'were calls written as text')
    """
    words = STATE_WORDS[state]
    return f"was {words}" if n == 1 else f"were {words.replace('a call', 'calls')}"


def next_steps(states: Iterable[ReplyState]) -> str:
    """What to do, a sentence for each of these states."""
    return " ".join(NEXT_STEPS[state] for state in dict.fromkeys(states))
