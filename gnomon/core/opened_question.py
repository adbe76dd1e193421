"""A question opened again after its job ran, as people are shown it, and how answers compare with it.

Data may be gone, or changed, since the job ran: nothing here raises an exception.
"""

from dataclasses import dataclass
from typing import Any

from gnomon.core.benchmark import Benchmark, sketch_of, verdict_of, view_of
from gnomon.core.question_view import QuestionView
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon_tools.core.plugin_code import contained
from gnomon_tools.core.sketch import Sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedQuestion:
    """A question of a job; `problem` says why it cannot be opened, and then the rest is None."""

    sample: Sample | None = None
    benchmark: Benchmark | None = None
    problem: str = ""
    transform: str | None = None  # that the question has gone through; None: it is the original


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """A question as it was opened, and as a person is shown it; `problem` where it cannot be opened here."""

    opened: OpenedQuestion
    view: QuestionView | None
    problem: str = ""

    @property
    def sample(self) -> Sample | None:
        return self.opened.sample

    def is_asked_by(self, row: Row | None) -> bool:
        """Whether the row answers the question in this guise, and not another transform of it."""
        return row is None or row.metrics.get("transform") == self.opened.transform

    def verdict(self, row: Row | None, response: str | None = None) -> str:
        """How an answer compares with the truth, in a sentence; empty where that is not known.

        The whole `response` may say more than what the row keeps of it.
        """
        if row is None or self.opened.sample is None:
            return ""
        answer = (response or row.answer) if row.answer else None
        if not self.is_asked_by(row):
            back = row.metrics.get("original_answer")
            if self.opened.transform is not None or back is None:
                return ""
            answer = str(back)
        try:
            with contained():
                return verdict_of(self.opened.benchmark, self.opened.sample, answer, row.metrics)
        except Exception:  # noqa: BLE001 (whatever a stranger's benchmark raises costs this sentence alone)
            return ""

    def answer_sketch(self, answer: str | None) -> Sketch:
        """Where and when an answer says something happens: the whole reply, as rows keep only its gist."""
        if self.opened.sample is None:
            return Sketch()
        try:
            with contained():
                return sketch_of(self.opened.benchmark, self.opened.sample, answer)
        except Exception:  # noqa: BLE001 (as above: this drawing alone)
            return Sketch()


def show_question(opened: OpenedQuestion) -> ShownQuestion:
    """The question as a person is shown it."""
    if opened.sample is None:
        return ShownQuestion(opened=opened, view=None, problem=opened.problem)
    try:
        with contained():
            return ShownQuestion(opened=opened, view=view_of(opened.benchmark, opened.sample))
    except Exception as error:  # noqa: BLE001 (as above: this view alone)
        return ShownQuestion(opened=opened, view=None, problem=f"{type(error).__name__}: {error}")


def question_record(shown: ShownQuestion) -> dict[str, Any] | None:
    """The question as plain data; None where it could not be opened."""
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
