"""Shows a person a question of EscherVerse, and how an answer went."""

from collections.abc import Iterator, Mapping

from gnomon.core.question_view import NO_ANSWER, Option, QuestionView, missing_fact
from gnomon.core.sample import Sample
from gnomon.media.clip_views import MAX_QUOTED, clip_spans, shown_clips
from gnomon.reading.texts import read_text
from gnomon_published.benchmarks.escherverse.item import LETTERS, Item
from gnomon_published.benchmarks.escherverse.prompt import gold_letters
from gnomon_tools.core.sketch import Sketch


def question_view(sample: Sample) -> QuestionView:
    """The question without its label, with its answer and its clip."""
    item: Item = sample.target["item"]
    return QuestionView(
        question=item.body or item.question,
        options=tuple(_options(item)),
        truth_text=_truth(item),
        clips=shown_clips(sample),
        seen=Sketch(spans=tuple(clip_spans(sample))),
        facts={
            "Question type": item.kind,
            "Category": item.category.replace("_", " "),
            "Scene": item.scene.replace("_", "-"),
            "Clip": item.clip,
            **missing_fact(sample),
        },
    )


def _options(item: Item) -> Iterator[Option]:
    right = gold_letters(item) or [] if item.is_choice else []
    for letter, text in zip(LETTERS, item.options, strict=False):
        yield Option(letter=letter, text=text, right="right" if letter in right else "")


def _truth(item: Item) -> str:
    right = [f"{option.letter}. {option.text}" for option in _options(item) if option.right]
    return "; ".join(right) or item.answer


def verdict_in_words(sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
    """The answer beside the right one; whether it is right is the scorer's word."""
    item: Item = sample.target["item"]
    short = (answer if len(answer) <= MAX_QUOTED else read_text(answer, asked="tag").value or "").strip()[
        :MAX_QUOTED
    ]
    if metrics.get("is_correct") == 1.0:
        return f"Right: {short}." if short else "An empty answer, which the evaluator counts as right."
    return f"Answered {short}; right is {item.answer}." if short else NO_ANSWER
