"""Reads Inspect AI's logs as rows and traces: `.eval` (a zip of JSON files) and `.json`."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.archive import Archive
from gnomon.exchange.row_file import finite
from gnomon.exchange.run import Ended

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # correct, incorrect, partial, no answer
ENDINGS = (".eval", ".json")
Json = Mapping[str, Any]


def read_log(
    path: Path,
    *,
    arm: str | None = None,
    scorer: str | None = None,
    cluster: str | None = None,
    cell: str | None = None,
) -> Iterator[Ended]:
    """The samples of a log, one trial for each epoch.

    `arm` names the arm, else the log's solver does; `scorer` picks one of several; `cluster` and `cell` name
    fields of the samples' metadata. A sample that ended in an error is `infra_missing`; one that a limit
    stopped before it was scored, the model's failure.

    Raises:
        SpecError: it is no log that can be read, holds no samples, or a score is no share.
    """
    header, samples = _opened(path)
    about = header.get("eval")
    if not isinstance(about, Mapping) or not isinstance(about.get("task"), str):
        raise SpecError(f"{path.name} is no log of Inspect: it has no `eval.task`", field="FILE")
    arm = arm or _arm(header, about)
    is_empty = True
    for sample in samples:
        is_empty = False
        yield _ended(sample, about, arm=arm, scorer=scorer, cluster=cluster, cell=cell)
    if is_empty:
        raise SpecError(f"{path.name} holds no samples; log them with `--log-samples`", field="FILE")


def _opened(path: Path) -> tuple[Json, Iterator[Json]]:
    try:
        if path.suffix == ".json":
            log = json.loads(path.read_text(encoding="utf-8"))
            return log, iter(log.get("samples") or ())
        archive = Archive(path)
        header = json.loads(archive.read("header.json"))
    except (OSError, ValueError, KeyError, AttributeError, zipfile.BadZipFile) as error:
        raise SpecError(f"{path} cannot be read as a log of Inspect: {error}", field="FILE") from None
    return header, _members(path, archive)


def _members(path: Path, archive: Archive) -> Iterator[Json]:
    with closing(archive):
        for name in sorted(name for name in archive.names() if re.fullmatch(r"samples/[^/]+\.json", name)):
            try:
                yield json.loads(archive.read(name))
            except (OSError, ValueError, zipfile.BadZipFile) as error:
                raise SpecError(f"{path.name}, {name}: {error}", field="FILE") from None


def _arm(header: Json, about: Json) -> str:
    """The solver's name; where none is recorded, the steps of the plan."""
    if about.get("solver"):
        return str(about["solver"])[:80]
    steps = (header.get("plan") or {}).get("steps") or ()
    names = [str(step.get("solver")) for step in steps if isinstance(step, Mapping)]
    return (" + ".join(names) or "default")[:80]


def _ended(
    sample: Json, about: Json, *, arm: str, scorer: str | None, cluster: str | None, cell: str | None
) -> Ended:
    sample_id, metadata = str(sample.get("id")), sample.get("metadata") or {}
    score = _score(sample, scorer)
    value = _value(score, sample_id)
    outcome, reason = _end(sample, value)
    steps = list(_steps(sample))
    tools = [step for step in steps if step["kind"] == "tool"]
    usage = [counts for counts in (sample.get("model_usage") or {}).values() if isinstance(counts, Mapping)]
    costs = [counts.get("total_cost") for counts in usage]
    group = str(metadata.get(cell)) if cell and metadata.get(cell) is not None else str(about["task"])
    row = Row(
        job_id="",
        trial_id="",
        benchmark=str(about["task"]),
        task=group,
        cell=group,
        sample_id=sample_id,
        cluster=str(metadata[cluster]) if cluster and metadata.get(cluster) is not None else "",
        model=str(about.get("model") or "model"),
        arm=arm,
        repeat=max(int(sample.get("epoch") or 1) - 1, 0),
        outcome=outcome,
        stop_reason=reason,
        score=0.0 if outcome == Outcome.MODEL_FAILED else value if outcome == Outcome.SCORED else None,
        answer=None if score.get("answer") is None else str(score["answer"]),
        model_calls=sum(step["kind"] == "reply" for step in steps),
        tool_calls=len(tools),
        tool_errors=sum(step["error"] is not None for step in tools),
        tools_used=_used(tools),
        prompt_tokens=sum(int(counts.get("input_tokens") or 0) for counts in usage) if usage else None,
        completion_tokens=sum(int(counts.get("output_tokens") or 0) for counts in usage) if usage else None,
        usd=sum(float(cost) for cost in costs if cost is not None) if costs and None not in costs else None,
        wall_s=float(sample.get("working_time") or sample.get("total_time") or 0.0),
    )
    output = (sample.get("output") or {}).get("completion")
    return row, {"prompt": [], "steps": steps, "response": output if isinstance(output, str) else None}


