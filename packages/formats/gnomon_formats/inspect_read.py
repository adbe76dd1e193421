"""Reads Inspect AI's logs as rows and traces: `.eval` (a zip of JSON files) and `.json`."""

import json
import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.finish_reason import CUT_REASONS
from gnomon.core.reply_state import ReplyState
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange import json_lines
from gnomon.exchange.archive import Archive
from gnomon.exchange.conversation import MARK, Json, in_order, place_in, step_of, wish_of
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.pictures import block_of_placeholder
from gnomon.exchange.row_file import finite, moment_in, summed, tools_used
from gnomon_formats.reply_states import state_of
from gnomon_formats.row_mark import marked_row

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # correct, incorrect, partial, no answer
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}  # in any case
INVALIDATED = "inspect:invalidated"
ENDINGS = (".eval", ".json")
ATTACHMENT = "attachment://"  # how a log names a text that it keeps once
ROLES = ("system", "user", "assistant", "tool")
# What a field of another type than Inspect's comes to where it is read.
UNLIKE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


def read_log(path: Path, reading: Reading) -> Iterator[Ended]:
    """The samples of a log, one trial for each epoch.

    `arm` names the arm, else the log's solver does; `scorer` picks one of several, and the key of one whose
    scores are objects (`accuracy.near`); `cluster` and `cell` name fields of the samples' metadata. A sample
    that ended in an error or is unscored (NaN, null) is `infra_missing`, and so is one that was invalidated,
    with INVALIDATED as its reason; one that a limit stopped before it was scored, the model's failure. Of an
    invalidated log in which no sample has a mark of its own, every sample is invalidated. The names of the
    scores that were read are added to `taken`.

    Raises:
        SpecError: it is no log that can be read, holds no samples, a score is no share, or it is not clear
            which score is meant.
    """
    header, samples = _opened(path)
    about = _mapping(header).get("eval")
    if not isinstance(about, Mapping) or not isinstance(about.get("task"), str):
        raise SpecError(f"{path.name} is no log of Inspect: it has no `eval.task`", field="FILE")
    arm = reading.arm or _arm(header, about)
    names: set[str] = set()
    count = 0
    is_whole = _mapping(header).get("invalidated") is True and not any(map(_is_marked, _opened(path)[1]))
    for sample in samples:
        count += 1
        try:
            name, score = _picked(sample, reading.scorer)
            row, trace = _ended(sample, about, score, reading, arm)
        except UNLIKE as error:
            where = f"sample {str(_mapping(sample).get('id'))[:100]!r}"
            raise SpecError(
                f"{path.name}: not as Inspect writes it: {str(error)[:200]}", field=where
            ) from None
        if is_whole or _is_marked(sample):
            yield replace(row, outcome=Outcome.INFRA_MISSING, stop_reason=INVALIDATED, score=None), trace
            continue
        names |= {name} - {""}
        if len(names) > 1:
            raise SpecError(
                f"its samples have scores of several names; name one of {', '.join(sorted(names))}",
                field="--scorer",
            )
        yield row, trace
    if not count:
        raise SpecError(f"{path.name} holds no samples; log them with `--log-samples`", field="FILE")
    reading.taken.update(names)


def _opened(path: Path) -> tuple[Json, Iterator[Json]]:
    try:
        if path.suffix == ".json":
            log = json_lines.document(path)
            samples = log.get("samples") or ()
            return log, iter(samples if isinstance(samples, list) else ())
        archive = Archive(path)
        header = json_lines.decoded(archive.read("header.json"))
    except (OSError, *UNLIKE, zipfile.BadZipFile) as error:
        raise SpecError(f"{path} cannot be read as a log of Inspect: {error}", field="FILE") from None
    return header, _members(path, archive)


def _members(path: Path, archive: Archive) -> Iterator[Json]:
    with closing(archive):
        for name in sorted(name for name in archive.names() if re.fullmatch(r"samples/.+\.json", name)):
            try:
                yield json_lines.decoded(archive.read(name))
            except (OSError, ValueError, RecursionError, zipfile.BadZipFile) as error:
                raise SpecError(f"{path.name}, {name}: {error}", field="FILE") from None


