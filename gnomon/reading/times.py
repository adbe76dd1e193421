"""Reads dates, clock times, and stretches of either, in usual spellings."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Generic, Literal, TypeVar

from gnomon.reading.characters import at_word_start, holds_any, without_denied, without_marks
from gnomon.reading.reader import Reading, Unclear, read_value
from gnomon_tools.core.json_text import json_value

MAX_TEXT = 2_000
DAY_S = 86_400
T = TypeVar("T")
Order = Literal["dmy", "mdy"]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in seconds; `of_half` where nothing says which half of the day it is in."""

    seconds: float
    of_half: bool = False

    def off_s(self, right: "Clock") -> float:
        """By how much it is off, over midnight if that is shorter."""
        day = DAY_S // 2 if self.of_half or right.of_half else DAY_S
        return abs((self.seconds - right.seconds + day / 2) % day - day / 2)


@dataclass(frozen=True, slots=True)
class Day:
    """A day; `year` None where only day and month are said."""

    year: int | None
    month: int
    day: int

    def off_days(self, right: "Day") -> int:
        """By how many days it is off; a year that is not said is the right one's."""
        year = self.year or right.year or 2000
        try:
            return abs(
                (date(year, self.month, self.day) - date(right.year or year, right.month, right.day)).days
            )
        except ValueError:
            return 366


@dataclass(frozen=True, slots=True)
class Stretch(Generic[T]):
    """From one time or day to another."""

    start: T
    end: T


