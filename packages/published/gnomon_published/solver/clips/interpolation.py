"""Reconstructs the gap between two sightings: which camera, when, how the target moved."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon_agents.models.reference.guessing import Option
from gnomon_agents.models.reference.tool_results import Call, Evidence, Result
from gnomon_published.passages.motion_text import Segment, displacement_m, duration_s, parse_segments
from gnomon_published.solver.clips.answer import Answer, Interval, cheapest, guess
from gnomon_published.solver.clips.observations import Location, Survey, distances, survey, view_ends
from gnomon_published.solver.clips.pace import VEHICLE, WALKER, is_vehicle
from gnomon_published.solver.clips.question import Question, span_s

# How much more a length counts that is known to a metre: 2 % off is as bad as all directions wrong.
EXACT = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """Displacement (east, north), length of the path, duration if speeds are told, first and last heading."""

    displacement_m: tuple[float, float]
    length_m: float
    duration_s: float | None
    first_deg: float
    last_deg: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What was measured of the motion to be told; headings are None where no track shows them.

    `is_exact`: its length is known to a metre, where words tell directions to an eighth of a turn.
    """

    bearing_deg: float
    straight_m: float
    length_m: float
    duration_s: float
    first_deg: float | None
    last_deg: float | None
    is_exact: bool = False


def read_motion(text: str) -> Motion | None:
    """A told motion; None where no direction with a length is told.

    >>> motion = read_motion("It moves east at 2 m/s for 10 meters, then north at 1 m/s for 5 meters.")
    >>> [round(value, 6) for value in motion.displacement_m], motion.length_m, motion.duration_s
    ([10.0, 5.0], 15.0, 10.0)
    """
    parts = parse_segments(text)
    return _motion(parts) if parts else None


def motion_of(rows: Sequence[Mapping[str, float]]) -> Motion:
    """The same from the stretches that a tool read."""
    parts = [
        Segment(heading_deg=row["heading_deg"], length_m=row["length_m"], speed_mps=row.get("speed_mps"))
        for row in rows
    ]
    return _motion(tuple(parts))


def misfit(motion: Motion, gap: Gap) -> float:
    """How badly a told motion fits: 0 is perfect; each part is about 1 when it is off by the whole."""
    bearing = math.radians(gap.bearing_deg)
    went_m = (gap.straight_m * math.sin(bearing), gap.straight_m * math.cos(bearing))
    cost = math.dist(motion.displacement_m, went_m) / max(gap.straight_m, 1.0)
    longer = abs(math.log(max(motion.length_m, 0.1) / max(gap.length_m, 0.1)))
    cost += EXACT * longer if gap.is_exact else longer
    if motion.duration_s and gap.duration_s > 0:
        cost += abs(math.log(motion.duration_s / gap.duration_s))
    for told_deg, seen_deg in ((motion.first_deg, gap.first_deg), (motion.last_deg, gap.last_deg)):
        if seen_deg is not None:
            cost += (1 - math.cos(math.radians(told_deg - seen_deg))) / 2
    return cost


def _motion(parts: tuple[Segment, ...]) -> Motion:
    return Motion(
        displacement_m=displacement_m(parts),
        length_m=math.fsum(part.length_m for part in parts),
        duration_s=duration_s(parts),
        first_deg=parts[0].heading_deg,
        last_deg=parts[-1].heading_deg,
    )


SHORTEST_GAP_S = 0.5  # where views overlap the gap is none, but a way needs time
ENDS = "I need the cameras' places and the target's path on the ground before and after the gap."


def passed_camera(question: Question, evidence: Evidence) -> Answer:
    """The option that is the least detour on the way from the first sighting to the second."""
    ends = question.ends
    if ends is None:
        return guess(question, "The question shows no two sightings.")
    observed = survey(evidence, ends, ENDS)
    passages = _passages(observed, [option.text for option in question.options], evidence)
    passed = {option: passages.get(option.text) for option in question.options}
    detours = {option: passage["detour_m"] for option, passage in passed.items() if passage}
    metres = detours or _ways(observed, question.options, evidence)
    ranked = cheapest(metres)
    if not ranked:
        return guess(question, "No way by any option is known.")
    best = ranked[0]
    length = "detour" if detours else "way"
    why = f"By {best.text} the {length} is {metres[best]:.0f} m, the shortest of the options."
    return Answer(options=(best,), why=why)


