"""Scores an answer by the released rule, quirk for quirk, or by a strict one."""

import re

from gnomon.core.benchmark import Scoring
from gnomon.core.score import Score
from gnomon.media.clip_samples import ClipQuestion
from gnomon.reading.letter_score import score_letter

# What pandas takes for an absent value when the released code reads its replies back from a CSV file.
READS_AS_ABSENT = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>")
) | frozenset(("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"))

_OPTION = re.compile(r"Option:\s*[\[\s]*(\w)")
_EVERY_OPTION = re.compile(r"Option:\s*[\[\s]*([A-J])\b")


def option_letter(response: object) -> str | None:
    """What the released code takes for the chosen option; None for what is not a text.

    >>> option_letter("Option: [B]; Reason: …"), option_letter("I think E"), option_letter("option: b")
    ('B', 'I', 'O')

    Raises:
        IndexError: the text is empty; the released code raises it too.
    """
    if not isinstance(response, str):
        return None
    match = _OPTION.search(response)
    return match[1] if match else response[0].upper()


def score_official(gold: str, response: object) -> Score:
    """The released rule. What the released script drops from its denominator has no value here."""
    try:
        option = option_letter(response)
    except IndexError:
        flags = ("dropped", "official_raises:IndexError")
        return Score(value=None, reason="dropped", metrics={"option": None}, flags=flags)
    if option is None or response in READS_AS_ABSENT:
        return Score(value=None, reason="dropped", metrics={"option": option}, flags=("dropped",))
    return Score(
        value=float(option == gold),
        answer=option,
        metrics={"option": option},
        flags=_flags(str(response), option),
    )


def _flags(response: str, option: str) -> tuple[str, ...]:
    """What a reader should know: the letter is that of a word, or the first of several options named."""
    flags = []
    if _OPTION.search(response) is None and len(response) > 1 and response[1:2].isalpha():
        flags.append("first_character")
    if len(set(_EVERY_OPTION.findall(response)) | {option}) > 1:
        flags.append("gamed:several_options")
    return tuple(flags)


def score_question(question: ClipQuestion, response: object, *, scoring: Scoring) -> Score:
    """Score a response to a question with the options as they were displayed; never raises."""
    if scoring == "official":
        return score_official(question.gold, response)
    return score_letter(response, question.options, question.gold, metric="option")
