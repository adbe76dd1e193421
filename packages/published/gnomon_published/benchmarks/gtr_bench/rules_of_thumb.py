"""Ranks a question's options by rules of thumb that are blind to streets, walls and stairs.

A rule gives each option a score and takes the one with the lowest. The audit tells how often that is right,
and generated worlds can be drawn so that it is no more often than chance.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gnomon.core.clock import day_span
from gnomon_tools.geometry.angles import EIGHTHS, bearing_deg, turn_deg
from gnomon_tools.scene.scene import Camera, Point

OTHER_FLOOR_M = 10_000.0  # added on another floor: first the floor counts, then metres
AHEAD_DEG = 90.0  # to either side of the direction in which a target went
SAME = 0.5  # metres, seconds or degrees: options that differ by less are left side by side
RUN = re.compile(r"(\d+(?:\.\d+)?) meters (" + "|".join(sorted(EIGHTHS, key=len, reverse=True)) + r")\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A point on a floor."""

    xy_m: Point
    floor: int

    def to_m(self, other: "Place") -> float:
        """Straight distance, with OTHER_FLOOR_M to another floor."""
        return math.dist(self.xy_m, other.xy_m) + OTHER_FLOOR_M * (self.floor != other.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """What a clip tells of its target: its camera, where the target was first and last seen, and when.

    `first` and `last` are on the floor, through the camera's homography, else the middle of its view.
    `span_s` is None where times are withheld; `path_m` are the places of all boxes.
    """

    camera: str
    first: Place
    last: Place
    span_s: tuple[float, float] | None
    path_m: tuple[Point, ...] = ()

    @property
    def heading_deg(self) -> float | None:
        """The direction from the first to the last place; None if these are the same."""
        return None if self.first == self.last else bearing_deg(self.first.xy_m, self.last.xy_m)

    @property
    def speed_mps(self) -> float:
        lasted_s = self.span_s[1] - self.span_s[0] if self.span_s else 0.0
        return math.dist(self.first.xy_m, self.last.xy_m) / lasted_s if lasted_s > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A question without its options. `asked` is the camera whose time is asked for, if any.

    `spots` are the middles of the cameras' views, `posts` the cameras' own places.
    """

    task: str
    asked: str
    tracks: tuple[Track, ...]
    spots: Mapping[str, Place]
    posts: Mapping[str, Place]


def evidence(
    task: str,
    clips: Iterable[tuple[str, Sequence[Sequence[str]], tuple[float, float] | None]],
    cameras: Mapping[str, Camera],
    *,
    asked: str = "",
) -> Evidence | None:
    """What the rules look at; each clip is a camera, its boxes (x, y, width, height, as texts) and its time.

    None where a camera of a clip has no place.
    """
    spots, posts = places_of(cameras)
    tracks = []
    for name, boxes, span_s in clips:
        if name not in spots:
            return None
        spot, path_m = spots[name], _feet(cameras[name], boxes)
        ends = (path_m[0], path_m[-1]) if path_m else (spot.xy_m, spot.xy_m)
        first, last = (Place(xy_m=xy_m, floor=spot.floor) for xy_m in ends)
        tracks.append(Track(camera=name, first=first, last=last, span_s=span_s, path_m=path_m))
    return Evidence(task=task, asked=asked, tracks=tuple(tracks), spots=spots, posts=posts)


def places_of(cameras: Mapping[str, Camera]) -> tuple[Mapping[str, Place], Mapping[str, Place]]:
    """By camera: the middle of its view, and its own place; those that are unknown are left out."""
    return (
        {camera.id: place for camera in cameras.values() if (place := _spot(camera))},
        {
            camera.id: Place(xy_m=camera.xy_m, floor=camera.floor)
            for camera in cameras.values()
            if camera.xy_m
        },
    )


def _spot(camera: Camera) -> Place | None:
    if camera.field_of_view is not None and not camera.field_of_view.is_empty:
        middle = camera.field_of_view.centroid
        return Place(xy_m=(middle.x, middle.y), floor=camera.floor)
    return Place(xy_m=camera.xy_m, floor=camera.floor) if camera.xy_m else None


def _feet(camera: Camera, boxes: Sequence[Sequence[str]]) -> tuple[Point, ...]:
    """Where the middles of the boxes' lower edges are on the floor; empty where that is not known."""
    if camera.homography is None or len(boxes) < 2:
        return ()
    numbers = [[float(number) for number in box] for box in boxes]
    pixels = [(x + width / 2, y + height, 1.0) for x, y, width, height in numbers]
    x_m, y_m, depth = np.asarray(camera.homography) @ np.array(pixels).T
    if np.any(depth == 0):
        return ()
    return tuple(zip((x_m / depth).tolist(), (y_m / depth).tolist(), strict=True))


Score = Callable[[Evidence, str], float | None]  # None: the rule says nothing of this question


def nearest(question: Evidence, option: str) -> float | None:
    """Metres from the option's camera to the nearest of the clips' cameras (TF: to the last clip's)."""
    tracks = question.tracks[-1:] if question.task == "TF" else question.tracks
    places = [question.posts.get(name) for name in (option, *(track.camera for track in tracks))]
    here, *others = places
    if here is None or None in others:
        return None
    return min(here.to_m(other) for other in others if other)


def nearest_ahead(question: Evidence, option: str) -> float | None:
    """Metres from where the target was last seen to the option's view; infinite where it lies behind."""
    last, spot = question.tracks[-1], question.spots.get(option)
    if spot is None or last.heading_deg is None:
        return None
    aside_deg = turn_deg(last.heading_deg, bearing_deg(last.last.xy_m, spot.xy_m))
    return last.last.to_m(spot) if abs(aside_deg) <= AHEAD_DEG else math.inf


def straight_on(question: Evidence, option: str) -> float | None:
    """Degrees by which the option's view lies off the direction in which the target was last seen to go."""
    last, spot = question.tracks[-1], question.spots.get(option)
    if spot is None or last.heading_deg is None:
        return None
    aside_deg = abs(turn_deg(last.heading_deg, bearing_deg(last.last.xy_m, spot.xy_m)))
    return aside_deg + OTHER_FLOOR_M * (spot.floor != last.last.floor)


def least_detour(question: Evidence, option: str) -> float | None:
    """Metres from the first clip's end over the option's view to the second's start, in straight lines."""
    spot = question.spots.get(option)
    if spot is None or len(question.tracks) != 2:
        return None
    return question.tracks[0].last.to_m(spot) + spot.to_m(question.tracks[1].first)


def between_both(question: Evidence, option: str) -> float | None:
    """Metres from both targets' last places to the option's view, added."""
    spot = question.spots.get(option)
    return None if spot is None else math.fsum(track.last.to_m(spot) for track in question.tracks)


def shortest_tour(question: Evidence, option: str) -> float | None:
    """Metres from view to view in the option's order, in straight lines."""
    stops = [question.spots.get(name) for name in option.split(" → ")]
    if None in stops:
        return None
    return math.fsum(before.to_m(after) for before, after in pairwise(stops) if before and after)


def same_displacement(question: Evidence, option: str) -> float | None:
    """Metres between where the option's runs lead and where the second clip starts."""
    runs = RUN.findall(option)
    if not runs or len(question.tracks) != 2:
        return None
    start, end = question.tracks[0].last.xy_m, question.tracks[1].first.xy_m
    angles = [(float(metres), math.radians(45 * EIGHTHS.index(way))) for metres, way in runs]
    east_m = start[0] + math.fsum(metres * math.sin(angle) for metres, angle in angles)
    north_m = start[1] + math.fsum(metres * math.cos(angle) for metres, angle in angles)
    return math.dist((east_m, north_m), end)


def least_turning(_question: Evidence, option: str) -> float | None:
    """Degrees by which the option's runs turn from one to the next, added."""
    directions = [45.0 * EIGHTHS.index(way) for _, way in RUN.findall(option)]
    if not directions:
        return None
    return math.fsum(abs(turn_deg(before, after)) for before, after in pairwise(directions))


def straight_timing(question: Evidence, option: str) -> float | None:
    """Seconds by which the middle of the option's interval is off the time that a straight way would take.

    The way leads over the view of the camera asked for; the target goes at one speed throughout.
    """
    interval, spot = day_span(option), question.spots.get(question.asked)
    if interval is None or spot is None or len(question.tracks) != 2:
        return None
    start, end = question.tracks
    if start.span_s is None or end.span_s is None:
        return None
    there_m, on_m = start.last.to_m(spot), spot.to_m(end.first)
    share = there_m / (there_m + on_m) if there_m + on_m else 0.5
    expected_s = start.span_s[1] + share * (end.span_s[0] - start.span_s[1])
    return abs(sum(interval) / 2 - expected_s)


def same_arrival(question: Evidence, option: str) -> float | None:
    """Seconds between both targets' arrivals at the option's view, straight and as fast as in their clips."""
    spot, arrivals_s = question.spots.get(option), []
    for track in question.tracks:
        if spot is None or track.span_s is None or not track.speed_mps:
            return None
        arrivals_s.append(track.span_s[1] + track.last.to_m(spot) / track.speed_mps)
    return max(arrivals_s) - min(arrivals_s)


def longest(_question: Evidence, option: str) -> float | None:
    """Minus the option's length: seconds of an interval, else metres of its runs."""
    if interval := day_span(option):
        return interval[0] - interval[1]
    runs = RUN.findall(option)
    return -math.fsum(float(metres) for metres, _ in runs) if runs else None


def longest_run(_question: Evidence, option: str) -> float | None:
    """Minus the metres of the option's longest run."""
    runs = RUN.findall(option)
    return -max(float(metres) for metres, _ in runs) if runs else None


def earliest(_question: Evidence, option: str) -> float | None:
    """When the option's interval starts."""
    interval = day_span(option)
    return interval[0] if interval else None


RULES: Mapping[str, tuple[Sequence[str], Score]] = {
    "nearest camera": (("GL", "NSF", "TF", "MTTF"), nearest),
    "nearest camera ahead": (("NSF", "TF"), nearest_ahead),
    "straight on": (("NSF", "TF"), straight_on),
    "straight line: least detour": (("GL",), least_detour),
    "straight line: between both": (("MTTF",), between_both),
    "straight line: shortest tour": (("CR",), shortest_tour),
    "straight line: same displacement": (("MS",), same_displacement),
    "least turning": (("MS",), least_turning),
    "straight-line timing": (("ATI",), straight_timing),
    "straight-line timing: same arrival": (("MTTF",), same_arrival),
    "longest": (("ATI", "MS"), longest),
    "earliest": (("ATI",), earliest),
}


def scores_of(question: Evidence, options: Sequence[str]) -> dict[str, dict[str, float]]:
    """By rule, the score of each option; rules that say nothing of one of them are left out."""
    scores = {}
    for name, (tasks, score) in RULES.items():
        if question.task in tasks:
            by_option = {option: score(question, option) for option in options}
            if None not in by_option.values():
                scores[name] = {option: value for option, value in by_option.items() if value is not None}
    return scores


def taken(scores: Sequence[float]) -> list[int]:
    """The options that a rule takes: those within SAME of the lowest score; none where all are infinite.

    >>> taken([3.0, 2.2, 2.0, 9.0]), taken([math.inf, math.inf])
    ([1, 2], [])
    """
    lowest = min(scores)
    return [] if lowest == math.inf else [at for at, score in enumerate(scores) if score - lowest < SAME]
