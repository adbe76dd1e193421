"""What a reviewer does next in a queue, how far the queue is, and answers as the benchmark reads them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, HasAnswerForm
from gnomon.core.errors import SpecError
from gnomon.core.question_view import QuestionView
from gnomon.core.review import Mode, Review, ReviewQueue
from gnomon.core.sample import Sample
from gnomon.core.score import Score
from gnomon.report.text_formats import percent
from gnomon.spec.job_spec import JobSpec
from gnomon_analyses.reviews.summary import (
    agreement_of,
    blind_decisions,
    by_sample,
    is_disputed,
    settlement,
)
from gnomon_analyses.statistics.agreement import Agreement

Stage = Literal["name", "answer", "judge", "done"]
MAX_RESPONSE = 20_000  # characters of a person's answer
_PLACEHOLDER = re.compile(r"<([^<>]+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a queue is, for one reviewer and for all."""

    mode: Mode
    samples: int
    own: int
    anyone: int
    twice: int
    disagreements: int
    settled: int
    agreement: Agreement

    @property
    def sentence(self) -> str:
        words = f"{self.own:,} of {self.samples:,} {self.verb} by you, {self.anyone:,} by anyone"
        return f"{words}; {self.agreement_words}"

    @property
    def verb(self) -> str:
        """What reviewers have done with an item."""
        return "judged" if self.mode == "judge" else "answered"

    @property
    def agreement_words(self) -> str:
        agreement = self.agreement
        if not agreement.items:
            return f"none {self.verb} twice yet."
        same = f"of {agreement.items:,} {self.verb} twice {percent(agreement.share)} % agree"
        if agreement.coefficient is None:
            return f"{same}; {agreement.method} needs more than one kind of label."
        sign = "κ" if agreement.method == "Cohen's kappa" else "α"
        ends = agreement.ci95
        within = f"; 95 %: {ends[0]:.2f} to {ends[1]:.2f}" if ends else ""
        return f"{same} ({sign} {agreement.coefficient:.2f}{within}).".replace("-", "−")


def progress_of(queue: ReviewQueue, reviews: Sequence[Review], reviewer: str) -> Progress:
    """How far the queue is."""
    finished = [review for review in reviews if is_finished(review, queue.mode)]
    grouped = by_sample(finished)
    return Progress(
        mode=queue.mode,
        samples=len(queue.samples),
        own=sum(review.reviewer == reviewer and not review.is_settlement for review in finished),
        anyone=len(grouped),
        twice=sum(sum(not review.is_settlement for review in group) > 1 for group in grouped.values()),
        disagreements=sum(map(is_disputed, grouped.values())),
        settled=sum(settlement(group) is not None for group in grouped.values()),
        agreement=agreement_of(finished, queue.mode),
    )


def is_finished(review: Review, mode: Mode) -> bool:
    """Whether the review says all that the queue asks for."""
    return mode == "answer" or review.decision is not None


