"""Decides which place a name means, by fit, fame and nearness, or leaves it to the traveller.

A decision between places that both fit is never silent: it comes with a sentence that names the other one.
"""

import functools
import math
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.data_rows import data_rows
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.place import LatLon, PlaceHit
from gnomon_trips.itinerary.same_place import OF_CHAINS, is_one_place

_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ"
_IN_LATIN = "a b v g d e yo zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya i yi ye g"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψω"
_GREEK_IN_LATIN = "a v g d e z i th i k l m n x o p r s s t y f ch ps o"
_LETTERS = {
    letter: latin.strip("-")
    for letter, latin in zip(_CYRILLIC + _GREEK, f"{_IN_LATIN} {_GREEK_IN_LATIN}".split(), strict=True)
}
_KANA = (
    (r"small tu(.)", r"\1\1"), ("ismall y", "y"), ("small ", ""), ("sy", "sh"), ("ty", "ch"), ("zy", "j"),
    ("si", "shi"), ("ti", "chi"), ("tu", "tsu"), ("hu", "fu"), ("[zd]i", "ji"), ("du", "zu"), ("wo", "o"),
)  # fmt: skip
"""From the names that Unicode gives to kana to Hepburn's spelling; a small tu doubles what follows."""
_RUN_OF_KANA = re.compile("[\u3041-\u30fa]+")


def romanized(name: str) -> str:
    """The name in Latin letters; characters of other scripts stay as they are.

    >>> romanized("Москва"), romanized("Αθήνα"), romanized("서울"), romanized("Café"), romanized("浅草")
    ('moskva', 'athina', 'seoul', 'Café', '浅草')
    >>> romanized("きよみずでら"), romanized("ニッコウ"), romanized("ちょうし"), romanized("Тирана")
    ('kiyomizudera', 'nikkou', 'choushi', 'tirana')
    """
    return "".join(map(_letter, _RUN_OF_KANA.sub(_hepburn, unicodedata.normalize("NFC", name))))


def _hepburn(kana: re.Match[str]) -> str:
    names = (unicodedata.name(letter).lower().partition(" letter ") for letter in kana[0])
    latin = "".join(sound for _, _, sound in names)
    for pattern, spelling in _KANA:
        latin = re.sub(pattern, spelling, latin)
    return latin


def _letter(letter: str) -> str:
    for form in (letter.lower(), unicodedata.normalize("NFD", letter.lower())[0]):
        if form in _LETTERS:
            return _LETTERS[form]
    named = unicodedata.name(letter, "").lower()
    if named.startswith("hangul syllable "):
        return named.rpartition(" ")[2].replace("c", "ch")
    return letter


SURE = 0.9  # below it a name is shown to the traveller as similar, never taken for what was meant
LEAD, SAME_AREA_M = 0.2, 3_000.0
"""So far the best must be ahead of the next that lies farther from it; else the traveller is asked."""
NEAR_KM, NEARNESS = 80.0, 0.6
"""A place at the other stops weighs NEARNESS more than one far away; at NEAR_KM it is a third of that."""
NEAR_CITY_KM, CITY_NEARNESS = 1500.0, 1.0
"""The same of cities of the world."""
STOPS = frozenset(("tram_stop", "bus_stop", "bus_station", "station", "halt", "ferry_terminal", "taxi"))
STOP_WORDS = re.compile(
    r"駅|空港$|ターミナル|\b(?:station|stop|terminal|halt|pier|asema|pysäkki|bahnhof|haltestelle|gare|metro|railway)\b"
    r"|asema\b|tori\b|bahnhof\b",
    re.IGNORECASE,
)
"""Words of a name by which a stop is meant, and no sight or street of its name."""
MISSPELT_SHARE = 2.0
"""Farther than so many times NEAR_KM from the rest a place is not taken for what was misspelt."""
LEAST_MISSPELT = 4
"""Of shorter names too many others are one letter away."""
NAMESAKES = 6  # places of a name that may decide where the others are
CITY = "city"
SAME_STOP_M = 300.0
"""Stops of one name that near are one stop, and belong to the square or sight of that name beside them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a name was taken for; `told` says why where another place fitted too, and is empty otherwise."""

    hit: PlaceHit
    told: str = ""


