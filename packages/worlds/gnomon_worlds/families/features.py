"""Measures what makes a question of a family hard: how long, bent and watched the ways are that decide it."""

import math
from collections.abc import Iterator, Mapping

from shapely import LineString, Point

from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import Path
from gnomon_worlds.families.family import FamilyQuestion
from gnomon_worlds.world import Spot, World

FEATURES = (
    "detour",
    "gap_m",
    "gap_s",
    "junctions",
    "cameras_between",
    "closeness",
    "sightings",
    "hidden",
    "half_suffices",
)
OWN_M = 1.0  # a view that an end of a way is so near to is that of its own sighting


def features_of(world: World, question: FamilyQuestion) -> Mapping[str, float]:
    """The features of a question.

    detour: the largest of its ways over their straight lines; closeness: how far its closest call is from a
    tie, as the logarithm of a time over a time; gap_s: the mean time between its sightings; gap_m, junctions:
    the mean length of its ways, and of the junctions passed (in buildings: rooms and doors); cameras_between:
    how many cameras look at one of the ways, besides those of its sightings; sightings: how many; hidden: how
    many bodies went out of sight; half_suffices: whether one finds the answer who leaves out a step.
    """
    network = Network.of(world.scene)
    paths = []
    between: set[str] = set()
    for start, end, _ in question.ways:
        path = network.path(start.xy_m, start.floor, end.xy_m, end.floor)
        if path is not None:
            paths.append(path)
            between.update(_watching(world, path, start, end))
    measured = {
        "cameras_between": float(len(between)),
        "sightings": float(len(question.evidence)),
    }
    if paths:
        measured["gap_m"] = math.fsum(path.length_m for path in paths) / len(paths)
        measured["junctions"] = sum(len(path.legs) - 1 for path in paths) / len(paths)
    return {**question.features, **measured}


def _watching(world: World, path: Path, start: Spot, end: Spot) -> Iterator[str]:
    """The cameras that look at a way, without those that see one of its ends."""
    lines = [
        (leg.floor, LineString(leg.points_m)) for leg in path.legs if leg.on_ground and len(leg.points_m) > 1
    ]
    for name, camera in world.scene.cameras.items():
        view = camera.field_of_view
        if view is None or any(
            spot.floor == camera.floor and view.distance(Point(spot.xy_m)) < OWN_M for spot in (start, end)
        ):
            continue
        if any(floor == camera.floor and view.intersects(line) for floor, line in lines):
            yield name
