"""Estimates how fast a target goes on, from its measured and the usual speed."""

from dataclasses import dataclass

from gnomon_published.solver.clips.constants import SHIPPED
from gnomon_published.solver.clips.question import Clip

WIDE = 0.8  # a box wider than this share of its height shows a vehicle
VEHICLE_AVERAGE = 0.93  # share of its speed in view that a vehicle averages over a way: it brakes for turns
LIMITS = 2.0  # standard deviations from the usual; beyond them it stood, or the track errs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A speed and its standard deviation."""

    speed_mps: float
    error_mps: float


# How fast people usually walk, and vehicles go along a street.
WALKER = Pace(speed_mps=SHIPPED.walker_mps, error_mps=SHIPPED.walker_error_mps)
VEHICLE = Pace(speed_mps=SHIPPED.vehicle_mps, error_mps=SHIPPED.vehicle_error_mps)


def is_vehicle(clip: Clip) -> bool:
    """Whether most of its boxes are wider than high, or nearly: people's are far narrower."""
    wide = sum(width > WIDE * height for _, _, width, height in clip.boxes)
    return 2 * wide > len(clip.boxes)


def pace(measured: tuple[float, float] | None, *, drives: bool) -> Pace:
    """The seen speed (with its error) and the usual one, weighted by their precisions.

    What lies more than LIMITS standard deviations from the usual is not believed; but who is seen at a
    vehicle's speed is taken for one.

    >>> pace(None, drives=False).speed_mps, round(pace((1.5, 0.0), drives=False).speed_mps, 3)
    (1.34, 1.5)
    >>> pace((0.1, 0.0), drives=False).speed_mps, pace((9.0, 0.0), drives=False).speed_mps
    (1.34, 9.0)
    """
    driving, walking = VEHICLE, WALKER
    usual = driving if drives or (measured is not None and _likely(measured[0], driving)) else walking
    if measured is None or not _likely(measured[0], usual):
        return usual
    if measured[1] == 0:
        return Pace(speed_mps=measured[0], error_mps=0.0)
    precisions = measured[1] ** -2, usual.error_mps**-2
    speed_mps = (precisions[0] * measured[0] + precisions[1] * usual.speed_mps) / sum(precisions)
    return Pace(speed_mps=speed_mps, error_mps=sum(precisions) ** -0.5)


def _likely(speed_mps: float, usual: Pace) -> bool:
    return abs(speed_mps - usual.speed_mps) <= LIMITS * usual.error_mps
