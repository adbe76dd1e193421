"""Shows two trials side by side, from where they parted."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from gnomon.core.errors import SpecError
from gnomon.core.opened_question import ShownQuestion, question_record
from gnomon.drawing.layer import Layer
from gnomon.drawing.trace_drawing import layers_clock, layers_map
from gnomon.report.text_formats import count
from gnomon.spec.job_spec import JobSpec
from gnomon.traces.turns import prompt_texts, read_turns
from gnomon_analyses.comparing.alignment import AlignedRow, Alignment, Item, align, changed_words
from gnomon_service.api.state import Shared
from gnomon_service.web.pages import View, page
from gnomon_service.web.trial_views import arm_place, score_record, shown_question
from gnomon_workers.store.records import TrialRecord

SHOWN_CHARS = 1_200  # of a text in a row
DIFFED_CHARS = 2_000  # of arguments: longer ones are shown whole, without their changed words

router = APIRouter(include_in_schema=False)


@page(router, "/ui/compare/trials", "trial_pair.html.j2")
def trial_pair(state: Shared, a: str, b: str) -> View:
    """Two trials, aligned by their calls, scrolled to the first that is not the same."""
    left, right = state.store.trial(a), state.store.trial(b)
    jobs = [state.store.job(record.trial.job_id) for record in (left, right)]
    guises = [_transform(record, job.spec) for record, job in zip((left, right), jobs, strict=True)]
    arm = left.trial.arm if guises[0] == guises[1] else None  # else the original is what both are about
    question = shown_question(state, jobs[0], left.trial.ref.sample_id, arm)
    traces = [record.trace or {} for record in (left, right)]
    alignment = align(read_turns(traces[0]), read_turns(traces[1]))
    sides = [
        _side(record, job.spec, question, trace)
        for record, job, trace in zip((left, right), jobs, traces, strict=True)
    ]
    rows = [_row(row) for row in alignment.rows]
    is_one_sample = left.trial.ref.sample_id == right.trial.ref.sample_id
    return {
        "title": _title(alignment, sides),
        "answer": _answer(alignment, sides),
        "job": {"id": jobs[0].id, "name": jobs[0].name or jobs[0].spec.benchmark},
        "sample_id": left.trial.ref.sample_id,
        "is_one_sample": is_one_sample,
        "sides": sides,
        "question": question_record(question) if is_one_sample else None,
        "question_problem": question.problem,
        "differences": _differences(left, right, jobs[0].spec, jobs[1].spec, traces),
        "rows": rows,
        "same_before": alignment.diverges_at if alignment.diverges_at is not None else len(rows),
        "diverges_at": alignment.diverges_at,
        "is_cut": alignment.is_cut,
        **_drawings(question, sides, traces, is_one_sample=is_one_sample and guises[0] == guises[1]),
    }


@router.get("/ui/compare/ticked", response_model=None)
def compare_ticked(request: Request) -> Response:
    """Two ticked trials side by side; of two ticked pairs their variants, of one pair its two arms."""
    picks = [value.split(",") for value in request.query_params.getlist("pick")]
    if len(picks) == 1 and len(picks[0]) == 2:
        a, b = picks[0]
    elif len(picks) >= 2:
        a, b = picks[0][-1], picks[1][-1]
    else:
        raise SpecError("tick two trials, or two samples, or one sample with two arms", field="pick")
    return RedirectResponse(f"/ui/compare/trials?{urlencode({'a': a, 'b': b})}", status_code=303)


def _transform(record: TrialRecord, spec: JobSpec) -> str | None:
    """The transform of the trial's arm, under which answers and scenes are not those of the original."""
    return next((arm.transform for arm in spec.arms if arm.name == record.trial.arm), None)


def _side(
    record: TrialRecord, spec: JobSpec, question: ShownQuestion, trace: Mapping[str, Any]
) -> dict[str, Any]:
    trial = record.trial
    return {
        "trial_id": trial.trial_id,
        "arm": trial.arm,
        "place": arm_place(spec, trial.arm),
        "model": trial.model,
        "repeat": trial.repeat,
        "verdict": question.verdict(record.row, trace.get("response")),
        "response": trace.get("response"),
        **score_record(record.row),
    }


def _title(alignment: Alignment, sides: list[dict[str, Any]]) -> str:
    left, right = (f"{side['arm']}" for side in sides)
    if alignment.diverges_at is None:
        return f"{left} and {right} did the same"
    return f"{left} and {right} differ from step {_turn_at(alignment)}"


def _turn_at(alignment: Alignment) -> int:
    """The step, as the pages of both trials count, in which the first difference is."""
    row = alignment.rows[alignment.diverges_at or 0]
    return min(item.turn for item in (row.left, row.right) if item is not None)