def next_item(
    queue: ReviewQueue, reviews: Sequence[Review], reviewer: str, *, after: str = ""
) -> tuple[Stage, str]:
    """What the reviewer does next, and with which sample (empty where nothing is left).

    An answered sample is judged before the next one is answered. Samples that someone has settled need no
    further answer. `after` is the sample that was skipped: the search begins behind it and comes round.
    """
    if not reviewer:
        return "name", ""
    own = {
        review.sample_id: review
        for review in reviews
        if review.reviewer == reviewer and not review.is_settlement
    }
    pending = [
        review
        for review in own.values()
        if not is_finished(review, queue.mode) and review.sample_id in queue.samples
    ]
    waiting = sorted(pending, key=lambda review: review.updated_at, reverse=True)
    for review in waiting:
        if review.sample_id != after:
            return "judge", review.sample_id
    settled = {review.sample_id for review in reviews if review.is_settlement}
    start = queue.samples.index(after) + 1 if after in queue.samples else 0
    for sample_id in (*queue.samples[start:], *queue.samples[:start]):
        if sample_id not in own and sample_id not in settled:
            return "answer", sample_id
    return ("judge", waiting[0].sample_id) if waiting else ("done", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerField:
    """A field of an answer's form: a choice among the options, or a text."""

    name: str
    label: str
    is_option: bool


def answer_fields(benchmark: Benchmark | None, sample: Sample, view: QuestionView) -> list[AnswerField]:
    """The fields in which a person answers: those of the benchmark's form, the options, or one text."""
    form = _form(benchmark, sample)
    names = _PLACEHOLDER.findall(form)
    if names:
        options = [name == "option" for name in names]
        return [
            AnswerField(
                name=f"part-{at}",
                label=_label(name, at, options),
                is_option=name == "option" and bool(view.options),
            )
            for at, name in enumerate(names)
        ]
    if view.options:
        return [AnswerField(name="choice", label="Your answer", is_option=True)]
    return [AnswerField(name="response", label="Your answer", is_option=False)]


def _label(name: str, at: int, options: Sequence[bool]) -> str:
    """The placeholder's name; of several options or several others, with its number."""
    same = [other for other, is_option in enumerate(options) if is_option == options[at]]
    number = f" {same.index(at) + 1}" if len(same) > 1 else ""
    return (
        f"Option{number}" if options[at] else f"Times{number}, {name}" if ":" in name else f"{name}{number}"
    )


def _form(benchmark: Benchmark | None, sample: Sample) -> str:
    return benchmark.answer_form(sample) if isinstance(benchmark, HasAnswerForm) else ""


def read_form(
    benchmark: Benchmark, sample: Sample, view: QuestionView, given: Mapping[str, str]
) -> str | None:
    """The response that the fields make; None where the person gave no answer.

    Raises:
        SpecError: some fields of several are empty.
    """
    fields = answer_fields(benchmark, sample, view)
    values = [given.get(field.name, "").strip()[:MAX_RESPONSE] for field in fields]
    if not any(values):
        return None
    if not all(values):
        missing = fields[values.index("")]
        raise SpecError(f"fill in “{missing.label}” as well", field=missing.name)
    if len(fields) == 1 and fields[0].name in ("choice", "response"):
        return values[0]
    texts = {option.letter: option.text for option in view.options}
    filled = iter(
        texts.get(value, value) if field.is_option else value
        for field, value in zip(fields, values, strict=True)
    )
    return _PLACEHOLDER.sub(
        lambda _: json.dumps(next(filled), ensure_ascii=False)[1:-1], _form(benchmark, sample)
    )


def read_response(benchmark: Benchmark, sample: Sample, response: str, spec: JobSpec) -> tuple[str, Score]:
    """The response in the first form in which the benchmark reads an answer, with its score.

    People write a letter; some scorers read only a line `Answer: B`, others only JSON.

    Raises:
        SpecError: no answer can be read, or the scorer cannot score it now.
    """
    forms = (response, f"Answer: {response}", json.dumps({"answer": response}, ensure_ascii=False))
    for form in forms:
        score = benchmark.score(sample, form, scoring=spec.scoring, variant=spec.variant)
        if score.value is not None and score.answer is not None:
            return form, score
    raise SpecError(
        "no answer can be read from this; use the form that the question asks for", field="answer"
    )


def disputed_samples(queue: ReviewQueue, reviews: Sequence[Review]) -> list[str]:
    """The samples on which blind reviewers disagree and which no one has settled, in the queue's order."""
    grouped = by_sample(reviews)
    return [sample_id for sample_id in queue.samples if is_disputed(grouped.get(sample_id, []))]


def review_record(review: Review) -> dict[str, Any]:
    """A review as plain data."""
    return {
        "sample_id": review.sample_id,
        "reviewer": review.reviewer,
        "decision": review.decision,
        "mended": review.mended,
        "note": review.note,
        "answer": review.answer,
        "response": review.response,
        "score": review.score,
        "seconds": review.seconds,
        "is_blind": not review.is_settlement,
    }


def queue_record(queue: ReviewQueue, reviews: Sequence[Review]) -> dict[str, Any]:
    """A queue with all its reviews as plain data: for export, never for a reviewer who judges blindly."""
    progress = progress_of(queue, reviews, "")
    found = progress.agreement
    grouped = by_sample(reviews)
    return {
        "name": queue.name,
        "job_id": queue.job_id,
        "mode": queue.mode,
        "choice": queue.choice,
        "samples": list(queue.samples),
        "judged": progress.anyone,
        "judged_twice": progress.twice,
        "disagreements": disputed_samples(queue, reviews),
        "agreement": {
            "n": found.items,
            "share": found.share,
            "coefficient": found.coefficient,
            "ci95": None if found.ci95 is None else list(found.ci95),
            "method": found.method,
        },
        "reviewers": sorted({review.reviewer for review in reviews}),
        "reviews": [review_record(review) for review in reviews],
        "unanimous": sum(
            len(blind_decisions(group)) > 1 and not is_disputed(group) and settlement(group) is None
            for group in grouped.values()
        ),
    }
