"""Measures what GTR-Bench's authors checked by hand (paper, section 4.3): errors of tracks, spans, durations.

A question is dropped where a measure passes its limit; where it comes near, a person may look at it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import shapely

from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.geometry.polyline import simplified
from gnomon_worlds.question import Question
from gnomon_worlds.tracking.calibration import Calibration
from gnomon_worlds.tracking.neutral_form import Kind
from gnomon_worlds.tracking.site_world import Place, RecordedTrip
from gnomon_worlds.trajectory import MIN_STAY_S, Sighting, lookout_of_views

LED_S = 2.0
BEND_M = {"outdoor": 4.0, "indoor": 1.0}  # smaller bends are where a path in view joins a road's middle
NEAR = 0.2  # within this share of a limit a question is put into the queue for review


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A measure with its limit outdoors and indoors; `at_least` where lower values are dropped."""

    name: str
    what: str
    unit: str
    outdoor: float
    indoor: float
    at_least: bool = False

    def limit(self, kind: Kind) -> float:
        """The limit in a kind of place."""
        return self.outdoor if kind == "outdoor" else self.indoor

    def is_broken(self, value: float, kind: Kind) -> bool:
        """Whether a question with that value is dropped."""
        return value < self.limit(kind) if self.at_least else value > self.limit(kind)

    def is_near(self, value: float, kind: Kind) -> bool:
        """Whether a value that keeps the rule is within NEAR of its limit."""
        limit = self.limit(kind)
        close = value < limit * (1 + NEAR) if self.at_least else value > limit * (1 - NEAR)
        return limit > 0 and close and not self.is_broken(value, kind)


# name, what it measures, unit, limit outdoors, limit indoors
_AT_MOST = (
    ("calibration", "RMS residual of a camera's point pairs, the worst", "m", 2.0, 0.5),
    ("projection", "metres on the floor for a pixel, the worst stay's median", "m/px", 1.0, 0.25),
    ("track error", "RMS distance of foot points from the smoothed path, the worst stay", "m", 2.0, 0.7),
    ("filled in", "share of a stay's positions that were filled in, the worst", "", 0.3, 0.3),
    ("overlap", "two of the sightings that matter at the same time", "s", 0.0, 0.0),
    ("pace", "speed on the assumed way over that in view, or its inverse, the worst gap", "×", 2.0, 2.5),
    ("missed", "cameras whose views the assumed way crosses, and that did not see the target", "", 0.0, 0.0),
    ("turn back", "sharpest turn of the assumed way from view to view, of MotionState", "°", 120.0, 120.0),
    ("off the ways", "distance of a view's entry or exit from road or room, the worst", "m", 10.0, 1.5),
    ("duration", "from the first sighting to the last", "s", 600.0, 600.0),
    ("clip", "length of the longest clip", "s", 60.0, 60.0),
)
_SPAN = ("span", "straight distance from the first sighting to the farthest", "m", 20.0, 4.0)


def _rule(row: tuple[str, str, str, float, float], *, at_least: bool = False) -> Rule:
    name, what, unit, outdoor, indoor = row
    return Rule(name=name, what=what, unit=unit, outdoor=outdoor, indoor=indoor, at_least=at_least)


RULES = (*map(_rule, _AT_MOST), _rule(_SPAN, at_least=True))


def measured(place: Place, calibrated: Mapping[str, Calibration], question: Question) -> dict[str, float]:
    """The value of every rule that can be measured of a question."""
    shown = [(trip, sighting) for trip, sighting in question.clip_sightings if isinstance(trip, RecordedTrip)]
    by_trip: dict[int, tuple[RecordedTrip, list[Sighting]]] = {}
    for trip, sighting in shown:
        by_trip.setdefault(id(trip), (trip, []))[1].append(sighting)
    for trip, asked in by_trip.values():
        shown_cameras = {sighting.camera for sighting in asked}
        middle = [question.middle] if question.middle else []
        answers = [
            sighting for sighting in trip.sightings
            if question.times_s and sighting.camera in question.right and sighting.camera not in shown_cameras
        ]  # fmt: skip
        asked += middle + answers
    stays = [trip.stay_of(sighting) for trip, asked in by_trip.values() for sighting in asked]
    everyone = [sighting for _, asked in by_trip.values() for sighting in asked]
    rms = [
        value
        for sighting in everyone
        if (value := calibrated[place.names[sighting.camera]].rms_m) is not None
    ]
    entries = [spot for sighting in everyone for spot in (sighting.entry, sighting.exit)]
    start = min(everyone, key=lambda sighting: sighting.start_s)
    values = {
        "projection": max(stay.m_per_px for stay in stays),
        "track error": max(stay.error_m for stay in stays),
        "filled in": max(stay.filled for stay in stays),
        "overlap": max(_overlap_s(asked) for _, asked in by_trip.values()),
        "span": max(
            float(np.hypot(spot.xy_m[0] - start.entry.xy_m[0], spot.xy_m[1] - start.entry.xy_m[1]))
            for spot in entries
        ),
        "duration": max(sighting.end_s for sighting in everyone) - start.start_s,
        "clip": max(sighting.stay_s for _, sighting in shown),
    }
    paces = [pace for trip, asked in by_trip.values() for pace in _paces(trip, asked)]
    if not all(trip.is_known for trip, _ in by_trip.values()):
        values["off the ways"] = max(_off_m(place, spot.xy_m, spot.floor) for spot in entries)
    if place.roads_from in ("the scene", ""):
        values["missed"] = float(sum(_missed(place, trip, asked) for trip, asked in by_trip.values()))
    if question.task_id == "MotionState":
        trip, ends = next(iter(by_trip.values()))
        if not trip.is_known:
            values["turn back"] = _sharpest_deg(
                trip, min(end.end_s for end in ends), max(end.start_s for end in ends), place.world.scene.kind
            )
    if rms:
        values["calibration"] = max(rms)
    if paces:
        values["pace"] = max(paces)
    return values


