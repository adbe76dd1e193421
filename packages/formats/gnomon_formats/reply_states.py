"""Tells what became of the last reply of a trial that was run elsewhere, where the reply itself shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.core.reply_state import ReplyState
from gnomon.core.text_calls import find_text_calls
from gnomon.core.thinking import without_thinking


def state_of(
    steps: Sequence[Mapping[str, Any]], *, score: float | None, answer: str | None
) -> ReplyState | None:
    """The state of a trial with these steps; None where nobody can tell it without the benchmark's reader.

    >>> state_of([{"kind": "reply", "text": "", "reasoning": "North, so B."}], score=0.0, answer=None).value
    'thought_only'
    >>> state_of([{"kind": "reply", "text": "It is B."}], score=0.0, answer=None) is None
    True
    """
    if score is None:
        return ReplyState.MISSING
    last = next((step for step in reversed(steps) if step.get("kind") == "reply"), None)
    if last is None or score > 0 or last.get("tool_calls"):
        return None
    text = str(last.get("text") or "")
    words = without_thinking(text)
    calls = find_text_calls(words)
    if calls is not None and not (calls.rest and answer):
        return ReplyState.CALL_IN_TEXT
    if words:
        return None
    return ReplyState.THOUGHT_ONLY if text.strip() or last.get("reasoning") else ReplyState.EMPTY
