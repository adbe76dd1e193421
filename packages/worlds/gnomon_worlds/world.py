"""One generated place, with everything that is needed to move through it and to film it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import RouteLeg
from gnomon_tools.scene.scene import Point, Scene
from gnomon_worlds.buildings import Building
from gnomon_worlds.camera_model import Installation
from gnomon_worlds.lanes import RoadLanes
from gnomon_worlds.signals import Signals
from gnomon_worlds.way_lengths import Stops

STOPS = 64  # worlds of which it is remembered how their cameras' spots join the ways


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A point on a floor."""

    xy_m: Point
    floor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """A scene, its cameras' mounts, and the points between which its targets travel."""

    scene: Scene
    installation: Installation
    ends: tuple[Spot, ...]  # where journeys start and end
    apart_m: float  # how far apart they do, at least, as the crow flies
    margin_m: float  # distances that differ by less are too close to call
    spots: Mapping[str, tuple[Spot, ...]]  # by camera: the middles of the ways in its view
    traffic: Signals | None = None  # None: targets go evenly and never stop
    signalled: frozenset[Point] | None = (
        None  # junctions with signals; None: which they are is a matter of lot
    )
    bans: frozenset[tuple[str, str]] = frozenset()  # roads from which nobody turns into which
    clocks_s: Mapping[str, float] = field(default_factory=dict)  # by camera: how far ahead its clock is
    buildings: tuple[Building, ...] = ()  # those that hide streets from cameras
    is_crowded: bool = False  # those who go with a target hide it, too
    lanes: Mapping[str, RoadLanes] = field(default_factory=dict)  # by road; none: all drive in the middle
    is_returning: bool = False  # some turn back on their way, or come back
    filmed: "World | None" = None  # what clips show, where its map lacks streets; None: this

    def allows(self, legs: Sequence[RouteLeg]) -> bool:
        """Whether a way makes no banned turn."""
        return not self.bans or all((a.id, b.id) not in self.bans for a, b in pairwise(legs))

    @staticmethod
    def crow_m(start: Spot, end: Spot) -> float:
        """Straight distance on the plan, whatever the floors."""
        return math.dist(start.xy_m, end.xy_m)

    def way_m(self, start: Spot, end: Spot) -> float:
        """Length of the shortest way; infinite where there is none."""
        return network_of(self).length_m(start.xy_m, start.floor, end.xy_m, end.floor)

    def ways_to_cameras_m(self, start: Spot) -> dict[str, float]:
        """Length of the shortest way to the nearest spot of each camera."""
        return self._nearest_m(_stops(self).lengths_from_m(start.xy_m, start.floor))

    def ways_from_cameras_m(self, end: Spot) -> dict[str, float]:
        """Length of the shortest way from the nearest spot of each camera; one-way streets count."""
        return self._nearest_m(_stops(self).lengths_to_m(end.xy_m, end.floor))

    def _nearest_m(self, lengths_m: Sequence[float]) -> dict[str, float]:
        """By camera the least of its spots' lengths."""
        each = iter(lengths_m)
        return {camera: min(next(each) for _ in spots) for camera, spots in self.spots.items()}


@lru_cache(STOPS)
def network_of(world: World) -> Network:
    """The network of the world's ways."""
    network = Network.of(world.scene)
    network.join([(end.xy_m, end.floor) for end in world.ends])
    return network


@lru_cache(STOPS)
def _stops(world: World) -> Stops:
    """The spots of all cameras."""
    spots = [(spot.xy_m, spot.floor) for spots in world.spots.values() for spot in spots]
    return Stops(network_of(world), spots)
