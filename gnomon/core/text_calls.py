"""Finds calls of tools that a model has written as text."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from gnomon.core.message import FunctionCall


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCalls:
    """Calls in a reply's text: the name of their form, the calls, and what the text says beside them."""

    form: str
    calls: tuple[FunctionCall, ...]
    rest: str


def find_text_calls(text: str, names: Collection[str] = ()) -> TextCalls | None:
    """The calls that a text holds, all of one form; None where it holds none.

    `names` are those of the tools on offer; a form without marks of its own counts as a call only where the
    object has a name and arguments, and the name is one of these if any are given.

    >>> find_text_calls('{"name": "speed", "arguments": {"km": 3}}').calls
    ({'name': 'speed', 'arguments': '{"km": 3}'},)
    >>> find_text_calls("Answer: B") is None
    True
    """
    stripped = text.strip()
    if not stripped.startswith("{"):
        return None
    try:
        written = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    if not isinstance(written, dict) or not isinstance(written.get("arguments"), dict):
        return None
    name = written.get("name")
    if not isinstance(name, str) or (names and name not in names):
        return None
    call: FunctionCall = {"name": name, "arguments": json.dumps(written["arguments"], ensure_ascii=False)}
    return TextCalls(form="bare_json", calls=(call,), rest="")
