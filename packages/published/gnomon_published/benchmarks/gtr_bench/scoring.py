"""Scores a response to a case, by the released rules or by strict ones with the paper's ST-IoU.

Strict: the answer is read from the last JSON object that has `answer`, else from what the reply declares in
words. A letter (`B`, `B.`, `(B)`), an option's text, or both count, whatever their case; CR orders may be
written with `->` or without spaces. Anything but exactly one answer counts as none.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from gnomon.core.benchmark import PromptProtocol, Scoring
from gnomon.core.clock import day_span, span_iou
from gnomon.core.score import Score
from gnomon.reading.choices import Choices
from gnomon.reading.declarations import Declaration
from gnomon.reading.reader import Reading, Unclear, read_answer
from gnomon_published.benchmarks.gtr_bench.case import Case, as_displayed, body_of
from gnomon_published.benchmarks.gtr_bench.official import score_official
from gnomon_tools.core.json_text import json_value

Span = tuple[float, float]

MAX_ANSWER = 2000  # characters; the longest published option has some 400

_LETTER = re.compile(r"\(?([A-Z])[.)]*", re.IGNORECASE | re.ASCII)
_LETTER_AND_BODY = re.compile(r"\(?([A-Z])[.):]+\s*(.+)", re.IGNORECASE | re.ASCII | re.DOTALL)
_ARROW = re.compile(r"\s*(?:→|⇒|->|=>)\s*")
_PLACES = re.compile(r"\s*(?:→|⇒|->|=>|,|;)\s*")


def score_strict(case: Case, response: str | None) -> Score:
    """Score a response; never raises.

    Metrics: `MCQacc` the share of places that name the right option, `TimeIoU` the mean overlap of the
    intervals whatever the place, `score` the accuracy or the ST-IoU (paper, equation 1).
    """
    reading = read_cameras(case, response if isinstance(response, str) else "")
    if reading.value is None:
        return reading.nothing(score=0.0, MCQacc=0.0, TimeIoU=0.0)
    letters, times = reading.value
    gold = [_letter_of(case, choice) for choice in case.gold]
    hits = [letter == right for letter, right in zip(letters, gold, strict=True)]
    accuracy = sum(hits) / len(hits)
    answer = ", ".join(letters)
    if case.task.metric == "MCQ_Acc":
        metrics = {"score": accuracy, "MCQacc": accuracy, "TimeIoU": 0.0}
        return Score(value=accuracy, answer=answer, metrics=metrics, read_by=reading.read_by)
    spans = spans_named(times, len(gold))
    overlaps = [
        span_iou(span, day_span(text)) for span, text in zip(spans, case.correct_time_str, strict=True)
    ]
    value = sum(overlap for hit, overlap in zip(hits, overlaps, strict=True) if hit) / len(hits)
    metrics = {"score": value, "MCQacc": accuracy, "TimeIoU": sum(overlaps) / len(overlaps)}
    flags = ("no_time",) if None in spans else ()
    return Score(value=value, answer=answer, metrics=metrics, flags=flags, read_by=reading.read_by)


def read_cameras(case: Case, response: str) -> Reading[tuple[list[str], object]]:
    r"""The displayed letters that a reply names, one for each place, and what it gives as their times."""
    choices = Choices(
        {letter: body_of(text) for letter, text in zip(ascii_uppercase, case.choices, strict=False)}
    )

    def parse(declaration: Declaration) -> tuple[list[str], object] | Unclear | None:
        letters = letters_named(case, json_value(declaration.text) or declaration.text)
        if letters is None and case.task.places == 1:
            letter = choices.parse(declaration)
            if isinstance(letter, Unclear):
                return letter
            letters = letters_named(case, letter)
        return None if letters is None else (letters, (declaration.fields or {}).get("time_duration"))

    return read_answer(response, parse, asked="json", undeclared=choices.undeclared, known=choices.known)


def letters_named(case: Case, answer: object) -> list[str] | None:
    """One displayed letter for each place that an answer names, or None."""
    if isinstance(answer, str) and len(answer) <= MAX_ANSWER and case.task.places > 1:
        answer = _PLACES.split(answer)
    items = answer if isinstance(answer, list) else [answer]
    if len(items) != case.task.places:
        return None
    letters = [_letter_of(case, item) for item in items]
    return [letter for letter in letters if letter] if all(letters) else None


def _letter_of(case: Case, item: object) -> str:
    """The letter of the first option that has the text; options of equal text are one option."""
    if not isinstance(item, str) or len(item) > MAX_ANSWER:
        return ""
    by_letter = {chr(ord("A") + index): _plain(body_of(text)) for index, text in enumerate(case.choices)}
    first = {body: letter for letter, body in reversed(by_letter.items())}
    text = body_of(item.strip()) if item in case.choices else item.strip()
    if _plain(text) in first:
        return first[_plain(text)]
    if match := _LETTER.fullmatch(text):
        body = by_letter.get(match[1].upper())
    elif match := _LETTER_AND_BODY.fullmatch(text):
        body = by_letter.get(match[1].upper())
        body = body if body == _plain(match[2]) else None
    else:
        body = None
    return first[body] if body is not None else ""


def _plain(text: str) -> str:
    return " ".join(_ARROW.sub(" → ", text).casefold().split())


def spans_named(intervals: object, places: int) -> list[Span | None]:
    """The interval of each place in seconds after midnight; None where an answer has none for it."""
    items: Sequence[object] = intervals if isinstance(intervals, list) else [intervals]
    if len(items) != places:
        return [None] * places
    return [day_span(item) if isinstance(item, str) else None for item in items]


def score_case(
    case: Case, response: str | None, *, scoring: Scoring, protocol: PromptProtocol = "official"
) -> Score:
    """Score `response` against the options as the prompt of `protocol` displayed them; never raises."""
    rule = score_official if scoring == "official" else score_strict
    return rule(as_displayed(case, protocol), response)