_NAMES = {
    1: "january jan januar jänner enero janvier janv janeiro gennaio januari января январь 1월",
    2: "february feb februar febrero février févr fevereiro febbraio februari февраля февраль",
    3: "march mar märz marzo mars março maart марта март",
    4: "april apr abril avril abr aprile апреля апрель",
    5: "may mai mayo maio maggio mei мая май",
    6: "june jun juni junio juin junho giugno июня июнь",
    7: "july jul juli julio juillet juil julho luglio июля июль",
    8: "august aug agosto août augustus августа август",
    9: "september sep sept septiembre septembre setembro settembre сентября сентябрь",
    10: "october oct okt oktober octubre octobre outubro ottobre октября октябрь",
    11: "november nov noviembre novembre novembro ноября ноябрь",
    12: "december dec dez dezember diciembre décembre déc dezembro dicembre декабря декабрь",
}
_MONTHS = {name: month for month, names in _NAMES.items() for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?P<y>\d{4}|(?<=-)\d{2}(?!\d))"
_DATES = (
    re.compile(r"(?P<y>\d(?<!\d.)\d{3})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?:(?P<y>\d{4})\s?[年년]\s?)?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日号일]"),
    re.compile(
        rf"(?P<d>\d(?<!\w.)\d?)(?:st|nd|rd|th|er|º|\.)?\s*[\s-]?(?:of\s|de\s)?\s*(?P<name>{_MONTH})\b\.?"
        rf"(?:,?[\s-]+(?:de\s|of\s)?{_YEAR})?"
    ),
    re.compile(
        rf"(?P<name>{at_word_start(_MONTH)})\b\.?\s+(?:the\s)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
        rf"(?:,?\s+{_YEAR})?"
    ),
    re.compile(
        r"(?P<a>\d(?<![\d./-].)\d?)(?P<mark>\. ?|[/-])(?P<b>\d{1,2})(?P=mark)(?P<y>\d{4}|\d{2})(?!\d)"
    ),
)
_ASCII_DATES = (*_DATES[:1], *_DATES[2:])
_COUNT = (
    r"\b(?:\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten)\s(?:days?|weeks?|months?|years?)"
)
_IS_DAY = re.compile(
    rf"{_COUNT}\s(?:after|before|from|later|earlier)\b[^.!?\n;]{{0,60}},?\s"
    r"(?:is|was|will be|would be|falls on|gives(?:\sus)?)\s"
    r"(?:on\s|the\s|\w{3,6}day,?\s|approximately\s|exactly\s)*$",
    re.IGNORECASE,
)
_IS_AFTER = re.compile(rf"\s(?:is|was)\s(?:exactly\s)?{_COUNT}\s(?:after|before)\s(?:the\s)?", re.IGNORECASE)
_ISO_STRETCH = re.compile(r"(?<=\d-\d\d)/(?=\d{4}-)")
_DAY_BEHIND = re.compile(
    r"\s?(?:-|–|to|or|and|through|until)\s?(\d{1,2})(?:st|nd|rd|th)?(?![\w:./])(?:,?\s(\d{4})\b)?"
)
_MERIDIEM = (
    r"(?P<half>(?i:[ap]\.?\s?m\b\.?|in the (?:morning|afternoon|evening)|at night|"
    r"(?:de|da) (?:la )?(?:tarde|noche|noite|mañana|manhã)|nachmittags|abends|"
    r"morgens|du matin|de l['’]après-midi|du soir))"
)
_HOUR_DIGITS = r"(?P<h>\d(?<![\d:.].)\d?)"
_CLOCKS = (
    re.compile(
        rf"{_HOUR_DIGITS}(?:[:.](?P<m>\d{{2}})(?:[:.](?P<s>\d{{2}}(?:\.\d{{1,6}})?))?)?\s?{_MERIDIEM}"
    ),
    re.compile(
        r"(?P<day>上午|下午|晚上|早上|凌晨|中午|午前|午後|오전|오후)?\s?(?P<h>\d{1,2})\s?[点點時时시](?:\s?(?P<m>\d{1,2})\s?[分분]?|(?P<mid>半|반))?(?:\s?(?P<s>\d{1,2})\s?[秒초])?"
    ),
    re.compile(
        r"(?P<day>上午|下午|晚上|早上|凌晨|午前|午後|오전|오후)\s?(?P<h>\d{1,2}):(?P<m>\d{2})(?![\d:])"
    ),
    re.compile(
        _HOUR_DIGITS
        + r":(?P<m>\d{2})(?::(?P<s>\d{2}(?:\.\d{1,6})?)(?:Z|[+-]\d{2}:?\d{2}(?![:\d]))?)?(?![\d:])"
    ),
    re.compile(
        rf"{_HOUR_DIGITS}\s?(?:h|heures?|Uhr|ч)(?:\s?(?P<m>\d{{2}})|(?P<mid>\set demie))?"
        rf"(?![\w])(?!\s?\d)(?:\s{_MERIDIEM})?"
    ),
    re.compile(rf"{_HOUR_DIGITS}[.,](?P<m>\d{{2}})\s?(?:Uhr|h)\b"),
    re.compile(r"(?P<h>[0-2](?<![\d:.].)(?:(?<!2)\d|(?<=2)[0-4]))(?P<m>[0-5]\d)\s?(?i:hours|hrs|h)\b"),
    re.compile(r"^\s*(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)\s*$"),
    re.compile(rf"{_HOUR_DIGITS}[.](?P<m>[0-5]\d)(?![\d.])(?!\s?[a-zA-Z%°])"),
)
_ASCII_CLOCKS = (*_CLOCKS[:1], *_CLOCKS[3:])
_SMALL = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_HOUR = {word: at for at, word in enumerate(_SMALL, start=1)} | {str(at): at for at in range(1, 13)}
_HOUR |= {"noon": 12, "midnight": 12}
_STUNDEN = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"]
_HOUR_DE = {word: at for at, word in enumerate(_STUNDEN, start=1)}
_MINUTE = {"quarter": 15, "a quarter": 15, "half": 30, "twenty-five": 25, "twenty five": 25}
_MINUTE |= {"twenty": 20, "ten": 10, "five": 5} | {str(at): at for at in range(1, 60)}
_HOURS = "|".join(sorted(_HOUR, key=len, reverse=True))
_DAYTIME = r"(?:\s*(?P<when>in the morning|in the afternoon|in the evening|at night|[ap]\.?m\b\.?))?"
_SPOKEN = re.compile(
    rf"\b(?P<minute>{'|'.join(sorted(_MINUTE, key=len, reverse=True))})(?:\s+minutes?)?\s+"
    rf"(?P<way>past|after|to|before|till)\s+(?P<hour>{_HOURS})\b{_DAYTIME}",
    re.IGNORECASE,
)
_O_CLOCK = re.compile(rf"(?<![\w:.])(?P<hour>{_HOURS})\s+o['’]?\s?clock{_DAYTIME}", re.IGNORECASE)
_HALF_DE = re.compile(
    rf"\b(?P<way>halb|viertel vor|viertel nach|dreiviertel)\s+(?P<hour>{'|'.join(_HOUR_DE)})\b", re.IGNORECASE
)
_NOON = re.compile(
    r"\b(?:12\s+)?(noon|midday|midnight|mittag|mitternacht|mediodía|medianoche|(?<!-)midi|minuit|"
    r"mezzogiorno(?! e)|mezzanotte|meio-dia|meia-noite|полдень|полночь)\b|正午|午夜|零时",
    re.IGNORECASE,
)
# One of these stands where a time is in words.
_IN_WORDS = (
    *("past", "after", "to", "before", "till", "clock", "halb", "viertel", "noon", "mid", "mitt", "medi"),
    *("minuit", "mezz", "meio", "meia", "полдень", "полночь", "正午", "午夜", "零时"),
)
_NIGHT = frozenset(
    ("midnight", "mitternacht", "medianoche", "minuit", "mezzanotte", "meia-noite", "полночь", "午夜", "零时")
)
_LATE = (
    *(
        "p",
        "下午",
        "晚上",
        "午後",
        "오후",
        "in the afternoon",
        "in the evening",
        "at night",
        "noon",
        "de la tarde",
    ),
    *("de la noche", "da tarde", "da noite", "nachmittags", "abends", "de l'", "de l’", "du soir"),
)
_EARLY = (
    *("am", "a.", "a ", "上午", "早上", "凌晨", "午前", "오전", "in the morning", "midnight"),
    *("de la mañana", "da manhã", "morgens", "du matin"),
)
_BOUND = re.compile(
    r"\b(?:(?:earlier|later|sooner) than|before|after|since|until|vor dem|nach dem|avant|après)\s"
    r"(?:the\s|about\s|le\s)?$",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(r"\s(?:at the (?:latest|earliest)|or (?:later|earlier|before|after))\b")
_TO = re.compile(
    r"(?i:\s*(?:-|–|—|~|〜|→|to|till|until|bis|and|à|a|hasta|até|до|到|至|から|부터|through)\s*)"
)
_BETWEEN = re.compile(r"\W*(?i:(?:from|between|von|zwischen|de|des|entre|с|между|從|从)\s+)?")


def read_clock(reply: str) -> Reading[Clock | Stretch[Clock]]:
    """The time of day that a reply gives, or the stretch of such times.

    >>> [read_clock(text).value.seconds / 3600 for text in ("14:30", "2.30 p.m.", "half past three", "noon")]
    [14.5, 14.5, 3.5, 12.0]
    >>> read_clock("23:30-00:15").value.end.seconds
    900.0
    """
    return read_value(reply, clock_of)


def read_date(reply: str, order: Order | None = None) -> Reading[Day | Stretch[Day]]:
    """The day that a reply gives, or the stretch of days; `order` says which number of 3/4/2026 is the day.

    >>> read_date("Tuesday, June 9th, 2026").value, read_date("3/4/2026").value
    (Day(year=2026, month=6, day=9), None)
    """
    return read_value(reply, lambda text: date_of(text, order))


def clock_of(text: str) -> Clock | Stretch[Clock] | Unclear | None:
    """The one time, or stretch of times, of a text."""
    text = _result(_plain(text))
    patterns = _ASCII_CLOCKS if text.isascii() else _CLOCKS
    written = [place for pattern in patterns for match in pattern.finditer(text) if (place := _clock(match))]
    places = _places([*_spoken(text), *written] if holds_any(text.lower(), _IN_WORDS) else written)
    ends = _same_half(text, places)
    return _one_of(ends, text)


def date_of(text: str, order: Order | None = None) -> Day | Stretch[Day] | Unclear | None:
    """The one day, or stretch of days, of a text."""
    text = _ISO_STRETCH.sub(" to ", _result(_plain(text)))
    lowered = text.lower()
    patterns = _ASCII_DATES if text.isascii() else _DATES
    days = [
        place for pattern in patterns for match in pattern.finditer(lowered) if (place := _day(match, order))
    ]
    places = _places(days)
    if len(places) == 1 and (
        head := re.search(
            r"(?<![\d/.-])(\d{1,2})\.?\s?(?:-|–|to|bis|or|oder|ou|o|или)\s?$", text[: places[0][0]]
        )
    ):
        start, end, day = places[0]  # "9-12 June 2026"
        places = [
            (head.start(), head.start() + len(head[1]), Day(day.year, day.month, int(head[1]))),
            (start, end, day),
        ]
    elif len(places) == 1 and (tail := _DAY_BEHIND.match(text, places[0][1])):
        start, end, day = places[0]  # "June 9-12, 2026"
        year = int(tail[2]) if tail[2] else day.year
        places = [
            (start, end, Day(year, day.month, day.day)),
            (tail.start(1), tail.end(1), Day(year, day.month, int(tail[1]))),
        ]
    if len(places) == 2 and places[0][2].year is None and places[1][2].year is not None:
        first = places[0][2]
        places[0] = (*places[0][:2], Day(places[1][2].year, first.month, first.day))
    answer = _one_of(places, text)
    return (_concluded(places, text) or answer) if isinstance(answer, Unclear) else answer


def _concluded(places: list[tuple[int, int, Day]], text: str) -> Day | None:
    """The day that the last sentence equates with so many days from another: "3 days after the 8th is …"."""
    start, end, day = places[-1]
    if _IS_DAY.search(text, 0, start) and not text[end:].strip(" .!*"):
        return day
    if len(places) == 2 and _IS_AFTER.fullmatch(text, places[0][1], start):
        return places[0][2]
    return None


def _plain(text: str) -> str:
    if text.lstrip()[:1] in ("{", "["):
        value = json_value(text)
        if isinstance(value, Mapping):
            value = (
                [value.get("start", value.get("from")), value.get("end", value.get("to"))]
                if len(value) > 1
                else list(value.values())
            )
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value[:2]):
            text = " to ".join(value[:2]) if len(value) <= 2 else ""
    return without_denied(without_marks(text[:MAX_TEXT]))


