"""Scores an answer by the two released evaluators, to the letter, and by a strict rule.

The evaluators are `v1` (January 2026, the paper's table) and the later `v2`. They differ in how an answer is
read; the verdict that follows is the same. Both are in the golden vectors.

Strict: the answer is the last non-empty answer tag, else what the reply declares in words, else a reply of
one short line. Options count by letter, by text or by both; several
letters are several answers. True/False takes one of the two words. A filled-in phrase is right if it is gold,
or holds gold's words in a row with at most EXTRA_WORDS more; half right from the official similarity on.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gnomon.core.score import Score
from gnomon.reading.characters import without_marks
from gnomon.reading.choices import Choices
from gnomon.reading.declarations import Declaration, Said
from gnomon.reading.reader import Reading, last_line, read_answer
from gnomon_published.benchmarks.escherverse.item import FILL_IN, LETTERS, MULTIPLE, SINGLE, TRUE_FALSE

V = TypeVar("V")

VARIANTS = ("v1", "v2")
ENOUGH = 0.75  # similarity from which a filled-in phrase gets half a point
LONG_WORDS = 12  # a filled-in phrase that much longer than gold lists guesses rather than answers

_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_LABEL_V2 = re.compile(r"(?<![A-Za-z0-9])([A-D])(?=[ \t]*(?:[).,:;/]|$|\band\b|&|\r?\n))")
_PHRASE_V2 = re.compile(r"\b(?:answer|option|choice)s?\s*(?:is|are|:)?\s*([A-D])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an evaluator writes down: the texts it compared, by which method, and the score."""

    score: float
    is_correct: bool
    prediction: str
    gold: str
    method: str
    similarity: float | None = None


def extract(response: str | None, variant: str) -> str:
    """The text that is taken for the answer.

    >>> extract("<answer>A</answer> <answer>B</answer>", "v1"), extract("<answer></answer>B", "v2")
    ('A', '<answer></answer>B')
    """
    if not response:
        return ""
    tagged = [text.strip() for text in _TAGGED.findall(response)]
    if variant == "v1":
        return tagged[0] if tagged else response.strip()
    return "\n".join(filter(None, tagged)) or response.strip()


def letters_of(text: str, *, several: bool, variant: str) -> str:
    """The option letters in an answer, comma-joined; the text itself where it has none.

    >>> letters_of("The answer is B", several=False, variant="v1")
    'A'
    >>> letters_of("The answer is B", several=False, variant="v2")
    'B'
    """
    text = text.strip()
    if variant == "v1":
        letters = [letter.upper() for letter in re.findall(r"\b([A-D])\)?", text, re.IGNORECASE)]
        letters = letters if several else letters[:1]
    else:
        letters = [*_LABEL_V2.findall(text), *(letter.upper() for letter in _PHRASE_V2.findall(text))]
    return ",".join(sorted(set(letters))) or text


def judge(answer: str, gold: str, question_type: str, *, variant: str) -> Verdict:
    """Compare an extracted answer with gold by the rule of the question's type."""
    answer, gold = answer.strip(), gold.strip()
    if question_type in {SINGLE, MULTIPLE}:
        several = question_type == MULTIPLE
        ours, theirs = (letters_of(text, several=several, variant=variant) for text in (answer, gold))
        same = ours == theirs if several else ours.upper() == theirs.upper()
        return _hard(same, ours, theirs)
    plain, plain_gold = plain_text(answer), plain_text(gold)
    if question_type == TRUE_FALSE:
        same = any(word in plain and word in plain_gold for word in ("true", "false"))
        return _hard(same, str("true" in plain), str("true" in plain_gold))
    if question_type == FILL_IN:
        return _filled_in(answer, gold, plain, plain_gold)
    return _hard(plain == plain_gold, answer, gold)


def _hard(same: bool, answer: str, gold: str) -> Verdict:
    return Verdict(score=float(same), is_correct=same, prediction=answer, gold=gold, method="hard_match")


def _filled_in(answer: str, gold: str, plain: str, plain_gold: str) -> Verdict:
    if plain == plain_gold or plain_gold in plain or plain in plain_gold:
        method = "hard_match" if plain == plain_gold else "substring_match"
        return Verdict(
            score=1.0, is_correct=True, prediction=answer, gold=gold, method=method, similarity=1.0
        )
    alike = similarity(answer, gold)
    return Verdict(
        score=0.5 if alike >= ENOUGH else 0.0,
        is_correct=False,
        prediction=answer,
        gold=gold,
        method="similarity",
        similarity=alike,
    )


