"""Measures what makes a generated question hard, such as how far straight lines mislead."""

import math
from collections.abc import Mapping
from itertools import pairwise

from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import Path
from gnomon_worlds.movement import BEND_DEG
from gnomon_worlds.question import Question
from gnomon_worlds.world import Spot, World

SHORTEST_M = 1.0  # a straight line that is shorter says nothing of a detour
CAMERA_TASKS = ("GL", "NSF", "TF", "MTTF")


def features_of(world: World, question: Question) -> Mapping[str, float]:
    """The features of a question; all are about the gaps, the unseen stretches that its answer bridges.

    detour: the way over the straight line, of all gaps together; gap_m, gap_s: the way and the time unseen;
    junctions: those passed (indoors: rooms and doors); turns: bends of more than BEND_DEG; cameras_between:
    others that see the target between the first and the last clip; closeness (of questions for a camera): the
    straight way to the right one over that to the nearest wrong one, so above 1 a wrong one is nearer;
    targets: how many move.
    """
    paths = [path for _, before, after in question.gaps if (path := _path(world, before.exit, after.entry))]
    straight_m = math.fsum(
        math.dist(before.exit.xy_m, after.entry.xy_m) for _, before, after in question.gaps
    )
    gap_m = math.fsum(path.length_m for path in paths)
    first_s = min(before.end_s for _, before, _ in question.gaps)
    last_s = max(after.start_s for _, _, after in question.gaps)
    known = {sighting.camera for _, before, after in question.gaps for sighting in (before, after)}
    between = {
        sighting.camera
        for trip, _, _ in question.gaps
        for sighting in trip.sightings
        if first_s < sighting.start_s < last_s and sighting.camera not in known
    }
    features = {
        "detour": detour(gap_m, straight_m),
        "gap_m": gap_m,
        "gap_s": math.fsum(after.start_s - before.end_s for _, before, after in question.gaps),
        "junctions": float(sum(len(path.legs) - 1 for path in paths)),
        "turns": float(sum(map(_turns, paths))),
        "cameras_between": float(len(between)),
        "targets": float(len({trip.target for trip, _, _ in question.gaps})),
    }
    if TASKS[question.task_id].short in CAMERA_TASKS:
        features["closeness"] = _closeness(world, question)
    return features


def detour(way_m: float, straight_m: float) -> float:
    """A way's length over its straight line; 1 where it hardly leads anywhere.

    >>> detour(7.0, 5.0), detour(3.0, 0.0), detour(0.2, 0.1)
    (1.4, 3.0, 1.0)
    """
    return max(way_m, SHORTEST_M) / max(straight_m, SHORTEST_M)


def _path(world: World, start: Spot, end: Spot) -> Path | None:
    return Network.of(world.scene).path(start.xy_m, start.floor, end.xy_m, end.floor)


def _turns(path: Path) -> int:
    points_m = [point for leg in path.legs for point in leg.points_m]
    pieces = [(a, b) for a, b in pairwise(points_m) if a != b]
    return sum(
        abs(turn_deg(bearing_deg(*before), bearing_deg(*after))) > BEND_DEG
        for before, after in pairwise(pieces)
    )


def _closeness(world: World, question: Question) -> float:
    """Closeness of the first right camera, from where the target was last seen before it."""
    _, before, _ = question.gaps[0]
    away_m = {
        camera: min(world.crow_m(before.exit, spot) for spot in world.spots[camera])
        for camera in question.options
    }
    wrong_m = min(away_m[camera] for camera in question.options if camera not in question.right)
    return away_m[question.right[0]] / max(wrong_m, SHORTEST_M)