def _arm(header: Json, about: Json) -> str:
    """The solver's name; where none is recorded, the steps of the plan."""
    if about.get("solver"):
        return str(about["solver"])[:80]
    steps = _mapping(header.get("plan")).get("steps")
    steps = steps if isinstance(steps, list) else []
    names = [str(step.get("solver")) for step in steps if isinstance(step, Mapping)]
    return (" + ".join(names) or "default")[:80]


def _ended(sample: Json, about: Json, score: Json, reading: Reading, arm: str) -> Ended:
    sample_id, metadata = str(sample.get("id")), _mapping(sample.get("metadata"))
    mark = _mapping(metadata.get(MARK))
    value = _share(score.get("value"), sample_id)
    outcome, reason = _end(sample, value)
    answer = None if score.get("answer") is None else str(score["answer"])
    output = sample.get("output") or {}
    trace = _trace(sample, mark, is_ours=MARK in metadata)
    tools = [step for step in trace["steps"] if step["kind"] == "tool"]
    usage = [counts for counts in (sample.get("model_usage") or {}).values() if isinstance(counts, Mapping)]
    costs = [counts.get("total_cost") for counts in usage]
    group = (reading.cell.of(metadata) if reading.cell else "") or str(about["task"])
    row = Row(
        job_id="",
        trial_id="",
        benchmark=str(about["task"]),
        task=group,
        cell=group,
        sample_id=sample_id,
        cluster=reading.cluster.of(metadata) if reading.cluster else "",
        model=str(about.get("model") or "model"),
        arm=arm,
        repeat=max(int(sample.get("epoch") or 1) - 1, 0),
        outcome=outcome,
        stop_reason=reason,
        score=0.0 if outcome == Outcome.MODEL_FAILED else value if outcome == Outcome.SCORED else None,
        answer=answer,
        model_calls=sum(step["kind"] == "reply" for step in trace["steps"]),
        tool_calls=len(tools),
        tool_errors=sum(step["error"] is not None for step in tools),
        tools_used=tools_used(tools, bad="parsing"),
        prompt_tokens=_sum(usage, "input_tokens") if usage else None,
        completion_tokens=_sum(usage, "output_tokens") if usage else None,
        cached_tokens=summed(usage, "input_tokens_cache_read"),
        reasoning_tokens=summed(usage, "reasoning_tokens"),
        usd=sum(float(cost) for cost in costs if cost is not None) if costs and None not in costs else None,
        wall_s=float(sample.get("working_time") or sample.get("total_time") or 0.0),
        reply_state=_state(output, reason, value, answer)
        or state_of(trace["steps"], score=value, answer=answer),
        started_at=moment_in(sample.get("started_at")),
        ended_at=moment_in(sample.get("completed_at")),
        model_version=str(output.get("model") or ""),
    )
    for name in ("wall_s", "usd", "prompt_tokens", "completion_tokens"):
        number = getattr(row, name)
        if number is not None and not 0 <= number < math.inf:
            raise ValueError(f"{number} {name}")
    ours = marked_row(mark, where=f"sample {sample_id!r}: metadata.{MARK}.row")
    if ours is not None and ours.score == row.score:
        row = replace(ours, arm=arm, model=row.model)  # else it has been scored again since
        row = replace(row, cell=group, task=group) if reading.cell and group != ours.cell else row
    return row, trace


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}


def _sum(usage: Sequence[Json], name: str) -> int:
    return sum(int(counts.get(name) or 0) for counts in usage)


