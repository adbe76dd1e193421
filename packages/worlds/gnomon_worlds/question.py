"""Holds one drawn question with its truth and boxes, and writes it in GTR-Bench's published layout."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from gnomon.core.clock import NOON_S, clock_span
from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import Evidence, Place, Track, places_of
from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.scene.scene import Point, Scene
from gnomon_tools.scene.scene_cache import cached_per_scene
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.movement import Journey
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.world import World

BoundingBox = tuple[float, float, float, float]  # x, y, width, height in pixels, y down

STEP_S = 0.05  # over which the direction of travel is taken


def box(mount: Mount, journey: Journey, time_s: float) -> BoundingBox:
    """The upright box of the target: the middle of its lower edge is where the target is, to 0.1 pixels.

    Its upper edge stops at that of the picture; the sides may reach beyond, as a tracker's do.
    """
    xy_m = journey.xy_m_at(time_s)
    u, foot, depth_m = mount.pixel(xy_m)
    _, head, _ = mount.pixel(xy_m, journey.body.height_m)
    width = _width_m(mount, journey, xy_m, time_s) * mount.focal_px / depth_m
    top = max(head, 0.0)
    return (round(u - width / 2, 1), round(top, 1), round(width, 1), round(foot - round(top, 1), 1))


def _width_m(mount: Mount, journey: Journey, xy_m: Point, time_s: float) -> float:
    """How broad the body looks from the camera: its length seen side-on, its width head-on."""
    body = journey.body
    facing_deg = journey.facing_deg(time_s, STEP_S)
    if facing_deg is None:
        return body.width_m
    turn = math.radians(turn_deg(bearing_deg(mount.xy_m, xy_m), facing_deg))
    return abs(math.sin(turn)) * body.length_m + abs(math.cos(turn)) * body.width_m


BOXES = 6
FRAMES_PER_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is shown, asked and true. `options` have no letters yet; `right` are one or two of them.

    `clip_sightings` are the clips in the order in which they are shown; `times_s` the true intervals of a
    forecast.
    """

    task_id: str
    clip_sightings: tuple[tuple[Trip, Sighting], ...]
    text: str
    options: tuple[str, ...]
    right: tuple[str, ...]
    times_s: tuple[tuple[float, float], ...] = ()
    middle: Sighting | None = None  # between two clips, where a task has it
    gaps: tuple[tuple[Trip, Sighting, Sighting], ...] = ()  # unseen stretches that the answer bridges


def when(sighting: Sighting) -> str:
    """A sighting's interval by the clock, rounded inwards to milliseconds."""
    return clock_span(*rounded_s(sighting.start_s, sighting.end_s))


def shown_when(world: World, sighting: Sighting) -> str:
    """The same interval by the clock of the camera, as its clip has it."""
    ahead_s = world.clocks_s.get(sighting.camera, 0.0)
    start_s, end_s = rounded_s(sighting.start_s, sighting.end_s)
    return clock_span(start_s + ahead_s, end_s + ahead_s)


def rounded_s(start_s: float, end_s: float) -> tuple[float, float]:
    """An interval in whole milliseconds within the given one.

    >>> rounded_s(0.00012, 1.99999)
    (0.001, 1.999)
    """
    return math.ceil(start_s * 1000) / 1000, math.floor(end_s * 1000) / 1000


def frames_between(start_s: float, end_s: float) -> int:
    """The number of frames from one box of a clip to the next."""
    return max(1, round((end_s - start_s) * FRAMES_PER_S / (BOXES - 1)))


def drawn_clip(world: World, trip: Trip, sighting: Sighting) -> dict[str, Any]:
    """One clip: BOXES boxes at equal steps from its first to its last moment; it counts its own frames.

    Its times are those of its camera's clock.
    """
    start_s, end_s = rounded_s(sighting.start_s, sighting.end_s)
    step = frames_between(start_s, end_s)
    times_s = [start_s + (end_s - start_s) * index / (BOXES - 1) for index in range(BOXES)]
    mount = world.installation.mounts[sighting.camera]
    ahead_s = world.clocks_s.get(sighting.camera, 0.0)
    return {
        "camera_id": sighting.camera,
        "object_id": trip.target,
        "video_path": "",
        "frame_ids": [index * step for index in range(BOXES)],
        "bboxes": [list(box(mount, trip.journey, time_s)) for time_s in times_s],
        "start_timestamp": round(start_s + ahead_s, 3) if ahead_s else start_s,
        "end_timestamp": round(end_s + ahead_s, 3) if ahead_s else end_s,
        "direction": "",
    }


