"""Scores an answer by the released rules, quirk for quirk, or by strict ones."""

import re

from gnomon.core.benchmark import Scoring
from gnomon.core.score import Score
from gnomon.media.clip_samples import ClipQuestion
from gnomon.reading.letter_score import score_letter

MAX_SHOWN = 500  # characters of an answer that are kept

# In the released order: the first rule that hits counts, wherever in the text it does.
_RULES = tuple(
    re.compile(rule, re.IGNORECASE | re.MULTILINE)
    for rule in (
        r"\(([A-E])\)",
        r"Ans\s*=\s*['\"]?([A-E])",
        r"Answer\s*[:=]\s*([A-E])",
        r"Option\s+([A-E])",
        r"\b([A-E])\s*(?:is|was)\s*correct",
        r"\b([A-E])[.)]\s*$",
    )
)
_WORD = re.compile(r"(?:Ans\s*=\s*['\"]?|Answer\s*[:=]\s*|Option\s+)([A-E])[a-z]", re.IGNORECASE)
_PARENTHESISED = re.compile(r"\(([A-E])\)", re.IGNORECASE)


def extracted(response: str) -> str | None:
    """The letter that the released patterns find; None if none does.

    >>> extracted("First (A) then (B)"), extracted("Answer: Based on it"), extracted("B 0.42m/s")
    ('A', 'B', None)
    """
    matches = (rule.search(response) for rule in _RULES)
    return next((match[1].upper() for match in matches if match), None)


def last_letter(text: str) -> str | None:
    """The letter that the released comparison sees: the last character, if it is one of A to E.

    >>> last_letter("UNABLE"), last_letter("b"), last_letter("A.")
    ('E', None, None)

    Raises:
        IndexError: the text is empty; the released code raises it too.
    """
    return text[-1] if text[-1] in "ABCDE" else None


def score_official(gold: str, response: object) -> Score:
    """The released patterns, then the last character. A response that is no text breaks them."""
    if not isinstance(response, str):
        return _crashed("TypeError")
    letter_read = extracted(response)
    text = letter_read or response.strip()
    if not text:
        return _crashed("IndexError")
    letter = last_letter(text)
    return Score(
        value=float(letter == gold),
        answer=letter or text[-MAX_SHOWN:],
        metrics={"extracted": letter_read},
        flags=_flags(response, letter_read, letter),
    )


def _crashed(error: str) -> Score:
    return Score(value=0.0, metrics={"extracted": None}, flags=(f"official_raises:{error}",))


def _flags(response: str, letter_read: str | None, letter: str | None) -> tuple[str, ...]:
    """What a reader should know: the letter is part of a word, or the first of several options named."""
    flags = []
    by_word = _WORD.search(response)
    if letter_read is None and letter is not None and response.strip()[-2:-1].isalpha():
        flags.append("last_character")
    if letter_read is not None and by_word is not None and by_word[1].upper() == letter_read:
        flags.append("word_read_as_letter")
    if len({name.upper() for name in _PARENTHESISED.findall(response)}) > 1:
        flags.append("gamed:several_options")
    return tuple(flags)


def score_question(question: ClipQuestion, response: object, *, scoring: Scoring) -> Score:
    """Score a response to a question; never raises."""
    if scoring == "official":
        return score_official(question.gold, response)
    return score_letter(response, question.options, question.gold, metric="extracted")
