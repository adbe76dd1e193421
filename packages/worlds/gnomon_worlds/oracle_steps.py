"""Writes the measurements on the way to an answer, and stops before the choice."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from shapely import LineString, Point

from gnomon.core.ids import stable_hash, stable_seed
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.scene.scene import Point as ScenePoint
from gnomon_tools.scene.scene import Scene, Zone
from gnomon_tools.scene.scene_cache import cached_per_scene
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.world import Spot, World

HEADER = "True intermediate steps (lengths in metres; directions in degrees clockwise from north):"
VIEWS = "Where each camera sees its ways, as the middle of what it sees:"
WAYS = "Ways, each straight from one junction to another; positions along it count from the first:"
CROSSINGS = "How each clip's target crossed the view of its camera:"
ONE_WAY = ", this way only"
TOUCHING_M = 0.05
PIECE_M = 8.0


def steps_of(world: World, clip_sightings: Sequence[tuple[Trip, Sighting]]) -> str:
    """How each shown target crossed its view, where every camera's view is, and how the ways are joined.

    It is a function of the place and of the clips: neither the options nor the truth are passed, so nothing
    in it is marked by them, and no length leads to a camera. Positions are along ways, without coordinates,
    so that how far it is has to be added up from way to way. Clips go by their cameras, in the order of ids,
    without clock times: nothing tells the order of clips. The place comes first, in the same words for all of
    its questions: a provider reads that beginning of their prompts from its cache.
    """
    plan = _plan(world.scene)
    shown = sorted(clip_sightings, key=lambda pair: pair[1].camera)
    return "\n".join(
        [
            HEADER,
            VIEWS,
            *_views(plan, world),
            WAYS,
            *plan.lines,
            CROSSINGS,
            *(_crossing(plan, trip, sighting) for trip, sighting in shown),
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """A street, a stretch of corridor, or a passage or hall from one corridor to another: a straight line."""

    name: str
    line: LineString
    floor: int = 0
    zone: Zone | None = None
    is_oneway: bool = False  # from the line's start to its end

    def distance_m(self, at: Point, floor: int) -> tuple[float, float]:
        """How far a point of a floor is off the zone that the way runs through, and off the way itself."""
        off_m = float(self.line.distance(at))
        if floor != self.floor:
            return math.inf, off_m
        return (round(self.zone.area.distance(at), 3) if self.zone else off_m), off_m


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The ways of a place, and the lines of text that tell how they are joined."""

    ways: tuple[_Way, ...]
    lines: tuple[str, ...]

    def place(self, spot: Spot) -> str:
        """The way that a spot is on, and how far along it."""
        at = Point(spot.xy_m)
        way = min(self.ways, key=lambda way: way.distance_m(at, spot.floor))
        return f"{way.line.project(at):.1f} m along {way.name}"


@cached_per_scene
def _plan(scene: Scene) -> _Plan:
    """The place's streets, or its corridors and what joins them; the same for all of its questions.

    Ways and junctions are numbered by lot, and ways directed by lot unless they are gone one way only: ids of
    roads follow the grid and numbers of rooms begin with the floor, and positions along two parallel ways
    could be compared at once.
    """
    drawn = _streets(scene) if scene.kind == "outdoor" else list(_indoor_ways(scene))
    drawn = [
        way if way.is_oneway or _lot(scene, way) % 2 else replace(way, line=way.line.reverse())
        for way in drawn
    ]
    drawn.sort(key=lambda way: _lot(scene, way))
    ways = tuple(replace(way, name=f"w{number:02d}") for number, way in enumerate(drawn, start=1))
    climbs = [portal for portal in scene.portals.values() if portal.kind != "door"]
    ends = {(end, way.floor) for way in ways for end in map(_rounded, way.line.coords)}
    order = sorted(ends, key=lambda end: stable_hash(scene.id, end))
    junctions = {end: f"j{number:02d}" for number, end in enumerate(order, start=1)}
    lines = []
    for way in ways:
        start, end = map(_rounded, way.line.coords)
        joins = " to ".join(junctions[point, way.floor] for point in (start, end))
        lines.append(
            f"- {way.name}: {way.line.length:.1f} m, running to {bearing_deg(start, end):.0f} deg,"
            f" from {joins}{ONE_WAY if way.is_oneway else ''}"
        )
    for portal in climbs:
        joins = " to ".join(
            junctions[_rounded(_on_axis(scene.zones[zone], at_m)), scene.zones[zone].floor]
            for zone, at_m in zip(portal.zones, portal.ends_m, strict=True)
        )
        only = ONE_WAY if portal.is_oneway else ""
        lines.append(f"- {portal.kind}: {portal.length_m or 0:.1f} m, from {joins}{only}")
    return _Plan(ways=ways, lines=tuple(lines))


