"""The review desk: is this item sound? One item of a queue at a time, and where reviewers disagree."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Cookie, Form, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from markupsafe import Markup

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.opened_question import ShownQuestion, question_record
from gnomon.core.review import VERDICTS, Review, ReviewQueue, Verdict
from gnomon.drawing.layer import Layer
from gnomon.drawing.trace_drawing import layers_clock, layers_map
from gnomon.spec.data_rules import data_of
from gnomon_analyses.reviews.decisions import read_doubts
from gnomon_analyses.reviews.desk import (
    Stage,
    answer_fields,
    disputed_samples,
    next_item,
    progress_of,
    read_form,
    read_response,
    review_record,
)
from gnomon_analyses.reviews.queue_samples import IN_WORDS
from gnomon_analyses.reviews.summary import by_sample
from gnomon_service.api.access import comes_from_here
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import View, page, respond
from gnomon_service.web.trial_views import shown_question, trials_of_sample
from gnomon_tools.core.sketch import Line, Sketch
from gnomon_workers.store.records import JobRecord

COOKIE = "gnomon_reviewer"
COOKIE_DAYS = 90
MAX_NAME, MAX_NOTE, MAX_SECONDS = 80, 4_000, 86_400.0
VERDICT_WORDS: Mapping[Verdict, str] = {
    "sound": "sound",
    "wrong_truth": "wrong truth",
    "ambiguous": "ambiguous",
    "drop": "drop",
}

router = APIRouter(include_in_schema=False)
Reviewer = Annotated[str, Cookie(alias=COOKIE)]


@router.post("/ui/review/name", response_model=None)
def set_name(
    request: Request,
    reviewer: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "",  # noqa: A002 - the name in the form
) -> Response:
    """Keep the reviewer's name in a cookie."""
    name = " ".join("".join(char for char in reviewer if char.isprintable()).split())[:MAX_NAME]
    answer = _see(f"/ui/review/{quote(next, safe='')}" if next else "/ui/review")
    if name and comes_from_here(request):
        answer.set_cookie(
            COOKIE,
            quote(name, safe=""),
            max_age=COOKIE_DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https",
            path="/ui/review",
        )
    else:
        answer.delete_cookie(COOKIE, path="/ui/review", httponly=True, samesite="strict")
    return answer


@page(router, "/ui/review/{queue}", "review_item.html.j2")
def item_page(state: Shared, queue: str, after: str = "", reviewer: Reviewer = "") -> View:
    """One item: first the question alone, then, once it is answered, the truth to be judged."""
    return _item_view(state, state.store.queue(queue), unquote(reviewer), after=after)


def _item_view(
    state: State,
    queue: ReviewQueue,
    reviewer: str,
    *,
    after: str = "",
    refused: str = "",
    problem: str = "",
    given: Mapping[str, str] | None = None,
) -> View:
    """The page of the reviewer's next item, or of the one whose answer was `refused`.

    Nothing in it tells the truth, or what others said, before the question is answered.
    """
    reviews = state.store.reviews(queue.name)
    stage, sample_id = next_item(queue, reviews, reviewer, after=after)
    if refused:
        stage, sample_id = "answer", refused
    progress = progress_of(queue, reviews, reviewer)
    job = state.store.job(queue.job_id)
    own = next(
        (
            review
            for review in reviews
            if (review.sample_id, review.reviewer, review.is_settlement) == (sample_id, reviewer, False)
        ),
        None,
    )
    view: View = {
        "title": _title(queue, stage, sample_id),
        "answer": progress.sentence,
        "queue": {
            "name": queue.name,
            "job_id": queue.job_id,
            "job": job.name or job.id,
            "mode": queue.mode,
            "choice": IN_WORDS[queue.choice],
        },
        "stage": stage,
        "reviewer": reviewer,
        "sample_id": sample_id,
        "done": progress.own,
        "samples": progress.samples,
        "disagreements": progress.disagreements,
        "problem": problem,
        "given": dict(given or {}),
        "question": None,
        "question_problem": "",
        "fields": [],
        "own": None,
        "arms": [],
        "doubt": None,
        "_drawing": None,
        "_clock": None,
        "_began": int(time.time()),
        "_verdicts": [(verdict, VERDICT_WORDS[verdict]) for verdict in VERDICTS],
    }
    if stage not in ("answer", "judge"):
        return view
    question = shown_question(state, job, sample_id)
    shows_truth = stage == "judge"
    view["question"] = _question(question, shows_truth=shows_truth)
    view["question_problem"] = question.problem
    if shows_truth and own is not None:
        view["own"] = {**review_record(own), "verdict": _verdict(own)}
        view["arms"] = _arms(state, job, sample_id)
        view["doubt"] = _doubt(state, job, question)
    elif question.view is not None and question.sample is not None:
        fields = answer_fields(question.opened.benchmark, question.sample, question.view)
        view["fields"] = [
            {"name": field.name, "label": field.label, "is_option": field.is_option} for field in fields
        ]
    view["_drawing"], view["_clock"] = _pictures(question, shows_truth=shows_truth)
    return view