def choose(name: str, hits: Sequence[PlaceHit], bias: LatLon | None = None) -> Choice | None:
    """The place that is meant; None where no place fits, or none is clearly ahead (see `rivals`).

    A district and its station lie so near each other that either will do; of branches the traveller is asked.
    """
    ranked = rivals(hits, bias)
    if not ranked:
        return None
    best, *others = ranked
    apart = [
        hit
        for hit in others
        if best.is_misspelt
        or hit.place.kind in OF_CHAINS
        or apart_m(best.place.at, hit.place.at) > SAME_AREA_M
    ]
    if apart and _weight(best, bias) - _weight(apart[0], bias) < LEAD:
        return None
    if best.is_misspelt:
        return Choice(best, f"{name!r} is the name of no place that is known; taken for {called(best)}")
    if not others and best.place.kind in STOPS and not _names_stop(name, best):
        return Choice(best, f"{name!r} was taken for {called(best)}: nothing else is known by that name")
    if not others and best.place.kind == CITY and plain_name(name) != plain_name(best.place.name):
        return Choice(best, f"{name!r} was taken for {called(best)}")
    if not others:
        return Choice(best)
    why = f"better known{' or nearer to the other places' if bias else ''} than" if apart else "near it lies"
    more = f" and {len(others) - 1} more of that name" if len(others) > 1 else ""
    return Choice(best, f"{name!r} was taken for {called(best)}: {why} {called((apart or others)[0])}{more}")


def _names_stop(name: str, hit: PlaceHit) -> bool:
    """Whether a name says that a stop is meant, or is the stop's id."""
    return name == hit.place.id or STOP_WORDS.search(name) is not None


def rivals(hits: Sequence[PlaceHit], bias: LatLon | None = None) -> list[PlaceHit]:
    """The places that a name may mean, the likeliest first; what is one place to a traveller stands once."""
    exact = [hit for hit in hits if hit.score >= SURE and not hit.is_misspelt]
    fitting = exact or [hit for hit in hits if hit.score >= SURE and not _is_far(hit, bias)]
    # Squares and sights before stops, so that each takes in the stops that bear its name.
    fitting.sort(
        key=lambda hit: (
            hit.place.kind in STOPS,
            -_weight(hit, bias),
            hit.place.hours is None,
            hit.place.id,
        )
    )
    kept: list[PlaceHit] = []
    for hit in fitting:
        if any(is_one_place(hit.place, other.place) for other in kept):
            continue
        if hit.place.kind not in STOPS or not any(_is_at(hit, other) for other in kept):
            kept.append(hit)
    return sorted(kept, key=lambda hit: (-_weight(hit, bias), hit.place.id))


def meeting_point(named: Iterable[Sequence[PlaceHit]]) -> LatLon | None:
    """Where the names of a trip are likeliest meant together, by the hits of each name."""
    rows = [row for hits in named if (row := rivals(hits)[:NAMESAKES])]
    points = [hit.place.at for row in rows for hit in row]
    return max(points, key=lambda at: sum(max(_weight(hit, at) for hit in row) for row in rows), default=None)


def called(hit: PlaceHit) -> str:
    """A place as a sentence names it: name, kind, and where it is."""
    place = hit.place
    name = next((f"{place.name} ({name})" for name in place.also[:1] if not name.isascii()), place.name)
    admin = place.admin
    parts = [admin.municipality, admin.prefecture] if admin else []
    if admin and place.kind == CITY:
        parts = [admin.prefecture, country_names().get(admin.country, admin.country)]
    where = ", ".join(dict.fromkeys(part for part in parts if part and part != place.name))
    return f"{name}, {place.kind.replace('_', ' ')}" + (f" in {where}" if where else "")


@functools.cache
def country_names() -> Mapping[str, str]:
    """English names of countries by their two-letter code (GeoNames)."""
    return {row["code"]: row["name"] for row in data_rows("countries.csv")}