def _overlap_s(asked: list[Sighting]) -> float:
    return max(
        (min(a.end_s, b.end_s) - max(a.start_s, b.start_s) for a, b in combinations(asked, 2)), default=0.0
    )


def _paces(trip: RecordedTrip, asked: list[Sighting]) -> list[float]:
    first, last = min(s.end_s for s in asked), max(s.start_s for s in asked)
    ratios = [
        gap.way_m / (gap.end_s - gap.start_s) / gap.around_mps
        for gap in trip.gaps
        if first - 1e-6 <= gap.start_s and gap.end_s <= last + 1e-6
        and gap.end_s - gap.start_s > 1.0 and gap.around_mps > 0
    ]  # fmt: skip
    return [max(ratio, 1 / ratio) if ratio > 0 else float("inf") for ratio in ratios]


def _missed(place: Place, trip: RecordedTrip, asked: list[Sighting]) -> int:
    """How many cameras would have seen a target on its assumed way between sightings, and have no box of it.

    It went another way then, or its boxes are another target's.
    """
    if trip.is_known:
        return 0
    start_s, end_s = min(one.end_s for one in asked), max(one.start_s for one in asked)
    seen = {place.dealt.get(one.camera) for one in trip.everyone}
    return sum(
        one.camera in place.names
        and one.camera not in seen
        and start_s < one.start_s
        and one.end_s < end_s
        and one.stay_s >= MIN_STAY_S
        for one in lookout_of_views(place.world).sightings(trip.journey)
    )


def _sharpest_deg(trip: RecordedTrip, start_s: float, end_s: float, kind: Kind) -> float:
    """The sharpest turn of the way from LED_S before a target was last seen to LED_S after it was seen again.

    One who leaves a view eastwards is not taken to go west next, but where it was seen to turn.
    """
    points = [
        point
        for stretch in trip.journey.stretches
        for point, time_s in zip(stretch.points_m, stretch.times_s, strict=True)
        if start_s - LED_S <= time_s <= end_s + LED_S
    ]
    points = [trip.journey.at(start_s - LED_S).xy_m, *points, trip.journey.at(end_s + LED_S).xy_m]
    kept = simplified(np.array(points), BEND_M[kind])
    corners = [points[index] for index in kept]
    return max(
        (
            abs(turn_deg(bearing_deg(a, b), bearing_deg(b, c)))
            for a, b, c in zip(corners, corners[1:], corners[2:], strict=False)
            if a != b and b != c
        ),
        default=0.0,
    )


def _off_m(place: Place, xy_m: tuple[float, float], floor: int) -> float:
    scene, at = place.world.scene, shapely.Point(xy_m)
    shapes: list[Any] = [road.line for road in scene.roads.values()] if scene.kind == "outdoor" else [
        zone.area for zone in scene.zones.values() if zone.floor == floor
    ]  # fmt: skip
    return float(shapely.distance(at, shapes).min()) if shapes else float("inf")


def verdict(values: Mapping[str, float], kind: Kind) -> tuple[list[str], list[str]]:
    """The rules that a question breaks, and those whose limit it comes near."""
    known = [(rule, values[rule.name]) for rule in RULES if rule.name in values]
    return (
        [rule.name for rule, value in known if rule.is_broken(value, kind)],
        [rule.name for rule, value in known if rule.is_near(value, kind)],
    )
