"""What every scorer does: reads the file's answer, says the form of a reply, and scores replies."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gnomon.core.errors import SpecError
from gnomon.core.score import Score
from gnomon.core.validation import StrictModel
from gnomon_tools.core.sketch import Sketch

MAX_KEPT = 500  # characters of an answer that a row keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is right: `value` as the scorer reads it, `text` as people are shown it; for a choice, the options
    as they are displayed.
    """

    value: Any
    text: str
    options: Mapping[str, str] = field(default_factory=dict)


class Scorer(StrictModel):
    """A kind of answer with its parameters, which are the fields of the model."""

    kind: ClassVar[str]

    @abstractmethod
    def truth(self, answer: object) -> Truth:
        """What the file gives as the answer, read; text files give every value as text.

        Raises:
            SpecError: it is not of this kind; the message says what is.
        """

    @abstractmethod
    def form(self, truth: Truth) -> str:
        """The sentence of the prompt that says how to answer; it says nothing of the truth but its form."""

    @abstractmethod
    def score(self, truth: Truth, response: str) -> Score:
        """The score of a response; never raises."""

    def right(self, truth: Truth) -> tuple[str, ...]:
        """Texts of which any is right, to compare truths by; none where they cannot be compared."""
        return (str(truth.value),)

    def reply(self, truth: Truth) -> str:
        """The text that is right behind `Answer:`."""
        return truth.text

    def verdict(self, truth: Truth, answer: str, metrics: Mapping[str, float | str | None]) -> str:  # noqa: ARG002
        """How an answer that was read compares with the truth, in one sentence."""
        return (
            f"Right: {truth.text}." if answer == truth.text else f"Answered {answer}; right is {truth.text}."
        )

    def sketch(self, truth: Truth, answer: str | None) -> Sketch:  # noqa: ARG002 (most answers have no place)
        """Where and when the truth is (`answer` None), or an answer says something happens."""
        return Sketch()


def wrong(flag: str) -> Score:
    """The score of a reply in which no answer of the kind could be read; the flag says why."""
    return Score(value=0.0, flags=(flag,))


def refuse(answer: object, what: str) -> SpecError:
    """The error for an answer of the file that is not of the scorer's kind."""
    written = str(answer)
    shown = f"{written[:60]}…" if len(written) > 60 else written
    return SpecError(f"{shown!r} is not {what}", field="answer")
