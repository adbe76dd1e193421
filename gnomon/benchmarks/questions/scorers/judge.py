"""Judge: a model that the spec names reads the reply, for answers in free words that no rule can score."""

from typing import ClassVar

from pydantic import Field

from gnomon.benchmarks.questions.scorers.scorer import MAX_KEPT, Scorer, Truth, wrong
from gnomon.benchmarks.questions.scorers.text import any_of
from gnomon.core.judging import MATERIAL, fenced
from gnomon.core.score import Score
from gnomon.core.thinking import without_thinking

MAX_SHOWN = 20_000  # characters of a reply that a judge is shown: its beginning and its end
UNJUDGED = "a judge has to say whether it is right"


class JudgeScorer(Scorer):
    """An answer in free words, right if the judge says so."""

    kind: ClassVar[str] = "judge"

    rubric: str = Field(
        default="",
        max_length=20_000,
        description="What the judge shall hold every reply to, beside the rubric of a row.",
    )

    def truth(self, answer: object) -> Truth:
        """A text, a number, or a list of texts of which any is right."""
        return any_of(answer)

    def right(self, truth: Truth) -> tuple[str, ...]:  # noqa: ARG002 (other words may say the same)
        return ()

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        return "Answer in your own words, and say only what you are sure of."

    def score(self, truth: Truth, response: str) -> Score:  # noqa: ARG002 (only the judge can compare them)
        """None, as only the judge can say; 0 for a response that says nothing."""
        reply = without_thinking(response)
        return Score(value=None, reason=UNJUDGED, answer=reply[:MAX_KEPT]) if reply else wrong("no_answer")

    def verdict_score(self, response: str, *, is_right: bool) -> Score:
        """The score of a response on which the judge has said so."""
        return Score(value=float(is_right), answer=without_thinking(response)[:MAX_KEPT])

    def prompt(self, question: str, truth: Truth, rubric: str, response: str) -> str:
        """What the judge is asked; empty where the response says nothing beside its thinking.

        The judge gets neither the arm nor the tools nor the steps; of a list any text is right.
        """
        reply = without_thinking(response)
        if not reply:
            return ""
        if len(reply) > MAX_SHOWN:
            reply = f"{reply[: MAX_SHOWN // 2]}\n[…]\n{reply[-MAX_SHOWN // 2 :]}"
        rules = "\n".join(filter(None, (self.rubric, rubric)))
        rubric_part = f"<rubric>\n{fenced(rules)}\n</rubric>\n" if rules else ""
        return (
            "Below are a question, its right answer, and a reply. Say whether the reply is right: its final "
            "answer means the same as the right answer"
            f"{', by the rubric' if rules else ''}. A reply that names several answers, or none, is wrong.\n"
            f"{MATERIAL}\n"
            f"<question>\n{fenced(question)}\n</question>\n"
            f"<right_answer>\n{fenced(truth.text)}\n</right_answer>\n"
            f"{rubric_part}"
            f"<reply>\n{fenced(reply)}\n</reply>\n\n"
            'Reason briefly, then end with one line of JSON: {"right": 1} or {"right": 0}'
        )

    def verdict(self, truth: Truth, answer: str, metrics: object) -> str:  # noqa: ARG002 (the judge has said)
        return f"The right answer is {truth.text}; the judge's words are in the trace."
