"""Finds places, times and amounts in the words of a question about places."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gnomon_published.map_record.record import WEEKDAYS
from gnomon_tools.core.name_match import likeness, plain_name

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s*([ap])\.?\s?m\b\.?", re.IGNORECASE)
_HOURS = re.compile(
    r"(\d+(?:\.\d+)?|half an|an|a|one|two|three|four)[\s-]*(?:and a half[\s-]*)?(?:hours?|hrs?)\b",
    re.IGNORECASE,
)
_MINUTES = re.compile(r"(\d+(?:\.\d+)?)[\s-]*(?:minutes?|mins?)\b", re.IGNORECASE)
_COUNTS = {"half an": 0.5, "a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0}
_SPAN = re.compile(r"(\d{1,2}):(\d{2})\s*([AP]M)?\s*-\s*(\d{1,2}):(\d{2})\s*([AP]M)", re.IGNORECASE)
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the a an of and at in on by to de la le el da do di du von st street road rd square hotel city park"
        " museum center centre branch university station airport restaurant bank tower house market"
        " international",
    )
)
DAY_MIN = 24 * 60


@dataclass(frozen=True, slots=True)
class Mention:
    """A known name where the text means it: from the first to behind the last character."""

    start: int
    end: int
    name: str


def mentions(text: str, names: Iterable[str]) -> list[Mention]:
    """Where the text names which of the places, in the order of the text.

    The longest run of a name's words wins; a run that is shorter than the name counts where its words are
    telling, and no other name has them.

    >>> [hit.name for hit in mentions("from Harbour Hall to Old Port", ["Harbour Music Hall", "Old Port"])]
    ['Harbour Music Hall', 'Old Port']
    """
    words = [(plain_name(match[0]), match.start(), match.end()) for match in _WORD.finditer(text)]
    known = {name: [plain_name(word) for word in _WORD.findall(name)] for name in dict.fromkeys(names)}
    candidates: list[tuple[float, int, int, str]] = []
    for name, parts in known.items():
        for first in range(len(words)):
            last = first
            while last < len(words) and any(_same(words[last][0], part) for part in parts):
                last += 1
            if last > first:
                run = [word for word, _, _ in words[first:last]]
                score = _score(run, parts, [other for key, other in known.items() if key != name])
                if score > 0:
                    candidates.append((score, first, last, name))
    taken: set[int] = set()
    hits: list[Mention] = []
    for _, first, last, name in sorted(candidates, key=lambda hit: (-hit[0], hit[1])):
        if not taken & set(range(first, last)):
            taken |= set(range(first, last))
            hits.append(Mention(words[first][1], words[last - 1][2], name))
    return sorted(hits, key=lambda hit: hit.start)


def _same(word: str, part: str) -> bool:
    return bool(word) and (word == part or (len(word) > 4 and likeness(word, part) > 0.8))


def _score(run: Sequence[str], parts: Sequence[str], others: Sequence[Sequence[str]]) -> float:
    """How telling a run of words is for a name; 0 where it may as well mean something else."""
    telling = [word for word in run if word not in _COMMON and len(word) > 1]
    letters = sum(map(len, run))
    if set(parts) <= set(run):
        return letters + 100.0
    is_of_others = any(set(run) <= set(other) for other in others)
    return 0.0 if is_of_others or not telling else float(letters)


def clock_minutes(text: str) -> list[int]:
    """Clock times of a text in minutes from midnight.

    >>> clock_minutes("from 8:30 pm to 10.44 AM, at 9 AM")
    [1230, 644, 540]
    """
    return [
        int(hour) % 12 * 60 + int(minute or 0) + (720 if half.lower() == "p" else 0)
        for hour, minute, half in _CLOCK.findall(text)
    ]


def span_minutes(text: str) -> float | None:
    """The sum of the hours and minutes that a text names.

    >>> span_minutes("1 hour 19 mins"), span_minutes("1.5 hours"), span_minutes("half an hour")
    (79.0, 90.0, 30.0)
    """
    hours = _HOURS.findall(text)
    minutes = _MINUTES.findall(text)
    if not hours and not minutes:
        return None
    counts = [_COUNTS[word.lower()] if word.lower() in _COUNTS else float(word) for word in hours]
    return sum(counts) * 60 + sum(map(float, minutes))


def spans_in(text: str) -> list[tuple[int, int, float]]:
    """Each length of time in a text with where it begins and ends; hours and minutes side by side are one."""
    spans = [
        (match.start(), match.end(), span_minutes(match[0]) or 0.0)
        for pattern in (_HOURS, _MINUTES)
        for match in pattern.finditer(text)
    ]
    merged: list[tuple[int, int, float]] = []
    for start, end, minutes in sorted(spans):
        if merged and start - merged[-1][1] <= len(" and "):
            merged[-1] = (merged[-1][0], end, merged[-1][2] + minutes)
        else:
            merged.append((start, end, minutes))
    return merged


def open_spans(text: str) -> list[tuple[int, int]] | None:
    """Opening hours of a day in minutes from midnight, beyond it where they end the next day; None: unknown.

    >>> open_spans("3:00 - 8:00 PM"), open_spans("Closed"), open_spans("5:00 AM - 2:00 AM")
    ([(900, 1200)], [], [(300, 1560)])
    """
    if "24 hours" in text:
        return [(0, DAY_MIN)]
    if text.strip().lower() == "closed":
        return []
    spans = []
    for hour, minute, half, end_hour, end_minute, end_half in _SPAN.findall(text):
        start = int(hour) % 12 * 60 + int(minute) + (720 if (half or end_half).upper() == "PM" else 0)
        end = int(end_hour) % 12 * 60 + int(end_minute) + (720 if end_half.upper() == "PM" else 0)
        spans.append((start, end if end > start else end + DAY_MIN))
    return spans or None


def hours_of(place: Mapping[str, object]) -> dict[str, list[tuple[int, int]]]:
    """The opening hours of a place by weekday, where they are known."""
    rows = place.get("hours")
    hours: dict[str, list[tuple[int, int]]] = {}
    for row in rows if isinstance(rows, list) else ():
        spans = open_spans(str(row["open"]))
        if spans is not None:
            hours[str(row["weekday"])] = spans
    return hours


def weekday_in(text: str) -> str | None:
    """The first weekday that a text names."""
    named = [(text.find(day), day) for day in WEEKDAYS if day in text]
    return min(named)[1] if named else None


def is_open(hours: Mapping[str, Sequence[tuple[int, int]]], weekday: str, minute: int | None) -> bool | None:
    """Whether a place is open on a day, at a minute of it where one is passed; None where it is not known."""
    if weekday not in hours:
        return None
    if minute is None:
        return bool(hours[weekday])
    day_before = WEEKDAYS[WEEKDAYS.index(weekday) - 1]
    late = any(start <= minute + DAY_MIN < end for start, end in hours.get(day_before, ()))
    return late or any(start <= minute < end for start, end in hours[weekday])


def number_in(text: str) -> float | None:
    """The first number of a text.

    >>> number_in("447.50 km"), number_in("South")
    (447.5, None)
    """
    match = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    return float(match[0].replace(",", "")) if match else None


def nearest_option(
    options: Mapping[str, str],
    values: Mapping[str, float | None],
    wanted: float,
    within: float | None = None,
) -> str | None:
    """The option whose value is nearest; the first of equals; None where none has a value, or none is as near
    as `within`.
    """
    have = {name: value for name, value in values.items() if value is not None and name in options}
    best = min(have, key=lambda name: abs(have[name] - wanted), default=None)
    is_far = best is not None and within is not None and abs(have[best] - wanted) > within
    return None if is_far else best


def likest(text: str, options: Mapping[str, str], at_least: float = 0.55) -> str | None:
    """The option that is most like a text; None where none is like it."""
    ranked = {name: likeness(text, option) for name, option in options.items()}
    best = max(ranked, key=lambda name: ranked[name], default=None)
    return best if best is not None and ranked[best] >= at_least else None
