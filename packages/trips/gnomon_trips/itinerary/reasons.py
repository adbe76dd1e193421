"""Reads the claims in the reasons that a plan gives: hours, distances, prices, names, kinds."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

WORD = r"[^\W\d_a-zà-ÿ][\w'’.-]*"
NAME = rf"((?:the )?{WORD}(?:[ -](?:(?:of|de|la|and|no|van|der|am)[ ])?{WORD})*)"
"""A run of words that begin with a capital letter."""
HOUR = r"(\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm|a\.m\.|p\.m\.)|\d{1,2}[:.]\d\d|\d{1,2}\b|noon|midnight)"
CLOCK = r"(\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm|a\.m\.|p\.m\.)|\d{1,2}[:.]\d\d|noon|midnight)"
NEXT_TO, NEAR = 400.0, 1_500.0
"""Metres that "next to" and "near" may mean at most, in a straight line."""
BESIDE = (
    r"next (?:door )?to|beside|opposite|across (?:the street )?from|a?round the corner from|adjacent to"
    r"|in front of|(?:a few )?steps from|on the doorstep of"
    r"|a stone['’]?s throw (?:away )?from|moments from|right by|just by|just behind|right behind"
)
CLOSE = r"near(?:by)?(?: to)?|close to|not far from|(?:a )?(?:short|easy|quick) (?:walk|stroll) (?:from|to)"
UNITS = {
    "m": 1.0, "meter": 1.0, "metre": 1.0, "meters": 1.0, "metres": 1.0, "km": 1000.0, "kilometre": 1000.0,
    "kilometres": 1000.0, "kilometer": 1000.0, "kilometers": 1000.0, "mile": 1609.0, "miles": 1609.0,
}  # fmt: skip
MONEY = r"(?:€|\$|£|¥|EUR|USD|GBP|JPY|CHF)"
KINDS = (
    *("museum", "gallery", "park", "garden", "restaurant", "cafe", "café", "church", "chapel", "temple"),
    *("shrine", "cathedral", "library", "theatre", "theater", "hotel", "hostel", "zoo", "castle", "bar"),
    *("pub", "market"),
    *("station", "mall", "viewpoint", "monument", "memorial", "aquarium", "palace", "bridge", "beach"),
    *("cinema", "stadium", "fountain", "bakery", "brewery", "spa", "sauna", "school", "mosque", "synagogue"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

Sort = Literal[
    "opens", "closes", "open", "always", "closed_on", "metres", "minutes", "price", "free", "near", "subject",
    "kind", "requested", "meal", "number", "unread", "arrives", "leaves", "next", "after",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim: what it is about, its numbers (minutes, metres, money), and the place that it names."""

    sort: Sort
    words: str
    value: float = 0.0
    until: float = 0.0
    name: str = ""


Reader = Callable[[re.Match[str]], list[Claim]]


def claims_in(text: str) -> list[Claim]:
    """Everything in a reason that a fact can contradict; a remaining digit is a bare number.

    >>> [(claim.sort, claim.value) for claim in claims_in("Opens at 10, 300 m from Kiasma, free")]
    [('opens', 600.0), ('free', 0.0), ('metres', 300.0)]
    >>> claims_in("Worth it for the light alone")
    []
    """
    claims: list[Claim] = []
    rest = SPELLED.sub(lambda match: str(NUMBERS[match[1].lower()]), _spelled_times(text))
    for pattern, read in READERS:
        for match in pattern.finditer(rest):
            claims += read(match)
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    claims += [Claim(sort="number", words=match[0]) for match in re.finditer(r"\d[\d.,:]*\w*", rest)]
    if not claims and (unread := FACTUAL.search(text)):
        claims.append(Claim(sort="unread", words=unread[0]))
    return claims


def unread_words(text: str, names: Iterable[str] = ()) -> str:
    """What of a reason no claim was read from, besides these names; empty: all of it was read.

    >>> unread_words("asked for, lunch"), unread_words("Opens at 10, with the best coffee in town")
    ('', 'with the best coffee town')
    """
    rest = _spelled_times(text)
    for pattern, _ in READERS:
        rest = pattern.sub(" ", rest)
    for name in sorted(names, key=len, reverse=True):
        rest = re.sub(re.escape(name), " ", rest, flags=re.IGNORECASE)
    words = re.findall(r"[^\W\d_]{3,}|[\u3040-\u30ff\u4e00-\u9fff]+", rest)
    return " ".join(words) if set(map(str.lower, words)) - LINKS else ""


LINKS = frozenset(("and", "the", "for", "from", "with", "that", "this", "here", "your", "its"))
"""Words that claim nothing by themselves."""