def _trace(sample: Json, mark: Json, *, is_ours: bool) -> dict[str, Any]:
    """Prompt, steps, the answer, and what was asked for: options and target."""
    messages = [_attached(message, sample) for message in sample.get("messages") or ()]
    first = next((at for at, each in enumerate(messages) if each.get("role") in ("assistant", "tool")), None)
    prompt = messages if first is None else messages[:first]
    later = [] if first is None else messages[first:]
    if is_ours and isinstance(sample.get("input"), list):
        prompt, later = messages[: len(sample["input"])], messages[len(sample["input"]) :]
    steps = list(_steps(later))
    steps += [(place_in(note), step_of("note", _note(note), note)) for note in mark.get("notes") or ()]
    output = mark.get("response") if is_ours else (sample.get("output") or {}).get("completion")
    trace = {
        "prompt": [_asked(message) for message in prompt],
        "steps": in_order(steps),
        "response": output if isinstance(output, str) else None,
    }
    target, choices = sample.get("target"), sample.get("choices")
    return {**trace, "asked": {"choices": choices, "target": target}} if target or choices else trace


def _note(note: object) -> dict[str, str]:
    return {"text": str(_mapping(note).get("text") or "")}


def _attached(message: object, sample: Json) -> Json:
    """A message whose content is spelled out where the log keeps it once beside the messages."""
    kept = _mapping(sample.get("attachments"))
    fields = _mapping(message)
    content = fields.get("content")
    if not kept:
        return fields
    if isinstance(content, str):
        return {**fields, "content": _spelled(content, kept)}
    if isinstance(content, list):
        blocks = [
            {name: _spelled(value, kept) for name, value in block.items()}
            for block in content
            if isinstance(block, Mapping)
        ]
        return {**fields, "content": blocks}
    return fields


def _spelled(value: object, kept: Json) -> object:
    if not isinstance(value, str) or not value.startswith(ATTACHMENT):
        return value
    return kept.get(value.removeprefix(ATTACHMENT), value)


def _asked(message: Json) -> dict[str, Any]:
    """A message of the prompt as a trace has it."""
    whole = _mapping(_mapping(message.get("metadata")).get(MARK)).get("message")
    if isinstance(whole, Mapping) and whole.get("role") in ROLES:
        return dict(whole)
    role = message.get("role") if message.get("role") in ROLES else "user"
    content = message.get("content")
    if not isinstance(content, list):
        return {"role": role, "content": str(content or "")}
    return {"role": role, "content": [_asked_block(_mapping(block)) for block in content]}


def _asked_block(block: Json) -> dict[str, str]:
    """A block of text; other content by its kind, as no bytes are kept."""
    if block.get("type") == "text":
        text = str(block.get("text") or "")
        return block_of_placeholder(text) or {"type": "text", "text": text}
    return {"type": "text", "text": f"<{block.get('type')}>"}


def _picked(sample: Json, scorer: str | None) -> tuple[str, Json]:
    """The score that counts and its name; of an object or a list, the part that is named or the only one.

    Raises:
        SpecError: there are several and none is named, or there is none of that name; lists them.
    """
    scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    if not scores:
        return "", {}
    name = scorer or ""
    while name and name not in scores:  # a name may hold dots itself
        name = name.rpartition(".")[0]
    if scorer is not None and not name:
        raise SpecError(f"no scorer {scorer!r}; there are: {', '.join(scores)}", field="--scorer")
    if scorer is None:
        if len(scores) > 1:
            raise SpecError(f"the log has several scorers; name one of {', '.join(scores)}", field="--scorer")
        name = next(iter(scores))
    score, key = _mapping(scores[name]), (scorer or "").removeprefix(name).removeprefix(".")
    value = score.get("value")
    if isinstance(value, list):
        value = dict(zip(map(str, range(len(value))), value, strict=True))
    if not isinstance(value, Mapping):
        if key and value is not None and not _is_nan(value):
            raise SpecError(f"scores of {name!r} have no keys; write {name}", field="--scorer")
        return name, score
    names = ", ".join(f"{name}.{each}" for each in value)
    if key and key not in value:
        raise SpecError(f"no key {key!r} in the scores of {name!r}; there are: {names}", field="--scorer")
    if not key and len(value) != 1:
        raise SpecError(f"scores of {name!r} are objects; name one of their keys: {names}", field="--scorer")
    key = key or next(iter(value))
    return f"{name}.{key}", {**score, "value": value[key]}


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _share(value: object, sample_id: str) -> float | None:
    """A score as Inspect reads it: letters, words, numbers as texts. None where it is unscored."""
    if value is None or _is_nan(value):
        return None
    share = finite(value)
    if isinstance(value, str):
        share = LETTERS.get(value, WORDS.get(value.lower()))
        if share is None:
            with suppress(ValueError):
                share = finite(float(value))
    if share is None:
        allowed = f"a number in [0, 1] or one of {', '.join((*LETTERS, *WORDS))}"
        raise SpecError(f"sample {sample_id!r} has the score {value!r}; allowed: {allowed}", field="FILE")
    return share


