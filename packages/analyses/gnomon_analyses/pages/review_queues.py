"""The list of review queues: their progress, a form that makes one from a job, and their files."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from gnomon.core.errors import SpecError
from gnomon.core.review import CHOICES, MODES, Choice, Mode, Review, ReviewQueue
from gnomon.report.row_formats import csv_cell
from gnomon.report.text_formats import count
from gnomon.spec.data_rules import data_of
from gnomon_analyses.pages.review import MAX_NAME, Reviewer
from gnomon_analyses.reviews.decisions import read_doubts
from gnomon_analyses.reviews.desk import progress_of, queue_record, review_record
from gnomon_analyses.reviews.queue_samples import IN_WORDS, choose_samples
from gnomon_analyses.reviews.summary import decision_lines
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import View, page

JOBS_OFFERED = 100
MODE_WORDS: Mapping[Mode, str] = {
    "judge": "answer, then see the truth and judge it",
    "answer": "answer only: a human baseline, the truth is never shown",
}

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/v1/reviews", tags=["reviews"])


@api.get("/{queue}")
def get_queue(state: Shared, queue: str) -> dict[str, Any]:
    """A queue of samples with its reviews, the agreement of its reviewers, and where they disagree."""
    chosen = state.store.queue(queue)
    return queue_record(chosen, state.store.reviews(queue))


@page(router, "/ui/review", "review.html.j2")
def queues_page(state: Shared, job: str = "", reviewer: Reviewer = "") -> View:
    """All queues with their progress, and a form that makes one from a job."""
    name = unquote(reviewer)
    queues = [_queue_line(state, queue, name) for queue in state.store.queues()]
    jobs = state.store.jobs(limit=JOBS_OFFERED).items
    open_ones = sum(queue["own"] < queue["samples"] for queue in queues)
    answer = (
        f"{count(open_ones, 'queue')} of {len(queues)} with items that you have not judged."
        if queues
        else "There is no queue yet: make one from a job below."
    )
    return {
        "title": "Review",
        "answer": answer,
        "reviewer": name,
        "queues": queues,
        "jobs": [{"id": item.id, "name": item.name or item.id} for item in jobs],
        "job": job,
        "choices": [{"value": choice, "words": IN_WORDS[choice]} for choice in CHOICES],
        "modes": [{"value": mode, "words": MODE_WORDS[mode]} for mode in MODES],
    }


def _queue_line(state: State, queue: ReviewQueue, reviewer: str) -> dict[str, Any]:
    progress = progress_of(queue, state.store.reviews(queue.name), reviewer)
    return {
        "name": queue.name,
        "job_id": queue.job_id,
        "mode": queue.mode,
        "choice": IN_WORDS[queue.choice],
        "samples": progress.samples,
        "own": progress.own,
        "anyone": progress.anyone,
        "disagreements": progress.disagreements,
        "settled": progress.settled,
        "agreement": progress.agreement_words,
    }


@router.post("/ui/review", response_model=None)
@in_place("reports")
def make_queue(
    state: Shared,
    job: Annotated[str, Form()],
    name: Annotated[str, Form()] = "",
    choice: Annotated[Choice, Form()] = "all",
    mode: Annotated[Mode, Form()] = "judge",
    limit: Annotated[str, Form()] = "",
    seed: Annotated[int, Form(ge=0)] = 0,
) -> Response:
    """Make a queue from a job's samples."""
    record = state.store.job(job)
    samples = [ref.sample_id for ref in state.store.refs(job)]
    needs_rows = choice not in ("all", "random", "doubtful")
    chosen = choose_samples(
        choice,
        samples,
        state.store.iter_rows(job) if needs_rows else (),
        doubtful=read_doubts(data_of(record.spec, state.questions.media)) if choice == "doubtful" else (),
        limit=_whole(limit),
        seed=seed,
    )
    queue = ReviewQueue(
        name=_queue_name(name or f"{record.name or record.spec.benchmark}-{choice}"),
        job_id=job,
        mode=mode,
        choice=choice,
        samples=tuple(chosen),
    )
    state.store.create_queue(queue)
    return RedirectResponse(f"/ui/review/{queue.name}", status_code=303)


def _whole(text: str) -> int | None:
    """A form's whole number; None where the field is empty.

    Raises:
        SpecError: it is none, or below 1.
    """
    if not text.strip():
        return None
    if not text.strip().isascii() or not text.strip().isdigit() or int(text) < 1:
        raise SpecError("needs a whole number from 1", field="limit")
    return int(text)


def _queue_name(text: str) -> str:
    """A name that fits an address: small letters, digits and hyphens.

    >>> _queue_name(" Both wrong, worlds! ")
    'both-wrong-worlds'
    """
    kept = "".join(char if char.isascii() and char.isalnum() else " " for char in text.lower())
    name = "-".join(kept.split())[:MAX_NAME].strip("-")
    if not name:
        raise SpecError("needs a letter or a digit", field="name")
    return name


@router.get("/ui/review/{queue}/decisions.jsonl", response_model=None)
def decisions_file(state: Shared, queue: str) -> Response:
    """The decisions, as `gnomon consensus --decisions` reads them."""
    lines = decision_lines(state.store.queue(queue), state.store.reviews(queue))
    return _download("".join(f"{line}\n" for line in lines), f"{queue}.jsonl", "application/x-ndjson")


@router.get("/ui/review/{queue}/decisions.csv", response_model=None)
def decisions_table(state: Shared, queue: str) -> Response:
    """Every review of the queue, a line each."""
    records = [review_record(review) for review in state.store.reviews(state.store.queue(queue).name)]
    names = list(review_record(Review(sample_id="", reviewer="")))
    return _download(_table(names, records), f"{queue}.csv", "text/csv")


@router.get("/ui/review/{queue}/answers.jsonl", response_model=None)
def answers_file(state: Shared, queue: str) -> Response:
    """People's own answers, as `gnomon import FILE --into JOB` reads them: each person as a model."""
    lines = [
        json.dumps(
            {"sample_id": review.sample_id, "answer": review.response, "model": review.reviewer},
            ensure_ascii=False,
        )
        for review in state.store.reviews(state.store.queue(queue).name)
        if not review.is_settlement
    ]
    return _download("".join(f"{line}\n" for line in lines), f"{queue}-answers.jsonl", "application/x-ndjson")


def _table(names: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, names)
    table.writeheader()
    table.writerows([{name: csv_cell(record[name]) for name in names} for record in records])
    return text.getvalue()


def _download(text: str, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-cache"}
    return Response(
        text.encode(errors="backslashreplace"), media_type=f"{kind}; charset=utf-8", headers=headers
    )