def _spelled_times(text: str) -> str:
    """The text with `half past nine`, `eight in the morning`, `half an hour` in digits.

    >>> _spelled_times("open till half past nine in the evening, half an hour from here")
    'open till 9:30 pm, 30 minutes from here'
    """

    def clock(match: re.Match[str]) -> str:
        part, hour, half = (match[1] or "").lower(), match[2].lower(), match[3]
        number = int(hour) if hour.isdigit() else NUMBERS[hour]
        minutes = {"half past": 30, "quarter past": 15, "quarter to": 45}.get(part, 0)
        number = (number - (part == "quarter to") - 1) % 12 + 1
        mark = "" if half is None else " am" if "morning" in half else " pm"
        return f"{number}:{minutes:02d}{mark}"

    text = HALF_HOUR.sub("30 minutes", text)
    return PART_OF_DAY.sub(clock, PAST.sub(clock, text))


def names_in(text: str) -> Iterator[str]:
    """The names to which a reason refers: behind a preposition of place, or as the subject."""
    for claim in claims_in(text):
        if claim.name:
            yield claim.name


def minutes_in(words: str) -> float:
    """Minutes from midnight of a time in words.

    >>> minutes_in("10"), minutes_in("6.30pm"), minutes_in("midnight")
    (600.0, 1110.0, 1440.0)
    """
    words = words.lower().strip()
    if words in ("noon", "midnight"):
        return 720.0 if words == "noon" else 1440.0
    match = re.match(r"(\d{1,2})(?:[:.](\d\d))?\s*(am|pm)?", words.replace(".m.", "m"))
    if match is None:
        return -1.0
    hour = int(match[1]) % 12 + 12 * (match[3] == "pm") if match[3] else int(match[1])
    return float(60 * hour + int(match[2] or 0))


def _number(words: str) -> float:
    """A number with a comma or blanks between thousands, or a decimal sign."""
    words = re.sub(r"(?<=\d)[ ,](?=\d{3}\b)", "", words.strip())
    return float(words.replace(",", "."))


def _bare(name: str) -> str:
    return re.sub(r"^[Tt]he ", "", name).strip(" .,-").removesuffix("'s").removesuffix("’s")


def _claims(
    sort: Sort, value: Callable[[re.Match[str]], float] = lambda _: 0.0, *, has_name: bool = False
) -> Reader:
    """Reads one claim of a sort, with its value and the name that it is about."""

    def read(match: re.Match[str]) -> list[Claim]:
        name = _bare(next(filter(None, match.groups()), "")) if has_name else ""
        return [Claim(sort=sort, words=match[0].strip(), value=value(match), name=name)]

    return read


def _word(sort: Sort) -> Reader:
    """Reads the word that is said, such as a kind of place or a meal."""
    return lambda match: [Claim(sort=sort, words=match[1].lower())]


def _open(match: re.Match[str]) -> list[Claim]:
    return [
        Claim(sort="open", words=match[0].strip(), value=minutes_in(match[1]), until=minutes_in(match[2]))
    ]


def _day(*, is_open: Callable[[re.Match[str]], bool]) -> Reader:
    """Reads a weekday on which a place is closed, or open."""

    def read(match: re.Match[str]) -> list[Claim]:
        day = WEEKDAYS.index(match[2].lower().removesuffix("s"))
        return [Claim(sort="closed_on", words=match[0].strip(), value=day, until=float(is_open(match)))]

    return read


def _weekends_only(match: re.Match[str]) -> list[Claim]:
    """Closed from Monday to Friday."""
    return [Claim(sort="closed_on", words=match[0].strip(), value=day) for day in range(5)]


def _length(match: re.Match[str]) -> list[Claim]:
    name = _bare(match[3] or "")
    if match[2].lower() in UNITS:
        metres = _number(match[1]) * UNITS[match[2].lower()]
        return [Claim(sort="metres", words=match[0].strip(), value=metres, name=name)]
    minutes = _number(match[1]) * (60 if match[2].lower().startswith("h") else 1)
    return [Claim(sort="minutes", words=match[0].strip(), value=minutes, name=name)]


def _near(match: re.Match[str]) -> list[Claim]:
    reach = NEXT_TO if re.match(BESIDE, match[1], re.IGNORECASE) else NEAR
    return [Claim(sort="near", words=match[0].strip(), value=reach, name=_bare(match[2]))]


NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "eleven": 11, "forty-five": 45, "ninety": 90, "a hundred": 100,
}  # fmt: skip
UNIT_WORDS = "min|hour|met(?:er|re)|kilomet|mile|euro|yen|dollar|pound"
SPELLED = re.compile(rf"\b({'|'.join(NUMBERS)})(?=[ -](?:{UNIT_WORDS}))", re.IGNORECASE)
"""A number in words before its unit."""
SMALL = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
DAY_PART = r"(?: (in the morning|in the afternoon|in the evening|at night))"
HALF_HOUR = re.compile(r"\bhalf an hour\b", re.IGNORECASE)
PAST = re.compile(rf"\b(half past|quarter past|quarter to) ({SMALL}|\d{{1,2}})\b{DAY_PART}?", re.IGNORECASE)
PART_OF_DAY = re.compile(rf"\b()({SMALL}|\d{{1,2}})\b{DAY_PART}", re.IGNORECASE)
FACTUAL = re.compile(
    r"\b(?:open|opens|opening|closed?|closes|closing|shut|hours|tickets?|admission|entry|entrance|charge|cheap\w*"
    r"|expensive|prices?|costs?|walk|minutes?|metres?|away|throw|doorstep|oldest|newest|largest|biggest|tallest"
    r"|smallest|highest|longest|first|only|built|founded|century|famous|michelin|vegan|vegetarian|halal|kosher"
    r"|gluten|star|starred|rated|ranked|award\w*|unesco|heritage|accessible|wheelchairs?|lift|elevator|wi-?fi"
    r"|queues?|reserv\w+|book\w*|crowded|quiet\w*|rooftop|view|views|designed|architect|mondays?|tuesdays?"
    r"|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|weekdays?|holidays?|list|asked|requested)\b"
    r"|[\u3040-\u30ff\u4e00-\u9fff\u0400-\u04ff\uac00-\ud7af]",
    re.IGNORECASE,
)
"""Words of a claim that nothing here reads, and scripts in which no claim is read."""
AMOUNT = r"(\d+(?:[ ,]\d{3})*(?:[.,]\d+)?)"
LENGTH = r"km|kilomet(?:er|re)s?|met(?:er|re)s?|m|miles?|min(?:ute)?s?|h(?:our)?s?"
PATTERNS = (
    (
        r"\b(?:open (?:around the clock|24 hours|24/7|all night|day and night)|24/7|never closes)",
        _claims("always"),
    ),
    (rf"\bopens?(?: daily| from| between)*\s+{CLOCK}\s*(?:-|–|to|until|till|and)\s*{CLOCK}", _open),
    (rf"\b{CLOCK}\s*[-–]\s*{CLOCK}", _open),
    (
        rf"\b(?:open until|open till|open late until|clos(?:es|ing)|until|last entry|shuts)(?: at)?\s+{HOUR}",
        _claims("closes", lambda match: minutes_in(match[1])),
    ),
    (
        rf"\bopen(?:s|ing)?(?: only)?(?: its doors)?(?: at| from)?\s+{HOUR}",
        _claims("opens", lambda match: minutes_in(match[1])),
    ),
    (
        rf"\b(?:never (?:closed?s?|shuts?)|not closed) (?:on |every )?()({'|'.join(WEEKDAYS)})s?\b",
        _day(is_open=lambda _: True),
    ),
    (
        (
            rf"\b(closed|shut|never open|not open|open)(?! only)(?: all day)?"
            rf" (?:on |every )?({'|'.join(WEEKDAYS)})s?\b"
        ),
        _day(is_open=lambda match: match[1].lower() == "open"),
    ),
    (
        r"\b(?:open|opens) (?:on |at )?(?:(?:the )?weekends? only|only (?:on|at) (?:the )?weekends?)\b",
        _weekends_only,
    ),
    (
        rf"{MONEY}\s?{AMOUNT}|{AMOUNT}\s?(?:{MONEY}|euros?|yen|dollars?|pounds?)(?!\w)",
        _claims("price", lambda match: _number(match[1] or match[2])),
    ),
    (
        (
            r"\b(?:costs nothing|no (?:entrance |entry |admission )?(?:fee|charge)|without charge|gratis"
            r"|complimentary|(?<![\w]-)free(?! (?:time|day|hour|evening|wi-?fi|parking)))\b"
        ),
        _claims("free"),
    ),
    (
        (
            rf"{AMOUNT}[ -]?({LENGTH})\b"
            rf"(?:(?:(?!\d)[\w ,-]){{0,25}}?\b(?:from|to|of|away from|past|by)\s+(?-i:{NAME}))?"
        ),
        _length,
    ),
    (rf"\b({BESIDE}|{CLOSE})\s+(?-i:{NAME})", _near),
    (
        rf"^(?-i:{NAME}) (?:is|was|has|shows|opens|closes|holds|houses|offers)\b|^(?-i:{NAME})['’]s\b",
        _claims("subject", has_name=True),
    ),
    (
        (
            r"\b(?:(?:you|the traveller) (?:asked|wished|named)(?: for)?|asked for"
            r"|as (?:requested|asked|wished)|requested|wished for|on (?:your|the) (?:wish ?)?list)"
            rf"(?: (?:an?|some) ({'|'.join(KINDS)})s?\b)?"
        ),
        _claims("requested", has_name=True),
    ),
    (r"(?:\bfor |, |^(?:a |an |early |late |quick |long )*)(breakfast|lunch|dinner)\b", _word("meal")),
    (
        rf"^(?:an?|the|this|one|[a-z]+est)\s+(?:[\w-]+\s+){{0,2}}?({'|'.join(KINDS)})\b(?! near)",
        _word("kind"),
    ),
)
READERS = tuple((re.compile(pattern, re.IGNORECASE), read) for pattern, read in PATTERNS)
"""Each pattern with what it claims; what one has read the next ones do not see."""
