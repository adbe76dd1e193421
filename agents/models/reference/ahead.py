"""Ahead: where a target will be next, and when (one camera, two cameras, a meeting)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.models.reference.answer import Answer, Interval, cheapest, guess
from agents.models.reference.constants import Constants
from agents.models.reference.evidence import Call, Evidence
from agents.models.reference.pace import is_vehicle
from agents.models.reference.question import Clip, Option, Question
from agents.models.reference.survey import (
    ASSUMED_RANGE_M,
    BLIND_SHARE,
    Location,
    Survey,
    at,
    distances,
    survey,
)

LEAST_M = 1.0
LEAST_ERROR_S = 1.0  # no forecast is better than that
MEETING_S = 5.0  # vehicles meet so close to the last sighting; a forecast that errs by more is of no use
TRACK = "I need the cameras' places and the target's path on the ground."


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An option as it lies ahead: how far, when in view, and where the target goes on from."""

    metres: float
    interval: Interval
    exit: Location
    heading_deg: float | None


def next_camera(question: Question, evidence: Evidence) -> Answer:
    """The nearest option ahead, and the passage through its view at the speed the target goes on with."""
    clips = question.clips[-1:]
    if not clips or clips[0].end_s is None:
        return guess(question, "The question shows no timed sighting.")
    known = survey(evidence, clips, TRACK)
    arrivals = _arrivals(known, known.departure(0), question.options, evidence)
    ranked = cheapest(_costs(known, known.departure(0), arrivals, evidence.constants))
    if not ranked:
        return guess(question, "No way to any option is known.")
    best = arrivals[ranked[0]]
    why = f"{ranked[0].text} is the nearest option ahead, {best.metres:.0f} m on, {_told(best, clips[0])}."
    return Answer(options=(ranked[0],), intervals=(best.interval,), why=why)


def next_two(question: Question, evidence: Evidence) -> Answer:
    """The nearest option ahead, and from there the nearest that leads no way back."""
    clips = question.clips[-1:]
    if len(question.options) < 2 or not clips or clips[0].end_s is None:
        return guess(question, "The question shows no timed sighting or too few options.")
    known = survey(evidence, clips, TRACK)
    departure = known.departure(0)
    arrivals = _arrivals(known, departure, question.options, evidence)
    ranked = cheapest(_costs(known, departure, arrivals, evidence.constants))
    if len(ranked) < 2:
        return guess(question, "The ways to the options are not known.")
    first, others = ranked[0], ranked[1:]
    on = {**departure, "at": arrivals[first].exit, "time_s": round(arrivals[first].interval[1], 3)}
    on["seen_by"] = first.text
    on.pop("heading_deg", None)
    if arrivals[first].heading_deg is not None:
        on["heading_deg"] = arrivals[first].heading_deg
    onward = _arrivals(known, on, others, evidence)
    ahead = _costs(known, on, onward, evidence.constants)
    # What lies on the way back is nearer to the target than to the first camera; passing by costs little.
    costs = {
        option: ahead[option]
        + evidence.constants.back_cost
        * max(0.0, arrivals[first].metres + onward[option].metres - arrivals[option].metres)
        for option in onward
    }
    second = (cheapest(costs) or others)[0]
    later = onward.get(second) or arrivals[second]
    why = (
        f"{first.text} is the nearest option ahead, {_told(arrivals[first], clips[0])}, and from there "
        f"{second.text}, {_told(later, clips[0])}."
    )
    return Answer(options=(first, second), intervals=(arrivals[first].interval, later.interval), why=why)


