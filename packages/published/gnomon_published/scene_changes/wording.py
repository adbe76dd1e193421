"""Changes compass words, clock times, names and units in texts, and nothing else in them."""

import re
from collections.abc import Mapping

from gnomon_tools.geometry.angles import EIGHTHS

FOOT_M = 0.3048

_COMPASS = re.compile(r"\b(?:north(?:east|west)?|south(?:east|west)?|east|west)\b")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2}):(\d{2})(?=\D|$)", re.ASCII)
_SPEED = re.compile(r"(\d+(?:\.\d+)?) m/s\b")
_LENGTH = re.compile(r"(\d+(?:\.\d+)?) (?:meters|metres|m)\b(?!/)")
DAY_S = 86_400


def turned(text: str, quarters: int, *, mirrored: bool = False) -> str:
    """The text with its compass words mirrored, east for west, and then turned clockwise.

    >>> turned("5 meters north, then southeast", 1), turned("northwest", 0, mirrored=True)
    ('5 meters east, then southwest', 'northeast')
    """

    def word(match: re.Match[str]) -> str:
        at = EIGHTHS.index(match[0])
        return EIGHTHS[((-at if mirrored else at) + 2 * quarters) % 8]

    return _COMPASS.sub(word, text)


def shifted(text: str, seconds: int) -> str:
    """The text with its clock times so many whole seconds later; fractions stay as they are written.

    >>> shifted("from 12:59:59.250 on", 2), shifted("13:00:01.250", -2)
    ('from 13:00:01.250 on', '12:59:59.250')
    """

    def time(match: re.Match[str]) -> str:
        whole = (int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3]) + seconds) % DAY_S
        return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"

    return _CLOCK.sub(time, text)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with whole names replaced, all at once.

    >>> renamed("c01 to c010 by c02", {"c01": "c02", "c02": "c01"})
    'c02 to c010 by c01'
    """
    if not names:
        return text
    longest_first = sorted(names, key=len, reverse=True)
    pattern = r"(?<![\w-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])"
    return re.sub(pattern, lambda match: names[match[0]], text)


def in_feet(text: str) -> str:
    """The text with its metres in feet, to a tenth: a finer step than a tenth of a metre.

    >>> in_feet("at 8.9 m/s: 118.2 meters east, then 75.0 meters north")
    'at 29.2 ft/s: 387.8 feet east, then 246.1 feet north'
    """
    text = _SPEED.sub(lambda match: f"{float(match[1]) / FOOT_M:.1f} ft/s", text)
    return _LENGTH.sub(lambda match: f"{float(match[1]) / FOOT_M:.1f} feet", text)
