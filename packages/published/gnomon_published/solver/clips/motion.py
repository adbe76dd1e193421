"""Compares a movement described in words («east at 1.2 m/s for 8 meters, then …») with a measured one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon_published.passages.motion_text import Segment, displacement_m, duration_s, parse_segments

EXACT = (
    50.0  # how much more a length counts that is known to a metre: 2 % off is as bad as all directions wrong
)


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
    """What was measured of the motion to be told; headings are None where no track shows them.

    `is_exact`: its length is known to a metre, where words tell directions to an eighth of a turn.
    """

    bearing_deg: float
    straight_m: float
    length_m: float
    duration_s: float
    first_deg: float | None
    last_deg: float | None
    is_exact: bool = False


def read_motion(text: str) -> Motion | None:
    """A told motion; None where no direction with a length is told.

    >>> motion = read_motion("It moves east at 2 m/s for 10 meters, then north at 1 m/s for 5 meters.")
    >>> [round(value, 6) for value in motion.displacement_m], motion.length_m, motion.duration_s
    ([10.0, 5.0], 15.0, 10.0)
    """
    parts = parse_segments(text)
    return _motion(parts) if parts else None


def motion_of(rows: Sequence[Mapping[str, float]]) -> Motion:
    """The same from the stretches that a tool read."""
    parts = [
        Segment(heading_deg=row["heading_deg"], length_m=row["length_m"], speed_mps=row.get("speed_mps"))
        for row in rows
    ]
    return _motion(tuple(parts))


def misfit(motion: Motion, gap: Gap) -> float:
    """How badly a told motion fits: 0 is perfect; each part is about 1 when it is off by the whole."""
    bearing = math.radians(gap.bearing_deg)
    went_m = (gap.straight_m * math.sin(bearing), gap.straight_m * math.cos(bearing))
    cost = math.dist(motion.displacement_m, went_m) / max(gap.straight_m, 1.0)
    longer = abs(math.log(max(motion.length_m, 0.1) / max(gap.length_m, 0.1)))
    cost += EXACT * longer if gap.is_exact else longer
    if motion.duration_s and gap.duration_s > 0:
        cost += abs(math.log(motion.duration_s / gap.duration_s))
    for told_deg, seen_deg in ((motion.first_deg, gap.first_deg), (motion.last_deg, gap.last_deg)):
        if seen_deg is not None:
            cost += (1 - math.cos(math.radians(told_deg - seen_deg))) / 2
    return cost


def _motion(parts: tuple[Segment, ...]) -> Motion:
    return Motion(
        displacement_m=displacement_m(parts),
        length_m=math.fsum(part.length_m for part in parts),
        duration_s=duration_s(parts),
        first_deg=parts[0].heading_deg,
        last_deg=parts[-1].heading_deg,
    )
