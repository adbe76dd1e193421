"""The page of a trial: why this answer? Its steps, its scene step by step, and its time line."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from markupsafe import Markup

from gnomon.core.opened_question import ShownQuestion, question_record
from gnomon.core.read_calls import flags_in_words
from gnomon.core.row import Row
from gnomon.drawing.clock_svg import clock_range
from gnomon.drawing.layer import Layer
from gnomon.drawing.scene_svg import PictureBelow, scene_svg
from gnomon.drawing.trace_drawing import CLOCK_TITLE, ArmAnswer, layers_clock, trace_layers, trace_scene
from gnomon.drawing.trace_sketches import StepSketch, step_sketches
from gnomon.report.text_formats import count, dollars, known_count
from gnomon.traces.findings import Findings, findings_on
from gnomon.traces.result_table import result_table
from gnomon.traces.turns import Call, StoredTrace, Turn, prompt_pictures, prompt_texts, read_turns
from gnomon.trials.trial_plan import trial_id as planned_id
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.api.trials import trial_file_response
from gnomon_service.web.pages import View, page
from gnomon_service.web.trial_lists import TrialList, asked_of, trial_list
from gnomon_service.web.trial_views import (
    ArmTrial,
    arm_place,
    run_facts,
    score_record,
    shown_question,
    trials_of_sample,
)
from gnomon_tools.core.clip import UnreadableFootage
from gnomon_tools.core.sketch import Sketch
from gnomon_workers.store.records import JobRecord, TrialRecord

MAX_TURNS = 200

router = APIRouter(include_in_schema=False)


@page(router, "/ui/trials/{trial_id}", "trace.html.j2")
def trace_page(request: Request, state: Shared, trial_id: str, step: int | None = None) -> View:
    """One trial: question, steps, what each call asked and got on the map, and the other arms' answers."""
    record = state.store.trial(trial_id)
    job = state.store.job(record.trial.job_id)
    question = shown_question(state, job, record.trial.ref.sample_id, record.trial.arm)
    trace = record.trace or {}
    turns = read_turns(trace)
    sketches = step_sketches(question.sample, trace) if question.sample is not None else ()
    arms = trials_of_sample(state, job, record.trial.ref.sample_id)
    responses = _responses(state, record, arms)
    verdict = question.verdict(record.row, responses[record.trial.trial_id])
    answer = question.answer_sketch(responses[record.trial.trial_id])
    shown = [_turn(turn, sketches, question, answer) for turn in turns[:MAX_TURNS]]
    chosen = step if step is not None else _first_chosen(shown)
    answers = [
        ArmAnswer(arm=item.arm, place=item.place, sketch=question.answer_sketch(responses.get(item.trial_id)))
        for item in arms
        if question.is_asked_by(item.row)
    ]
    layers = trace_layers(question.view, turns[:MAX_TURNS], sketches, answers, chosen=chosen)
    listed = trial_list(job.id, job.spec, request.query_params.multi_items())
    return {
        "title": _title(record, verdict),
        "answer": _answer(record, verdict),
        "job": {"id": job.id, "name": job.name or job.spec.benchmark, "status": job.status},
        "trial": _trial(record, job),
        "trial_score": score_record(record.row),
        "arms": _arms(arms, record),
        "question": question_record(question),
        "question_problem": question.problem,
        "prompt": _prompt(trace),
        "turns": shown,
        "turns_left_out": max(0, len(turns) - MAX_TURNS),
        "response": trace.get("response"),
        "chosen": chosen,
        "around": _around(state, job, record, listed),
        "others": _others(arms, record, question, responses),
        "_drawing": trace_scene(question.sample, question.view, layers, ident="scene"),
        "_clock": layers_clock(layers, ident="clock", title=CLOCK_TITLE),
        "_stretch": clock_range(layers),
        "_frames": _frames(question, sketches),
        "_query": listed.query(),
    }


def _around(state: State, job: JobRecord, record: TrialRecord, listed: TrialList) -> dict[str, Any]:
    """The same arm's trials of the samples before and after this one in the list that it was opened from."""
    trial = record.trial
    asked, _ = asked_of(state, job, listed)
    beside = state.indexes.get(job.id).value.neighbours(asked, listed.sort, trial.ref.sample_id)

    def href(sample_id: str | None) -> str:
        if sample_id is None:
            return ""
        return listed.trial_href(planned_id(trial.job_id, sample_id, trial.model, trial.arm, trial.repeat))

    return {
        "previous": href(beside.previous),
        "next": href(beside.next),
        "position": beside.position,
        "total": beside.total,
    }


