"""Reads samples of lm-eval and lmms-eval (`--log_samples`, .jsonl) as rows with what was asked and answered.

A file is read through once before: which metrics and filters it has is known only then.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.reply_state import ReplyState
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.asked_elsewhere import MEDIA_TOLD
from gnomon.exchange.conversation import step_of
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.json_lines import LenientModel, checked, lines
from gnomon.exchange.row_file import finite
from gnomon_formats.failures import is_failure
from gnomon_formats.reply_states import state_of
from gnomon_tools.core.json_text import json_value

FAILED, UNSCORED = "lm-eval:failed", "lm-eval:unscored"
NOTHING_READ = "[invalid]"  # what a filter of lm-eval gives where it finds no answer
BLOCKED = "[SAFETY_BLOCKED"  # how lmms-eval writes what the provider refused
_NAME_OF_SAMPLE = re.compile(r"(^|[_.])(id|qid|idx|index)$|[a-z]I[dD]$")  # a number under it is no score
_FILE_NAMES = (  # how lm-eval and lmms-eval call their files
    re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.-]+"),
    re.compile(r"\d{8}_\d{6}_samples_(?P<task>.+)"),
)
Json = Mapping[str, Any]


class SampleLine(LenientModel):
    """A line, as far as it is read beside its metrics."""

    doc_id: int | str
    doc: Any = None
    target: Any = None
    arguments: Any = None
    input: Any = None
    resps: Any = None
    filtered_resps: Any = None
    filter: str = ""


# The fields of a line that are no metrics, where the line does not list its metrics itself.
FIELDS = frozenset(SampleLine.model_fields) | {
    *("metrics", "input_media", "token_counts", "system_instruction"),
    *("doc_hash", "prompt_hash", "target_hash"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """Which of a file's numbers are its scores."""

    metrics: frozenset[str]
    filter: str | None  # None: the file has no more than one

    def metric_of(self, numbers: Mapping[str, float | None]) -> str | None:
        return next((name for name in numbers if name in self.metrics), None)


def read_samples(path: Path, reading: Reading) -> Iterator[Ended]:
    """A trial for each line. The arm is the file's name where nothing else says it; the task is the one in
    the file's name, and then stands before the sample's number.

    `scorer` is METRIC, FILTER or METRIC,FILTER; METRIC may lead into an object: `vsibench_score.accuracy`.
    `cluster` and `cell` name fields of the document. The names of the metrics that were read are added to
    `taken`.

    Raises:
        SpecError: a line is no sample, or it is not clear which number is the score.
    """
    chosen = _chosen(path, reading.scorer)
    task = next((match["task"] for name in _FILE_NAMES if (match := name.fullmatch(path.stem))), "")
    for number, value in lines(path):
        line = checked(SampleLine, value, where=f"line {number}")
        if chosen.filter is not None and line.filter != chosen.filter:
            continue
        metric = chosen.metric_of(_numbers(value))
        if metric is not None:
            reading.taken.add(f"{metric},{chosen.filter}" if chosen.filter else metric)
        document = line.doc if isinstance(line.doc, Mapping) else {}
        fields = {**document, **value, **document}  # listed first, and meant in doubt: the document's
        group = (reading.cell.of(fields) if reading.cell else "") or task
        row, trace = _ended(line, _numbers(value), metric)
        yield (
            replace(
                row,
                arm=(reading.arm or path.stem)[:80],
                task=group or row.benchmark,
                cell=group or row.benchmark,
                sample_id=f"{task}/{row.sample_id}" if task else row.sample_id,
                cluster=reading.cluster.of(fields) if reading.cluster else "",
            ),
            trace,
        )


