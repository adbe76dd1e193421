"""The page of a sample: what was asked, how did each arm do? Its clips are played from the files it names."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from markupsafe import Markup

from gnomon.core.clusters import cluster_words
from gnomon.core.errors import NotFound
from gnomon.core.opened_question import ShownQuestion, question_record
from gnomon.core.sample import SampleRef
from gnomon.drawing.layer import Layer
from gnomon.drawing.trace_drawing import clock_text, layers_clock, layers_map
from gnomon.report.text_formats import count
from gnomon.traces.turns import prompt_pictures, prompt_texts
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import View, page
from gnomon_service.web.trial_lists import asked_of, trial_list
from gnomon_service.web.trial_views import (
    ArmTrial,
    floors_of,
    score_record,
    shown_question,
    trials_of_sample,
)
from gnomon_workers.store.records import JobRecord

MAX_STATES = 40  # trials without a result whose state is looked up
MAX_DRAWN = 8  # answers on the map
NAMED_ARMS = 4  # in the first sentence
MAX_PROMPT = 20_000  # characters of a prompt that stands in for a question

CLIP_TYPES = {
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".mov": "video/quicktime",
    ".mkv": "video/x-matroska",
}

router = APIRouter(include_in_schema=False)


@router.get("/ui/jobs/{job_id}/samples/{sample_id:path}/clips/{number}", response_model=None)
@in_place("pages")
def clip(state: Shared, job_id: str, sample_id: str, number: int) -> FileResponse:
    """A clip of a sample, whole or in part: the very file that the sample names, and no other."""
    job = state.store.job(job_id)
    view = shown_question(state, job, sample_id).view
    clips = view.clips if view is not None else ()
    if not 0 <= number < len(clips) or not clips[number].path.is_file():
        raise NotFound(f"sample {sample_id!r} has no clip {number} here", field="number")
    path = clips[number].path
    kind = CLIP_TYPES.get(path.suffix.lower(), "application/octet-stream")
    headers = {"Cache-Control": "private, max-age=3600", "Content-Security-Policy": "default-src 'none'"}
    return FileResponse(path, media_type=kind, headers=headers)


@page(router, "/ui/jobs/{job_id}/samples/{sample_id:path}", "sample.html.j2")
def sample_page(request: Request, state: Shared, job_id: str, sample_id: str) -> View:
    """A question with its truth, and every arm's answers to it."""
    job = state.store.job(job_id)
    trials = trials_of_sample(state, job, sample_id)
    ref = _ref(state, trials, sample_id)
    listed = trial_list(job.id, job.spec, request.query_params.multi_items())
    beside = state.indexes.get(job.id).value.neighbours(
        asked_of(state, job, listed)[0], listed.sort, sample_id
    )
    question = shown_question(state, job, sample_id)
    first = [trial for trial in trials if trial.repeat == 0 and trial.row is not None]
    traces = {trial.trial_id: state.store.trace(trial.trial_id) or {} for trial in first}
    responses = {name: trace.get("response") for name, trace in traces.items()}
    states = _states(state, trials)
    groups = [
        {
            "model": model.label,
            "arms": [
                {
                    "arm": arm.name,
                    "place": place,
                    "trials": [
                        _cell(trial, states, question, responses)
                        for trial in trials
                        if (trial.model, trial.arm) == (model.label, arm.name)
                    ],
                }
                for place, arm in enumerate(job.spec.arms)
            ],
        }
        for model in job.spec.models
    ]
    record = question_record(question)
    return {
        "title": sample_id,
        "answer": _answer(trials, groups),
        "job": {"id": job.id, "name": job.name or job.spec.benchmark, "status": job.status},
        "sample": {
            "id": sample_id,
            "task": ref.task,
            "subset": ref.cell,
            "cluster": cluster_words(ref.cluster),
        },
        "around": {
            "previous": listed.sample_href(beside.previous) if beside.previous else "",
            "next": listed.sample_href(beside.next) if beside.next else "",
            "position": beside.position,
            "total": beside.total,
            "list": listed.href(),
        },
        "question": record,
        "question_problem": question.problem,
        "stored_prompt": None if record else _stored_prompt(traces),
        "groups": groups,
        "repeats": max(job.spec.repeats_by_arm.values()),
        "floors": [
            {"rule": name.replace("_", " "), "score": value}
            for name, value in next(
                (floors_of(trial.row) for trial in trials if floors_of(trial.row)), {}
            ).items()
        ],
        "_query": listed.query(),
        "_clips": _clips(job, sample_id, question),
        **_drawings(question, first, responses, has_models=len(job.spec.models) > 1),
    }


