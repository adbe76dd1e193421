"""Answers a question on clips by the rules for its kind."""

from collections.abc import Callable, Mapping, Sequence

from gnomon.core.message import Message, pictures_of
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon_agents.models.reference.tool_results import Evidence, read_evidence
from gnomon_published.solver.clips.answer import Answer, guess
from gnomon_published.solver.clips.forecasting import next_camera, next_two
from gnomon_published.solver.clips.interpolation import moved, passed_camera, passing_time
from gnomon_published.solver.clips.meeting import meeting
from gnomon_published.solver.clips.order import ordered
from gnomon_published.solver.clips.question import Clip, Kind, Question, kind_asked, read_question

BY_KIND: Mapping[Kind, Callable[[Question, Evidence], Answer]] = {
    Kind.PASSED_CAMERA: passed_camera,
    Kind.PASSING_TIME: passing_time,
    Kind.MOTION: moved,
    Kind.ORDER: ordered,
    Kind.NEXT_CAMERA: next_camera,
    Kind.NEXT_TWO: next_two,
    Kind.MEETING: meeting,
}


def is_clip_question(messages: Sequence[Message]) -> bool:
    """Whether the messages ask a question of such a kind, by its words."""
    return kind_asked(messages) is not Kind.OTHER


def answer_clip_question(request: Request, media: MediaStore | None = None) -> str:
    """The reply; `media` holds the pictures of the prompt, without it they are not looked at.

    Raises:
        Need: tools that are offered must be called first.
    """

    def in_pictures() -> Sequence[Clip]:
        if media is None or not any(map(pictures_of, request.messages)):
            return ()
        from gnomon_published.solver.clips.eye import seen_clips  # late: most jobs show no pictures

        return seen_clips(request.messages, media)

    question = read_question(request.messages, in_pictures)
    is_first = all(message["role"] != "assistant" for message in request.messages)
    if not request.tools and is_first:
        return guess(question, "I have no tools to measure with.").text()
    return _solved(question, read_evidence(request)).text()


def _solved(question: Question, evidence: Evidence) -> Answer:
    if not question.options:
        return guess(question, "I know no way to work this out.")
    try:
        return BY_KIND[question.kind](question, evidence)
    except (LookupError, ArithmeticError):  # such as results about other clips than the question's
        return guess(question, "What the tools say does not fit the question.")
