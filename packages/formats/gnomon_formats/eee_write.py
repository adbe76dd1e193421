"""Writes a job as records of Every Eval Ever, schema 0.3.0: for each model and arm a record and its samples.

Files lie as in that project's repository: `data/BENCHMARK/DEVELOPER/MODEL/`, named by a UUID that is a hash,
so that the same job gives the same files.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from gnomon.core.model import is_built_in, provider_in
from gnomon.core.question_view import QuestionView
from gnomon.core.row import Row
from gnomon.exchange.conversation import Json, Ran, Said, arguments_of, in_turn, name_of, prompt_of
from gnomon.exchange.job_export import ExportedJob, ExportFile, asked_of, json_line
from gnomon.exchange.pictures import placeholder
from gnomon.spec.model_spec import ModelSpec
from gnomon_formats.row_mark import mark_of

SCHEMA = "0.3.0"
ROW = "gnomon_row"  # of a sample's metadata: the row as JSON, as values there are texts
UNSAFE = re.compile(r"[^\w.-]+")


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """The samples of each model and arm, and after them the record that holds their hash."""
    models = {model.label: model for model in job.spec.models}
    report = job.report()
    for label, arm in job.groups():
        place, model_id, developer = _place(job, models[label])
        name = f"{place}/{_uuid(job.job_id, label, arm)}"
        evaluation = f"{job.spec.benchmark}/{model_id}/{arm}/{_epoch(job.created)}"
        counted = _Counted(_samples(job, label, arm, evaluation=evaluation, model_id=model_id))
        yield ExportFile(name=f"{name}_samples.jsonl", chunks=counted)
        group = next(each for each in report["arms"] if (each["model"], each["arm"]) == (label, arm))
        record = _record(job, models[label], group, evaluation=evaluation, model_id=model_id)
        record["model_info"]["developer"] = developer
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{name}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": counted.sha256.hexdigest(),
            "total_rows": counted.count,
        }
        yield ExportFile(name=f"{name}.json", chunks=[json.dumps(record, indent=2, allow_nan=False).encode()])


class _Counted:
    """Lines that are counted and hashed as they are written."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines, self.count, self.sha256 = lines, 0, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.count += 1
            self.sha256.update(line)
            yield line


def _place(job: ExportedJob, model: ModelSpec) -> tuple[str, str, str]:
    """The folder of a model's records, the model's id, and who made it, as the folder says."""
    developer = "gnomon" if is_built_in(model.id) else provider_in(model.id)
    parts = model.id.split("/") if "/" in model.id else [developer, model.id]
    safe = [UNSAFE.sub("-", part) or "-" for part in parts]
    model_id = "/".join(safe) if "/" in model.id else safe[-1]
    benchmark = UNSAFE.sub("-", job.spec.benchmark)
    return f"data/{benchmark}/{safe[0]}/{'_'.join(safe[1:])}", model_id, developer


def _uuid(*parts: str) -> uuid.UUID:
    return uuid.UUID(bytes=hashlib.sha256("\0".join(parts).encode()).digest()[:16], version=4)


def _epoch(created: str) -> str:
    return str(datetime.fromisoformat(created).timestamp())


def _record(
    job: ExportedJob, model: ModelSpec, group: Json, *, evaluation: str, model_id: str
) -> dict[str, Any]:
    spec, arm = job.spec, job.spec.arm(group["arm"])
    settings = {"temperature": model.temperature, "max_tokens": model.max_tokens}
    args: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if arm.tools:
        args["agentic_eval_config"] = {"available_tools": [{"name": name} for name in arm.tools]}
    generation = {
        "generation_args": args,
        "additional_details": {
            "arm": arm.name,
            "agent": str(arm.agent),
            "repeats": str(spec.repeats_of(arm.name)),
        },
    }
    cells = [(cell, result) for cell, result in group["by_task"].items() if result["mean"] is not None]
    overall = {"mean": group["aggregate"], "ci95": group["aggregate_ci95"], "n": group["n"]}
    results = [("all", overall)] if overall["mean"] is not None else []
    dataset = {"dataset_name": spec.benchmark, "source_type": "other"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "evaluation_timestamp": job.started,
        "retrieved_timestamp": _epoch(job.created),
        "source_metadata": {
            "source_name": spec.name or spec.benchmark,
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {"gnomon_job": job.job_id, "spec_hash": spec.content_hash},
        },
        "eval_library": {"name": "gnomon-eval", "version": job.version},
        "model_info": {
            "name": model.label,
            "id": model_id,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            {
                "evaluation_result_id": f"{evaluation}/{name}",
                "evaluation_name": _result_name(spec.benchmark, name),
                "source_data": dataset,
                "evaluation_timestamp": job.started,
                "metric_config": _metric(name, spec.scoring),
                "score_details": _score(result),
                "generation_config": generation,
            }
            for name, result in [*results, *cells]
        ],
    }


def _result_name(benchmark: str, name: str) -> str:
    return benchmark if name == "all" else f"{benchmark}/{name}"


def _metric(name: str, scoring: str) -> dict[str, Any]:
    about = "primary metric of the benchmark" if name == "all" else "mean score of the samples"
    return {
        "evaluation_description": about,
        "metric_id": "score",
        "metric_name": "Score",
        "metric_unit": "proportion",
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
        "additional_details": {"scoring": scoring},
    }