def _ref(state: State, trials: Sequence[ArmTrial], sample_id: str) -> SampleRef:
    """The sample as it was planned.

    Raises:
        NotFound: the job plans no such sample.
    """
    try:
        return state.store.trial(trials[0].trial_id).trial.ref
    except NotFound:
        raise NotFound(f"no sample {sample_id!r} in this job", field="sample_id") from None


def _states(state: State, trials: Sequence[ArmTrial]) -> dict[str, str]:
    """What became of trials without a result so far."""
    waiting = [trial.trial_id for trial in trials if trial.row is None][:MAX_STATES]
    return {trial_id: state.store.trial(trial_id).state for trial_id in waiting}


def _cell(
    trial: ArmTrial,
    states: Mapping[str, str],
    question: ShownQuestion,
    responses: Mapping[str, str | None],
) -> dict[str, Any]:
    """A trial in the grid."""
    words = {"leased": "running", "pending": "waiting"}
    return {
        "trial_id": trial.trial_id,
        "repeat": trial.repeat + 1,
        "state": words.get(states.get(trial.trial_id, ""), "") if trial.row is None else "",
        "verdict": question.verdict(trial.row, responses.get(trial.trial_id)),
        **score_record(trial.row),
    }


def _answer(trials: Sequence[ArmTrial], groups: Sequence[Mapping[str, Any]]) -> str:
    """How each arm did, in one sentence."""
    ended = [trial for trial in trials if trial.row is not None]
    if not ended:
        return f"No trial of this sample has ended yet, of {count(len(trials), 'planned trial')}."
    parts = []
    for group in groups:
        before = f"{group['model']}: " if len(groups) > 1 else ""
        means = [f"{arm['arm']} {_mean(arm['trials'])}" for arm in group["arms"]]
        if more := means[NAMED_ARMS:]:
            means[NAMED_ARMS:] = [f"{count(len(more), 'more arm')} below"]
        parts.append(before + ", ".join(means))
    return f"{'; '.join(parts)}."


def _mean(trials: Sequence[Mapping[str, Any]]) -> str:
    scores = [trial["score"] for trial in trials if trial["score"] is not None]
    if not scores:
        return "has no score" + (" yet" if any(trial["outcome"] == "pending" for trial in trials) else "")
    return f"scored {sum(scores) / len(scores):.2f}" + (
        f" in {len(scores)} repeats" if len(scores) > 1 else ""
    )


def _stored_prompt(traces: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """What a trial was given, where the question itself cannot be opened; None where no trace is kept."""
    trace = next((trace for trace in traces.values() if trace), None)
    if trace is None:
        return None
    text = "\n\n".join(prompt_texts(trace))
    return {
        "text": text[:MAX_PROMPT],
        "left_out": max(0, len(text) - MAX_PROMPT),
        "pictures": list(prompt_pictures(trace)),
    }


def _clips(job: JobRecord, sample_id: str, question: ShownQuestion) -> list[dict[str, Any]]:
    """The clips with the frames that the model gets; without an address where the file is gone."""
    clips = question.view.clips if question.view is not None else ()
    return [
        {
            "href": f"/ui/jobs/{job.id}/samples/{quote(sample_id)}/clips/{number}"
            if clip.path.is_file()
            else "",
            "kind": CLIP_TYPES.get(clip.path.suffix.lower(), ""),
            "caption": clip.caption,
            "frames": [
                {
                    "time_s": time_s,
                    "text": clock_text(time_s),
                    "sha256": frame.sha256,
                    "width": frame.width,
                    "height": frame.height,
                }
                for time_s, frame in zip(clip.frame_times_s, clip.frames, strict=False)
            ],
            "times": [clock_text(time_s) for time_s in clip.frame_times_s[len(clip.frames) :]],
        }
        for number, clip in enumerate(clips)
    ]


def _drawings(
    question: ShownQuestion,
    first: Sequence[ArmTrial],
    responses: Mapping[str, str | None],
    *,
    has_models: bool,
) -> dict[str, Markup | None]:
    """The scene and the clock with what was seen, what is true, and the arms' first answers."""
    if question.sample is None or question.view is None:
        return {"_drawing": None, "_clock": None}
    layers = [Layer("seen", question.view.seen, "seen"), Layer("truth", question.view.truth, "truth")]
    for number, trial in enumerate(first[:MAX_DRAWN]):
        name = f"{trial.arm}, {trial.model}" if has_models else trial.arm
        sketch = question.answer_sketch(responses.get(trial.trial_id))
        if sketch:
            layers.append(Layer(name, sketch, trial.place, key=f"answer-{number}"))
    title = f"Map of what was seen, what is true and what each arm answered: {question.sample.ref.sample_id}"
    return {
        "_drawing": layers_map(question.sample, layers, ident="scene", title=title),
        "_clock": layers_clock(layers, ident="clock", title="When each was seen, answered and true"),
    }
