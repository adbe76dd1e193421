"""Reads an angle in degrees: a number with or without its unit, or a point of the compass."""

import math
import re
from collections.abc import Iterator

from gnomon.reading.characters import bare, without_denied, without_marks
from gnomon.reading.languages import with_english_sides
from gnomon.reading.quantities import number_of
from gnomon.reading.reader import Reading, Unclear, read_value
from gnomon.reading.units import UNITS

MAX_TEXT = 2_000
_SIDES_OF = {
    0.0: "north nord norte noord nor северо север n",
    90.0: "east ost oost este est leste восток восточ e",
    180.0: "south süd sud sur sul zuid юго юг южн s",
    270.0: "west oeste ouest ovest запад w",
}
_SIDES = {name: degrees for degrees, names in _SIDES_OF.items() for name in names.split()}
_SIDE = "|".join(sorted((name for name in _SIDES if len(name) > 1), key=len, reverse=True))
_PART = re.compile(_SIDE)
_COMPASS = re.compile(
    rf"(?<![^\W_])(?:(?:(?:north|south|east|west)[ -]?){{1,3}}|(?:(?:{_SIDE})-?){{1,3}})"
    r"(?:e?r?n|erly|wards?|bound|[а-я]{1,4})?(?![^\W_])",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"\bturn\w*\s(?:by\s)?\d+\s?(?:°|degrees?)?\s?"
    r"(?:to the\s)?(?:left|right|(?:(?:counter|anti)-?)?clockwise)\b",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(r"(?<![\w.])(?:[NS]{1,2}[EW]|[EW][NS][EW]|[NESW])(?![\w'’°])")
_WITH_O = re.compile(r"(?<=\b[NSO])(?:(?<=O)[NS])?O\b|(?<=\b(?:NN|SS|ON|OS))O\b|\bO(?=[NS]O\b|\W*$)")
# Words that mean something else as well, as in "la direction est" or "sur la carte".
_DOUBTFUL = frozenset({"est", "este", "sur", "sul", "nor"})
_LEADS_TO_SIDE = re.compile(
    r"(?:\b(?:el|al|es|ao|é|a|ad|verso|plein|hacia|vers|para|para o)\s|\b[ld]['’]|:\s?)$"
)
_EASTERN = dict(
    zip("北東东南西북동남서", (0.0, 90.0, 90.0, 180.0, 270.0, 0.0, 90.0, 180.0, 270.0), strict=True)
)
_EASTERN_SIDE = re.compile(
    r"(?:(?<=[向往朝正于於在是为為はがの面:])|(?<!\w))([北東东南西]{1,2})(?=[方面侧側边邊向走行にへでだ角部]|の方|\W|$)"
    r"|(?<!\w)([북동남서]{1,2})(?=[쪽향방]|\W|$)"
)
_FROM_SIDE = re.compile(r"([北東东南西])偏([北東东南西])\s?(\d{1,3}(?:\.\d{1,9})?)")
_QUADRANT = re.compile(r"\b([NS])\s*(\d+(?:\.\d+)?)\s?°?\s*([EW])\b")
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


def read_angle(reply: str) -> Reading[float]:
    """The angle that a reply gives, in degrees from 0 to 360.

    >>> [read_angle(text).value for text in ("Answer: -90°", "Go north-east.", "π/2 rad", "at 7 o'clock")]
    [270.0, 45.0, 90.0, 210.0]
    """
    reply = reply if "O" not in reply else with_english_sides(reply, _WITH_O) or reply
    return read_value(reply, degrees_in)


def degrees_in(text: str) -> float | Unclear | None:
    """The one angle of a text, in degrees from 0 to 360."""
    text = without_denied(without_marks(text[:MAX_TEXT]))
    if " of " in text and (match := _OFF.search(text)):
        towards, base = (_SIDES[side.lower()] for side in match.group(2, 3))
        return _turned(base, towards, float(match[1]))
    if match := _QUADRANT.search(text):
        return _turned(_SIDES[match[1].lower()], _SIDES[match[3].lower()], float(match[2]))
    if "偏" in text and (match := _FROM_SIDE.search(text)):
        return _turned(_EASTERN[match[1]], _EASTERN[match[2]], float(match[3]))
    lowered = text.lower()
    if "turn" in lowered and _COMPASS.search(rest := _TURN.sub("", text)):
        text = rest  # where it ends, and not by how much it turns
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
    named = set(_named(text))
    return Unclear() if len(named) > 1 else next(iter(named), None)


def _turned(base: float, towards: float, degrees: float) -> float:
    """A side of the compass, turned by so many degrees towards another."""
    return (base + degrees * (1 if (towards - base) % 360 == 90 else -1)) % 360


def _named(text: str) -> Iterator[float]:
    """The directions that a text names in words, signs, or the letters of a compass."""
    alone = bare(text)
    for match in _COMPASS.finditer(text):
        word = match[0].strip().lower()
        if (
            word not in _DOUBTFUL
            or word == alone
            or _LEADS_TO_SIDE.search(text, max(0, match.start() - 8), match.start())
        ):
            yield from _mean([_SIDES[part] for part in _PART.findall(word)])
    for word in _ABBREVIATED.findall(text if len(alone) > 3 else alone.upper()):
        yield from _mean([_SIDES[part] for part in word.lower()])
    if not text.isascii():
        for chinese, korean in _EASTERN_SIDE.findall(text):
            yield from _mean([_EASTERN[sign] for sign in chinese or korean])


def _mean(sides: list[float]) -> Iterator[float]:
    """The direction between sides, as NNE lies between north and north-east; none between opposite ones."""
    *before, direction = sides
    for side in reversed(before):
        turn = (direction - side + 180) % 360 - 180
        if abs(turn) > 90:
            return
        direction = (side + turn / 2) % 360
    yield direction
