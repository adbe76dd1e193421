"""Text: the reply is one of the right texts, letter by letter or without regard to case and punctuation."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from gnomon.benchmarks.questions.reading import answer_of, as_json, normalised
from gnomon.benchmarks.questions.scorers.scorer import MAX_KEPT, Scorer, Truth, refuse, wrong
from gnomon.core.score import Score
from gnomon.core.words import TEXT, closing


class TextScorer(Scorer):
    """A short text, right if it equals one of the right ones."""

    kind: ClassVar[str] = "text"

    match: Literal["normalised", "exact"] = Field(
        default="normalised",
        description="`normalised`: case, spaces and punctuation around it do not count; `exact`: all counts.",
    )

    def truth(self, answer: object) -> Truth:
        """A text, a number, or a list of texts of which any is right."""
        return any_of(answer)

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        return closing("the answer", TEXT)

    def reply(self, truth: Truth) -> str:
        return str(truth.value[0])

    def score(self, truth: Truth, response: str) -> Score:
        answer = answer_of(response)
        if not answer:
            return wrong("no_answer")
        same = str.strip if self.match == "exact" else normalised
        is_right = same(answer) in {same(text) for text in truth.value}
        return Score(value=float(is_right), answer=answer[:MAX_KEPT])


def any_of(answer: object) -> Truth:
    """A text, a number, or a list of texts of which any is right, as a truth.

    Raises:
        SpecError: it is none of these.
    """
    texts = texts_of(answer)
    if not texts:
        raise refuse(answer, "a text, nor a list of texts of which any is right")
    return Truth(value=texts, text=" or ".join(texts))


def texts_of(answer: object) -> tuple[str, ...]:
    """The texts of an answer: of a list each, also of one that is written as JSON in a column of text."""
    if isinstance(answer, str) and answer.lstrip().startswith("["):
        value = as_json(answer)
        answer = value if isinstance(value, list) else answer
    entries: list[Any] = answer if isinstance(answer, list) else [answer]
    texts = [_text(entry) for entry in entries]
    return tuple(texts) if all(texts) else ()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).strip() if isinstance(value, str | int | float) else ""