def _score(result: Json) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": result["n"]}
    if result.get("ci95"):
        lower, upper = result["ci95"]
        uncertainty["confidence_interval"] = {"lower": lower, "upper": upper, "confidence_level": 0.95}
    return {"score": result["mean"], "uncertainty": uncertainty}


def _samples(job: ExportedJob, label: str, arm: str, *, evaluation: str, model_id: str) -> Iterator[bytes]:
    for row, trace in job.trials(label, arm):
        if row.score is not None:
            sample = sample_of(row, trace, job.question(row.sample_id, arm))
            yield json_line(
                {
                    "schema_version": SCHEMA,
                    "evaluation_id": evaluation,
                    "evaluation_result_id": f"{evaluation}/{row.cell}",
                    "evaluation_name": _result_name(row.benchmark, row.cell),
                    "model_id": model_id,
                    **sample,
                }
            )


def sample_of(row: Row, trace: Json | None, view: QuestionView | None) -> dict[str, Any]:
    """A trial that has a score, as a sample without the ids of its record."""
    prompt = [_asked(message) for message in prompt_of(trace)]
    asked = "\n\n".join(message["content"] for message in prompt)
    choices, target = asked_of(view, trace)
    reference = [target] if isinstance(target, str) else target
    raw = view.question if view else asked
    messages = [*prompt, *_messages(trace)]
    numbered: list[dict[str, Any]] = [{"turn_idx": turn, **each} for turn, each in enumerate(messages)]
    replies = [each for each in numbered if each["role"] == "assistant"]
    response = (trace or {}).get("response") or row.answer or ""
    is_single = not row.tool_calls and len(replies) <= 1 and len(prompt) <= 1
    body: dict[str, Any]
    if is_single:
        reasoning = [each["reasoning_trace"] for each in replies if each.get("reasoning_trace")]
        body = {"output": {"raw": [response], "reasoning_trace": reasoning or None}, "messages": None}
    else:
        body = {"output": None, "messages": numbered}
    return {
        "sample_id": row.sample_id,
        "sample_hash": hashlib.sha256((raw + "".join(reference)).encode(errors="replace")).hexdigest(),
        "interaction_type": "single_turn" if is_single else "agentic" if row.tool_calls else "multi_turn",
        "input": {
            "raw": raw,
            "formatted": asked or None,
            "reference": [each for each in reference if each],
            "choices": choices,
        },
        **body,
        "answer_attribution": _attribution(row, replies, is_single=is_single),
        "evaluation": {
            "score": row.score,
            "is_correct": row.score == 1.0,
            "num_turns": max(len(numbered), 1),
            "tool_calls_count": row.tool_calls,
        },
        "token_usage": _usage(row),
        "performance": {"latency_ms": row.wall_s * 1000},
        "error": None if row.stop_reason == "answered" else row.stop_reason,
        "metadata": {"arm": row.arm, "cluster": row.cluster, ROW: json.dumps(mark_of(row))},
    }


def _attribution(row: Row, replies: Sequence[Json], *, is_single: bool) -> list[dict[str, Any]]:
    if row.answer is None:
        return []
    turn = 0 if is_single or not replies else replies[-1]["turn_idx"]
    source = "output.raw" if is_single else "messages[turn_idx].content"
    about = {"extracted_value": row.answer, "extraction_method": "custom", "is_terminal": True}
    return [{"turn_idx": turn, "source": source, **about}]


def _usage(row: Row) -> dict[str, int | None] | None:
    if row.prompt_tokens is None or row.completion_tokens is None:
        return None
    return {
        "input_tokens": row.prompt_tokens,
        "output_tokens": row.completion_tokens,
        "total_tokens": row.prompt_tokens + row.completion_tokens,
        "input_tokens_cache_read": row.cached_tokens,
        "reasoning_tokens": row.reasoning_tokens,
    }


def _asked(message: Json) -> dict[str, str]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    texts = [block["text"] if block.get("type") == "text" else placeholder(block) for block in blocks]
    return {"role": str(message.get("role")), "content": "\n".join(texts)}


def _messages(trace: Json | None) -> Iterator[dict[str, Any]]:
    for entry in in_turn(trace):
        if isinstance(entry, Said):
            yield _reply(entry)
        elif isinstance(entry, Ran):
            yield _result(entry)


def _reply(said: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.step.get("text") or None}
    if said.step.get("reasoning"):
        message["reasoning_trace"] = said.step["reasoning"]
    wishes = [ran.wish or {} for ran in said.calls]
    calls = [
        {"id": str(wish.get("id")), "name": name_of(wish), "arguments": _texts(arguments_of(wish))}
        for wish in wishes
    ]
    return {**message, "tool_calls": calls} if calls else message


def _texts(text: str) -> dict[str, str] | None:
    """A call's arguments as texts: JSON of those that are none."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return {"text": text} if text else None
    if not isinstance(arguments, dict):
        return {"text": text}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}


def _result(ran: Ran) -> dict[str, Any]:
    call_id = (ran.wish or {}).get("id")
    said = {"role": "tool", "content": (ran.step or {}).get("observation") or None}
    return {**said, "tool_call_id": [str(call_id)]} if call_id is not None else said