def _result(text: str) -> str:
    """What stands behind the last sign of equality: "13:00 + 1:30 = 14:30"."""
    head, _, result = text.rpartition("=")
    return result if head and re.search(r"\d", result) else text


def _places(written: list[tuple[int, int, T]]) -> list[tuple[int, int, T]]:
    """What stands in a text, in its order; of places that overlap the one that was found first."""
    places: list[tuple[int, int, T]] = []
    for start, end, value in written:
        if not any(start < stop and begin < end for begin, stop, _ in places):
            places.append((start, end, value))
    return sorted(places, key=lambda place: place[0])


def _one_of(places: list[tuple[int, int, T]], text: str) -> T | Stretch[T] | Unclear | None:
    if not places:
        return None
    if len(places) == 1 and (_BOUND.search(text[: places[0][0]]) or _AT_LEAST.match(text, places[0][1])):
        return Unclear()
    if len(places) == 2 and _TO.fullmatch(text, places[0][1], places[1][0]):
        is_between = (
            re.search(r"(?i)\b(?:between|zwischen|entre|между)\W*$", text[: places[0][0]]) is not None
        )
        if is_between or not re.fullmatch(r"\s*and\s*", text[places[0][1] : places[1][0]], re.IGNORECASE):
            return Stretch(places[0][2], places[1][2])
    values = {value for _, _, value in places}
    return places[0][2] if len(values) == 1 else Unclear()


