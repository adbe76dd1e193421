"""Computes what perfect tools would find on the way to a question's answer, without the answer."""

import math
import re
from collections.abc import Iterator

from gnomon.worlds.question import Question
from gnomon.worlds.trajectory import Sighting, Trip
from gnomon.worlds.world import Spot, World
from tools.geometry.angles import bearing_deg

HEADER = "True intermediate steps (positions in metres, x east, y north; headings clockwise from north):"
WORD = re.compile(r"[\w-]+")


def steps_of(world: World, question: Question) -> str:
    """Where each shown target came into view and left it, how fast it went and where to, how long the ways
    to the cameras asked about are, and, where the question names an intermediate camera, the way by it.

    Clips go by their cameras, in the order of ids, without clock times: nothing tells the order of clips.
    """
    shown = sorted(question.clip_sightings, key=lambda pair: pair[1].camera)
    lines = [HEADER, *(_seen(trip, sighting) for trip, sighting in shown)]
    for _, sighting in shown:
        lines += _ways(world, sighting, _asked_about(world, question))
    lines += _between(world, question)
    return "\n".join(lines)


def _seen(trip: Trip, sighting: Sighting) -> str:
    start, end = sighting.entry, sighting.exit
    leaves = trip.journey.at(sighting.end_s - min(1.0, sighting.stay_s / 2))
    length_m = math.dist(start.xy_m, end.xy_m)
    return (
        f"- camera {sighting.camera}: the {trip.journey.body.kind} came into view at {_spot(start)} and left"
        f" it at {_spot(end)}, {sighting.stay_s:.2f} s later, going {length_m / sighting.stay_s:.2f} m/s on"
        f" average and towards {bearing_deg(leaves.xy_m, end.xy_m):.0f} deg at the end"
    )


def _asked_about(world: World, question: Question) -> list[str]:
    named = {word for option in question.options for word in WORD.findall(option)}
    return sorted(named & world.scene.cameras.keys())


def _ways(world: World, sighting: Sighting, cameras: list[str]) -> Iterator[str]:
    for camera in cameras:
        if camera != sighting.camera:
            onward_m, back_m = (
                world.way_to_camera_m(spot, camera) for spot in (sighting.exit, sighting.entry)
            )
            yield (
                f"- shortest way to what camera {camera} sees: {onward_m:.1f} m from where the target left"
                f" {sighting.camera}, {back_m:.1f} m from where it came into that view"
            )


def _between(world: World, question: Question) -> Iterator[str]:
    """The way from the first clip to the second by the middle one, where the question names that one."""
    middle = question.middle
    if middle is None or middle.camera not in WORD.findall(question.text):
        return
    (trip, start), (_, end) = question.clip_sightings
    into_m, through_m = world.way_m(start.exit, middle.entry), world.way_m(middle.entry, middle.exit)
    on_m = world.way_m(middle.exit, end.entry)
    yield (
        f"- from {start.camera} it went {into_m:.1f} m until camera {middle.camera} saw it, {through_m:.1f} m"
        f" in its view, then {on_m:.1f} m until camera {end.camera} saw it"
    )
    track = [start.exit, *_track(trip, start.end_s, end.start_s), end.entry]
    yield f"- its track between the clips: {' '.join(_spot(spot) for spot in track)}"


def _track(trip: Trip, start_s: float, end_s: float) -> Iterator[Spot]:
    """Where it changed speed or direction between two moments."""
    for stretch in trip.journey.stretches:
        for point, time_s in zip(stretch.points_m, stretch.times_s, strict=True):
            if start_s < time_s < end_s:
                yield Spot(xy_m=point, floor=stretch.floor)


def _spot(spot: Spot) -> str:
    x_m, y_m = spot.xy_m
    return f"({x_m:.1f}, {y_m:.1f}) on floor {spot.floor}"