def _score(sample: Json, scorer: str | None) -> Json:
    scores = sample.get("scores") or {}
    if scorer is not None and scores and scorer not in scores:
        raise SpecError(f"no scorer {scorer!r}; there are: {', '.join(scores)}", field="--scorer")
    if scorer is None and len(scores) > 1:
        raise SpecError(f"the log has several scorers; name one of {', '.join(scores)}", field="--scorer")
    score = scores.get(scorer) if scorer is not None else next(iter(scores.values()), None)
    return score if isinstance(score, Mapping) else {}


def _value(score: Json, sample_id: str) -> float | None:
    value = score.get("value")
    if value is None:
        return None
    share = LETTERS.get(value) if isinstance(value, str) else finite(value)
    if share is None:
        allowed = f"a number in [0, 1] or one of {', '.join(LETTERS)}"
        raise SpecError(f"sample {sample_id!r} has the score {value!r}; allowed: {allowed}", field="FILE")
    return share


def _end(sample: Json, value: float | None) -> tuple[Outcome, str]:
    if sample.get("error"):
        return Outcome.INFRA_MISSING, "inspect:error"
    limit = (sample.get("limit") or {}).get("type") if isinstance(sample.get("limit"), Mapping) else None
    if value is not None:
        return Outcome.SCORED, f"limit:{limit}" if limit else "answered"
    return (Outcome.MODEL_FAILED, f"limit:{limit}") if limit else (Outcome.INFRA_MISSING, "inspect:unscored")


def _steps(sample: Json) -> Iterator[dict[str, Any]]:
    """The messages as steps: replies, and tools with the arguments they were called with."""
    arguments: dict[str, str] = {}
    for message in sample.get("messages") or ():
        if message.get("role") == "assistant":
            calls = [_call(call) for call in message.get("tool_calls") or ()]
            arguments |= {call["id"]: call["function"]["arguments"] for call in calls}
            content = message.get("content")
            said = {"text": _text(content), "reasoning": _text(content, "reasoning")}
            yield {"kind": "reply", **said, "tool_calls": calls}
        elif message.get("role") == "tool":
            error = message.get("error")
            yield {
                "kind": "tool",
                "name": str(message.get("function") or "?"),
                "arguments": arguments.get(str(message.get("tool_call_id")), ""),
                "observation": _text(message.get("content")),
                "error": str(error.get("type") or "error") if isinstance(error, Mapping) else None,
            }


def _call(call: Json) -> dict[str, Any]:
    arguments = json.dumps(call.get("arguments") or {}, sort_keys=True)
    return {
        "id": str(call.get("id")),
        "type": "function",
        "function": {"name": str(call.get("function")), "arguments": arguments},
    }


def _text(content: object, kind: str = "text") -> str:
    if isinstance(content, str):
        return content if kind == "text" else ""
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block[kind]) for block in blocks if isinstance(block, Mapping) and block.get(kind))


def _used(tools: Sequence[Json]) -> dict[str, dict[str, int]]:
    used: dict[str, dict[str, int]] = {}
    for step in tools:
        counts = used.setdefault(step["name"], {"calls": 0, "bad_arguments": 0, "errors": 0})
        counts["calls"] += 1
        counts["bad_arguments"] += step["error"] == "parsing"
        counts["errors"] += step["error"] is not None
    return used