def _ended(line: SampleLine, numbers: Mapping[str, float | None], metric: str | None) -> Ended:
    """What a line says by itself."""
    weights = _weights(line.filtered_resps)
    reply = None if weights else _first_text(line.resps or line.filtered_resps)
    has_failed = reply is not None and is_failure(reply)
    score = None if metric is None or has_failed else numbers[metric]
    answer = None if has_failed else _answer(line, weights)
    is_unread = answer == NOTHING_READ
    answer = None if is_unread else answer
    trace = _trace(line, reply, is_weighed=bool(weights))
    state = state_of(trace["steps"], score=score, answer=answer)
    if reply is not None and reply.startswith(BLOCKED):
        state = ReplyState.REFUSED
    elif is_unread and state is None:
        state = ReplyState.UNREADABLE
    outcome, reason = Outcome.SCORED, "answered"
    if score is None:
        outcome, reason = Outcome.INFRA_MISSING, FAILED if has_failed else UNSCORED
    elif score == 0 and is_unread:
        outcome, reason = Outcome.MODEL_FAILED, "no_answer"
    row = Row(
        job_id="",
        trial_id="",
        benchmark="lmms-eval" if _is_lmms(line) else "lm-eval",
        task="",
        cell="",
        sample_id=str(line.doc_id),
        cluster="",
        model="model",
        arm="",
        repeat=0,
        outcome=outcome,
        stop_reason=reason,
        score=score,
        metrics={
            name: share for name, share in numbers.items() if share is not None and math.isfinite(share)
        },
        answer=answer,
        model_calls=1,
        error=reply[:500] if has_failed and reply else "",
        reply_state=state,
    )
    return row, trace


def _chosen(path: Path, scorer: str | None) -> _Chosen:
    """Read the file through, and choose its score.

    Raises:
        SpecError: no number can be a score, or several can; lists them.
    """
    is_share: dict[str, bool] = {}  # by name of a number, whether it was one in [0, 1] wherever it stands
    together: set[frozenset[str]] = set()  # the names of a line's numbers
    filters: dict[str, None] = {}
    for number, value in lines(path):
        filters[checked(SampleLine, value, where=f"line {number}").filter] = None
        numbers = _numbers(value)
        for name, share in numbers.items():
            is_share[name] = is_share.get(name, True) and (share is None or finite(share) is not None)
        together.add(frozenset(numbers))
    metric, chosen_filter = _wish(scorer, filters)
    named = [name for name in is_share if metric is None or name == metric or name.startswith(f"{metric}.")]
    shares = [name for name in named if is_share[name]]
    if not shares and named and metric is not None:
        raise SpecError(
            f"{metric} is not in [0, 1] everywhere; so no score can be made of it", field="--scorer"
        )
    if chosen_filter is None and len(filters) > 1:
        pairs = [f"{name},{each}" for name in shares for each in filters]
        raise SpecError(f"{path.name} has several filters; name one of: {', '.join(pairs)}", field="--scorer")
    if not shares:
        there = ", ".join(is_share) or "none"
        message = f"{path.name} has no metric {metric}" if metric else f"{path.name} has no metric in [0, 1]"
        raise SpecError(f"{message}; there are: {there}", field="--scorer")
    if any(len(names & set(shares)) > 1 for names in together):
        raise SpecError(
            f"{path.name} has several metrics; name one of: {', '.join(shares)}", field="--scorer"
        )
    return _Chosen(metrics=frozenset(shares), filter=chosen_filter)


def _wish(scorer: str | None, filters: Mapping[str, None]) -> tuple[str | None, str | None]:
    if scorer is None or scorer in filters:
        return None, scorer
    metric, _, named = scorer.rpartition(",")
    if not metric:
        return scorer, None
    if named not in filters:
        there = ", ".join(filters)
        raise SpecError(f"no filter {named!r}; there are: {there or 'none'}", field="--scorer")
    return metric, named


