"""Shows a person a question of UrbanVideo-Bench, and how an answer went."""

from collections.abc import Mapping

from gnomon.benchmarks.urbanvideo_bench.loader import split_question
from gnomon.benchmarks.urbanvideo_bench.prompt import answer_to, displayed
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import Sample
from gnomon.media.clip_samples import ClipQuestion
from gnomon.media.clip_views import clip_question_view, clip_verdict


def _question_of(sample: Sample) -> ClipQuestion:
    return displayed(sample.target["question"], sample.target["protocol"])


def question_view(sample: Sample) -> QuestionView:
    """The question and its clip; where all of a clip are asked together, which of them it is."""
    question = _question_of(sample)
    text = split_question(question.text)[0] if question.options else question.text
    facts = {} if question.place is None else {"Asked together": f"question {question.place} of its clip"}
    return clip_question_view(sample, question, text, facts=facts)


def verdict_in_words(sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
    """The option that was answered beside the right one."""
    question = _question_of(sample)
    own = answer_to(question.place, answer) if question.place is not None else None
    return clip_verdict(question, own or answer, metrics.get("option"))