def _answer(alignment: Alignment, sides: list[dict[str, Any]]) -> str:
    if alignment.diverges_at is None:
        return "Every call and answer is the same."
    before = f"After {count(alignment.diverges_at, 'equal call')}, " if alignment.diverges_at else "At once, "
    sentence = f"{before}{_what_differs(alignment, sides)}."
    scores = [side["score"] for side in sides]
    if None not in scores:
        sentence += f" Scores: {scores[0]:.2f} and {scores[1]:.2f}."
    return sentence


def _what_differs(alignment: Alignment, sides: list[dict[str, Any]]) -> str:
    rest = alignment.rows[alignment.diverges_at :]
    first = rest[0].left
    if first is not None and rest[0].relation == "result":
        return f"both called {first.name} alike and were given different results"
    if first is not None and rest[0].relation == "changed" and first.kind == "call":
        return f"both called {first.name}, with other arguments"
    nexts = [
        next((row.left for row in rest if row.left), None),
        next((row.right for row in rest if row.right), None),
    ]
    return " while ".join(_did(item, side) for item, side in zip(nexts, sides, strict=True))


def _did(item: Item | None, side: Mapping[str, Any]) -> str:
    if item is None:
        return f"{side['arm']} did nothing more"
    return f"{side['arm']} called {item.name}" if item.kind == "call" else f"{side['arm']} answered"


def _row(row: AlignedRow) -> dict[str, Any]:
    left, right = row.left, row.right
    words = None
    if row.relation == "changed" and left and right and len(left.text) + len(right.text) < DIFFED_CHARS:
        words = changed_words(left.text, right.text)
    return {
        "relation": row.relation,
        "left": _item(left),
        "right": _item(right),
        "left_words": words[0] if words else None,
        "right_words": words[1] if words else None,
        "same_result": bool(left and right and left.result == right.result),
    }


def _item(item: Item | None) -> dict[str, Any] | None:
    if item is None:
        return None
    return {
        "turn": item.turn,
        "kind": item.kind,
        "name": item.name,
        "text": item.text[:SHOWN_CHARS],
        "result": item.result[:SHOWN_CHARS],
        "left_out": max(0, len(item.text) - SHOWN_CHARS) + max(0, len(item.result) - SHOWN_CHARS),
    }


def _differences(
    left: TrialRecord,
    right: TrialRecord,
    left_spec: JobSpec,
    right_spec: JobSpec,
    traces: list[Mapping[str, Any]],
) -> list[dict[str, str]]:
    """What the two were given that is not the same; `expected` where their specs say so."""
    arms = [
        spec.arm(record.trial.arm).model_dump(mode="json", exclude={"name"})
        for spec, record in ((left_spec, left), (right_spec, right))
    ]
    rows = [
        {"what": name, "left": _plain(arms[0][name]), "right": _plain(arms[1][name]), "expected": "yes"}
        for name in arms[0]
        if arms[0][name] != arms[1][name]
    ]
    for name in ("model", "repeat"):
        values = [getattr(record.trial, name) for record in (left, right)]
        if values[0] != values[1]:
            rows.append({"what": name, "left": str(values[0]), "right": str(values[1]), "expected": "yes"})
    prompts = ["\n".join(prompt_texts(trace)) for trace in traces]
    if prompts[0] != prompts[1]:
        is_explained = arms[0].get("show") != arms[1].get("show") or left_spec != right_spec
        rows.append(
            {
                "what": "prompt",
                "left": count(len(prompts[0]), "character"),
                "right": count(len(prompts[1]), "character"),
                "expected": "yes" if is_explained else "no",
            }
        )
    return rows


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) if len(value) <= 6 else f"{len(value)} of them"
    return "–" if value is None else str(value)


def _drawings(
    question: ShownQuestion,
    sides: list[dict[str, Any]],
    traces: list[Mapping[str, Any]],
    *,
    is_one_sample: bool,
) -> dict[str, Any]:
    """One scene and one clock with both answers."""
    if question.sample is None or question.view is None or not is_one_sample:
        return {"_drawing": None, "_clock": None}
    looks = [side["place"] for side in sides]
    if looks[0] == looks[1]:
        looks[1] = sides[1]["place"] + 1
    names = [side["arm"] for side in sides]
    if names[0] == names[1]:
        names = [f"{side['arm']}, repeat {side['repeat'] + 1}" for side in sides]
    layers = [Layer("seen", question.view.seen, "seen"), Layer("truth", question.view.truth, "truth")]
    layers += [
        Layer(name, question.answer_sketch(trace.get("response")), look)
        for name, look, trace in zip(names, looks, traces, strict=True)
    ]
    what = "with what was seen and what is true"
    return {
        "_drawing": layers_map(
            question.sample, layers, ident="scene", title=f"Both answers on the map, {what}"
        ),
        "_clock": layers_clock(layers, ident="clock", title=f"Both answers on the clock, {what}"),
    }
