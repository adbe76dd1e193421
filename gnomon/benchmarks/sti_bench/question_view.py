"""Shows a person a question of STI-Bench, and how an answer went."""

from collections.abc import Mapping

from gnomon.benchmarks.sti_bench.prompt import displayed
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import Sample
from gnomon.media.clip_samples import ClipQuestion
from gnomon.media.clip_views import clip_question_view, clip_verdict


def _question_of(sample: Sample) -> ClipQuestion:
    return displayed(sample.target["question"], sample.target["protocol"])


def question_view(sample: Sample) -> QuestionView:
    """The question, its window of the clip, and its clip."""
    question = _question_of(sample)
    return clip_question_view(sample, question, question.text, facts={"Scene": question.scene})


def verdict_in_words(sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
    """The option that was answered beside the right one."""
    return clip_verdict(_question_of(sample), answer, metrics.get("extracted"))
