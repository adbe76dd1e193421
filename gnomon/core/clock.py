"""Reads and writes the times of day in prompts, options and answers."""

import re
from collections.abc import Mapping

NOON_S = 12 * 3600  # the clips' second 0 is shown as 12:00:00

_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:\.\d+)?"
_TIME = rf"(?:{_CLOCK}|\d+(?:\.\d+)?)"
_SPAN = re.compile(rf"\s*({_TIME})\s*(?:-|–|—|~|to)\s*({_TIME})\s*", re.IGNORECASE | re.ASCII)
_AHEAD = re.compile(r"in seconds ahead of the true time: (\S+ [+-][\d.]+(?:, \S+ [+-][\d.]+)*)\. ", re.ASCII)
CLOCK_TIME = re.compile(rf"\b{_CLOCK}\b", re.ASCII)


def clock(second: float) -> str:
    """A clip's second as `HH:MM:SS.mmm`.

    >>> clock(52.205), clock(-0.5), clock(43200)
    ('12:00:52.205', '11:59:59.500', '00:00:00.000')
    """
    return day_clock(NOON_S + second)


def day_clock(second: float) -> str:
    """A second of the day as `HH:MM:SS.mmm`, wrapping at midnight.

    >>> day_clock(43201.5)
    '12:00:01.500'
    """
    minutes, millis = divmod(round(second * 1000) % 86_400_000, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{millis // 1000:02d}.{millis % 1000:03d}"


def clock_span(start_s: float, end_s: float) -> str:
    """An interval as the prompts write it.

    >>> clock_span(0, 1.5)
    '12:00:00.000-12:00:01.500'
    """
    return f"{clock(start_s)}-{clock(end_s)}"


def day_second(text: str) -> float | None:
    """Seconds after midnight of `HH:MM:SS(.f)` or of plain seconds; None if it is neither.

    >>> day_second("12:00:00.5"), day_second("43200.5"), day_second("12:61:00")
    (43200.5, 43200.5, None)
    """
    if ":" not in text:
        return float(text) if len(text) < 16 else None
    hours, minutes, seconds = text.split(":")
    if int(hours) > 24 or int(minutes) > 59 or float(seconds) >= 60:
        return None
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def day_span(text: str) -> tuple[float, float] | None:
    """Both ends of an interval in seconds after midnight; None for other texts and for ends before the start.

    The ends are joined by a hyphen, a dash, `~` or `to`.

    >>> day_span("12:00:01 to 12:00:02.5"), day_span("12:00:02-12:00:01")
    ((43201.0, 43202.5), None)
    """
    match = _SPAN.fullmatch(text)
    if match is None:
        return None
    start_s, end_s = day_second(match[1]), day_second(match[2])
    if start_s is None or end_s is None or end_s < start_s:
        return None
    return start_s, end_s


def span_iou(first: tuple[float, float] | None, second: tuple[float, float] | None) -> float:
    """Intersection over union of two intervals in seconds; 0 where one is missing.

    >>> span_iou((0.0, 2.0), (1.0, 3.0))
    0.3333333333333333
    """
    if first is None or second is None:
        return 0.0
    shared = min(first[1], second[1]) - max(first[0], second[0])
    union = max(first[1], second[1]) - min(first[0], second[0])
    return shared / union if shared > 0 else 0.0


def clocks_in_words(clocks_s: Mapping[str, float]) -> str:
    """The prompt's sentences on clocks, for all cameras of the place, so that none is singled out.

    >>> clocks_in_words({"c01": 2.5, "c02": -0.3}).split(". ")[0]
    'The clocks are off, in seconds ahead of the true time: c01 +2.5, c02 -0.3'
    """
    each = ", ".join(f"{camera} {ahead_s:+.1f}" for camera, ahead_s in sorted(clocks_s.items()))
    return (
        f"The clocks are off, in seconds ahead of the true time: {each}. Clips and the times that "
        "name a clip go by the clock of their camera; options and answers go by the true time."
    )


def clocks_told_s(text: str) -> dict[str, float]:
    """Seconds by which each camera's clock is ahead, read off a question; empty where it tells none.

    >>> clocks_told_s(f"Which camera? {clocks_in_words({'c01': 2.5, 'c02': -0.3})}")
    {'c01': 2.5, 'c02': -0.3}
    """
    match = _AHEAD.search(text)
    pairs = match[1].split(", ") if match else []
    return {camera: float(ahead_s) for camera, ahead_s in (pair.split(" ") for pair in pairs)}
