"""Pace: how fast a target may be taken to go on, from what was seen and what is usual."""

from dataclasses import dataclass

from agents.models.reference.question import Clip

WIDE = 0.8  # a box wider than this share of its height shows a vehicle
VEHICLE_AVERAGE = 0.93  # share of its speed in view that a vehicle averages over a way: it brakes for turns
LIMITS = 2.0  # standard deviations from the usual; beyond them it stood, or the track errs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A speed and its standard deviation."""

    speed_mps: float
    error_mps: float


WALKER = Pace(speed_mps=1.34, error_mps=0.26)  # Weidmann 1993, walkers on the level
VEHICLE = Pace(speed_mps=10.0, error_mps=3.0)  # a town street with a limit of 50 km/h and its lights


def is_vehicle(clip: Clip) -> bool:
    """Whether most of its boxes are wider than high, or nearly: people's are far narrower."""
    wide = sum(width > WIDE * height for _, _, width, height in clip.boxes)
    return 2 * wide > len(clip.boxes)


def pace(seen: tuple[float, float] | None, *, vehicle: bool) -> Pace:
    """The seen speed (with its error) and the usual one, weighted by their precisions.

    What lies more than LIMITS standard deviations from the usual is not believed; but who is seen at a
    vehicle's speed is taken for one.

    >>> pace(None, vehicle=False).speed_mps, round(pace((1.5, 0.0), vehicle=False).speed_mps, 3)
    (1.34, 1.5)
    >>> pace((0.1, 0.0), vehicle=False).speed_mps, pace((9.0, 0.0), vehicle=False).speed_mps
    (1.34, 9.0)
    """
    usual = VEHICLE if vehicle or (seen is not None and _likely(seen[0], VEHICLE)) else WALKER
    if seen is None or not _likely(seen[0], usual):
        return usual
    if seen[1] == 0:
        return Pace(speed_mps=seen[0], error_mps=0.0)
    precisions = seen[1] ** -2, usual.error_mps**-2
    speed_mps = (precisions[0] * seen[0] + precisions[1] * usual.speed_mps) / sum(precisions)
    return Pace(speed_mps=speed_mps, error_mps=sum(precisions) ** -0.5)


def _likely(speed_mps: float, usual: Pace) -> bool:
    return abs(speed_mps - usual.speed_mps) <= LIMITS * usual.error_mps
