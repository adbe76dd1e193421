"""Puts two traces side by side, from the first call, result or answer that is not the same.

Calls are equal when tool and arguments are, numbers rounded to a millimetre and a millisecond. Equal calls
face each other, and differ in their `result` where that is another; a call that only one trace made leaves a
gap; a call of the same tool with other arguments is one row that is changed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from gnomon.traces.turns import Turn

DECIMALS = 3
MOST_ITEMS = 400  # beyond, only so many on each side of the divergence are aligned
NEAR = 200

Relation = Literal["same", "result", "changed", "left", "right"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A call, or the text of a reply that called nothing; `key` decides what is equal."""

    turn: int
    kind: Literal["call", "reply"]
    name: str  # of the tool; empty for a reply
    text: str  # its arguments, or what was said
    result: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedRow:
    """An item of each trace, or of one of them."""

    left: Item | None
    right: Item | None
    relation: Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Rows; the first `diverges_at` of them are the same. `is_cut`: far rows were left out."""

    rows: tuple[AlignedRow, ...]
    diverges_at: int | None
    is_cut: bool = False


def items_of(turns: Sequence[Turn]) -> list[Item]:
    """A trace's calls and answers, in order."""
    items: list[Item] = []
    for turn in turns:
        for call in turn.calls:
            key = f"{call.name} {canonical(call.arguments)}"
            items.append(
                Item(
                    turn=turn.number,
                    kind="call",
                    name=call.name,
                    text=call.arguments,
                    result=call.observation,
                    key=key,
                )
            )
        if not turn.calls and turn.text:
            text = turn.text.strip()
            items.append(
                Item(turn=turn.number, kind="reply", name="", text=text, result="", key=f"reply {text}")
            )
    return items


def canonical(arguments: str) -> str:
    """Arguments in one form: keys sorted, numbers rounded; as written where they are no JSON.

    >>> canonical('{"b": 1.00004, "a": 2}') == canonical('{"a": 2.0, "b": 1}')
    True
    """
    try:
        return json.dumps(_rounded(json.loads(arguments)), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def align(left: Sequence[Turn], right: Sequence[Turn]) -> Alignment:
    """Two traces in rows."""
    ours, theirs = items_of(left), items_of(right)
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common].key == theirs[common].key:
        common += 1
    is_cut = max(len(ours), len(theirs)) > MOST_ITEMS
    start = max(0, common - NEAR) if is_cut else 0
    end = common + NEAR if is_cut else None
    rows = _rows(ours[start:end], theirs[start:end])
    first = next((place for place, row in enumerate(rows) if row.relation != "same"), None)
    return Alignment(rows=tuple(rows), diverges_at=first, is_cut=is_cut)


def _rows(ours: Sequence[Item], theirs: Sequence[Item]) -> list[AlignedRow]:
    keys = ([item.key for item in ours], [item.key for item in theirs])
    rows: list[AlignedRow] = []
    for tag, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag == "equal":
            pairs = zip(ours[a:b], theirs[c:d], strict=True)
            rows += (_facing(left, right) for left, right in pairs)
        else:
            rows += _unequal(ours[a:b], theirs[c:d])
    return rows


def _facing(left: Item, right: Item) -> AlignedRow:
    return AlignedRow(left=left, right=right, relation="same" if left.result == right.result else "result")


def _unequal(ours: Sequence[Item], theirs: Sequence[Item]) -> list[AlignedRow]:
    """Calls of one tool face each other; the rest leaves gaps."""
    names = ([f"{item.kind} {item.name}" for item in ours], [f"{item.kind} {item.name}" for item in theirs])
    rows: list[AlignedRow] = []
    for tag, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if tag == "equal":
            pairs = zip(ours[a:b], theirs[c:d], strict=True)
            rows += (AlignedRow(left=left, right=right, relation="changed") for left, right in pairs)
        else:
            rows += (AlignedRow(left=item, right=None, relation="left") for item in ours[a:b])
            rows += (AlignedRow(left=None, right=item, relation="right") for item in theirs[c:d])
    return rows


def changed_words(left: str, right: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Both texts in stretches, each with whether it is only there; words and numbers are whole.

    >>> changed_words("at 5 m", "at 7 m")[1]
    [('at ', False), ('7', True), (' m', False)]
    """
    ours, theirs = _words(left), _words(right)
    out: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        for side, words in ((0, ours[a:b]), (1, theirs[c:d])):
            if words:
                out[side].append(("".join(words), tag != "equal"))
    return out


def _words(text: str) -> list[str]:
    words: list[str] = []
    for char in text:
        joins = (
            words
            and (char.isalnum() or char in "._-")
            and (words[-1][-1].isalnum() or words[-1][-1] in "._-")
        )
        if joins:
            words[-1] += char
        else:
            words.append(char)
    return words


def _rounded(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return round(float(value), DECIMALS)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
