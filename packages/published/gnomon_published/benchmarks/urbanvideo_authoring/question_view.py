"""Shows a person what is to be written about a clip, and whether what was written keeps its form."""

from collections.abc import Mapping

from gnomon.core.question_view import NO_ANSWER, QuestionView, missing_fact
from gnomon.core.sample import Sample
from gnomon.media.clip_samples import ClipQuestion
from gnomon.media.clip_views import clip_spans, shown_clips
from gnomon_published.benchmarks.urbanvideo_authoring.templates import TEMPLATES
from gnomon_tools.core.json_text import json_value
from gnomon_tools.core.sketch import Sketch


def question_view(sample: Sample) -> QuestionView:
    """The category with its forms, and the clip; nothing is right beforehand."""
    question: ClipQuestion = sample.target["question"]
    template = TEMPLATES[sample.ref.task]
    goal = {"Destination": question.text} if question.text else {}
    return QuestionView(
        question=f"Write a multiple-choice question of the category {sample.ref.task} about this flight.",
        clips=shown_clips(sample),
        seen=Sketch(spans=tuple(clip_spans(sample))),
        facts={
            "What it asks": template.explains,
            "Form of the question": template.question,
            "Form of an option": template.option,
            "Options": str(template.options),
            "Clip": question.clip,
            **goal,
            **missing_fact(sample),
        },
    )


def verdict_in_words(
    sample: Sample,  # noqa: ARG001 (the metrics say all)
    answer: str,
    metrics: Mapping[str, float | str | None],
) -> str:
    """Whether the question keeps the form, and the answer it gives."""
    if metrics.get("fault"):
        return f"Not in the form asked for: {metrics['fault']}."
    written = json_value(answer)
    if written is None:
        return NO_ANSWER
    letter = written.get("answer") if isinstance(written, dict) else None
    its_answer = f"; its answer is {letter}" if isinstance(letter, str) else ""
    return f"A question in the form asked for{its_answer}."
