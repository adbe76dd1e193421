"""Scores an answer as the released parser reads it, or by a strict rule of Gnomon's own."""

import re

from gnomon.core.benchmark import Scoring
from gnomon.core.score import Score
from gnomon.reading.characters import bare, without_marks
from gnomon.reading.choices import read_choice
from gnomon.reading.declarations import Declaration
from gnomon.reading.reader import Reading, Unclear, last_line, read_answer
from gnomon_published.benchmarks.mapeval.prompt import OFFICIAL_ZERO, DisplayedOptions
from gnomon_tools.core.json_text import json_object

_OBJECT = re.compile(r"\{.*?\}", re.DOTALL)
_NUMBER_FIRST = re.compile(r"\W*(?:option\W*(?:no\W*)?)?(\d{1,2})(?![\w%]|\.\d)", re.IGNORECASE)
_OR_ANOTHER = re.compile(r"\W*(?:,|;|/|\bor|\band)\W*(?:option\W*)?\d", re.IGNORECASE)
_NUMBER = re.compile(r"\W*(?:option\W*(?:no\W*)?)?(\d{1,2})\W*", re.IGNORECASE)


def option_number(response: str) -> int | None:
    """The `option_no` of the first `{…}` of a response, read as JSON; None where there is none.

    >>> option_number('{"option_no": 2, "explanation": "near"}'), option_number("2"), option_number("{2}")
    (2, None, None)
    """
    match = _OBJECT.search(response)
    return _number_in(match[0]) if match else None


def _number_in(text: str) -> int | None:
    number = json_object(text).get("option_no")
    if isinstance(number, str) and re.fullmatch(r"\s*\d{1,3}\s*", number):
        number = int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def score_official(options: DisplayedOptions, response: object) -> Score:
    """1…n choose an option in the order displayed, 0 says unanswerable; anything else is no answer and 0."""
    number = option_number(response) if isinstance(response, str) else None
    offered = [name for name in options.texts if name != options.unanswerable]
    if number is None or not 0 <= number <= len(offered):
        return Score(value=0.0, flags=("no_answer",))
    chosen = options.unanswerable if number == 0 else offered[number - 1]
    return Score(value=float(chosen == options.gold), answer=chosen)


def score_strict(options: DisplayedOptions, response: object) -> Score:
    """One option of those displayed, in any usual spelling; anything else is no answer and 0."""
    reply = response if isinstance(response, str) else ""
    by_number = OFFICIAL_ZERO in options.texts
    reading = _read_number(reply, options) if by_number else read_choice(reply, options.texts)
    if reading.value is None:
        return reading.nothing()
    return Score(value=float(reading.value == options.gold), answer=reading.value, read_by=reading.read_by)


def _read_number(reply: str, options: DisplayedOptions) -> Reading[str]:
    """The number of one option, by itself or by the option's words."""

    def parse(declaration: Declaration) -> str | Unclear | None:
        text = without_marks(declaration.text)
        is_declared = declaration.rule not in ("whole", "last_line")
        if match := _NUMBER.fullmatch(text) or (is_declared and _NUMBER_FIRST.match(text)) or None:
            if _OR_ANOTHER.match(text, match.end(1)):
                return Unclear()
            return match[1] if match[1] in options.texts else None
        same = [name for name, words in options.texts.items() if bare(words) == bare(text)]
        return same[0] if len(same) == 1 and text else None

    return read_answer(reply, parse, asked="json", undeclared=last_line)


def score_options(options: DisplayedOptions, response: object, *, scoring: Scoring) -> Score:
    """Score a response to a question; never raises."""
    return (score_official if scoring == "official" else score_strict)(options, response)
