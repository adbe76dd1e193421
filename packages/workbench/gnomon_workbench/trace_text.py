"""Prints the trace of a trial, as it happens or stored, or two side by side, for a person at a terminal."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gnomon.core.missing import advice_on
from gnomon.core.read_calls import flags_in_words
from gnomon.core.score import Outcome
from gnomon.report.text_formats import clean
from gnomon.trials.recorded_steps import RECORDED

FOLDED_LINES = 8  # of a prompt, unless it is shown in full
FOLDED_CHARS = 1200  # of a step's text
Json = Mapping[str, Any]


def print_trace(trial: Json, console: Console, *, truth: str = "", full: bool = False) -> None:
    """Print one trial: its question, its steps, its answer and score; `trial` is as the API gives it."""
    title = f"{trial['sample_id']} · {trial['arm']} · {trial['model']}"
    if trial.get("repeat"):
        title += f" · repeat {trial['repeat']}"
    console.print(Text(clean(title), style="bold"))
    _say(console, f"{trial['trial_id']} of job {trial['job_id']}, cell {trial['cell']}", "dim")
    trace = trial.get("trace")
    if not isinstance(trace, Mapping):
        _say(console, "no trace is stored of this trial", "yellow")
    else:
        console.print("\nPrompt", style="bold")
        _print_prompt(trace.get("prompt") or (), console, full=full)
        for number, step in enumerate(_steps(trace), start=1):
            print_step(number, step, console, full=full)
    console.print()
    print_end(trial.get("row"), console)
    if truth:
        console.print(Text.assemble(("Truth   ", "bold"), clean(truth)))


def print_side_by_side(first: Json, second: Json, console: Console) -> None:
    """Print two trials of a sample in two columns, from the first step that is not the same."""
    from gnomon.report.sections.flips import align  # late: sections take long to import

    aligned = align(first.get("trace"), second.get("trace"))
    titles = [f"{trial['model']} / {trial['arm']}" for trial in (first, second)]
    if titles[0] == titles[1]:
        titles = [
            f"{title} ({trial['trial_id']})" for title, trial in zip(titles, (first, second), strict=True)
        ]
    _say(console, f"{first['sample_id']}: {titles[0]} and {titles[1]}", "bold")
    if first["sample_id"] != second["sample_id"]:
        _say(console, f"another sample on the right: {second['sample_id']}", "yellow")
    if aligned is None:
        _say(console, "no trace is stored of one of them", "yellow")
        return
    start = aligned["diverges_at"]
    if start is None:
        _say(console, f"all {len(aligned['steps'])} steps are the same", "")
        return
    if start:
        _say(console, f"{start} steps are the same; from step {start + 1}:", "")
    table = Table(box=box.SIMPLE_HEAD, expand=True, header_style="bold", show_lines=True)
    for title in titles:
        table.add_column(Text(clean(title)), ratio=1, overflow="fold")
    for row in aligned["steps"][start:]:
        if row["same"]:
            shown = _side(row["baseline"])
            table.add_row(Text("same: ", style="dim").append_text(shown), Text("same", style="dim"))
        else:
            table.add_row(_side(row["baseline"]), _side(row["variant"]))
    table.add_row(*(Text(_end_line(trial.get("row")), style="bold") for trial in (first, second)))
    console.print(table)


def _side(step: Any) -> Text:
    if step is None:
        return Text("·", style="dim")
    title = f"{step['title'] or step['kind']}"
    return Text.assemble((clean(title), "bold"), "\n" if step["text"] else "", clean(step["text"]))


def _print_prompt(prompt: Sequence[Json], console: Console, *, full: bool) -> None:
    text = "\n".join(_message(message) for message in prompt)
    lines = clean(text).splitlines()
    if not full and len(lines) > FOLDED_LINES:
        head, tail = lines[: FOLDED_LINES // 2], lines[-FOLDED_LINES // 2 :]
        fold = f"… {len(lines) - FOLDED_LINES:,} lines; --full shows them"
        parts = [("\n".join(head), ""), (fold, "dim"), ("\n".join(tail), "")]
    else:
        parts = [("\n".join(lines), "")]
    for part, style in parts:
        _say(console, part if full else _cut(part), style, indent=2)


def _message(message: Json) -> str:
    content = message.get("content")
    if not isinstance(content, list):
        return str(content or "")
    return "\n".join(
        str(block.get("text") or "")
        if block.get("type") == "text"
        else f"<{block.get('media_type')} {block.get('sha256')}>"
        for block in content
    )


def print_step(number: int, step: Json, console: Console, *, full: bool) -> None:
    """Print one step of a trace."""
    kind = step.get("kind")
    if kind == "reply":
        console.print(Text.assemble("\n", (f"{number}  reply", "bold cyan"), (f"  {_costs(step)}", "dim")))
        for text, style in ((step.get("reasoning"), "dim"), (step.get("text"), "")):
            if text:
                _say(console, str(text) if full else _cut(str(text)), style, indent=3)
        for change in step.get("request_changes") or ():
            _say(console, f"changed by the adapter: {change}", "yellow", indent=3)
        for words in flags_in_words(flag for flag in step.get("flags") or () if flag != RECORDED):
            _say(console, f"note: {words}", "yellow", indent=3)
    elif kind == "tool":
        colour = "red" if step.get("error") else "green"
        took = f"  {_seconds(step.get('wall_s'))}"
        error = f"  failed: {step['error']}" if step.get("error") else ""
        fault = f"  injected fault: {step['injected']}" if step.get("injected") else ""
        title = (f"{number}  {clean(str(step.get('name')))}", f"bold {colour}")
        console.print(Text.assemble("\n", title, (took, "dim"), (error + fault, "red")))
        _say(console, _pretty(step.get("arguments"), full=full), "", indent=3)
        _say(console, f"→ {_pretty(step.get('observation'), full=full)}", "", indent=3)
        for picture in step.get("pictures") or ():
            _say(console, f"→ picture {picture}", "dim", indent=3)
    else:
        _say(console, f"\n{number}  note: {step.get('text')}", "yellow")


def print_end(row: object, console: Console) -> None:
    """Print how a trial ended."""
    if not isinstance(row, Mapping):
        _say(console, "not finished yet", "yellow")
        return
    console.print(Text.assemble(("Answer  ", "bold"), clean(_answer(row))))
    console.print(Text.assemble(("Score   ", "bold"), _end_line(row)))
    usd = "unknown" if row.get("usd") is None else f"${row['usd']:.4f}"
    tokens = " + ".join(_count(row.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    calls = f"{_count(row.get('model_calls'))} model calls, {_count(row.get('tool_calls'))} tool calls"
    _say(console, f"{calls}, {tokens} tokens, {usd}, {_seconds(row.get('wall_s'))}", "dim")
    names = {"reply": "reply_state", "read by": "read_by", "version": "model_version"}
    facts = [f"{words} {row[name]}" for words, name in names.items() if row.get(name)]
    if row.get("started_at"):
        facts.append(f"began {row['started_at']}, ended {row.get('ended_at')}")
    if facts:
        _say(console, ", ".join(facts), "dim")
    if row.get("error"):
        _say(console, str(row["error"]), "red")
    if row["outcome"] == Outcome.INFRA_MISSING:
        _say(console, advice_on(row["stop_reason"], row.get("error") or ""), "yellow")


def _end_line(row: object) -> str:
    if not isinstance(row, Mapping):
        return "not finished yet"
    score = "none" if row.get("score") is None else f"{row['score']:.3f}"
    return clean(f"{score} ({row['outcome']}: {row['stop_reason']})")


def _answer(row: Json) -> str:
    return "none" if row.get("answer") is None else str(row["answer"])


def _costs(step: Json) -> str:
    tokens = f"{_count(step.get('prompt_tokens'))} + {_count(step.get('completion_tokens'))} tokens"
    is_recorded = RECORDED in (step.get("flags") or ())
    parts = ["from the record" if is_recorded else _seconds(step.get("wall_s")), tokens]
    if step.get("cached"):
        parts.append("from the response cache")
    elif step.get("usd") is not None:
        parts.append(f"${step['usd']:.4f}")
    if (step.get("tries") or 1) > 1:
        parts.append(f"{step['tries']} tries")
    return ", ".join(parts)


def _seconds(value: Any) -> str:
    return f"{value:.2f} s" if isinstance(value, int | float) else "? s"


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "?"


def _pretty(text: object, *, full: bool) -> str:
    """JSON for people: on one line with spaces, or indented if shown in full."""
    written = str(text or "")
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return written if full else _cut(written)
    shown = json.dumps(value, ensure_ascii=False, indent=2 if full else None)
    return shown if full else _cut(shown)


def _steps(trace: Json) -> list[Json]:
    return [step for step in trace.get("steps") or () if isinstance(step, Mapping)]


def _cut(text: str) -> str:
    left = len(text) - FOLDED_CHARS
    return text if left <= 0 else f"{text[:FOLDED_CHARS]}… ({left:,} more characters; --full shows them)"


def _say(console: Console, text: str, style: str, *, indent: int = 0) -> None:
    """Print a text: broken at words on a terminal, elsewhere with its own lines."""
    if console.is_terminal:
        console.print(Padding(Text(clean(text), style=style, overflow="fold"), (0, 0, 0, indent)))
    else:
        console.print(Text(textwrap.indent(clean(text), " " * indent)), soft_wrap=True)