def one_edit(name: str) -> Iterator[str]:
    """All names that a plain name becomes by one letter left out, put in, changed or swapped with the next.

    >>> "lisbon" in one_edit("lisbom"), "oslo" in one_edit("olso"), "rome" in one_edit("paris")
    (True, True, False)
    """
    if len(name) < LEAST_MISSPELT:
        return
    for at in range(len(name) + 1):
        before, after = name[:at], name[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in string.ascii_lowercase:
            yield before + letter + after
            yield before + letter + after[1:]


def _weight(hit: PlaceHit, bias: LatLon | None) -> float:
    """How likely a place is meant: by name, by fame, and by how near it is to the rest of the trip."""
    weight = hit.score + hit.fame
    if bias is None:
        return weight
    is_city = hit.place.kind == CITY
    near_km, nearness = (NEAR_CITY_KM, CITY_NEARNESS) if is_city else (NEAR_KM, NEARNESS)
    return weight + nearness * math.exp(-apart_m(bias, hit.place.at) / 1000 / near_km)


def _is_far(hit: PlaceHit, bias: LatLon | None) -> bool:
    """Whether a place lies so far from the rest that a name which only nearly fits means another."""
    near_km = NEAR_CITY_KM if hit.place.kind == CITY else NEAR_KM
    return bias is not None and apart_m(bias, hit.place.at) > 1000 * MISSPELT_SHARE * near_km


def _is_at(stop: PlaceHit, other: PlaceHit) -> bool:
    """Whether a stop lies at another place of the same name, or is the same stop on the other side."""
    names = [{plain_name(name) for name in (hit.place.name, *hit.place.also)} for hit in (stop, other)]
    return bool(names[0] & names[1]) and apart_m(stop.place.at, other.place.at) <= SAME_STOP_M


_READINGS = (
    (re.compile(r"^the\s+(?=\S)", re.IGNORECASE), ""),
    (re.compile(r"\b(?:stn|sta)\b\.?", re.IGNORECASE), "Station"),
    (re.compile(r"\b(?:tempel|temppeli)$", re.IGNORECASE), "Temple"),
    (re.compile(r"\b(?:schrein|jinja|jing[uū]|taisha)$", re.IGNORECASE), "Shrine"),
    (re.compile(r"[ -]k[oō]u?en$", re.IGNORECASE), " Park"),
    (re.compile(r"(?<=\w)[ -]?j[oō]$", re.IGNORECASE), " Castle"),
    (re.compile(r"(?<=\bstation)\b.*\b(?:exit|entrance|gate|side)s?$", re.IGNORECASE), ""),
    (re.compile(r"(?<=駅).+(?:口|改札)$"), ""),
    (re.compile(r"[\s,]+\d+(?:[-–]?ch[oō]me\b.*|-\d.*)$", re.IGNORECASE), ""),
    (re.compile(r"[0-9０-９一二三四五六七八九十]+丁目.*$"), ""),
    (re.compile(r"^\d+(?:-\d+)+\s+"), ""),
)
"""What is taken away or written otherwise: articles, short forms, Japanese words for kinds, exits of a
station, parts of an address."""


def readings(name: str) -> Iterator[str]:
    """Readings of a name, the first ones literal, later ones more and more free.

    >>> list(readings("Tokyo Stn Yaesu exit")), list(readings("the Ateneum")), list(readings("Ueno Park"))
    (['Tokyo Station Yaesu exit', 'Tokyo Station'], ['Ateneum'], [])
    >>> list(readings("Jingumae 1-chome")), list(readings("1-1 Chiyoda, Chiyoda-ku"))
    (['Jingumae'], ['Chiyoda, Chiyoda-ku'])
    >>> list(readings("Yasaka Jinja")), list(readings("きよみずでら"))
    (['Yasaka Shrine'], ['kiyomizudera'])
    """
    text = name.strip()
    for pattern, instead in _READINGS:
        read = pattern.sub(instead, text).strip(" ,")
        if read and read != text:
            text = read
            yield text
    if (latin := romanized(text)) != text:
        yield latin


def is_article(name: str, reading: str) -> bool:
    """Whether a reading leaves out an article and nothing else."""
    return re.sub(r"^the\s+", "", name.strip(), flags=re.IGNORECASE) == reading