def _title(queue: ReviewQueue, stage: Stage, sample_id: str) -> str:
    match stage:
        case "name":
            return f"{queue.name}: who are you?"
        case "done":
            return f"{queue.name}: all done"
        case "answer":
            return f"{sample_id}: what is your answer?"
        case "judge":
            return f"{sample_id}: is this item sound?"


def _question(question: ShownQuestion, *, shows_truth: bool) -> dict[str, Any] | None:
    """The question as plain data; without its truth unless that is to be shown."""
    record = question_record(question)
    if record is None or shows_truth:
        return record
    options = [{**option, "right": ""} for option in record["options"]]
    facts = {name: text for name, text in record["facts"].items() if name == "Missing"}
    return {**record, "options": options, "truth": "", "facts": facts}


def _verdict(own: Review) -> str:
    """How the reviewer's answer compares with the truth, in a sentence."""
    if own.score is None:
        return "You gave no answer."
    return f"You answered {own.answer}: score {own.score:.2f}."


def _doubt(state: State, job: JobRecord, question: ShownQuestion) -> dict[str, Any] | None:
    """Why the build that made the question doubts it, and the rows that it stands on."""
    sample = question.sample
    doubts = {} if sample is None else read_doubts(data_of(job.spec, state.questions.media))
    found = None if sample is None else doubts.get(sample.ref.sample_id)
    return None if found is None else found.model_dump()


def _arms(state: State, job: JobRecord, sample_id: str) -> list[dict[str, Any]]:
    """What the models answered."""
    return [
        {
            "trial_id": item.trial_id,
            "model": item.model,
            "arm": item.arm,
            "place": item.place,
            "answer": item.row.answer,
            "score": item.row.score,
        }
        for item in trials_of_sample(state, job, sample_id)
        if item.row is not None
    ]


def _pictures(question: ShownQuestion, *, shows_truth: bool) -> tuple[Markup | None, Markup | None]:
    """The map and the clock: what the question shows and, where that may be seen, what is right."""
    view, sample = question.view, question.sample
    if view is None or sample is None:
        return None, None
    if shows_truth:
        layers = [Layer("seen", view.seen, "seen"), Layer("truth", view.truth, "truth")]
    else:
        layers = [Layer("seen", blind_sketch(view.seen, view.truth), "seen")]
    title = f"Map of what the question shows{' and what is true' if shows_truth else ''}"
    clock_title = f"When each was seen{' and what is true' if shows_truth else ''}"
    return (
        layers_map(sample, layers, ident="scene", title=title, view=view),
        layers_clock(layers, ident="clock", title=clock_title),
    )


def blind_sketch(seen: Sketch, truth: Sketch) -> Sketch:
    """What the question shows, without its times where these are the truth: a question about the order."""
    times = {(span.start_s, span.end_s) for span in seen.spans}
    if not any((span.start_s, span.end_s) in times for span in truth.spans):
        return seen
    marks = tuple(replace(mark, times_s=()) if isinstance(mark, Line) else mark for mark in seen.marks)
    return replace(seen, marks=marks, spans=())


@router.post("/ui/review/{queue}/answer", response_model=None)
async def answer_item(request: Request, state: Shared, queue: str, reviewer: Reviewer = "") -> Response:
    """Keep the reviewer's own answer; in mode `judge` the truth is shown next."""
    form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    keep = partial(_keep_answer, request, state, queue, unquote(reviewer), form)
    return await state.places.pages.run(request, keep)


def _keep_answer(
    request: Request, state: State, name: str, reviewer: str, form: Mapping[str, str]
) -> Response:
    queue = state.store.queue(name)
    sample_id = _of_queue(queue, form.get("sample_id", ""))
    if not reviewer:
        return _see(f"/ui/review/{name}")
    response, answer, score = None, None, None
    if "none" not in form:
        job = state.store.job(queue.job_id)
        question = shown_question(state, job, sample_id)
        benchmark, sample = question.opened.benchmark, question.sample
        if benchmark is None or sample is None or question.view is None:
            raise SpecError(question.problem or "the question cannot be opened here", field="sample_id")
        try:
            text = read_form(benchmark, sample, question.view, form)
            if text is None:
                raise SpecError("answer, or say that you cannot tell", field="answer")
            response, scored = read_response(benchmark, sample, text, job.spec)
        except SpecError as error:
            view = _item_view(state, queue, reviewer, refused=sample_id, problem=error.message, given=form)
            return respond(request, "review_item.html.j2", view, status=422)
        answer, score = scored.answer, scored.value
    state.store.add_answer(
        name,
        Review(
            sample_id=sample_id,
            reviewer=reviewer,
            response=response,
            answer=answer,
            score=score,
            seconds=_seconds(form),
        ),
    )
    return _see(f"/ui/review/{name}")


