"""Reads what a published query asks for into fields; what cannot be read is refused by its field."""

import datetime as dt
import re
from collections.abc import Iterator

from gnomon.core.errors import SpecError
from gnomon_trips.sandbox.record import HouseRule, RoomType, TransportRule, TripNeeds

CUISINES = ("American", "Chinese", "French", "Indian", "Italian", "Mediterranean", "Mexican")
_NUMBERS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
} | {"a pair": 2, "pair": 2, "couple": 2, "duo": 2, "solitary": 1, "single": 1}
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho"
    "|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota"
    "|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York"
    "|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Puerto Rico|Rhode Island|South Carolina"
    "|South Dakota|Tennessee|Texas|U\\.S\\. Virgin Islands|Utah|Vermont|Virginia|Washington|West Virginia"
    "|Wisconsin|Wyoming"
)
_NAME = r"((?:(?:St|Ste|Mt|Ft)\.|[A-Z][A-Za-z'’-]+)(?: (?:(?:Ste?|Mt|Ft)\.|[A-Z][A-Za-z'’-]+))*)"
_NUMBER = rf"(\d{{1,2}}|{'|'.join(_NUMBERS)})"
_DATE = re.compile(
    rf"(?:\b({_MONTHS}) (\d{{1,2}})\b|\b({_MONTHS}) (\d{{1,2}})(?:st|nd|rd|th)"
    rf"|\b(\d{{1,2}})(?:st|nd|rd|th)(?: of ({_MONTHS}))?)"
)
_DAYS = re.compile(r"\b(\d{1,2}|three|five|seven)[- ]days?\b", re.IGNORECASE)
_WEEK = re.compile(r"\b(?:week-long|one-week|one week|a week|week long)\b", re.IGNORECASE)
_PEOPLE = (
    re.compile(
        rf"\b(?:group|party|family|team) of {_NUMBER}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_NUMBER} (?:people|persons?|individuals?|travell?ers?|participants?|adults?|friends|guests)\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:for|trip for|of us|group)\s+(?:a )?{_NUMBER}\b(?! ?-?(?:days?|weeks?|cit|diff))",
        re.IGNORECASE,
    ),
    re.compile(r"\b(pair|couple|duo)\b", re.IGNORECASE),
)
_ALONE = re.compile(
    r"\b(?:solo|alone|by myself|single travell?er|single[- ]person|an individual|me)\b", re.IGNORECASE
)
_SEVERAL = re.compile(r"\b(?:we|our|us|ourselves)\b", re.IGNORECASE)
_ORIGIN = (
    re.compile(
        r"\b(?:[Dd]epart\w*|[Ss]tart\w*|[Bb]egin\w*|[Ll]eav\w*|[Ss]et(?:ting)? (?:off|out)|[Oo]riginat\w*"
        r"|[Cc]ommenc\w*|[Tt]ak\w+ off|[Jj]ourneying|[Ee]mbark\w*)"
        r"(?: (?:our|my|the|their) (?:journey|trip|travels?))?(?: (?:from|in|at|out of))? " + _NAME
    ),
    re.compile(r"\bfrom " + _NAME),
)
_CITY = (
    re.compile(
        r"\b(?:[Hh]ead\w* (?:to|for|towards)|[Ee]nd\w* in|[Vv]isit\w*|[Ee]xplor\w*|[Gg]o\w* to"
        r"|[Mm]ov\w* to|destined for) " + _NAME
    ),
    re.compile(r"\b(?:to|towards|for|in) " + _NAME),
)
_STATE = (
    re.compile(
        rf"\bcit(?:y|ies)\b(?: \w+)? (?:in|within|across|of|throughout) (?:the state of )?({_STATES})\b"
    ),
    re.compile(rf"\b(?:to|towards|explore|exploring|touring|through|across|within|in) ({_STATES})\b"),
)
_CITIES = re.compile(rf"\b{_NUMBER} (?:\w+ ){{0,2}}cit(?:y|ies)\b", re.IGNORECASE)
_BUDGET = re.compile(r"\$ ?(\d[\d,]*)")
_ROOMS: tuple[tuple[RoomType, re.Pattern[str]], ...] = (
    ("private room", re.compile(r"\bprivate (?:rooms?|accommodations?|lodgings?)\b", re.IGNORECASE)),
    (
        "entire room",
        re.compile(
            r"\bentire (?:\w+ )?(?:rooms?|homes?|apartments?|places?|units?|houses?)\b", re.IGNORECASE
        ),
    ),
    (
        "not shared room",
        re.compile(
            r"\b(?:not|no|non|un|isn't|aren't|avoid|neither|other than|rather than|without)\b[- ]?"
            r"(?:\w+ ){0,2}shar(?:ed|ing)|\bunshared\b",
            re.IGNORECASE,
        ),
    ),
    ("shared room", re.compile(r"\bshared (?:rooms?|accommodations?|lodgings?)\b", re.IGNORECASE)),
)
_RULES: tuple[tuple[HouseRule, re.Pattern[str]], ...] = (
    ("smoking", re.compile(r"\bsmok", re.IGNORECASE)),
    ("parties", re.compile(r"\bpart(?:y|ies)\b(?! of)", re.IGNORECASE)),
    ("children under 10", re.compile(r"\bchild|\bkids?\b", re.IGNORECASE)),
    ("visitors", re.compile(r"\bvisitors?\b", re.IGNORECASE)),
    ("pets", re.compile(r"\bpets?\b", re.IGNORECASE)),
)
_NOT = r"(?:\b(?:can)?not\b|\bno\b|\bnon-|n't\b|\bavoid|\bwithout\b|\bexclud|\binstead of\b|\brather than\b)"
_TRANSPORT: tuple[tuple[TransportRule, re.Pattern[str]], ...] = (
    (
        "no flight",
        re.compile(
            rf"{_NOT}(?:(?!driv)[^.;]){{0,60}}?(?:\bfl(?:y|ying|ights?)\b|\bair(?:line|plane|craft)?s?\b)",
            re.IGNORECASE,
        ),
    ),
    (
        "no self-driving",
        re.compile(rf"{_NOT}(?:(?!\bfl(?:y|ight))[^.;]){{0,60}}?\bdriv", re.IGNORECASE),
    ),
)


