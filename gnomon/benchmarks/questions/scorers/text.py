"""Text: the reply is one of the right texts, letter by letter or without regard to case and punctuation."""

from typing import ClassVar, Literal

from pydantic import Field

from gnomon.benchmarks.questions.scorers.scorer import MAX_KEPT, Scorer, Truth, refuse
from gnomon.core.score import Score
from gnomon.core.words import TEXT, closing
from gnomon.reading.characters import bare
from gnomon.reading.texts import read_text, texts_of


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
        return closing(TEXT)

    def right(self, truth: Truth) -> tuple[str, ...]:
        return tuple(truth.value)

    def reply(self, truth: Truth) -> str:
        return str(truth.value[0])

    def score(self, truth: Truth, response: str) -> Score:
        reading = read_text(response)
        if reading.value is None:
            return reading.nothing()
        same = str.strip if self.match == "exact" else bare
        is_right = same(reading.value) in {same(text) for text in truth.value}
        return Score(value=float(is_right), answer=reading.value[:MAX_KEPT], read_by=reading.read_by)


def any_of(answer: object) -> Truth:
    """A text, a number, or a list of texts of which any is right, as a truth.

    Raises:
        SpecError: it is none of these.
    """
    texts = texts_of(answer)
    if not texts:
        raise refuse(answer, "a text, nor a list of texts of which any is right")
    return Truth(value=texts, text=" or ".join(texts))
