"""Reads a movement in words («east at 1.2 m/s for 8 meters, then …») as segments with numbers."""

import math
import re
from dataclasses import dataclass

from gnomon_tools.geometry.angles import wrapped_deg

_COMPASS_DEG = {"north": 0.0, "east": 90.0, "south": 180.0, "west": 270.0}
_DIRECTION = re.compile(
    r"\b((?:north|south|east|west)(?:[- ]?(?:north|south|east|west))?)(?:ward|ern|erly)?s?\b", re.IGNORECASE
)
_SPEED = re.compile(r"(\d+(?:\.\d+)?)(?:\s*(?:[-–]|to)\s*(\d+(?:\.\d+)?))?\s*(m|ft)/s", re.IGNORECASE)
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(meters?|metres?|m|feet|foot|ft)\b(?!/)", re.IGNORECASE)
_FOOT_M = 0.3048
_BREAK = re.compile(r"\bthen\b|\bfinally\b|;|\bbefore\b|,\s+and\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A straight part; `speed_mps` is None where none is told, and the middle of a range."""

    heading_deg: float
    length_m: float
    speed_mps: float | None


def parse_segments(text: str) -> tuple[Segment, ...]:
    """The told parts in order; one without a direction goes on in the one before, one without a length
    is left out.

    >>> [part.length_m for part in parse_segments("It moves west at 2 m/s for 10 meters, then north 5.5 m.")]
    [10.0, 5.5]
    >>> parse_segments("It stood still.")
    ()
    """
    segments: list[Segment] = []
    heading_deg: float | None = None
    for part in _BREAK.split(text):
        direction, length, speed = _DIRECTION.search(part), _LENGTH.search(part), _SPEED.search(part)
        heading_deg = _heading_deg(direction[1]) if direction else heading_deg
        if heading_deg is None or not length:
            continue
        speed_mps = _metres((float(speed[1]) + float(speed[2] or speed[1])) / 2, speed[3]) if speed else None
        length_m = _metres(float(length[1]), length[2])
        segments.append(Segment(heading_deg=heading_deg, length_m=length_m, speed_mps=speed_mps))
    return tuple(segments)


def _metres(number: float, unit: str) -> float:
    return number * _FOOT_M if unit.lower().startswith("f") else number


def displacement_m(parts: tuple[Segment, ...]) -> tuple[float, float]:
    """East and north metres from beginning to end.

    >>> [round(value, 6) for value in displacement_m(parse_segments("east 10 m, then north 5 m"))]
    [10.0, 5.0]
    """
    headings = [math.radians(part.heading_deg) for part in parts]
    east = math.fsum(p.length_m * math.sin(angle) for p, angle in zip(parts, headings, strict=True))
    north = math.fsum(p.length_m * math.cos(angle) for p, angle in zip(parts, headings, strict=True))
    return east, north


def duration_s(parts: tuple[Segment, ...]) -> float | None:
    """Seconds, if every part tells a speed above zero.

    >>> duration_s(parse_segments("east at 2 m/s for 10 m")), duration_s(parse_segments("east for 10 m"))
    (5.0, None)
    """
    if not parts or not all(part.speed_mps for part in parts):
        return None
    return math.fsum(part.length_m / part.speed_mps for part in parts if part.speed_mps)


def _heading_deg(words: str) -> float:
    """Degrees clockwise from north; of two words the direction half-way.

    >>> _heading_deg("southeast"), _heading_deg("west"), _heading_deg("West-North")
    (135.0, 270.0, 315.0)
    """
    compass_words = re.findall("north|south|east|west", words.lower())
    angles = [math.radians(_COMPASS_DEG[word]) for word in compass_words]
    x, y = math.fsum(map(math.sin, angles)), math.fsum(map(math.cos, angles))
    return round(wrapped_deg(math.degrees(math.atan2(x, y))), 6)