def _numbers(line: Json) -> dict[str, float | None]:
    """What may be a score, by name; None: not scored. An object's numbers are named `metric.key`, and its
    truth values only where it has no numbers.
    """
    listed = line.get("metrics")
    names = listed if isinstance(listed, list) else [name for name in line if name not in FIELDS]
    numbers: dict[str, float | None] = {}
    for name in names:
        value = line.get(name) if isinstance(name, str) else None
        if isinstance(value, Mapping):
            parts = {f"{name}.{key}": part for key, part in value.items() if not _NAME_OF_SAMPLE.search(key)}
            plain = {key: part for key, part in parts.items() if _is_number(part)}
            truths = {key: float(part) for key, part in parts.items() if isinstance(part, bool)}
            numbers |= {key: _number(part) for key, part in (plain or truths).items()}
        elif isinstance(value, bool) or _is_number(value) or value is None:
            numbers[name] = None if value is None else _number(value)
    return numbers


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: float) -> float | None:
    """A number; None for NaN, and infinity for one that is too large."""
    try:
        number = float(value)
    except OverflowError:
        return math.inf
    return None if math.isnan(number) else number


def _weights(filtered: Any) -> list[float]:
    """The log-likelihoods of weighed options, such as `[["-3.2", "False"], …]`; else none."""
    pairs = filtered if isinstance(filtered, list) else []
    if not all(isinstance(p, list) and len(p) == 2 and str(p[1]) in ("True", "False") for p in pairs):
        return []
    try:
        return [float(weight) for weight, _ in pairs]
    except (TypeError, ValueError):
        return []


def _answer(line: SampleLine, weights: Sequence[float]) -> str | None:
    """The answer that the filter read, or the likeliest of weighed options."""
    if not weights:
        return _first_text(line.filtered_resps)
    options, likeliest = _continuations(line.arguments), weights.index(max(weights))
    return options[likeliest].strip() if len(options) == len(weights) else str(likeliest)


def _continuations(arguments: Any) -> list[str]:
    calls = [_listed(call) for call in _listed(arguments)]
    return [call[1] for call in calls if len(call) > 1 and isinstance(call[1], str)]


def _listed(value: Any) -> list[Any]:
    """A list as it is; of an object as lm-eval writes a list (`gen_args_0`, …) its values."""
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _first_text(value: Any) -> str | None:
    """The first text in nested lists, objects and messages."""
    if isinstance(value, Mapping) and ("content" in value or "text" in value):
        return _first_text(value.get("content", value.get("text")))
    if isinstance(value, str):
        return value
    return next((text for part in _listed(value) if (text := _first_text(part)) is not None), None)


def _trace(line: SampleLine, reply: str | None, *, is_weighed: bool) -> dict[str, Any]:
    """The prompt, the reply, and what was asked for, as far as they are texts."""
    asked = _first_text(line.arguments if line.input is None else line.input)
    weighed = _continuations(line.arguments) if is_weighed else []
    options, target = weighed or _options(line.doc), line.target
    if not isinstance(target, (str, list)) and target is not None:
        target = str(target)
    if isinstance(target, str) and target in map(str, range(len(weighed))):
        target = weighed[int(target)].strip()
    trace: dict[str, Any] = {
        "prompt": [] if asked is None else _messages(asked),
        "steps": [] if reply is None else [step_of("reply", {"text": reply, "tool_calls": []})],
        "response": reply,
    }
    told: dict[str, Any] = {"choices": options or None, "target": target}
    if _is_lmms(line):
        told[MEDIA_TOLD] = False
    return {**trace, "asked": told} if target or options or _is_lmms(line) else trace


def _is_lmms(line: SampleLine) -> bool:
    """Whether lmms-eval wrote the line: it tells prompts without their pictures and clips."""
    return not line.filter and not isinstance(line.arguments, Mapping)


def _messages(prompt: str) -> list[dict[str, str]]:
    """The messages of a prompt, which lm-eval keeps as JSON where they went to a chat model."""
    written = json_value(prompt) if prompt.startswith("[{") else []
    messages = [
        {"role": str(message.get("role")), "content": _first_text(message) or ""}
        for message in _listed(written)
        if isinstance(message, Mapping)
    ]
    return messages or [{"role": "user", "content": prompt}]


def _options(document: Any) -> list[str]:
    fields = document if isinstance(document, Mapping) else {}
    written = _listed(fields.get("options")) or _listed(fields.get("choices"))
    return [option for option in written if isinstance(option, str)]
