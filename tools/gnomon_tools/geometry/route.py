"""The shortest route between two points of a scene, leg by leg."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from gnomon_tools.scene.scene import Point

LegKind = Literal["road", "zone", "door", "stairs", "lift", "escalator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteLeg:
    """A stretch of a path within one road, zone or portal, in the direction it is gone.

    `length_m` is that of `points_m` on a road or in a zone; a portal's is the way walked inside it.
    """

    id: str
    kind: LegKind
    floor: int  # where the leg starts
    to_floor: int  # where it ends: another floor on stairs, lifts and escalators only
    points_m: tuple[Point, ...]
    length_m: float

    @property
    def on_ground(self) -> bool:
        return self.kind in ("road", "zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The shortest way along roads, or through zones and portals.

    It runs between the network's points nearest to the two asked for; how far those were off stands in
    `start_snap_m` and `end_snap_m` and is not part of `length_m`.
    """

    legs: tuple[RouteLeg, ...]
    start_snap_m: float
    end_snap_m: float

    @property
    def length_m(self) -> float:
        return math.fsum(leg.length_m for leg in self.legs)

    @property
    def via(self) -> tuple[str, ...]:
        """Ids of the roads, or of the zones and portals, in order."""
        return tuple(leg.id for leg in self.legs)

    @property
    def floors(self) -> tuple[int, ...]:
        """Floors in the order they are walked, each change once."""
        walked = [floor for leg in self.legs for floor in (leg.floor, leg.to_floor)]
        return (walked[0], *(there for here, there in pairwise(walked) if here != there))


def ground_leg(ground: str, kind: LegKind, floor: int, points_m: Sequence[Point]) -> RouteLeg:
    """A leg along a road or through a zone; its length is that of its points."""
    if len(points_m) == 2:  # most have no corner
        length_m = math.dist(*points_m)
    else:
        length_m = math.fsum([math.dist(a, b) for a, b in pairwise(points_m)])
    return RouteLeg(
        id=ground, kind=kind, floor=floor, to_floor=floor, points_m=tuple(points_m), length_m=length_m
    )


def joined(legs: Iterable[RouteLeg]) -> tuple[RouteLeg, ...]:
    """The legs without standing still on the ground, and with those on the same ground made one.

    A path that goes nowhere keeps its first leg, so that it has a place.
    """
    everything = tuple(legs)
    kept: list[RouteLeg] = []
    for leg in everything:
        if leg.on_ground and leg.length_m == 0:
            continue
        if kept and leg.on_ground and (kept[-1].id, kept[-1].kind) == (leg.id, leg.kind):
            points_m = (*kept[-1].points_m, *leg.points_m[1:])
            kept[-1] = ground_leg(leg.id, leg.kind, leg.floor, points_m)
        else:
            kept.append(leg)
    return tuple(kept) or everything[:1]
