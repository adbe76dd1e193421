"""Parses and scores responses to GTR-Bench as released, bug for bug.

Tests compare it with recorded outputs of the released code; the strict rules are in `scoring.py`. What a
reader should know of a response (several options named, a crash) becomes a flag.
"""

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.core.score import Score
from gnomon_published.benchmarks.gtr_bench.case import Case, body_of

MAX_SHOWN = 500  # characters of an answer that are kept
POINT_WINDOW_S = 0.5  # a point in time counts as this much before and after it

_QUOTED = r'"{}"\s*:\s*"{}"'
_ANSWER = re.compile(_QUOTED.format("answer", r'([^"]*)'))
_PROSE = {
    name: re.compile(_QUOTED.format(name, r'((?:[^"\\]|\\.)*)'), re.DOTALL)
    for name in ("explanation", "reasoning")
}
_TIMES = re.compile(r'"time_duration"\s*:\s*\[')
_QUOTED_TIME = re.compile(r"""["']([^"']*)["']""")
_LETTER_RULES = (
    re.compile(r"([A-D])\."),
    re.compile(r"([A-D])[.、]"),
    re.compile(r"([A-D])\Z"),
    re.compile(r"([a-d])\Z"),
    re.compile(r"([A-D])c\d+"),
)
_CAMERA = re.compile(r"c\d+", re.IGNORECASE)


def extract_elements(text: str) -> dict[str, Any]:
    """Pick the known fields out of text that is not JSON, by regular expressions.

    A list-valued `answer` is not found.

    >>> extract_elements('{"answer": "A", "time_duration": ["a-b"]')
    {'answer': 'A', 'time_duration': ['a-b']}
    >>> extract_elements('{"answer": ["A", "B"]}')
    {}
    """
    fields: dict[str, Any] = {}
    if match := _ANSWER.search(text):
        fields["answer"] = match[1]
    for name, pattern in _PROSE.items():
        if match := pattern.search(text):
            fields[name] = match[1].replace('\\"', '"')
    # A pattern up to the bracket's end would look for that end from every opening: minutes for a long reply.
    if (match := _TIMES.search(text)) and (end := text.find("]", match.end())) >= 0:
        fields["time_duration"] = _QUOTED_TIME.findall(text[match.end() : end])
    return fields


def parse(response: str, *, timed: bool) -> dict[str, Any]:
    """What the released code understands: `options`, and if `timed` the ends `time_range_{i}_start|_end`.

    An entry without a dash stays as `time_range_{i}`; an entry that breaks the code ends the collection.

    >>> parse('{"answer": "B", "time_duration": ["12:00:01-12:00:02"]}', timed=True)
    {'options': ['B'], 'time_range_0_start': '12:00:01', 'time_range_0_end': '12:00:02'}
    >>> parse("Judging by the data. So b.", timed=False)
    {'options': ['A']}

    Raises:
        TypeError: the response is not a text; the released code raises it too.
    """
    parsed: dict[str, Any] = {}
    if "{" in response and "}" in response:
        sliced = response[response.find("{") : response.rfind("}") + 1]
        try:
            reply = json.loads(sliced)
        except (ValueError, RecursionError):
            reply = extract_elements(response)
        # The released code swallows what breaks it and keeps what it has.
        with contextlib.suppress(TypeError, ValueError, AttributeError):
            _collect(reply, parsed, timed=timed)
    if not parsed:
        text = response.lower()
        for letter in "abcd":
            if f"{letter}." in text or f"option {letter}" in text:
                parsed["options"] = [letter.upper()]
                break
    return parsed


def _collect(reply: Mapping[str, Any], parsed: dict[str, Any], *, timed: bool) -> None:
    if "answer" in reply:
        answer = reply["answer"]
        parsed["options"] = answer if isinstance(answer, list) else [answer]
    if not timed or "time_duration" not in reply:
        return
    times = reply["time_duration"]
    for index, entry in enumerate(times if isinstance(times, list) else [times]):
        if "-" in entry:
            start, end = entry.split("-")
            parsed[f"time_range_{index}_start"] = start.strip()
            parsed[f"time_range_{index}_end"] = end.strip()
        else:
            parsed[f"time_range_{index}"] = entry.strip()


def option_letter(text: object, choices: Sequence[str] | None) -> str:
    """The letter that an option text means, "" if none; the rules are tried in the released order.

    Blanks are trimmed only after the test for an empty text, and nothing is contained in every choice.

    >>> option_letter("c09", ["A. c095", "B. c09"])  # contained in an earlier choice
    'A'
    >>> option_letter("(B)", ["A. c095", "B. c09"])
    ''
    >>> option_letter("", ["A. c095", "B. c09"]), option_letter("  ", ["A. c095", "B. c09"])
    ('', 'A')
    """
    if not isinstance(text, str) or not text:
        return ""
    text = text.strip()
    if letter := _ruled_letter(text):
        return letter
    lowered = text.lower()
    bare_camera = _CAMERA.fullmatch(text) is not None
    for choice in choices or ():
        lowered_choice = choice.lower()
        if lowered in lowered_choice or (not bare_camera and lowered_choice in lowered):
            return choice[:1].upper()
    return ""


def _ruled_letter(text: str) -> str:
    """The letter that the form of the text gives, without looking at the choices."""
    matches = (rule.match(text) for rule in _LETTER_RULES)
    return next((match[1].upper() for match in matches if match), "")


