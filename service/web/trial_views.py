"""What pages of trials share: the trials of a sample, their drawings, and sentences about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.core.benchmark import HEURISTIC_PREFIX, sketch_of, verdict_of, view_of
from gnomon.core.question_view import QuestionView
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import trial_id
from service.api.state import State
from service.web.questions import OpenedQuestion
from tools.core.sketch import Sketch
from workers.store.records import JobRecord

LOOKS = ("arm-1", "arm-2", "arm-3", "arm-4")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTrial:
    """A trial of the sample: under which arm (its place among the job's arms, from 0), and its row."""

    trial_id: str
    model: str
    arm: str
    place: int
    repeat: int
    row: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """A question as it was opened, and as a person is shown it; `problem` where it cannot be opened here."""

    opened: OpenedQuestion
    view: QuestionView | None
    problem: str = ""

    @property
    def sample(self) -> Sample | None:
        """The sample, where it could be opened."""
        return self.opened.sample

    def verdict(self, row: Row | None, response: str | None = None) -> str:
        """How an answer compares with the truth, in a sentence; empty where that is not known.

        The whole `response` may say more than what the row keeps of it.
        """
        if row is None or self.opened.sample is None:
            return ""
        answer = (response or row.answer) if row.answer else None
        try:
            return verdict_of(self.opened.benchmark, self.opened.sample, answer, row.metrics)
        except (ValueError, KeyError, TypeError, LookupError):
            return ""

    def answer_sketch(self, answer: str | None) -> Sketch:
        """Where and when an answer says something happens: the whole reply, as rows keep only its gist."""
        if self.opened.sample is None:
            return Sketch()
        try:
            return sketch_of(self.opened.benchmark, self.opened.sample, answer)
        except (ValueError, KeyError, TypeError, LookupError):
            return Sketch()


def shown_question(state: State, job: JobRecord, sample_id: str) -> ShownQuestion:
    """The question of a job's sample; never an exception."""
    opened = state.questions.open(job.id, job.spec, sample_id)
    if opened.sample is None:
        return ShownQuestion(opened=opened, view=None, problem=opened.problem)
    try:
        return ShownQuestion(opened=opened, view=view_of(opened.benchmark, opened.sample))
    except (ValueError, KeyError, TypeError, LookupError, OSError) as error:
        return ShownQuestion(opened=opened, view=None, problem=f"{type(error).__name__}: {error}")


def trials_of_sample(state: State, job: JobRecord, sample_id: str) -> list[ArmTrial]:
    """Every planned trial of the sample, by model, arm and repeat; a trial's id follows from these."""
    plan = [
        (trial_id(job.id, sample_id, model.label, arm.name, repeat), model.label, arm.name, place, repeat)
        for model in job.spec.models
        for place, arm in enumerate(job.spec.arms)
        for repeat in range(job.spec.repeats)
    ]
    rows = state.store.rows_by_trial([name for name, *_ in plan])
    return [
        ArmTrial(trial_id=name, model=model, arm=arm, place=place, repeat=repeat, row=rows.get(name))
        for name, model, arm, place, repeat in plan
    ]


def arm_place(spec: JobSpec, arm: str) -> int:
    """The arm's place among the job's arms, from 0: it decides shape and colour on every page."""
    return next((place for place, item in enumerate(spec.arms) if item.name == arm), 0)


def question_record(shown: ShownQuestion) -> dict[str, Any] | None:
    """The question as plain data for a page's view."""
    view = shown.view
    if view is None:
        return None
    return {
        "text": view.question,
        "options": [
            {"letter": option.letter, "text": option.text, "right": option.right} for option in view.options
        ],
        "truth": view.truth_text,
        "pictures": [
            {
                "sha256": picture.image.sha256,
                "width": picture.image.width,
                "height": picture.image.height,
                "caption": picture.caption,
            }
            for picture in view.pictures
        ],
        "clips": [
            {
                "caption": clip.caption,
                "frames": [
                    {"time_s": time_s, "sha256": frame.sha256, "width": frame.width, "height": frame.height}
                    for time_s, frame in zip(clip.frame_times_s, clip.frames, strict=False)
                ],
            }
            for clip in view.clips
        ],
        "facts": dict(view.facts),
    }


def score_record(row: Row | None) -> dict[str, Any]:
    """A trial's score, answer and cost as plain data."""
    if row is None:
        return {"outcome": "pending", "score": None, "answer": None}
    return {
        "outcome": row.outcome.value,
        "stop_reason": row.stop_reason,
        "score": row.score,
        "answer": row.answer,
        "model_calls": row.model_calls,
        "tool_calls": row.tool_calls,
        "tool_errors": row.tool_errors,
        "seconds": round(row.wall_s, 3),
        "usd": row.usd,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "flags": list(row.flags),
        "error": row.error,
    }


def floors_of(row: Row | None) -> Mapping[str, float]:
    """What simple rules score on the sample, by rule."""
    if row is None:
        return {}
    return {
        name.removeprefix(HEURISTIC_PREFIX): value
        for name, value in row.metrics.items()
        if name.startswith(HEURISTIC_PREFIX) and isinstance(value, int | float)
    }
