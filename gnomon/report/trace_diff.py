"""Alignment: two traces side by side, and where they first part."""

import json
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from gnomon.report.row_formats import escape_surrogates
from gnomon.report.shapes import AlignedStep, Alignment, TraceStep

CHARS = 700
Stored = Mapping[str, Any]


def align(baseline: Stored | None, variant: Stored | None) -> Alignment | None:
    """The steps of two stored traces in rows; None where one of them is not kept.

    Steps of one kind (and one tool) stand side by side, so that a call that only one trial made leaves a gap.
    `diverges_at` is the first row whose sides are not the same, word for word; None where all are.
    """
    if baseline is None or variant is None:
        return None
    left, right = _steps(baseline), _steps(variant)
    rows: list[AlignedStep] = []
    for _, a, b, c, d in SequenceMatcher(None, _kinds(left), _kinds(right), autojunk=False).get_opcodes():
        for at in range(max(b - a, d - c)):
            one = left[a + at] if a + at < b else None
            other = right[c + at] if c + at < d else None
            rows.append({"baseline": _shown(one), "variant": _shown(other), "same": _same(one, other)})
    return {
        "steps": rows,
        "diverges_at": next((at for at, row in enumerate(rows) if not row["same"]), None),
    }


def _steps(trace: Stored) -> list[Stored]:
    return [step for step in trace.get("steps", ()) if isinstance(step, Mapping)]


def _kinds(steps: Sequence[Stored]) -> list[str]:
    """What may stand side by side: `reply` with `reply`, a tool with the same tool."""
    return [f"{step.get('kind')} {step.get('name', '')}" for step in steps]


def _same(one: Stored | None, other: Stored | None) -> bool:
    if one is None or other is None:
        return False
    return all(
        one.get(key) == other.get(key) for key in ("kind", "name", "arguments", "observation", "text")
    ) and (_calls(one) == _calls(other))


def _calls(step: Stored) -> list[tuple[str, str]]:
    functions = [call.get("function", {}) for call in step.get("tool_calls") or ()]
    return [(str(call.get("name")), str(call.get("arguments"))) for call in functions]


def _shown(step: Stored | None) -> TraceStep | None:
    if step is None:
        return None
    kind = str(step.get("kind"))
    if kind == "tool":
        title, text = f"{step.get('name')}({step.get('arguments')})", str(step.get("observation") or "")
        title = f"{title} failed: {step['error']}" if step.get("error") else title
    else:
        calls = ", ".join(f"{name}({arguments})" for name, arguments in _calls(step))
        title, text = (f"calls {calls}" if calls else ""), _text(step.get("text"))
        if reasoning := _text(step.get("reasoning")):
            text = f"{text}\n\n(reasoning) {reasoning}" if text else f"(reasoning) {reasoning}"
    return {"kind": kind, "title": _cut(title), "text": _cut(text)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _cut(text: str) -> str:
    return escape_surrogates(text if len(text) <= CHARS else f"{text[:CHARS]}… ({len(text):,} characters)")