@router.post("/ui/trials/{trial_id}/file", response_model=None)
@in_place("calls")
def changed_trial_file(
    state: Shared, trial_id: str, from_step: Annotated[int, Form(ge=1)], result: Annotated[str, Form()]
) -> Response:
    """The trial as a file that continues after a step with another result; nothing is stored or run."""
    return trial_file_response(state, trial_id, from_step=from_step, result=result, kind="yaml")


def _title(record: TrialRecord, verdict: str) -> str:
    row = record.row
    if row is None:
        return "This trial has not ended yet"
    if row.score is None:
        return f"No score: {row.stop_reason}"
    words = verdict.rstrip(".") or (f"Answered {row.answer}" if row.answer else "No answer could be read")
    return f"{words}: score {row.score:.2f}"


def _answer(record: TrialRecord, verdict: str) -> str:
    row = record.row
    if row is None:
        return f"It is {record.state}; the page shows its steps once it has ended."
    if row.score is None:
        return row.error or f"The trial ended as {row.outcome.value} ({row.stop_reason})."
    calls = f"{known_count(row.model_calls, 'model call')}, {known_count(row.tool_calls, 'tool call')}"
    failed = f", {count(row.tool_errors, 'tool error')}" if row.tool_errors else ", no tool errors"
    return f"{calls}{failed if row.tool_calls else ''}. {verdict}".strip()


def _trial(record: TrialRecord, job: JobRecord) -> dict[str, Any]:
    trial, row = record.trial, record.row
    spec = job.spec
    limits = spec.limits.model_dump(exclude_none=True)
    arm = spec.arms[arm_place(spec, trial.arm)]
    return {
        "id": trial.trial_id,
        "sample_id": trial.ref.sample_id,
        "cell": trial.ref.cell,
        "task": trial.ref.task,
        "model": trial.model,
        "arm": trial.arm,
        "place": arm_place(spec, trial.arm),
        "repeat": trial.repeat,
        "repeats": spec.repeats_of(trial.arm),
        "attempt": record.attempt,
        "limits": {**limits, "max_tool_calls": arm.max_tool_calls, "max_turns": arm.max_turns},
        "cost": None if row is None or row.usd is None else dollars(row.usd),
        "error": row.error if row else "",
        "flags": list(row.flags) if row else [],
        "run": run_facts(row) if row else [],
    }


def _arms(arms: Sequence[ArmTrial], record: TrialRecord) -> list[dict[str, Any]]:
    """The other arms' trials of this sample by this model, the same repeat of each, with the difference."""
    here = record.row.score if record.row else None
    return [
        {
            "arm": item.arm,
            "place": item.place,
            "trial_id": item.trial_id,
            "is_this": item.trial_id == record.trial.trial_id,
            "score": item.row.score if item.row else None,
            "answer": item.row.answer if item.row else None,
            "difference": _difference(here, item.row),
        }
        for item in arms
        if item.model == record.trial.model and item.repeat == record.trial.repeat
    ]


def _difference(here: float | None, row: Row | None) -> float | None:
    return None if here is None or row is None or row.score is None else here - row.score


def _prompt(trace: StoredTrace) -> dict[str, Any]:
    texts = prompt_texts(trace)
    return {"parts": len(texts), "texts": texts, "pictures": prompt_pictures(trace)}


def _turn(
    turn: Turn, sketches: Sequence[StepSketch], question: ShownQuestion, answer: Sketch
) -> dict[str, Any]:
    by_step = {sketch.step: sketch for sketch in sketches}
    calls = [_call(call, by_step.get(call.step), question, answer) for call in turn.calls]
    return {
        "number": turn.number,
        "heading": _heading(turn, calls),
        "text": turn.text,
        "reasoning": turn.reasoning,
        "calls": calls,
        "notes": turn.notes,
        "unanswered": [] if turn.calls else [f"{name}({arguments})" for name, arguments in turn.wishes],
        "seconds": turn.total_s,
        "model_seconds": turn.wall_s,
        "prompt_tokens": turn.prompt_tokens,
        "completion_tokens": turn.completion_tokens,
        "reasoning_tokens": turn.reasoning_tokens,
        "usd": turn.usd,
        "is_cached": turn.is_cached,
        "tries": turn.tries,
        "flags": [*flags_in_words(turn.flags), *turn.request_changes],
        "is_drawn": any(call["is_drawn"] for call in calls),
    }


