"""Scores the letter of the option that a reply chooses."""

from collections.abc import Mapping

from gnomon.core.score import Score
from gnomon.reading.choices import read_choice
from gnomon.reading.declarations import AnswerForm


def score_letter(
    response: object, options: Mapping[str, str], gold: str, *, asked: AnswerForm = "line", metric: str = ""
) -> Score:
    """One of the displayed options in any usual spelling; anything else is no answer and 0.

    The letter is also the metric of that name, where there is one.
    """
    reading = read_choice(response if isinstance(response, str) else "", options, asked=asked)
    letter = reading.value
    metrics: dict[str, float | str | None] = {metric: letter} if metric else {}
    if letter is None:
        return reading.nothing(**metrics)
    return Score(value=float(letter == gold), answer=letter, metrics=metrics, read_by=reading.read_by)
