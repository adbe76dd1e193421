"""Reads a start and an end: two numbers, or two times of a clock in seconds."""

import re

from gnomon.reading.characters import without_marks
from gnomon.reading.quantities import joined, quantities_in
from gnomon.reading.reader import Reading, Unclear, objects_and_values, read_answer
from gnomon_tools.core.json_text import json_value

Ends = tuple[float, float]

LARGEST = 1e12
DAY_S = 86_400
MAX_TEXT = 2_000
_CLOCK = re.compile(r"(?<![\d:.])(?:(\d{1,3}):)?(\d{1,2}):(\d{2}(?:\.\d{1,9})?)(?![\d:])")
_ENDS = (("start", "end"), ("from", "to"), ("start_s", "end_s"), ("begin", "end"), ("start_time", "end_time"))
_DASH = re.compile(r"(?<=[\d\w°%])\s*[–—−~〜-]\s*(?=[-−+.]?\d)")


def has_clock(text: str) -> bool:
    """Whether a text holds a time of a clock, such as 1:05 or 00:01:05."""
    return _CLOCK.search(text) is not None


def read_span(reply: str) -> Reading[Ends]:
    r"""The interval that a reply gives; the end may come before the start.

    >>> read_span("It is seen for 5 s.\nAnswer: 12.5 - 20 s").value
    (12.5, 20.0)
    """
    return read_answer(reply, lambda d: ends_in(d.text), undeclared=objects_and_values)


def ends_in(text: str) -> Ends | Unclear | None:
    """The two ends that a text gives, a clock's over midnight if need be; None unless there are exactly two.

    >>> ends_in("00:01:05-00:01:30.5"), ends_in("from 3 s to 2 min"), ends_in("[3, 5]"), ends_in("3 - 5")
    ((65.0, 90.5), (3.0, 120.0), (3.0, 5.0), (3.0, 5.0))
    >>> ends_in("23:50:00-00:10:00"), ends_in("3-5-7")
    ((85800.0, 87000.0), Unclear(flag='several_answers'))
    """
    text = _from_json(text) if text.lstrip()[:1] in ("{", "[") else text
    text = without_marks(text[:MAX_TEXT])
    clocks = [match.groups() for match in _CLOCK.finditer(text)]
    if clocks:
        return _clock_ends(clocks) if len(clocks) == 2 else Unclear() if len(clocks) > 2 else None
    text = _DASH.sub(" to ", text)
    quantities = joined(quantities_in(text), text)
    if len(quantities) != 2:
        return Unclear() if len(quantities) > 2 else None
    first, second = (q.value * (q.unit.factor if q.unit and q.unit.of == "time" else 1.0) for q in quantities)
    if quantities[0].unit is None and quantities[1].unit is not None and quantities[1].unit.of == "time":
        first *= quantities[1].unit.factor  # "3 to 5 min": the unit is that of both
    return (first, second) if max(abs(first), abs(second)) <= LARGEST else None


def _clock_ends(clocks: list[tuple[str | None, ...]]) -> Ends:
    """Seconds of two times; hours that fall, as 23:50 to 00:10, are those of two days."""
    (first_h, first_m, first_s), (last_h, last_m, last_s) = clocks
    start = int(first_h or 0) * 3600 + int(first_m or 0) * 60 + float(first_s or 0)
    end = int(last_h or 0) * 3600 + int(last_m or 0) * 60 + float(last_s or 0)
    if start > end and first_h is not None and last_h is not None and start < DAY_S:
        end += DAY_S
    return start, end


def _from_json(text: str) -> str:
    value = json_value(text)
    if value is None:
        return text
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, dict):
        value = next(([value[a], value[b]] for a, b in _ENDS if a in value and b in value), None)
    return " to ".join(str(end) for end in value) if isinstance(value, list) and len(value) == 2 else ""
