"""Motion: a told movement («east at 1.2 m/s for 8 meters, then …») as displacement, length and time."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_COMPASS = {"north": 0.0, "east": 90.0, "south": 180.0, "west": 270.0}
_DIRECTION = re.compile(
    r"\b((?:north|south|east|west)(?:[- ]?(?:north|south|east|west))?)(?:ward)?s?\b", re.IGNORECASE
)
_SPEED = re.compile(r"(\d+(?:\.\d+)?)(?:\s*[-–]\s*(\d+(?:\.\d+)?))?\s*m/s")
_METRES = re.compile(r"(\d+(?:\.\d+)?)\s*(?:meters?|metres?|m)\b(?!/)", re.IGNORECASE)
_BREAK = re.compile(r"\bthen\b|\bfinally\b|;|\bbefore\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """Displacement (east, north), length of the path, duration if speeds are told, first and last heading."""

    displacement_m: tuple[float, float]
    length_m: float
    duration_s: float | None
    first_deg: float
    last_deg: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What was measured of the motion to be told; headings are None where no track shows them."""

    bearing_deg: float
    straight_m: float
    path_m: float
    duration_s: float
    first_deg: float | None
    last_deg: float | None


def read_motion(text: str) -> Motion | None:
    """Read the stretches one by one; one without a direction goes on in the one before.

    None where no direction is told.

    >>> motion = read_motion("It moves east at 2 m/s for 10 meters, then north at 1 m/s for 5 meters.")
    >>> [round(value, 6) for value in motion.displacement_m], motion.length_m, motion.duration_s
    ([10.0, 5.0], 15.0, 10.0)
    """
    x_m = y_m = length_m = duration_s = 0.0
    heading_deg: float | None = None
    timed, first_deg = True, None
    for stretch in _BREAK.split(text):
        direction, metres, speed = _DIRECTION.search(stretch), _METRES.search(stretch), _SPEED.search(stretch)
        heading_deg = _heading_deg(direction[1]) if direction else heading_deg
        if heading_deg is None or not metres:
            continue
        first_deg = heading_deg if first_deg is None else first_deg
        far_m = float(metres[1])
        x_m += far_m * math.sin(math.radians(heading_deg))
        y_m += far_m * math.cos(math.radians(heading_deg))
        length_m += far_m
        pace_mps = (float(speed[1]) + float(speed[2] or speed[1])) / 2 if speed else 0.0
        timed = timed and pace_mps > 0
        duration_s += far_m / pace_mps if pace_mps else 0.0
    if heading_deg is None or first_deg is None:
        return None
    return Motion(
        displacement_m=(x_m, y_m),
        length_m=length_m,
        duration_s=duration_s if timed else None,
        first_deg=first_deg,
        last_deg=heading_deg,
    )


def misfit(told: Motion, gap: Gap) -> float:
    """How badly a told motion fits: 0 is perfect; each part is about 1 when it is off by the whole."""
    bearing = math.radians(gap.bearing_deg)
    went_m = (gap.straight_m * math.sin(bearing), gap.straight_m * math.cos(bearing))
    cost = math.dist(told.displacement_m, went_m) / max(gap.straight_m, 1.0)
    cost += abs(math.log(max(told.length_m, 0.1) / max(gap.path_m, 0.1)))
    if told.duration_s and gap.duration_s > 0:
        cost += abs(math.log(told.duration_s / gap.duration_s))
    for told_deg, seen_deg in ((told.first_deg, gap.first_deg), (told.last_deg, gap.last_deg)):
        if seen_deg is not None:
            cost += (1 - math.cos(math.radians(told_deg - seen_deg))) / 2
    return cost


def _heading_deg(words: str) -> float:
    """Degrees clockwise from north.

    >>> _heading_deg("southeast"), _heading_deg("west"), _heading_deg("westnorth")
    (135.0, 270.0, 315.0)
    """
    found: Sequence[str] = re.findall("north|south|east|west", words.lower())
    angles = [math.radians(_COMPASS[word]) for word in found]
    x, y = sum(map(math.sin, angles)), sum(map(math.cos, angles))
    return round(math.degrees(math.atan2(x, y)) % 360.0, 6)