def record(
    question: Question,
    world: World,
    rng: Random,
    *,
    case_id: str,
    map_file: str,
    clip: Callable[[World, Trip, Sighting], dict[str, Any]] = drawn_clip,
) -> dict[str, Any]:
    """The question as GTR-Bench publishes its own; the options in an order drawn by lot.

    `clip` gives what a camera saw of a target: drawn in worlds, read in recordings.
    """
    bodies = rng.sample(question.options, len(question.options))
    choices = {body: f"{chr(ord('A') + index)}. {body}" for index, body in enumerate(bodies)}
    right = [choices[body] for body in question.right]
    published = {
        "task_id": question.task_id,
        "case_id": case_id,
        "map_image_path": f"./data/{world.scene.kind}/map/{map_file}",
        "camera_images": [clip(world, trip, sighting) for trip, sighting in question.clip_sightings],
        "question": question.text,
        "choices": list(choices.values()),
    }
    if question.times_s:
        times = [clock_span(*rounded_s(*interval_s)) for interval_s in question.times_s]
        return published | {"correct_cam_name": right, "correct_time_str": times}
    return published | {"ground_truth": right[0], **_points(world, question)}


def _points(world: World, question: Question) -> dict[str, Any]:
    if question.middle is None:
        return {}
    names = ("start_point", "end_point", "middle_point")
    ends = [sighting for _, sighting in question.clip_sightings]
    times = [*(shown_when(world, sighting) for sighting in ends), when(question.middle)]
    return {
        name: {"camera_id": sighting.camera, "time": time}
        for name, sighting, time in zip(names, (*ends, question.middle), times, strict=True)
    }


def path_m(journey: Journey, sighting: Sighting) -> tuple[Point, ...]:
    """Where the target was in its clip, box by box."""
    start_s, lasted_s = sighting.start_s, sighting.stay_s
    return tuple(journey.xy_m_at(start_s + lasted_s * at / (BOXES - 1)) for at in range(BOXES))


def evidence_in(world: World, question: Question) -> Evidence:
    """What rules of thumb may look at in a question; the camera asked about, unless that is the answer."""
    task = TASKS[question.task_id].short
    asked = question.middle.camera if question.middle and task != "GL" else ""
    return evidence_of(world, task, question.clip_sightings, asked=asked)


def evidence_of(
    world: World, task: str, clips: Sequence[tuple[Trip, Sighting]], *, asked: str = ""
) -> Evidence:
    """The evidence for rules of thumb in a question with these clips: what boxes tell, to centimetres."""
    tracks = (
        Track(
            camera=sighting.camera,
            first=Place(xy_m=sighting.came_from.xy_m, floor=sighting.came_from.floor),
            last=Place(xy_m=sighting.exit.xy_m, floor=sighting.exit.floor),
            span_s=None if task == "CR" else (NOON_S + sighting.start_s, NOON_S + sighting.end_s),
            path_m=path_m(trip.journey, sighting),
        )
        for trip, sighting in clips
    )
    spots, posts = _places(world.scene)
    return Evidence(task=task, asked=asked, tracks=tuple(tracks), spots=spots, posts=posts)


@cached_per_scene
def _places(scene: Scene) -> tuple[Mapping[str, Place], Mapping[str, Place]]:
    return places_of(scene.cameras)


def nearest(
    rng: Random, cameras: Sequence[str], distance_m: dict[str, float], count: int
) -> list[str] | None:
    """Draw `count` cameras from the twice as many that lie nearest; None where there are too few.

    Wrong options that lie near make it useless to pick whatever is near.
    """
    if len(cameras) < count:
        return None
    return rng.sample(sorted(cameras, key=distance_m.__getitem__)[: 2 * count], count)