def _call(call: Call, sketch: StepSketch | None, question: ShownQuestion, answer: Sketch) -> dict[str, Any]:
    table = result_table(call.observation) if not call.error else None
    findings = findings_on(sketch.sketch, question.view, answer) if sketch else Findings()
    return {
        "step": call.step + 1,
        "name": call.name,
        "summary": sketch.summary if sketch else "",
        "arguments": call.arguments,
        "observation": call.observation,
        "bytes": len(call.arguments.encode()) + len(call.observation.encode()),
        "error": call.error,
        "injected": call.injected,
        "seconds": call.wall_s,
        "pictures": list(call.pictures),
        "table": table.record() if table else None,
        "findings": list(findings.sentences),
        "is_used": findings.is_used,
        "is_drawn": bool(sketch and sketch.sketch),
    }


def _heading(turn: Turn, calls: Sequence[dict[str, Any]]) -> str:
    if not turn.calls:
        return "Answer" if turn.text else "Nothing was said"
    names = {call.name for call in turn.calls}
    if len(names) == 1 and len(calls) > 1:
        return f"{turn.calls[0].name} × {len(calls)}"
    return ", ".join(call.name for call in turn.calls)


def _first_chosen(turns: Sequence[dict[str, Any]]) -> int:
    """The turn that is open at first: one that the answer took a time from, else the last that is drawn."""
    telling = [turn["number"] for turn in turns if any(call["is_used"] for call in turn["calls"])]
    drawn = [turn["number"] for turn in turns if turn["is_drawn"]]
    return int((telling[:1] or drawn or [turns[-1]["number"] if turns else 0])[-1])


def _responses(state: State, record: TrialRecord, arms: Sequence[ArmTrial]) -> dict[str, str | None]:
    """The final answers, as they were given, of this trial and of the other arms' beside it."""
    beside = [
        item.trial_id
        for item in arms
        if item.row is not None
        and item.trial_id != record.trial.trial_id
        and (item.model, item.repeat) == (record.trial.model, record.trial.repeat)
    ]
    traces: dict[str, StoredTrace | None] = {name: state.store.trace(name) for name in beside}
    traces[record.trial.trial_id] = record.trace
    return {trial_id: (trace or {}).get("response") for trial_id, trace in traces.items()}


def _frames(question: ShownQuestion, sketches: Sequence[StepSketch]) -> dict[int, Markup]:
    """By step, counted from 1: what a call asked of a picture, drawn on the clip's frame nearest in time."""
    sample, view = question.sample, question.view
    boxed = [item for item in sketches if item.sketch.plane == "picture" and item.sketch.marks]
    if not boxed or sample is None or view is None or sample.footage is None:
        return {}
    frames = [pair for clip in view.clips for pair in zip(clip.frame_times_s, clip.frames, strict=False)]
    try:
        facts = sample.footage.facts()
    except UnreadableFootage:
        return {}
    drawings: dict[int, Markup] = {}
    for item in boxed if frames else ():
        wanted_s = item.sketch.spans[0].start_s if item.sketch.spans else 0.0
        _, frame = min(frames, key=lambda pair: abs(pair[0] - wanted_s))
        href = f"/ui/media/{frame.sha256}"
        below = PictureBelow(sha256=frame.sha256, href=href, width=facts.width, height=facts.height)
        drawings[item.step + 1] = scene_svg(
            None,
            [Layer("this call", item.sketch, "step")],
            ident=f"frame-{item.step + 1}",
            title=item.summary,
            plane="picture",
            picture=below,
            has_legend=False,
        )
    return drawings


def _others(
    arms: Sequence[ArmTrial],
    record: TrialRecord,
    question: ShownQuestion,
    responses: Mapping[str, str | None],
) -> list[dict[str, Any]]:
    """How the other arms answered the same sample: a sentence each."""
    return [
        {
            "arm": item.arm,
            "place": item.place,
            "trial_id": item.trial_id,
            "score": item.row.score,
            "answer": item.row.answer,
            "verdict": question.verdict(item.row, responses.get(item.trial_id)),
            "calls": item.row.tool_calls,
        }
        for item in arms
        if item.row is not None and item.trial_id in responses and item.trial_id != record.trial.trial_id
    ]