def seconds_of(text: str) -> float:
    """Clock text to seconds, 0 for any other text; the fraction counts as whole milliseconds of any width.

    What follows a second point is ignored.

    >>> seconds_of("12:00:58.97"), seconds_of("12:00"), seconds_of("12:00:58,979")
    (43258.097, 0.0, 0.0)
    >>> seconds_of("12:00:58.9.9"), seconds_of("12:00:58..9")
    (43258.009, 0.0)
    """
    try:
        hours, minutes, rest = text.split(":")
        seconds, *fraction = rest.split(".")
        millis = int(fraction[0]) if fraction else 0
        return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + millis / 1000
    except (ValueError, OverflowError):
        return 0.0


def point_iou(gold: str, answer: str) -> float:
    """IoU of a gold interval or point with an answered point, which counts as ±0.5 s."""
    if not answer:
        return 0.0
    at_s = seconds_of(answer)
    return _iou(_span_or_window(gold), (at_s - POINT_WINDOW_S, at_s + POINT_WINDOW_S))


def range_iou(gold: str, answer: str) -> float:
    """IoU of two `start-end` texts; 0 if either is not one.

    >>> range_iou("12:00:10.000-12:00:20.000", "12:00:15.000-12:00:25.000")
    0.3333333333333333
    """
    if gold.count("-") != 1 or answer.count("-") != 1:
        return 0.0
    return _iou(_span(gold), _span(answer))


def _span(text: str) -> tuple[float, float]:
    start, end = text.split("-")
    return seconds_of(start), seconds_of(end)


def _span_or_window(text: str) -> tuple[float, float]:
    if text.count("-") == 1:
        return _span(text)
    at_s = seconds_of(text)
    return at_s - POINT_WINDOW_S, at_s + POINT_WINDOW_S


def _iou(first: tuple[float, float], second: tuple[float, float]) -> float:
    if first[1] <= first[0] or second[1] <= second[0]:
        return 0.0
    shared = min(first[1], second[1]) - max(first[0], second[0])
    if shared <= 0:
        return 0.0
    # The released order of the sum: another one differs in the last digits.
    return shared / ((first[1] - first[0]) + (second[1] - second[0]) - shared)


def score_official(case: Case, response: str | None) -> Score:
    """Score a response by the released rules; metrics are `score`, `MCQacc` and `TimeIoU`, unrounded."""
    if not isinstance(response, str):
        return _scored((0.0, 0.0, 0.0), flags=("official_raises:TypeError",))
    if response.startswith("Error:"):
        return _scored((0.0, 0.0, 0.0), flags=("error_text",))
    timed = case.task.metric == "ST-IoU"
    parsed = parse(response, timed=timed)
    options = parsed.get("options", [])
    if case.task.places > 1:
        return _scored(_sequence(case, parsed, options), answer=_shown(options))
    letters = [option_letter(option, case.choices) for option in options]
    right = option_letter(case.gold[0], case.choices) in [letter for letter in letters if letter]
    accuracy = 1.0 if right else 0.0
    overlap = _interval(case, parsed) if timed and right else 0.0
    values = (overlap if timed else accuracy, accuracy, overlap)
    return _scored(values, answer=_shown(options), flags=_gaming(case, options, letters))


def _sequence(case: Case, parsed: Mapping[str, Any], options: Sequence[Any]) -> tuple[float, float, float]:
    """TF: bare camera names only, in order; accuracy needs all of them."""
    places = case.task.places
    if len(options) < places:
        return 0.0, 0.0, 0.0
    hits = [
        str(option).strip().lower() == body_of(gold).strip().lower()
        for option, gold in zip(options, case.gold, strict=False)
    ]
    overlaps = [_interval_iou(case, parsed, index) if hit else 0.0 for index, hit in enumerate(hits)]
    mean = sum(overlaps) / places
    return mean, 1.0 if all(hits) else 0.0, mean


def _interval(case: Case, parsed: Mapping[str, Any]) -> float:
    overlaps = [_interval_iou(case, parsed, index) for index in range(len(case.correct_time_str))]
    return sum(overlaps) / len(overlaps)


def _interval_iou(case: Case, parsed: Mapping[str, Any], index: int) -> float:
    gold = case.correct_time_str[index]
    if "-" not in gold:
        return point_iou(gold, parsed.get(f"time_range_{index}", ""))
    start, end = parsed.get(f"time_range_{index}_start"), parsed.get(f"time_range_{index}_end")
    return range_iou(gold, f"{start}-{end}") if start and end else 0.0


def _gaming(case: Case, options: Sequence[Any], letters: Sequence[str]) -> tuple[str, ...]:
    """Flags of an answer that profits from the rules: several options, or a scrap that is no option."""
    named_letters = {letter for letter in letters if letter}
    flags = []
    if len(named_letters) >= len(case.choices) > 1:
        flags.append("gamed:all_options")
    elif len(named_letters) > 1:
        flags.append("gamed:several_options")
    exact = {text.lower() for choice in case.choices for text in (choice, body_of(choice))}
    for option, letter in zip(options, letters, strict=True):
        if letter and not _ruled_letter(option.strip()) and option.strip().lower() not in exact:
            flags.append("gamed:fragment")
            break
    return tuple(flags)


def _shown(options: Sequence[Any]) -> str | None:
    text = ", ".join(map(str, options))[:MAX_SHOWN]
    return text.encode(errors="replace").decode() or None  # a reply may hold half a surrogate pair


def _scored(
    values: tuple[float, float, float], *, answer: str | None = None, flags: tuple[str, ...] = ()
) -> Score:
    score, accuracy, overlap = values
    return Score(
        value=score,
        answer=answer,
        metrics={"score": score, "MCQacc": accuracy, "TimeIoU": overlap},
        flags=flags,
    )