def read_query(text: str) -> TripNeeds:
    """What a query asks for.

    Raises:
        SpecError: names the field that cannot be read, or that contradicts another.
    """
    words = " ".join(text.split())
    start_date, days = _dates(words)
    cities = _cities(words, days)
    origin = _origin(words)
    return TripNeeds(
        origin=origin,
        destination=_destination(words, origin, is_state=cities > 1),
        cities=cities,
        days=days,
        start_date=start_date,
        people=_people(words),
        budget_usd=_budget(words),
        cuisines=tuple(cuisine for cuisine in CUISINES if re.search(rf"\b{cuisine}\b", words)),
        house_rule=_house_rule(words),
        room_type=next((room for room, pattern in _ROOMS if pattern.search(words)), None),
        transport=_transport(words),
    )


def level_of(needs: TripNeeds) -> str:
    """The published level: easy with a budget alone, medium with one more constraint, hard with more."""
    more = len(needs.hard_rules()) - 1
    return ("easy", "medium")[more] if more < 2 else "hard"


def _dates(words: str) -> tuple[dt.date, int]:
    year = re.search(r"\b(20\d\d)\b", words)
    dates = [
        (match[1] or match[3] or match[6], int(match[2] or match[4] or match[5]))
        for match in _DATE.finditer(words)
    ]
    month = next((name for name, _ in dates if name), None)
    if not year or month is None or len(dates) < 2:
        raise SpecError("no first and last date", field="dates")
    names = _MONTHS.split("|")
    start, end = (
        dt.date(int(year[1]), names.index(name or month) + 1, day) for name, day in (dates[0], dates[-1])
    )
    days = (end - start).days + 1
    said = _DAYS.search(words)
    stated = _number(said[1]) if said else 7 if _WEEK.search(words) else days
    if stated != days or not 2 <= days <= 31:
        raise SpecError(f"{stated} days, but from {start} to {end}", field="days")
    return start, days


def _cities(words: str, days: int) -> int:
    counts = {_number(match[1]) for match in _CITIES.finditer(words)}
    if len(counts) > 1:
        raise SpecError(f"several numbers of cities: {sorted(counts)}", field="cities")
    if counts:
        return counts.pop()
    if days > 3:
        raise SpecError("no number of cities", field="cities")
    return 1


def _names(patterns: tuple[re.Pattern[str], ...], words: str) -> Iterator[str]:
    """The names that the patterns match, those of the first pattern before those of the next."""
    for pattern in patterns:
        for match in pattern.finditer(words):
            if match[1].split()[0] not in (*_MONTHS.split("|"), *CUISINES):
                yield match[1]


def _origin(words: str) -> str:
    for name in _names(_ORIGIN, words):
        return name
    raise SpecError("no city of departure", field="origin")


def _destination(words: str, origin: str, *, is_state: bool) -> str:
    names = list(_names(_STATE if is_state else _CITY, words))
    for name in names:
        if name != origin:
            return name
    if is_state and names:  # a city and a state of one name
        return names[0]
    raise SpecError("no destination", field="destination")


def _people(words: str) -> int:
    for pattern in _PEOPLE:
        match = pattern.search(words)
        if match:
            return _number(match[1])
    if _SEVERAL.search(words) and not _ALONE.search(words):
        raise SpecError("several people, but no number of them", field="people")
    return 1


def _budget(words: str) -> int:
    amounts = {int(amount.replace(",", "")) for amount in _BUDGET.findall(words)}
    if len(amounts) != 1:
        raise SpecError(f"{len(amounts)} amounts of money instead of one", field="budget")
    return amounts.pop()


def _house_rule(words: str) -> HouseRule | None:
    rules = [rule for rule, pattern in _RULES if pattern.search(words)]
    if len(rules) > 1:
        raise SpecError(f"several house rules: {', '.join(rules)}", field="house_rule")
    return rules[0] if rules else None


def _transport(words: str) -> TransportRule | None:
    rules = [rule for rule, pattern in _TRANSPORT if pattern.search(words)]
    if len(rules) > 1:
        raise SpecError(f"several: {', '.join(rules)}", field="transport")
    return rules[0] if rules else None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.casefold()]