def plain_text(text: str) -> str:
    """Lower case, single spaces."""
    return " ".join(text.lower().split())


def similarity(first: str, second: str) -> float:
    """0.5 of the words shared, 0.3 of difflib's ratio, 0.2 of the character trigrams shared; in [0, 1].

    >>> similarity("left", "LEFT "), similarity("", "left")
    (1.0, 0.0)
    """
    first, second = first.lower().strip(), second.lower().strip()
    if not first or not second:
        return 0.0
    words = _shared(set(first.split()), set(second.split()))
    order = difflib.SequenceMatcher(None, first, second).ratio()
    trigrams = _shared(*({text[at : at + 3] for at in range(len(text) - 2)} for text in (first, second)))
    return 0.5 * words + 0.3 * order + 0.2 * trigrams


def _shared(first: set[str], second: set[str]) -> float:
    return len(first & second) / len(first | second) if first | second else 0.0


def score_official(question_type: str, gold: str, response: str | None, *, variant: str) -> Score:
    """Score a response as the evaluator of that variant does; no response is an error, which scores 0."""
    if not response:
        return Score(value=0.0, metrics={"is_correct": 0.0}, flags=("no_response",))
    answer = extract(response, variant)
    verdict = judge(answer, gold, question_type, variant=variant)
    return Score(
        value=verdict.score,
        answer=verdict.prediction if question_type in {SINGLE, MULTIPLE} else answer,
        metrics=_metrics(verdict),
        flags=_flags(question_type, response, answer, verdict),
    )


def _metrics(verdict: Verdict) -> dict[str, float | str | None]:
    similarities = {} if verdict.similarity is None else {"similarity": verdict.similarity}
    return {"is_correct": float(verdict.is_correct), **similarities}


def _flags(question_type: str, response: str, answer: str, verdict: Verdict) -> tuple[str, ...]:
    """What a reader should know of a response that the rule rewards for its form."""
    flags = []
    plain, plain_gold = plain_text(answer), plain_text(verdict.gold)
    if not _TAGGED.search(response):
        flags.append("untagged")
    if question_type == TRUE_FALSE and "true" in plain and "false" in plain:
        flags.append("gamed:true_and_false")
    if question_type == SINGLE and len(set(re.findall(r"(?<![A-Za-z])[A-D](?![A-Za-z])", answer))) > 1:
        flags.append("several_letters")
    if question_type == FILL_IN and verdict.method == "substring_match":
        if f" {plain} " not in f" {plain_gold} " and plain in plain_gold:
            flags.append("gamed:fragment_of_gold" if plain else "gamed:empty_answer")
        elif len(plain.split()) > len(plain_gold.split()) + LONG_WORDS:
            flags.append("gamed:long_text_holds_gold")
    return tuple(flags)


EXTRA_WORDS = 4
SHORT = 200  # characters of a bare reply

