"""Reads a position: latitude and longitude in any usual spelling, or x and y in metres on a plane."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from gnomon.reading.characters import holds_any, without_denied, without_marks
from gnomon.reading.declarations import Declaration
from gnomon.reading.languages import with_english_sides
from gnomon.reading.reader import AMBIGUOUS, Reading, Unclear, objects_and_values, read_answer
from gnomon_tools.core.json_text import json_value

Position = tuple[float, float]  # latitude and longitude in degrees; or x and y in metres
Ground = Literal["earth", "plane"]

NAMES = (("lat", "lon"), ("latitude", "longitude"), ("lat_deg", "lon_deg"), ("lat", "lng"), ("lat", "long"))
PLANE_NAMES = (("x_m", "y_m"), ("x", "y"))
LARGEST_M = 1e9
MAX_TEXT = 4_000

_FLOAT = r"[-+]?(?:\d{1,12}(?:\.\d{1,15})?|\.\d{1,15})(?:[eE][-+]?\d{1,3})?"
_WKT = re.compile(rf"\bPOINT\s?Z?M?\s*\(\s*({_FLOAT})[\s,]+({_FLOAT})(?:\s+{_FLOAT})?\s*\)", re.IGNORECASE)
_GEO_URI = re.compile(rf"\bgeo:({_FLOAT}),({_FLOAT})")
_MAP_LINK = re.compile(
    rf"(?:@|[?&](?:q|ll|query|center)=|#map=[\d.]{{1,5}}/|[?&]mlat=|!3d)({_FLOAT})(?:,|%2C|/|&mlon=|!4d)\s?({_FLOAT})"
)
_LINK_SIGNS = ("geo:", "@", "=", "!3d")
_ISO_6709 = re.compile(r"(?<![\w.])([-+]\d{2}(?:\.\d{1,15})?)([-+]\d{3}(?:\.\d{1,15})?)(?![\w.])")
_SPACED = re.compile(r"(\d(?<![\w.].)\d{0,2})\s(\d{1,2})\s(\d{1,2}(?:\.\d{1,9})?)\s?(?=[nsew]\b)")
_SPACED_MINUTES = re.compile(r"(\d(?<![\w.].)\d{0,2})\s(\d{1,2}\.\d{1,9})\s?(?=[nsew]\b)")
_SWAPPED = re.compile(
    r"\blon[a-z]*\W{1,5}lat[a-z]*\b(?=\W*\d)|\blon[a-z]*\W{1,5}lat[a-z]*\W{1,6}(?=[-+\d(])|\d\W{1,4}\(lon[a-z]*\W{1,3}lat[a-z]*\)"
)
_COMMA_DECIMALS = re.compile(
    r"(?<![\d.])([-+]?\d{1,3}),(\d{1,15})\s*[,;]?\s+([-+]?\d{1,3}),(\d{1,15})(?![\d.,])"
)
_LATITUDE_SIDES = {
    **dict.fromkeys(("n", "north", "nord", "norte"), 1),
    **dict.fromkeys(("s", "south", "sud", "süd", "sur", "sul"), -1),
}
_LONGITUDE_SIDES = {
    **dict.fromkeys(("e", "east", "ost", "est", "este", "leste"), 1),
    **dict.fromkeys(("w", "west", "ouest", "oeste", "ovest"), -1),
}
_BESIDE = {**_LATITUDE_SIDES, **_LONGITUDE_SIDES}
_GERMAN_SIDES = (("nördlich", "breite"), ("südlich", "breite"), ("östlich", "länge"), ("westlich", "länge"))
_PREFIXED = {
    **dict.fromkeys(("北纬", "北緯", "с. ш.", "с.ш."), "n"),
    **dict.fromkeys(("南纬", "南緯", "ю. ш.", "ю.ш."), "s"),
    **dict.fromkeys(("东经", "東経", "в. д.", "в.д."), "e"),
    **dict.fromkeys(("西经", "西経", "з. д.", "з.д."), "w"),
    **{f"{side}e{r} {of}": side[0].replace("ö", "e") for r in ("r", "") for side, of in _GERMAN_SIDES},
}
_DMS = (
    r"(\d{1,3}(?:[.,]\d{1,15})?)(?:\s?(?:°|º|deg(?:rees?)?\b|度|d(?=\s?\d))\s?(?:(\d{1,2}(?:[.,]\d{1,15})?)\s?(?:['′’]|m(?:in)?(?![a-z])|分)\s?"
    r"(?:(\d{1,2}(?:[.,]\d{1,15})?)\s?(?:[\"″”]|''|s(?:ec)?\b|秒)?)?)?)?"
)
_SIDES = sorted(_BESIDE, key=len, reverse=True)
_O = re.compile(r"(?<![A-Za-z]\d)(?:(?<=[\d°º'′’\"″”])|(?<=[\d°º'′’\"″”]\s))O\b|\bO(?=\s?\d)")
_BEHIND = re.compile(rf"(?<![\w.])([-−+]?){_DMS}\s?,?({'|'.join(_SIDES)})(?![a-z])")
_BEFORE = re.compile(
    rf"({'|'.join(rf'{side[0]}(?<![a-z].){side[1:]}' for side in _SIDES)})\s?([-−+]?){_DMS}(?![\w])"
)
_LATITUDES = frozenset({"lat", "latitud", "breite", "широта", "纬度", "緯度", "위도"})
_NAMES = (("lat", "breite", "широта", *"纬緯위"), ("lon", "lng", "länge", "долгота", *"经經経경"))
_NAMED = re.compile(
    rf"\b(lat|lon|lng|long|latitud|longitud|breite|länge|широта|долгота|纬度|緯度|经度|經度|経度|위도|경도)"
    rf"(?:itude)?(?:_deg)?(?![a-z])(?:\s(?:of|for)\s[^\n.,;:\d]{{1,40}}?(?=\s(?:is|was)\b|:|=))?[^\w\n+−-]{{0,6}}"
    rf"(?:(?:is|was|of)\s)?(?:(?:approximately|about|around|roughly|exactly)\s)?([-+−]?){_DMS}\s?(?:(north|south|east|west|[nsew])\b)?"
)
_NAMED_BEHIND = re.compile(
    rf"(?<![\w.])([-+−]?){_DMS}\s?(?:of\s|in\s)?\b(latitude|longitude)\b(?!\W{{0,6}}(?:is|of|:|=)|\s[-+]?\d)"
)
_PAIR = re.compile(
    rf"(?<![\w.])(?<!\d,)(?<!\d,\s)[(\[]?\s*({_FLOAT})\s?(?:°|m\b|metres\b|meters\b)?\s*[,;/\s]\s*({_FLOAT})\s?(?:°|m\b|metres\b|meters\b)?(?![\d.]*\d|\s?[,;]\s?[-+]?\d)"
)
_AXES = re.compile(
    rf"\bx(?:_m)?\s*[=:]\s*({_FLOAT})\s?m?\b.{{0,10}}?\by(?:_m)?\s*[=:]\s*({_FLOAT})",
    re.IGNORECASE | re.DOTALL,
)


def read_point(reply: str, on: Ground = "earth") -> Reading[Position]:
    """The position that a reply gives; the order of latitude and longitude is never guessed.

    >>> [read_point(text).value for text in ("POINT(24.94 60.17)", "N60.17 E24.94", "geo:60.17,24.94")]
    [(60.17, 24.94), (60.17, 24.94), (60.17, 24.94)]
    >>> read_point("24.94, 60.17").value
    (24.94, 60.17)
    """
    plain = with_english_sides(reply, _O) if on == "earth" and "O" in reply else reply
    if plain is None:
        return Reading(flags=("no_answer", AMBIGUOUS))
    return read_answer(plain, partial(_position_of, on), undeclared=objects_and_values)


def _position_of(on: Ground, declaration: Declaration) -> Position | Unclear | None:
    """The position that the line of a declaration holds, else what follows it."""
    answer = position_in(declaration.text, on)
    has_more = len(declaration.block) > len(declaration.text)
    return answer or (position_in(declaration.block, on) if has_more else None)


def position_in(text: str, on: Ground) -> Position | Unclear | None:
    """The one position of a text; None where it holds none that exists."""
    if text.lstrip()[:1] in ("{", "["):
        value = json_value(text)
        if value is not None:
            return position_of(value, on)
    text = without_denied(without_marks(text[:MAX_TEXT])).replace("−", "-").replace("–", "-")
    positions = list(dict.fromkeys(p for pair in _pairs(text, on) if (p := _checked(pair, on)) is not None))
    return Unclear() if len(positions) > 1 else next(iter(positions), None)


def position_of(written: object, on: Ground) -> Position | None:
    """The position of a GeoJSON Point, a mapping or a pair; None where it is none."""
    if isinstance(written, Mapping):
        pair = _named(written, on)
        if pair is not None and on == "earth" and all(isinstance(part, str) for part in pair):
            position = position_in(f"lat {pair[0]}, lon {pair[1]}", on)
            return None if isinstance(position, Unclear) else position
        return _checked(pair, on)
    return _checked(written, on) if isinstance(written, Sequence) and not isinstance(written, str) else None


def _named(fields: Mapping[str, Any], on: Ground) -> Sequence[Any] | None:
    if isinstance(fields.get("geometry"), Mapping):
        fields = fields["geometry"]
    coordinates = fields.get("coordinates")
    if fields.get("type") == "Point" and isinstance(coordinates, list) and len(coordinates) >= 2:
        return coordinates[1::-1] if on == "earth" else coordinates[:2]
    inner = next(
        (fields[name] for name in ("coordinates", "location", "point", "position") if name in fields), None
    )
    if isinstance(inner, Mapping):
        return _named(inner, on)
    if isinstance(inner, list) and "type" not in fields and "coordinates" not in fields:
        return inner
    names = NAMES if on == "earth" else PLANE_NAMES
    return next(([fields[a], fields[b]] for a, b in names if a in fields and b in fields), None)


def _checked(pair: Sequence[Any] | None, on: Ground) -> Position | None:
    if pair is None or len(pair) != 2:
        return None
    if any(isinstance(x, bool) or not isinstance(x, int | float) for x in pair):
        return None
    first, second = float(pair[0]), float(pair[1])
    most = (90.0, 180.0) if on == "earth" else (LARGEST_M, LARGEST_M)
    return (first, second) if abs(first) <= most[0] and abs(second) <= most[1] else None


def _pairs(text: str, on: Ground) -> list[Position]:
    """The pairs of a text by the spelling that says most: one with names, with sides of the Earth, plain."""
    swapped = [(float(b), float(a)) for a, b in _WKT.findall(text)] if "(" in text else []
    if on == "plane":
        written = [(b, a) for a, b in swapped] + [(float(a), float(b)) for a, b in _AXES.findall(text)]
        return written or _plain_pairs(text)
    spellings = (
        *((_GEO_URI, _MAP_LINK) if holds_any(text, _LINK_SIGNS) else ()),
        *((_ISO_6709,) if "+" in text or "-" in text else ()),
    )
    links = [(float(a), float(b)) for spelling in spellings for a, b in spelling.findall(text)]
    if swapped or links:
        return swapped or links
    text = text.lower()
    if not text.isascii():
        for words, side in _PREFIXED.items():
            own = side if words[-1] == "e" else f"{side} " if words[-1] == "." else f" {side} "
            text = text.replace(words, own)
    if "°" not in text:
        text = _SPACED.sub(lambda match: f"{match[1]}°{match[2]}'{match[3]}″", text)
        text = _SPACED_MINUTES.sub(lambda match: f"{match[1]}°{match[2]}'", text)
    written = _by_side(text) if holds_any(text, ("n", "s", "e", "w")) else []
    if (named := written or _by_name(text)) is None or named:
        return named or []
    pairs = _plain_pairs(text)
    return [(b, a) for a, b in pairs] if "lon" in text and _SWAPPED.search(text) else pairs


def _by_side(text: str) -> list[Position]:
    for pattern, at, parts in ((_BEHIND, 5, (1, 2, 3, 4)), (_BEFORE, 1, (2, 3, 4, 5))):
        angles = [(match[at], _degrees(*match.group(*parts))) for match in pattern.finditer(text)]
        latitudes = [_LATITUDE_SIDES[side] * angle for side, angle in angles if side in _LATITUDE_SIDES]
        longitudes = [_LONGITUDE_SIDES[side] * angle for side, angle in angles if side in _LONGITUDE_SIDES]
        if latitudes and len(latitudes) == len(longitudes):
            return list(zip(latitudes, longitudes, strict=True))
    return []


def _by_name(text: str) -> list[Position] | None:
    """The positions of latitudes and longitudes that are named; None where only one of the two is."""
    latitudes: list[float] = []
    longitudes: list[float] = []
    has_names = [holds_any(text, names) for names in _NAMES]
    if not any(has_names):
        return []
    behind = {match[5]: match for match in _NAMED_BEHIND.finditer(text)} if "itude" in text else {}
    if len(behind) == 2:  # "9.9 latitude and 23.2 longitude"
        latitude, longitude = (
            _degrees(*behind[name].group(1, 2, 3, 4)) for name in ("latitude", "longitude")
        )
        return [(latitude, longitude)]
    for match in _NAMED.finditer(text):
        sign = _BESIDE[match[6]] if match[6] else 1
        (latitudes if match[1] in _LATITUDES else longitudes).append(
            sign * _degrees(match[2], *match.group(3, 4, 5))
        )
    if len(latitudes) != len(longitudes):
        return [] if all(has_names) else None
    return list(zip(latitudes, longitudes, strict=True))


def _degrees(sign: str, degrees: str, minutes: str | None, seconds: str | None) -> float:
    value = sum(
        float((part or "0").replace(",", ".")) / size
        for part, size in ((degrees, 1), (minutes, 60), (seconds, 3600))
    )
    return round(-value if sign in ("-", "−") else value, 12)


def _plain_pairs(text: str) -> list[Position]:
    if "." not in text:  # "60,17; 24,94"
        text = _COMMA_DECIMALS.sub(lambda m: f"{m[1]}.{m[2]}; {m[3]}.{m[4]}", text)
    return [(float(a), float(b)) for a, b in _PAIR.findall(text)]