def _ways(observed: Survey, options: Sequence[Option], evidence: Evidence) -> dict[Option, float]:
    """Metres from the first sighting to each option's camera and on to the second."""
    pairs = [(observed.exit(0), _camera(option)) for option in options]
    pairs += [(_camera(option), observed.entry(1)) for option in options]
    metres = distances(evidence, pairs, "I compare the way by each option.")
    return {option: metres[i] + metres[len(options) + i] for i, option in enumerate(options)}


def _passages(observed: Survey, cameras: Sequence[str], evidence: Evidence) -> dict[str, Result]:
    """By camera, how the gap between the two sightings may have been passed; empty if no tool tells."""
    before, after = observed.timed_track(0), observed.timed_track(1)
    if before is None or after is None:
        return {}
    # Where clips overlap there is no gap, but a way needs time: then the earlier clip counts up to there.
    until_s = after["times_s"][0] - SHORTEST_GAP_S
    kept = max(1, sum(time_s <= until_s for time_s in before["times_s"]))
    before = {**before, "points_m": before["points_m"][:kept], "times_s": before["times_s"][:kept]}
    usual = VEHICLE if is_vehicle(observed.clips[0]) else WALKER
    arguments = {
        "before": before,
        "after": after,
        "via": list(cameras),
        "speed_mps": usual.speed_mps,
        "speed_error_mps": usual.error_mps,
    }
    [result] = evidence.ask([Call("interpolate", arguments)], "I compare the ways by these cameras.")
    return {row["camera"]: row for row in (result or {}).get("passages", ()) if "way_m" in row}


def passing_time(question: Question, evidence: Evidence) -> Answer:
    """The option that overlaps most with the passage expected at an even pace through the gap."""
    ends = question.ends
    middle = next((camera for camera in question.cameras if ends and camera not in _seen(question)), None)
    if ends is None or middle is None or ends[0].end_s is None or ends[1].start_s is None:
        return guess(question, "The question names no middle camera between two timed sightings.")
    observed = survey(evidence, ends, ENDS)
    passage = _passages(observed, [middle], evidence).get(middle)
    if passage is not None:
        expected = (passage["enters_s"], passage["leaves_s"])
    else:
        shares = _shares(observed, middle, evidence)
        if shares is None:
            return guess(question, f"The way by {middle} is not known.")
        gap_s = ends[1].start_s - ends[0].end_s
        expected = (ends[0].end_s + shares[0] * gap_s, ends[0].end_s + shares[1] * gap_s)
    costs = {
        option: _time_misfit(expected, span) for option in question.options if (span := span_s(option.text))
    }
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The options hold no times.")
    after_s = [value - ends[0].end_s for value in expected]
    why = (
        f"At an even pace the target is in {middle}'s view {after_s[0]:.1f}-{after_s[1]:.1f} s into the gap."
    )
    return Answer(options=(ranked[0],), why=why)


def _shares(observed: Survey, middle: str, evidence: Evidence) -> tuple[float, float] | None:
    """Which part of the way through the gap lies in the middle camera's view: from, to, in [0, 1]."""
    view = view_ends(evidence, observed.cameras.get(middle))
    spots: tuple[Location, ...] = view or ({"camera": middle},)
    start, end = observed.exit(0), observed.entry(1)
    pairs = [(start, spot) for spot in spots] + [(spot, end) for spot in spots]
    metres = distances(evidence, pairs, f"I measure the way to {middle}'s view and on from it.")
    before, after = metres[: len(spots)], metres[len(spots) :]
    if not all(map(math.isfinite, metres)):
        return None
    first = min(range(len(spots)), key=lambda i: before[i] - after[i])
    last = max(range(len(spots)), key=lambda i: before[i] - after[i])
    shares = [before[i] / (before[i] + after[i]) if before[i] + after[i] else 0.5 for i in (first, last)]
    return min(shares), max(shares)