_LETTER = re.compile(r"[\s*_`\[({$]*([A-H])[\s*_`\])}$.:,;]*", re.IGNORECASE)
_LETTER_AND_TEXT = re.compile(r"[\s*_`\[(]*([A-H])[\s*_`]*[\])]?[).:\s]\s*(.+)", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(r"\s*(?:,|;|/|&|，|、|\n|\band\b)\s*", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|isn't|cannot)\b|n't\b")
_TRUE = {"true", "t", "yes"}
_FALSE = {"false", "f", "no"}


def score_strict(question_type: str, gold: str, options: Sequence[str], response: str | None) -> Score:
    """Score a response; never raises."""
    reply = response if isinstance(response, str) else ""
    if question_type == SINGLE:
        choices = Choices(
            dict(zip(LETTERS, options, strict=False)) if options else dict.fromkeys(LETTERS, "")
        )
        chosen = read_answer(
            reply, choices.parse, asked="tag", undeclared=choices.undeclared, known=choices.known
        )
        return _scored(chosen, chosen.value == _letter(gold, options), chosen.value or "")
    if question_type == MULTIPLE:
        several = read_answer(
            reply, lambda d: _letters(without_marks(d.text), options), asked="tag", undeclared=_short
        )
        return _several(several, _letters(gold, options) or set())
    if question_type == TRUE_FALSE:
        truth = read_answer(reply, lambda d: _truth(without_marks(d.text)), asked="tag", undeclared=_short)
        return _scored(truth, truth.value == _truth(gold), str(truth.value))
    text = read_answer(reply, lambda d: without_marks(d.text) or None, asked="tag", undeclared=_short)
    if question_type == FILL_IN and text.value is not None:
        return _filled_in_strictly(text.value, gold, text.read_by)
    return _scored(text, _words(text.value or "") == _words(gold), text.value or "")


def _short(said: Said) -> Iterator[Declaration]:
    """A reply of one short line."""
    return (declaration for declaration in last_line(said) if len(said.text) <= SHORT)


def _several(reading: Reading[set[str]], gold: set[str]) -> Score:
    ours = reading.value or set()
    score = _scored(reading, ours == gold, ",".join(sorted(ours)))
    shared = len(ours & gold) / len(ours | gold) if ours else 0.0
    return replace(score, metrics={**score.metrics, "jaccard": shared}) if ours else score


def _letters(text: str, options: Sequence[str]) -> set[str] | None:
    """The letters that a text names; None if any part of it names none."""
    whole = _letter(text, options)
    if whole:
        return {whole}
    letters = [_letter(part, options) for part in _BETWEEN.split(text.strip()) if part]
    return {letter for letter in letters if letter} if letters and all(letters) else None


def _letter(text: str, options: Sequence[str]) -> str:
    by_text = {_plain(option): LETTERS[index] for index, option in enumerate(options)}
    if _plain(text) in by_text:
        return by_text[_plain(text)]
    if match := _LETTER.fullmatch(text):
        letter = match[1].upper()
        return letter if not options or letter in LETTERS[: len(options)] else ""
    if match := _LETTER_AND_TEXT.fullmatch(text):
        return match[1].upper() if by_text.get(_plain(match[2])) == match[1].upper() else ""
    return ""


def _truth(text: str) -> bool | None:
    words = _words(text)
    if len(words) == 1:
        return True if words[0] in _TRUE else False if words[0] in _FALSE else None
    affirmed, denied = "true" in words, "false" in words
    return None if affirmed == denied or _NEGATION.search(text.lower()) else affirmed


def _filled_in_strictly(answer: str, gold: str, read_by: str) -> Score:
    ours, theirs = _words(answer), _words(gold)
    in_a_row = any(ours[at : at + len(theirs)] == theirs for at in range(len(ours) - len(theirs) + 1))
    extra = len(ours) - len(theirs)
    negated = bool(_NEGATION.search(answer.lower())) and not _NEGATION.search(gold.lower())
    if theirs and in_a_row and extra <= EXTRA_WORDS and not negated:
        return Score(value=1.0, answer=answer, metrics={"is_correct": 1.0}, read_by=read_by)
    alike = similarity(" ".join(ours), " ".join(theirs))
    half = alike >= ENOUGH and not negated
    metrics = {"is_correct": 0.0, "similarity": alike}
    return Score(value=0.5 if half else 0.0, answer=answer, metrics=metrics, read_by=read_by)


def _words(text: str) -> list[str]:
    words = re.findall(r"[\w'’-]+", text.lower())
    return [word for word in words if word not in {"the", "a", "an"}] or words


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[\w'’-]+", text.lower()))


def _scored(reading: Reading[V], is_right: bool, answer: str) -> Score:
    if reading.value is None:
        return reading.nothing(is_correct=0.0)
    metrics = {"is_correct": float(is_right)}
    return Score(value=float(is_right), answer=answer, metrics=metrics, read_by=reading.read_by)


_DIMENSIONS = {"by_category": "category", "by_scene_type": "scene_type", "by_question_type": "question_type"}


def statistics_of(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts and mean scores of results with `score`, `is_correct` (None: an error) and the three labels.

    >>> statistics_of([{"score": 0.5, "is_correct": False}])["accuracy"]
    0.5
    """
    scores = [item.get("score", 0.0) for item in results]
    judged = [
        score for item, score in zip(results, scores, strict=True) if item.get("is_correct") is not None
    ]
    return {
        "total": len(results),
        "correct": sum(score == 1.0 for score in judged),
        "partial_correct": sum(0.0 < score < 1.0 for score in judged),
        "incorrect": sum(score <= 0.0 for score in judged),
        "error": len(results) - len(judged),
        "total_score": sum(scores, 0.0),
        "accuracy": sum(scores, 0.0) / len(scores) if scores else 0.0,
        **{name: _shares(results, label) for name, label in _DIMENSIONS.items()},
    }


def _shares(results: Sequence[Mapping[str, Any]], label: str) -> dict[str, dict[str, float]]:
    groups: dict[str, list[float]] = {}
    for item in results:
        groups.setdefault(item.get(label, "Unknown"), []).append(item.get("score", 0.0))
    return {
        name: {"total": len(scores), "score": sum(scores, 0.0), "accuracy": sum(scores, 0.0) / len(scores)}
        for name, scores in groups.items()
    }
