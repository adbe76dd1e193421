"""Asks and scores multiple-choice questions on generated worlds: the prompt's last part, and one letter."""

from collections.abc import Mapping
from typing import Any

from gnomon.core.choice import read_choice
from gnomon.core.errors import SpecError
from gnomon.core.score import Score
from gnomon.worlds.families.family import LETTERS, FamilyQuestion


def asked(question: FamilyQuestion) -> str:
    """The question, its options under their letters, and the form of the answer."""
    return "\n".join(
        (
            f"Question: {question.whole_text}",
            "Options:",
            *(f"{letter}. {words}" for letter, words in question.by_letter.items()),
            'Answer with one JSON object: {"answer": "<letter of one option>"}.',
        )
    )


def score_letter(response: str, options: Mapping[str, str], gold: str) -> Score:
    """One option in any usual spelling; anything else is no answer and 0."""
    letter = read_choice(response, options)
    if letter is None:
        return Score(value=0.0, flags=("no_answer",))
    return Score(value=float(letter == gold), answer=letter)


def score_lettered_record(record: Mapping[str, Any]) -> Score:
    """The score of a record with `answer` and `response`, of which only the letters are known.

    Raises:
        SpecError: the answer is no letter, or the response no text.
    """
    gold, response = record.get("answer"), record.get("response")
    if not isinstance(gold, str) or gold not in tuple(LETTERS):
        raise SpecError(f"a letter from A to {LETTERS[-1]}, got {gold!r}", field="answer")
    if not isinstance(response, str):
        raise SpecError("is missing or no text", field="response")
    return score_letter(response, dict.fromkeys(LETTERS, ""), gold)