def _lot(scene: Scene, way: _Way) -> int:
    return stable_seed("way", scene.id, way.name)


def _streets(scene: Scene) -> list[_Way]:
    return [_Way(name=road.id, line=road.line, is_oneway=road.oneway) for road in scene.roads.values()]


def _indoor_ways(scene: Scene) -> Iterator[_Way]:
    """Corridors from door to door; passages and halls from corridor to corridor. Other rooms lead nowhere."""
    doors = Counter(zone for portal in scene.portals.values() for zone in portal.zones)
    through = {zone.id: zone for zone in scene.zones.values() if doors[zone.id] > 1}
    for zone in through.values():
        joined = [
            at_m
            for portal in scene.portals.values()
            if through.keys() >= set(portal.zones)
            for end, at_m in zip(portal.zones, portal.ends_m, strict=True)
            if end == zone.id
        ]
        if zone.name.startswith("Corridor"):
            axis = _axis(zone)
            stops = {*map(_rounded, axis.coords), *(_rounded(_on_axis(zone, at_m)) for at_m in joined)}
            stretches = [piece for stretch in pairwise(sorted(stops)) for piece in _cut(*stretch)]
        else:
            corridors = [
                other
                for at_m in joined
                for other in through.values()
                if other.name.startswith("Corridor") and other.floor == zone.floor
                if other.area.distance(Point(at_m)) < TOUCHING_M
            ]
            here, there = (
                _rounded(_on_axis(other, at_m)) for other, at_m in zip(corridors, joined, strict=True)
            )
            stretches = [(here, there)]
        for number, stretch in enumerate(stretches):
            yield _Way(name=f"{zone.id} {number}", line=LineString(stretch), floor=zone.floor, zone=zone)


def _cut(start: ScenePoint, end: ScenePoint) -> Iterator[tuple[ScenePoint, ScenePoint]]:
    """A stretch of corridor in pieces so short that hardly two cameras see the same one."""
    line = LineString([start, end])
    count = math.ceil(line.length / PIECE_M)
    shares = (line.interpolate(index / count, normalized=True) for index in range(count + 1))
    yield from pairwise([_rounded((point.x, point.y)) for point in shares])


def _axis(zone: Zone) -> LineString:
    west, south, east, north = zone.area.bounds
    if east - west > north - south:
        return LineString([(west, (south + north) / 2), (east, (south + north) / 2)])
    return LineString([((west + east) / 2, south), ((west + east) / 2, north)])


def _on_axis(corridor: Zone, at_m: ScenePoint) -> ScenePoint:
    """The point of a corridor's middle line that belongs to a door, stairs or a lift."""
    axis = _axis(corridor)
    point = axis.interpolate(axis.project(Point(at_m)))
    return point.x, point.y


def _rounded(point_m: Sequence[float]) -> ScenePoint:
    return round(point_m[0], 2), round(point_m[1], 2)


def _crossing(plan: _Plan, trip: Trip, sighting: Sighting) -> str:
    turned = f", turned back {plan.place(sighting.turned)}" if sighting.turned else ""
    return (
        f"- camera {sighting.camera}: the {trip.journey.body.kind} came into view"
        f" {plan.place(sighting.entry)}{turned} and left it {plan.place(sighting.exit)},"
        f" {sighting.stay_s:.2f} s later, at {sighting.crossed_m / sighting.stay_s:.2f} m/s on average"
    )


def _views(plan: _Plan, world: World) -> Iterator[str]:
    """The line of every camera of the place, whichever are asked about."""
    spots: Mapping[str, Sequence[Spot]] = world.spots
    for camera, middles in sorted(spots.items()):
        yield f"- view of {camera}: {' and '.join(map(plan.place, middles))}"