def _day(match: re.Match[str], order: Order | None) -> tuple[int, int, Day] | None:
    parts = match.groupdict()
    year = int(parts["y"]) if parts.get("y") else None
    if year is not None and year < 100:
        year += 2000
    if parts.get("a"):
        first, second = int(parts["a"]), int(parts["b"])
        if parts["mark"][0] == "." and second <= 12:
            order = "dmy"
        elif order is None and first != second:
            order = "dmy" if first > 12 else "mdy" if second > 12 else None
            if order is None:
                return None
        day, month = (second, first) if order == "mdy" else (first, second)
    else:
        month = int(parts["m"]) if parts.get("m") else _MONTHS[parts["name"]]
        day = int(parts["d"])
    try:
        date(year or 2000, month, day)
    except ValueError:
        return None
    return match.start(), match.end(), Day(year, month, day)


def _clock(match: re.Match[str]) -> tuple[int, int, Clock] | None:
    parts = match.groupdict()
    hour, minute = int(parts["h"]), int(parts.get("m") or (30 if parts.get("mid") else 0))
    second = float(parts.get("s") or 0)
    when = (parts.get("half") or parts.get("day") or "").lower()
    if when.startswith(_LATE) and hour < 12:
        hour += 12
    elif when.startswith(_EARLY) and hour == 12:
        hour = 0
    if hour > 24 or minute >= 60 or second >= 60:
        return None
    return match.start(), match.end(), Clock((hour * 3600.0 + minute * 60 + second) % DAY_S)


