"""Scores an answer as the released parser reads it, or by a strict rule of Gnomon's own."""

import json
import re

from gnomon.benchmarks.mapeval.prompt import OFFICIAL_ZERO, DisplayedOptions
from gnomon.core.benchmark import Scoring
from gnomon.core.choice import MAX_READ, read_choice
from gnomon.core.score import Score

_OBJECT = re.compile(r"\{.*?\}", re.DOTALL)
_NUMBER = re.compile(r"\W*(?:option\W*(?:no\W*)?)?(\d{1,2})\W*", re.IGNORECASE)
_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)


def option_number(response: str) -> int | None:
    """The `option_no` of the first `{…}` of a response, read as JSON; None where there is none.

    >>> option_number('{"option_no": 2, "explanation": "near"}'), option_number("2"), option_number("{2}")
    (2, None, None)
    """
    match = _OBJECT.search(response)
    return _number_in(match[0]) if match else None


def _number_in(text: str) -> int | None:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    number = fields.get("option_no") if isinstance(fields, dict) else None
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
    chosen = None
    if isinstance(response, str):
        by_number = OFFICIAL_ZERO in options.texts
        chosen = _read_number(response, options) if by_number else read_choice(response, options.texts)
    if chosen is None:
        return Score(value=0.0, flags=("no_answer",))
    return Score(value=float(chosen == options.gold), answer=chosen)


def _read_number(response: str, options: DisplayedOptions) -> str | None:
    """The number of one option: in the last JSON object, or as the whole text, or by the option's words."""
    text = _THINKING.sub("", response[-MAX_READ:]).strip()
    for written in reversed(_OBJECT.findall(text)):
        number = _number_in(written)
        if number is not None:
            return str(number) if str(number) in options.texts else None
    match = _NUMBER.fullmatch(text)
    if match is not None:
        return match[1] if match[1] in options.texts else None
    same = [name for name, words in options.texts.items() if words.strip().casefold() == text.casefold()]
    return same[0] if len(same) == 1 and text else None


def score_options(options: DisplayedOptions, response: object, *, scoring: Scoring) -> Score:
    """Score a response to a question; never raises."""
    return (score_official if scoring == "official" else score_strict)(options, response)