@router.post("/ui/review/{queue}/decision", response_model=None)
@in_place("pages")
def decide_item(
    request: Request,
    state: Shared,
    queue: str,
    sample_id: Annotated[str, Form()],
    decision: Annotated[Verdict, Form()],
    mended: Annotated[str, Form()] = "",
    note: Annotated[str, Form()] = "",
    seconds: Annotated[str, Form()] = "",
    began: Annotated[str, Form()] = "",
    settle: Annotated[str, Form()] = "",
    reviewer: Reviewer = "",
) -> Response:
    """Keep what the reviewer says of the item and its truth; `settle`: having read what others said."""
    chosen = state.store.queue(queue)
    name, place = unquote(reviewer), "/disagreements" if settle else ""
    if name and chosen.mode == "judge":
        right = mended.strip()[:MAX_NOTE] if decision == "wrong_truth" else ""
        if decision == "wrong_truth" and not right:
            problem = "write the right answer, or drop the item"
            if settle:
                raise SpecError(problem, field="mended")
            view = _item_view(state, chosen, name, problem=problem, given={"note": note})
            return respond(request, "review_item.html.j2", view, status=422)
        review = Review(
            sample_id=_of_queue(chosen, sample_id),
            reviewer=name,
            decision=decision,
            mended=right or None,
            note=note.strip()[:MAX_NOTE],
            seconds=_seconds({"seconds": seconds, "began": began}),
            is_settlement=bool(settle),
        )
        state.store.decide(queue, review)
    return _see(f"/ui/review/{queue}{place}")


@router.post("/ui/review/{queue}/undo", response_model=None)
def undo(state: Shared, queue: str, reviewer: Reviewer = "") -> Response:
    """Take the reviewer's last decision back."""
    chosen = state.store.queue(queue)
    state.store.undo_review(queue, unquote(reviewer), mode=chosen.mode)
    return _see(f"/ui/review/{queue}")


@page(router, "/ui/review/{queue}/disagreements", "review_disagreements.html.j2")
def disagreements_page(state: Shared, queue: str, item: str = "", reviewer: Reviewer = "") -> View:
    """Items on which blind reviewers disagree, what each said, and a form that settles one."""
    chosen = state.store.queue(queue)
    reviews = state.store.reviews(queue)
    disputed = disputed_samples(chosen, reviews)
    sample_id = item if item in disputed else disputed[0] if disputed else ""
    progress = progress_of(chosen, reviews, unquote(reviewer))
    job = state.store.job(chosen.job_id)
    open_ones = "1 item is" if len(disputed) == 1 else f"{len(disputed):,} items are"
    view: View = {
        "title": f"{chosen.name}: where reviewers disagree",
        "answer": f"{open_ones} not settled, {progress.settled:,} settled; {progress.agreement_words}",
        "queue": {"name": chosen.name, "job_id": chosen.job_id, "job": job.name or job.id},
        "reviewer": unquote(reviewer),
        "disputed": disputed,
        "sample_id": sample_id,
        "reviews": [],
        "doubt": None,
        "question": None,
        "question_problem": "",
        "_drawing": None,
        "_clock": None,
        "_verdicts": [(verdict, VERDICT_WORDS[verdict]) for verdict in VERDICTS],
        "_words": VERDICT_WORDS,
    }
    if sample_id:
        question = shown_question(state, job, sample_id)
        view["question"] = question_record(question)
        view["question_problem"] = question.problem
        view["reviews"] = [review_record(review) for review in by_sample(reviews)[sample_id]]
        view["doubt"] = _doubt(state, job, question)
        view["_drawing"], view["_clock"] = _pictures(question, shows_truth=True)
    return view


@router.get("/ui/review/{queue}/clip", response_model=None)
@in_place("pages")
def clip(state: Shared, queue: str, item: str, number: int = 0) -> Response:
    """A clip of a question, to be played."""
    chosen = state.store.queue(queue)
    question = shown_question(state, state.store.job(chosen.job_id), _of_queue(chosen, item))
    clips = question.view.clips if question.view else ()
    if not 0 <= number < len(clips) or not clips[number].path.is_file():
        raise NotFound("no clip", field="number")
    return FileResponse(clips[number].path, headers={"Content-Security-Policy": "default-src 'none'"})


def _of_queue(queue: ReviewQueue, sample_id: str) -> str:
    if sample_id not in queue.samples:
        raise NotFound(f"the queue has no sample {sample_id!r}", field="sample_id")
    return sample_id


def _seconds(form: Mapping[str, str]) -> float | None:
    """How long the item was looked at: as the page's script counted, else since the page was made."""
    try:
        counted = form.get("seconds")
        seconds = float(counted) if counted else time.time() - float(form["began"])
    except (KeyError, ValueError):
        return None
    return round(seconds, 1) if 0 <= seconds <= MAX_SECONDS else None


def _see(path: str) -> RedirectResponse:
    return RedirectResponse(path, status_code=303)