def _spoken(text: str) -> Iterator[tuple[int, int, Clock]]:
    for match in _SPOKEN.finditer(text):
        minutes, name = _MINUTE[match["minute"].lower()], match["hour"].lower()
        if minutes + 1 == _HOUR[name] and match["way"].lower() == "to":
            continue  # "2 to 3 pm"
        minutes = minutes if match["way"].lower() in ("past", "after") else -minutes
        yield (
            match.start(),
            match.end(),
            _said(_HOUR[name], minutes, name if name in ("noon", "midnight") else match["when"]),
        )
    for match in _O_CLOCK.finditer(text):
        yield match.start(), match.end(), _said(_HOUR[match["hour"].lower()], 0, match["when"])
    for match in _HALF_DE.finditer(text):
        minutes = {"halb": -30, "viertel vor": -15, "viertel nach": 15, "dreiviertel": -15}[
            match["way"].lower()
        ]
        yield match.start(), match.end(), _said(_HOUR_DE[match["hour"].lower()], minutes, None)
    for match in _NOON.finditer(text):
        is_night = (match[1] or match[0]).lower() in _NIGHT
        yield match.start(), match.end(), Clock(0.0 if is_night else DAY_S / 2)


def _said(hour: int, minutes: int, when: str | None) -> Clock:
    seconds = (hour % 12) * 3600.0 + minutes * 60
    if when is None:
        return Clock(seconds % (DAY_S / 2), of_half=True)
    return Clock((seconds + (0 if when.lower().startswith(_EARLY) else DAY_S / 2)) % DAY_S)


def _same_half(text: str, places: list[tuple[int, int, Clock]]) -> list[tuple[int, int, Clock]]:
    """With the half of the day that only the end names, as in "2:30-3:15 pm"."""
    if len(places) == 2 and re.search(r"(?i)p\.?\s?m\b", text[places[1][0] : places[1][1]]):
        start, end, clock = places[0]
        if (
            not re.search(r"(?i)[ap]\.?\s?m\b", text[start:end])
            and clock.seconds + DAY_S / 2 <= places[1][2].seconds
        ):
            return [(start, end, Clock(clock.seconds + DAY_S / 2)), places[1]]
    if len(places) == 1 and (
        head := re.search(r"(?<![\d:.])(\d{1,2})\s?(?:-|–|to|and|or)\s?$", text[: places[0][0]])
    ):
        start, end, clock = places[0]  # "2-4 pm"
        hour = int(head[1]) % 12 * 3600.0
        late = DAY_S / 2 if clock.seconds >= DAY_S / 2 and hour + DAY_S / 2 <= clock.seconds else 0.0
        return [(head.start(), head.start() + len(head[1]), Clock(hour + late)), places[0]]
    return places
