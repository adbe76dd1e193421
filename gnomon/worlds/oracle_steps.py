"""Writes down what a careful person would measure on the way to an answer, and stops short of the choice."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from gnomon.worlds.question import STEP_S
from gnomon.worlds.trajectory import Sighting, Trip
from gnomon.worlds.world import Spot, World
from tools.geometry.angles import bearing_deg
from tools.scene.scene import Scene
from tools.scene.scene_cache import cached_per_scene

HEADER = "True intermediate steps (positions in metres, x east, y north; headings clockwise from north):"
INDOORS = (
    "Corridors, passages and halls, each walked straight; rooms with one door lead nowhere and are left out:"
)


def steps_of(world: World, clip_sightings: Sequence[tuple[Trip, Sighting]]) -> str:
    """How each shown target crossed its view, where every camera's view is, and how the ways run.

    It is a function of the place and of the clips: neither the options nor the truth are passed, so nothing
    in it is marked by them, and no length leads to a camera. Clips go by their cameras, in the order of ids,
    without clock times: nothing tells the order of clips.
    """
    shown = sorted(clip_sightings, key=lambda pair: pair[1].camera)
    return "\n".join(
        [HEADER, *(_seen(trip, sighting) for trip, sighting in shown), *_views(world), _ways(world)]
    )


def _seen(trip: Trip, sighting: Sighting) -> str:
    start, end = sighting.entry, sighting.exit
    length_m = math.dist(start.xy_m, end.xy_m)
    entering = bearing_deg(start.xy_m, trip.journey.at(sighting.start_s + STEP_S).xy_m)
    leaving = bearing_deg(trip.journey.at(sighting.end_s - STEP_S).xy_m, end.xy_m)
    return (
        f"- camera {sighting.camera}: the {trip.journey.body.kind} came into view at {_spot(start)}, heading"
        f" {entering:.0f} deg, and left it at {_spot(end)}, {sighting.stay_s:.2f} s later, heading"
        f" {leaving:.0f} deg; {length_m / sighting.stay_s:.2f} m/s on average"
    )


def _views(world: World) -> Iterator[str]:
    """Every camera of the place, whichever are asked about."""
    yield "Where the ways that a camera sees have their middle:"
    for camera, spots in sorted(world.spots.items()):
        yield f"- view of {camera}: {' and '.join(_spot(spot) for spot in spots)}"


def _ways(world: World) -> str:
    return _ways_of(world.scene)


@cached_per_scene
def _ways_of(scene: Scene) -> str:
    """The place's streets, or its doors, stairs and lifts; the same for all of its questions."""
    if scene.kind == "outdoor":
        lines = ["Streets, straight from junction to junction:"]
        for road in scene.roads.values():
            start, end = road.line.coords
            lines.append(f"- {_point(start)} to {_point(end)}, {road.line.length:.1f} m")
        return "\n".join(lines)
    doors = Counter(zone for portal in scene.portals.values() for zone in portal.zones)
    through = {zone.id: zone for zone in scene.zones.values() if doors[zone.id] > 1}
    lines = [INDOORS]
    for zone in through.values():
        west, south, east, north = zone.area.bounds
        lines.append(
            f"- {zone.name} on floor {zone.floor},"
            f" corners {_point((west, south))} and {_point((east, north))}"
        )
    lines.append("Ways from one to another:")
    for portal in scene.portals.values():
        if through.keys() >= set(portal.zones):
            first, second = (through[zone] for zone in portal.zones)
            length = f", {portal.length_m:.1f} m long" if portal.length_m else ""
            lines.append(
                f"- {portal.kind} at {_point(portal.ends_m[0])}: {first.name} to {second.name}{length}"
            )
    return "\n".join(lines)


def _spot(spot: Spot) -> str:
    return f"{_point(spot.xy_m)} on floor {spot.floor}"


def _point(xy_m: Sequence[float]) -> str:
    return f"({xy_m[0]:.1f}, {xy_m[1]:.1f})"
