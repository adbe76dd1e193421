"""Sketches the tool calls of a stored trace: what each asked and got, from its arguments and its observation.

Whatever a trace holds gets a `StepSketch`, never an exception: a tool that is no more, arguments that no
longer fit or a result that cannot be read give an empty sketch and a line of plain words.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.sample import Sample
from gnomon.core.tool_inputs import context_of
from gnomon_tools.core.json_text import json_value
from gnomon_tools.core.sketch import Sketch
from gnomon_tools.core.tool import Tool, ToolContext
from gnomon_tools.core.toolbox import TOOLS

LONGEST = 110  # characters of a summary


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSketch:
    """A tool call in a trace: `step` counts the trace's steps from 0. `error` is the kind of its failure."""

    step: int
    tool: str
    summary: str
    sketch: Sketch = field(default_factory=Sketch)
    error: str | None = None


def step_sketches(sample: Sample, trace: Mapping[str, Any]) -> tuple[StepSketch, ...]:
    """The sketches of a trace's tool calls, in order; `trace` as `Trace.to_json` wrote it."""
    context = context_of(sample)
    steps = trace.get("steps")
    return tuple(
        _step_sketch(context, index, step)
        for index, step in enumerate(steps if isinstance(steps, list | tuple) else ())
        if isinstance(step, Mapping) and step.get("kind") == "tool"
    )


def _step_sketch(context: ToolContext, index: int, step: Mapping[str, Any]) -> StepSketch:
    tool, error = str(step.get("name", "")), step.get("error")
    arguments, result = _object(step.get("arguments") or "{}"), _object(step.get("observation"))
    if error:
        message = str((result or {}).get("error") or step.get("observation") or error)
        return StepSketch(step=index, tool=tool, summary=_cut(f"failed: {message}"), error=str(error))
    plain = _cut(f"{_words(arguments)} → {_words(result)}")
    if arguments is None or result is None:
        return StepSketch(step=index, tool=tool, summary=plain)
    sketch = call_sketch(context, tool, arguments, result)
    return StepSketch(step=index, tool=tool, summary=_cut(sketch.summary) or plain, sketch=sketch)


def call_sketch(
    context: ToolContext, name: str, arguments: Mapping[str, Any], result: Mapping[str, Any]
) -> Sketch:
    """The sketch of one call; empty where the tool has none or cannot read what was recorded."""
    try:
        tool: Tool[Any] = TOOLS.get(name)
        if tool.sketch is None:
            return Sketch()
        return tool.sketch(context, tool.args.model_validate_json(json.dumps(arguments)), result)
    except Exception:  # noqa: BLE001 results are stored for years; an odd one must not cost the page
        return Sketch()


def _object(text: object) -> dict[str, Any] | None:
    """A JSON object; None for anything else."""
    value = json_value(text) if isinstance(text, str) else text
    return value if isinstance(value, dict) else None


def _words(values: Mapping[str, Any] | None) -> str:
    """The first few entries of an object: texts and numbers as they are, lists by their length.

    >>> _words({"camera": "c1", "boxes": [1, 2], "x": 1.0}), _words({}), _words(None)
    ('camera c1, 2 boxes, x 1', 'nothing', 'unreadable')
    """
    if values is None:
        return "unreadable"
    return ", ".join(_word(name, value) for name, value in list(values.items())[:4]) or "nothing"


def _word(name: str, value: object) -> str:
    label = name.replace("_", " ")
    if isinstance(value, list | tuple):
        return f"{len(value)} {label}"
    if isinstance(value, Mapping):
        inner = ", ".join(str(item) for item in value.values() if isinstance(item, str | int | float))
        return f"{label} {inner}".strip()
    if isinstance(value, float):
        return f"{label} {value:g}"
    return f"{label} {value}"


def _cut(text: str) -> str:
    """One line of at most LONGEST characters."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