def _time_misfit(expected: Interval, offered: Interval) -> float:
    """How far apart the middles lie and how unlike the lengths are, in expected lengths."""
    long_s = max(expected[1] - expected[0], 1e-3)
    apart = abs(sum(expected) - sum(offered)) / 2 / long_s
    return apart + abs(math.log(max(offered[1] - offered[0], 1e-3) / long_s))


def moved(question: Question, evidence: Evidence) -> Answer:
    """The option whose told path fits the displacement, length and duration best.

    Where the question is about the intermediate camera's time, the motion is that through its view.
    """
    ends = question.ends
    if ends is None:
        return guess(question, "The question shows no two sightings.")
    observed = survey(evidence, ends, ENDS)
    gap = _through_view(question, observed, evidence) or _whole_gap(observed, evidence)
    if gap is None:
        return guess(question, "The displacement in the gap is not known.")
    costs: dict[Option, float] = {}
    for option, motion in _told(question, gap, evidence).items():
        costs[option] = misfit(motion, gap)
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The options tell no directions.")
    towards = f"{gap.length_m:.0f} m towards {gap.bearing_deg:.0f}°"
    why = f"It went {towards} in {gap.duration_s:.1f} s."
    return Answer(options=(ranked[0],), why=why)


def _through_view(question: Question, observed: Survey, evidence: Evidence) -> Gap | None:
    """The motion through the intermediate camera's view, if that is what is asked and known."""
    middle = next((camera for camera in question.cameras if camera not in _seen(question)), None)
    if middle is None or not question.about_middle:
        return None
    passage = _passages(observed, [middle], evidence).get(middle)
    if passage is None:
        return None
    east_m, north_m = passage["east_m"], passage["north_m"]
    if not (east_m or north_m):
        return None
    bearing_deg = math.degrees(math.atan2(east_m, north_m)) % 360
    return Gap(
        bearing_deg=bearing_deg,
        straight_m=math.hypot(east_m, north_m),
        length_m=max(passage["length_m"], 0.1),
        duration_s=passage["leaves_s"] - passage["enters_s"],
        first_deg=None,
        last_deg=None,
    )


def _whole_gap(observed: Survey, evidence: Evidence) -> Gap | None:
    """The motion from the first sighting to the second."""
    start, end = observed.exit(0), observed.entry(1)
    why = "I need direction and length of the way through the gap."
    calls = [Call("bearing", {"start": start, "end": end}), Call("distance", {"start": start, "end": end})]
    bearing, distance = evidence.ask(calls, why)
    if bearing is None or distance is None:
        return None
    straight_m = distance.get("straight_m", 0.0)
    return Gap(
        bearing_deg=bearing["bearing_deg"],
        straight_m=straight_m,
        length_m=distance.get("path_m") or straight_m,
        duration_s=(observed.clips[1].start_s or 0.0) - (observed.clips[0].end_s or 0.0),
        first_deg=observed.heading(0),
        last_deg=observed.heading(1),
        is_exact=observed.is_exact and "path_m" in distance,
    )


def _told(question: Question, gap: Gap, evidence: Evidence) -> dict[Option, Motion]:
    """What the options tell, read by the tool or else by eye."""
    bearing = math.radians(gap.bearing_deg)
    arguments = {
        "texts": [option.text for option in question.options],
        "east_m": round(gap.straight_m * math.sin(bearing), 3),
        "north_m": round(gap.straight_m * math.cos(bearing), 3),
        "length_m": round(gap.length_m, 3),
    }
    [result] = evidence.ask([Call("compare_motion", arguments)], "I read the options against that.")
    rows = (result or {}).get("comparisons", [{}] * len(question.options))
    motions = {}
    for option, row in zip(question.options, rows, strict=True):
        motion = motion_of(row["stretches"]) if row.get("stretches") else read_motion(option.text)
        if motion is not None:
            motions[option] = motion
    return motions


def _camera(option: Option) -> Location:
    return {"camera": option.text}


def _seen(question: Question) -> set[str]:
    return {clip.camera for clip in question.clips}