def _state(output: Json, reason: str, value: float | None, answer: str | None) -> ReplyState | None:
    """What the log tells of the last reply; None where it does not say.

    Some scorers give the whole reply as the answer: of a cut one that scores nothing, that is none.
    """
    choices = output.get("choices") or [{}]
    stopped = _mapping(choices[0]).get("stop_reason")
    is_read = bool(value) or (answer is not None and answer != output.get("completion"))
    if reason.startswith("inspect:"):
        return ReplyState.MISSING
    if stopped in CUT_REASONS:
        return ReplyState.READ_CUT if is_read else ReplyState.CUT
    if reason != "answered" and not is_read:
        return ReplyState.LIMIT
    return ReplyState.REFUSED if stopped == "content_filter" and not is_read else None


def _is_marked(sample: object) -> bool:
    """Whether a sample says itself that it is invalidated."""
    fields = _mapping(sample)
    return bool(fields.get("invalidation")) or fields.get("invalidated") is True


def _end(sample: Json, value: float | None) -> tuple[Outcome, str]:
    if sample.get("error"):
        return Outcome.INFRA_MISSING, "inspect:error"
    limit = (sample.get("limit") or {}).get("type") if isinstance(sample.get("limit"), Mapping) else None
    if value is not None:
        return Outcome.SCORED, f"limit:{limit}" if limit else "answered"
    return (Outcome.MODEL_FAILED, f"limit:{limit}") if limit else (Outcome.INFRA_MISSING, "inspect:unscored")


def _steps(messages: Sequence[Json]) -> Iterator[tuple[object, dict[str, Any]]]:
    """The messages as steps with their places: replies, and tools with the arguments they were passed."""
    arguments: dict[str, str] = {}
    for message in messages:
        mark = _mapping(message.get("metadata")).get(MARK)
        if message.get("role") == "assistant":
            calls = [_call(_mapping(call)) for call in message.get("tool_calls") or ()]
            texts = _mapping(mark).get("arguments")
            if isinstance(texts, list) and len(texts) == len(calls):
                calls = [
                    wish_of(call["id"], call["function"]["name"], str(text))
                    for call, text in zip(calls, texts, strict=True)
                ]
            arguments |= {call["id"]: call["function"]["arguments"] for call in calls}
            content = message.get("content")
            said = {"text": _text(content), "reasoning": _text(content, "reasoning"), "tool_calls": calls}
            yield place_in(mark), step_of("reply", said, mark)
        elif message.get("role") == "tool":
            shown = {
                "name": str(message.get("function") or "?"),
                "observation": _text(message.get("content")),
            }
            if mark is None:
                error = message.get("error")
                shown["arguments"] = arguments.get(str(message.get("tool_call_id")), "")
                kind = str(error.get("type") or "error") if isinstance(error, Mapping) else None
                yield None, {**step_of("tool", shown), "error": kind}
            else:
                yield place_in(mark), step_of("tool", shown, mark)


def _call(call: Json) -> dict[str, Any]:
    arguments = json.dumps(call.get("arguments") or {})
    return wish_of(str(call.get("id")), str(call.get("function")), arguments)


def _text(content: object, kind: str = "text") -> str:
    if isinstance(content, str):
        return content if kind == "text" else ""
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block[kind]) for block in blocks if isinstance(block, Mapping) and block.get(kind))
