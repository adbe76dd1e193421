"""Constants that the reference model assumes before any observation, each with its source."""

from dataclasses import dataclass, field
from typing import Any


def constant(value: float, source: str, *, tried: tuple[float, ...] = ()) -> Any:  # as `field` is typed
    """A default with its source. A constant that is fitted names all the values that were tried."""
    return field(default=value, metadata={"source": source, "tried": tried})


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Units are in the names. None depends on a camera, a target or a question."""

    walker_mps: float = constant(1.34, "Weidmann 1993, walkers on the level")
    walker_error_mps: float = constant(0.26, "Weidmann 1993")
    vehicle_mps: float = constant(10.0, "fitted", tried=(10.0, 12.0, 14.0))
    vehicle_error_mps: float = constant(3.0, "a town street with its lights")
    vehicle_seen_m: float = constant(60.0, "detection range of a car", tried=(60.0, 80.0))
    # How far off a forecast start is; for vehicles at once, and by the second on the way.
    walker_start_s: float = constant(1.0, "fitted", tried=(1.0, 2.0, 3.0))
    vehicle_start_s: float = constant(0.1, "fitted", tried=(0.1, 1.0))
    vehicle_start_share: float = constant(0.4, "fitted", tried=(0.0, 0.2, 0.4))
    # How far off the logarithm of a stay's length is, and how long people pause besides, on average.
    walker_length: float = constant(0.7, "fitted", tried=(0.3, 0.5, 0.7))
    vehicle_length: float = constant(0.5, "fitted", tried=(0.2, 0.3, 0.5))
    walker_pause_s: float = constant(3.0, "fitted", tried=(0.0, 3.0, 6.0))
    # An option right behind the target counts as (1 + this) times as far.
    behind_cost: float = constant(3.0, "generated worlds, set before")
    # A meeting so much later is less likely by a factor e.
    meeting_soon_s: float = constant(10.0, "fitted", tried=(5.0, 10.0, 20.0))


SHIPPED = Constants()