def meeting(question: Question, evidence: Evidence) -> Answer:
    """Of the options where both targets may be at the same time, the one that both reach soonest."""
    latest = {clip.target: clip for clip in question.clips}
    clips = [clip for clip in latest.values() if clip.end_s is not None]
    if len(clips) != 2:
        return guess(question, "The question shows no two targets with times.")
    known = survey(evidence, clips, "I need the cameras' places and both targets' paths on the ground.")
    last_s = max(clip.end_s or 0.0 for clip in clips)
    stays = _stays(known, question.options, evidence)
    costs = {option: _unlikely(stay, last_s, evidence.constants) for option, stay in stays.items()}
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The ways to the options are not known.")
    best = stays[ranked[0]]
    interval = _common(best.first, best.second)
    if all(map(is_vehicle, clips)) and best.error_s > MEETING_S:
        interval = (last_s - MEETING_S, last_s + MEETING_S)
    why = f"Both targets are most likely in {ranked[0].text}'s view at once, {best.apart_s:.1f} s apart."
    return Answer(options=(ranked[0],), intervals=(interval,), why=why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stays:
    """When each of two targets is in view of an option; how far apart that is, give or take."""

    first: Interval
    second: Interval
    error_s: float

    @property
    def apart_s(self) -> float:
        """Between the stays; negative where they overlap."""
        return max(self.first[0], self.second[0]) - min(self.first[1], self.second[1])


def _unlikely(stay: Stays, last_s: float, constants: Constants) -> float:
    """How unlikely a meeting is: stays far apart for their error, and a long time to go."""
    apart_s = abs(sum(stay.first) - sum(stay.second)) / 2
    arrived_s = (stay.first[0] + stay.second[0]) / 2 - last_s
    return (apart_s / max(stay.error_s, LEAST_ERROR_S)) ** 2 / 2 + max(
        0.0, arrived_s
    ) / constants.meeting_soon_s


def _stays(known: Survey, options: Sequence[Option], evidence: Evidence) -> dict[Option, Stays]:
    """When each of the two targets is in view of the options, as far as that is known."""
    names = [option.text for option in options]
    asked = {"first": known.departure(0), "second": known.departure(1), "cameras": names}
    [found] = evidence.ask([Call("meeting_candidates", asked)], "I compare when both can be at each option.")
    if found is None:
        one, other = (_by_distance(known, known.departure(index), options, evidence) for index in (0, 1))
        return {
            option: Stays(first=one[option].interval, second=other[option].interval, error_s=0.0)
            for option in options
            if option in one and option in other
        }
    seen_by = {clip.camera for clip in known.clips}
    rows = {row["camera"]: row for row in found["candidates"] if "apart_s" in row}
    if set(rows) - seen_by:
        rows = {camera: row for camera, row in rows.items() if camera not in seen_by}
    return {
        option: Stays(
            first=(row["first_start_s"], row["first_end_s"]),
            second=(row["second_start_s"], row["second_end_s"]),
            error_s=row["error_s"],
        )
        for option in options
        if (row := rows.get(option.text))
    }


def _arrivals(
    known: Survey, departure: Mapping[str, Any], options: Sequence[Option], evidence: Evidence
) -> dict[Option, Arrival]:
    """What lies ahead of a departure, by the forecasting tool or else by distances alone."""
    call = Call("forecast_arrival", {**departure, "cameras": [option.text for option in options]})
    [found] = evidence.ask([call], "I forecast when the target comes to each option.")
    if found is None:
        return _by_distance(known, departure, options, evidence)
    rows = {row["camera"]: row for row in found["arrivals"] if "start_s" in row}
    if len(rows) > 1:
        rows.pop(departure["seen_by"], None)  # what comes next is another camera
    return {
        option: Arrival(
            metres=row["distance_m"],
            interval=(row["start_s"], row["end_s"]),
            exit=at((row["exit_x_m"], row["exit_y_m"]), _floor(known, option)),
            heading_deg=row.get("heading_deg"),
        )
        for option in options
        if (row := rows.get(option.text))
    }


def _by_distance(
    known: Survey, departure: Mapping[str, Any], options: Sequence[Option], evidence: Evidence
) -> dict[Option, Arrival]:
    """Within half a view's length of the middle of each option's view."""
    pairs = [(departure["at"], _middle(known, option)) for option in options]
    metres = distances(evidence, pairs, "I measure the way to each option.")
    found = {}
    for option, way_m in zip(options, metres, strict=True):
        camera = known.cameras.get(option.text)
        half_m = ((camera.range_m if camera else None) or ASSUMED_RANGE_M) * (1 - BLIND_SHARE) / 2
        ends_m = (max(way_m - half_m, 0.0), way_m + half_m)
        start_s, end_s = (departure["time_s"] + end_m / departure["speed_mps"] for end_m in ends_m)
        if math.isfinite(way_m):
            found[option] = Arrival(
                metres=way_m,
                interval=(start_s, end_s),
                exit=_middle(known, option),
                heading_deg=None,
            )
    return found


def _middle(known: Survey, option: Option) -> Location:
    camera = known.cameras.get(option.text)
    ends = camera.view_ends() if camera else None
    if camera is None or ends is None:
        return {"camera": option.text}
    near, far = ends
    return at(((near["x_m"] + far["x_m"]) / 2, (near["y_m"] + far["y_m"]) / 2), camera.floor)


def _floor(known: Survey, option: Option) -> int:
    camera = known.cameras.get(option.text)
    return camera.floor if camera else 0


def _costs(
    known: Survey, departure: Mapping[str, Any], arrivals: Mapping[Option, Arrival], constants: Constants
) -> dict[Option, float]:
    """Metres to the middle of the stay in each option's view; what lies behind counts more."""
    heading_deg, start = departure.get("heading_deg"), departure["at"]
    costs = {}
    for option, arrival in arrivals.items():
        middle = _middle(known, option)
        behind = 1.0
        if heading_deg is not None and "x_m" in middle and "x_m" in start:
            east_m, north_m = middle["x_m"] - start["x_m"], middle["y_m"] - start["y_m"]
            turn = math.radians(heading_deg) - math.atan2(east_m, north_m)
            behind += constants.behind_cost * (1.0 - math.cos(turn)) / 2 if east_m or north_m else 0.0
        passed_s = sum(arrival.interval) / 2 - departure["time_s"]
        costs[option] = max(passed_s * departure["speed_mps"], LEAST_M) * behind
    return costs


def _told(arrival: Arrival, clip: Clip) -> str:
    after_s = [end_s - (clip.end_s or 0.0) for end_s in arrival.interval]
    return f"in view from {after_s[0]:.1f} to {after_s[1]:.1f} s after the target was last seen"


def _common(one: Interval, other: Interval) -> Interval:
    """Where two intervals overlap, or would if they met: never shorter than is to be expected.

    Stays of lengths a and b that overlap, at a random offset, share a·b / (a + b) on average.
    """
    ends = sorted((*one, *other))[1:3]  # of the overlap, or of the gap between them
    lengths = one[1] - one[0], other[1] - other[0]
    shared_s = max(one[0], other[0]) < min(one[1], other[1]) and ends[1] - ends[0]
    half_s = max(shared_s, lengths[0] * lengths[1] / max(sum(lengths), 1e-9), 1.0) / 2
    return sum(ends) / 2 - half_s, sum(ends) / 2 + half_s
