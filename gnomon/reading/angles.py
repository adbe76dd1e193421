"""Reads an angle in degrees: a number with or without its unit, or a point of the compass."""

import math
import re

from gnomon.reading.characters import bare, without_denied, without_marks
from gnomon.reading.declarations import AnswerForm
from gnomon.reading.quantities import number_of
from gnomon.reading.reader import Reading, Unclear, read_value
from gnomon.reading.units import UNITS

MAX_TEXT = 2_000
_POINTS = ["N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"]
_DEGREES = {name.casefold(): 22.5 * at for at, name in enumerate(_POINTS)}
_IN_WORDS = {
    0.0: "north nord norte север northern 北 正北 きた 북 북쪽",
    45.0: "northeast nordost nordosten noreste nordeste nord-est северо-восток "
    "东北 東北 北东 北東 북동 북동쪽",
    90.0: "east ost osten este leste est восток eastern 东 東 正东 正東 동 동쪽",
    135.0: "southeast südost südosten sureste sudeste sud-est юго-восток 东南 東南 南东 南東 남동 남동쪽",
    180.0: "south süd süden sur sul sud юг southern 南 正南 남 남쪽",
    225.0: "southwest südwest südwesten suroeste sudoeste sud-ouest юго-запад 西南 南西 남서 남서쪽",
    270.0: "west westen oeste ouest запад western 西 正西 서 서쪽",
    315.0: "northwest nordwest nordwesten noroeste nord-ouest северо-запад 西北 北西 북서 북서쪽",
    22.5: "north-northeast",
    67.5: "east-northeast",
    112.5: "east-southeast",
    157.5: "south-southeast",
    202.5: "south-southwest",
    247.5: "west-southwest",
    292.5: "west-northwest",
    337.5: "north-northwest",
}
_WORDS = {
    re.sub(r"[\s-]", "", word): degrees for degrees, words in _IN_WORDS.items() for word in words.split()
}
_COMPASS = re.compile(r"\b(?:(?:north|south|east|west)[ -]?){1,3}(?:ern|wards?)?\b", re.IGNORECASE)
_ABBREVIATED = re.compile(r"(?<![\w.])(?:[NS]{1,2}[EW]|[EW][NS][EW]|[NESW])(?![\w'’°])")
_QUADRANT = re.compile(r"\b([NS])\s*(\d+(?:\.\d+)?)\s?°?\s*([EW])\b")
_SIDES = {"north": 0.0, "east": 90.0, "south": 180.0, "west": 270.0}
_OFF = re.compile(
    r"(?<![\d.])(\d{1,3}(?:\.\d{1,9})?)\s?(?:°|º|deg(?:rees?)?)?\s?(north|south|east|west) of (?:due )?"
    r"(north|south|east|west)\b",
    re.IGNORECASE,
)
_O_CLOCK = re.compile(r"(?<![\w:.])(1[0-2]|[1-9])\s?o['’]?\s?clock\b", re.IGNORECASE)
_MINUTES = re.compile(r"(?<!\d)(\d{1,3})\s?°\s?(\d{1,2})\s?['′](?:\s?(\d+(?:\.\d+)?)\s?[\"″])?")
_PI = re.compile(
    r"(?<![\w.])(-?)(?:(\d+(?:\.\d+)?)\s?[*×]?\s?)?(?:π|pi)\b(?:\s?/\s?(\d+))?(?:\s?rad(?:ians?)?\b)?",
    re.IGNORECASE,
)


def read_angle(reply: str, *, asked: AnswerForm = "line") -> Reading[float]:
    """The angle that a reply gives, in degrees from 0 to 360.

    >>> [read_angle(text).value for text in ("Answer: -90°", "Go north-east.", "π/2 rad", "at 7 o'clock")]
    [270.0, 45.0, 90.0, 210.0]
    """
    return read_value(reply, degrees_in, asked=asked)


def degrees_in(text: str) -> float | Unclear | None:
    """The one angle of a text, in degrees from 0 to 360."""
    text = without_denied(without_marks(text[:MAX_TEXT]))
    if " of " in text and (match := _OFF.search(text)):
        towards, base = (_SIDES[side.lower()] for side in match.group(2, 3))
        return (base + float(match[1]) * (1 if (towards - base) % 360 == 90 else -1)) % 360
    if match := _QUADRANT.search(text):
        turn = float(match[2]) * (1 if match[3] == "E" else -1)
        return turn % 360 if match[1] == "N" else (180 - turn) % 360
    lowered = text.lower()
    if "clock" in lowered:
        text = _O_CLOCK.sub(lambda m: f"{30 * int(m[1])}°", text)
    if "°" in text:
        text = _MINUTES.sub(lambda m: f"{int(m[1]) + int(m[2]) / 60 + float(m[3] or 0) / 3600:.9g}°", text)
    if "π" in lowered or "pi" in lowered:
        text = _PI.sub(
            lambda m: f"{m[1]}{180 * float(m[2] or 1) / float(m[3] or 1):.12g}°" if m[3] != "0" else "", text
        )
    number = number_of(text, UNITS["deg"])
    if number is not None:
        return number if isinstance(number, Unclear) else number % 360 if math.isfinite(number) else None
    named = {degrees for degrees in (_named(word) for word in _compass_words(text)) if degrees is not None}
    return Unclear() if len(named) > 1 else next(iter(named), None)


def _compass_words(text: str) -> list[str]:
    words = [bare(text), *(match[0] for match in _COMPASS.finditer(text)), *_ABBREVIATED.findall(text)]
    if not words[0].isascii() or len(words) == 1:
        words += re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text)
    return words


def _named(word: str) -> float | None:
    plain = re.sub(r"[\s-]|(?<=.)(?:wards?|ern|向き)$", "", word.casefold())
    if plain in _DEGREES and (len(plain) > 1 or word.isupper() or word == bare(word)):
        return _DEGREES[plain]
    return _WORDS.get(plain)
