"""Sane parsing and scoring: one answer, understood in any usual spelling.

The answer is the last non-empty pair of answer tags outside thinking sections, else a last line that begins
with `Answer:`, else a reply of one short line. Options count by letter, by text or by both; several letters
are several answers. True/False takes one of the two words. A filled-in phrase is right if it is gold, or
holds gold's words in a row with at most EXTRA_WORDS more; half right from the official similarity on.
"""

import re
from collections.abc import Sequence

from gnomon.benchmarks.escherverse.item import FILL_IN, LETTERS, MULTIPLE, SINGLE, TRUE_FALSE
from gnomon.benchmarks.escherverse.official import ENOUGH, similarity
from gnomon.core.score import Score

EXTRA_WORDS = 4
SHORT = 200  # characters of a bare reply
MAX_RESPONSE = 200_000

_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_LINE = re.compile(
    r"[\s*_#>`]*(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|option)s?\b[\s*_`]*(?:[:=]|is\b|are\b)\s*(.+)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[\s*_`\[({$]*([A-H])[\s*_`\])}$.:,;]*", re.IGNORECASE)
_LETTER_AND_TEXT = re.compile(r"[\s*_`\[(]*([A-H])[\s*_`]*[\])]?[).:\s]\s*(.+)", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(r"\s*(?:,|;|/|&|，|、|\n|\band\b)\s*", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|isn't|cannot)\b|n't\b")
_TRUE = {"true", "t", "yes"}
_FALSE = {"false", "f", "no"}


def score_strict(question_type: str, gold: str, options: Sequence[str], response: str | None) -> Score:
    """Score a response; never raises."""
    answer = read_answer(response) if isinstance(response, str) else None
    if answer is None:
        return _nothing()
    if question_type in {SINGLE, MULTIPLE}:
        return _choice(question_type, gold, options, answer)
    if question_type == TRUE_FALSE:
        ours, theirs = _truth(answer), _truth(gold)
        return _nothing() if ours is None else _right(ours == theirs, str(ours))
    if question_type == FILL_IN:
        return _filled_in(answer, gold)
    return _right(_words(answer) == _words(gold), answer)


def read_answer(response: str) -> str | None:
    r"""The text that is meant as the answer, or None.

    >>> read_answer("<think><answer>A</answer></think> It is <answer>B</answer>")
    'B'
    >>> read_answer("It turns.\n**Answer:** left"), read_answer("left"), read_answer("<answer> </answer>")
    ('left', 'left', None)
    """
    text = _THINKING.sub("", response[:MAX_RESPONSE]).strip()
    tagged: list[str] = [found.strip() for found in _TAGGED.findall(text) if found.strip()]
    if tagged:
        return tagged[-1]
    lines = re.sub(r"</?answer>", "", text, flags=re.IGNORECASE).strip().splitlines()
    if not lines:
        return None
    told = _LINE.fullmatch(lines[-1].strip())
    if told:
        return told[1].strip(" *_`") or None
    return lines[0].strip() if len(lines) == 1 and len(lines[0]) <= SHORT else None


def _choice(question_type: str, gold: str, options: Sequence[str], answer: str) -> Score:
    ours, theirs = _letters(answer, options), _letters(gold, options)
    if not ours or (question_type == SINGLE and len(ours) > 1):
        return _nothing()
    score = _right(ours == theirs, ",".join(sorted(ours)))
    if question_type == MULTIPLE:
        shared = len(ours & (theirs or set())) / len(ours | (theirs or set()))
        return Score(value=score.value, answer=score.answer, metrics={**score.metrics, "jaccard": shared})
    return score


def _letters(text: str, options: Sequence[str]) -> set[str] | None:
    """The letters that a text names; None if any part of it names none."""
    whole = _letter(text, options)
    if whole:
        return {whole}
    found = [_letter(part, options) for part in _BETWEEN.split(text.strip()) if part]
    return {letter for letter in found if letter} if found and all(found) else None


def _letter(text: str, options: Sequence[str]) -> str:
    by_text = {_plain(option): LETTERS[index] for index, option in enumerate(options)}
    if _plain(text) in by_text:
        return by_text[_plain(text)]
    if found := _LETTER.fullmatch(text):
        letter = found[1].upper()
        return letter if not options or letter in LETTERS[: len(options)] else ""
    if found := _LETTER_AND_TEXT.fullmatch(text):
        return found[1].upper() if by_text.get(_plain(found[2])) == found[1].upper() else ""
    return ""


def _truth(text: str) -> bool | None:
    words = _words(text)
    if len(words) == 1:
        return True if words[0] in _TRUE else False if words[0] in _FALSE else None
    said, denied = "true" in words, "false" in words
    return None if said == denied or _NEGATION.search(text.lower()) else said


def _filled_in(answer: str, gold: str) -> Score:
    ours, theirs = _words(answer), _words(gold)
    in_a_row = any(ours[at : at + len(theirs)] == theirs for at in range(len(ours) - len(theirs) + 1))
    extra = len(ours) - len(theirs)
    negated = bool(_NEGATION.search(answer.lower())) and not _NEGATION.search(gold.lower())
    if theirs and in_a_row and extra <= EXTRA_WORDS and not negated:
        return _right(True, answer)
    alike = similarity(" ".join(ours), " ".join(theirs))
    half = alike >= ENOUGH and not negated
    return Score(value=0.5 if half else 0.0, answer=answer, metrics={"is_correct": 0.0, "similarity": alike})


def _words(text: str) -> list[str]:
    words = re.findall(r"[\w'’-]+", text.lower())
    return [word for word in words if word not in {"the", "a", "an"}] or words


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[\w'’-]+", text.lower()))


def _right(is_right: bool, answer: str) -> Score:
    return Score(value=float(is_right), answer=answer, metrics={"is_correct": float(is_right)})


def _nothing() -> Score:
    return Score(value=0.0, metrics={"is_correct": 0.0}, flags=("no_answer",))
