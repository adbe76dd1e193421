"""Ahead: where a target will be next, and when (one camera, two cameras, a meeting)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agents.models.reference.answer import Answer, Interval, cheapest, guess
from agents.models.reference.evidence import Evidence
from agents.models.reference.question import Clip, Option, Question
from agents.models.reference.survey import (
    ASSUMED_RANGE_M,
    BLIND_SHARE,
    Location,
    Survey,
    at,
    distances,
    survey,
    view_ends,
)

VEHICLE_MPS, WALKER_MPS = 9.0, 1.3  # usual speeds in town, where a track tells none
VEHICLE_AVERAGE = 0.93  # share of its speed in view that a vehicle averages over a way: it brakes for turns
WIDE = 0.8  # a box wider than this share of its height shows a vehicle
BEHIND_COST = 3.0  # an option right behind the target counts as (1 + this) times as far
TRACK = "I need the cameras' places and the target's path on the ground."


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """A target at the end of its last clip: where, when, how fast, and whither."""

    exit: Location
    end_s: float
    speed_mps: float
    heading_deg: float | None


def next_camera(question: Question, evidence: Evidence) -> Answer:
    """The nearest option ahead, and the passage through its view at the speed the target was seen with."""
    clips = question.clips[-1:]
    if not clips or clips[0].end_s is None:
        return guess(question, "The question shows no timed sighting.")
    known = survey(evidence, clips, TRACK)
    mover = _mover(known, 0)
    metres = _to_middles(known, mover.exit, question.options, evidence)
    costs = {option: metres[option] * _behind(known, mover, option) for option in question.options}
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "No way to any option is known.")
    best = ranked[0]
    passage = _passage(known, mover, best, metres[best], evidence)
    why = (
        f"{best.text} is the nearest option ahead, {metres[best]:.0f} m on; at {mover.speed_mps:.1f} m/s the "
        f"target is in its view from {passage[0] - mover.end_s:.1f} to {passage[1] - mover.end_s:.1f} s "
        "after it was last seen."
    )
    return Answer(options=(best,), intervals=(passage,), why=why)


def next_two(question: Question, evidence: Evidence) -> Answer:
    """The nearest option ahead, and from there the nearest that leads no way back."""
    clips = question.clips[-1:]
    if len(question.options) < 2 or not clips or clips[0].end_s is None:
        return guess(question, "The question shows no timed sighting or too few options.")
    known = survey(evidence, clips, TRACK)
    mover = _mover(known, 0)
    metres = _to_middles(known, mover.exit, question.options, evidence)
    ranked = cheapest({option: metres[option] * _behind(known, mover, option) for option in question.options})
    if len(ranked) < 2:
        return guess(question, "The ways to the options are not known.")
    first, others = ranked[0], ranked[1:]
    onward = _to_middles(known, _middle(known, first), others, evidence)
    # What lies on the way back is nearer to the target than to the first camera; passing by costs little.
    costs = {
        option: onward[option] + max(0.0, metres[first] + onward[option] - metres[option])
        for option in others
    }
    second = cheapest(costs)[0] if cheapest(costs) else others[0]
    one = _passage(known, mover, first, metres[first], evidence)
    total_m = metres[first] + onward[second] if math.isfinite(onward[second]) else metres[second]
    two = _around(known, mover, second, total_m)
    why = (
        f"{first.text} is the nearest option ahead, {metres[first]:.0f} m on, and {second.text} comes after "
        f"it, {total_m:.0f} m on; the target moves at {mover.speed_mps:.1f} m/s."
    )
    return Answer(options=(first, second), intervals=(one, two), why=why)


def meeting(question: Question, evidence: Evidence) -> Answer:
    """The option that both targets reach most nearly at the same time."""
    latest = {clip.target: clip for clip in question.clips}
    clips = [clip for clip in latest.values() if clip.end_s is not None]
    if len(clips) != 2:
        return guess(question, "The question shows no two targets with times.")
    known = survey(evidence, clips, "I need the cameras' places and both targets' paths on the ground.")
    movers = [_mover(known, 0), _mover(known, 1)]
    pairs = [(mover.exit, _middle(known, option)) for mover in movers for option in question.options]
    metres = distances(evidence, pairs, "I measure both targets' ways to each option.")
    count = len(question.options)
    passages: dict[Option, list[Interval]] = {}
    for i, option in enumerate(question.options):
        ways = (metres[i], metres[count + i])
        if all(map(math.isfinite, ways)):
            passages[option] = [
                _around(known, mover, option, way) for mover, way in zip(movers, ways, strict=True)
            ]
    costs = {option: _apart_s(*both) for option, both in passages.items()}
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The ways to the options are not known.")
    best = ranked[0]
    why = f"Both targets can reach {best.text} within {costs[best]:.1f} s of one another, the closest of all."
    return Answer(options=(best,), intervals=(_common(*passages[best]),), why=why)


def _mover(known: Survey, index: int) -> Mover:
    clip, track = known.clips[index], known.tracks.get(index)
    vehicle = _is_vehicle(clip)
    seen_mps = (track.speed_mps if track else None) or (VEHICLE_MPS if vehicle else WALKER_MPS)
    return Mover(
        exit=known.exit(index),
        end_s=clip.end_s or 0.0,
        speed_mps=seen_mps * (VEHICLE_AVERAGE if vehicle else 1.0),
        heading_deg=track.heading_deg if track else None,
    )


def _is_vehicle(clip: Clip) -> bool:
    """Whether most of its boxes are wider than high, or nearly: people's are far narrower."""
    wide = sum(width > WIDE * height for _, _, width, height in clip.boxes)
    return 2 * wide > len(clip.boxes)


def _to_middles(
    known: Survey, start: Location, options: Sequence[Option], evidence: Evidence
) -> dict[Option, float]:
    """Metres from a place to the middle of what each option sees."""
    pairs = [(start, _middle(known, option)) for option in options]
    metres = distances(evidence, pairs, "I measure the way to each option.")
    return dict(zip(options, metres, strict=True))


def _middle(known: Survey, option: Option) -> Location:
    camera = known.cameras.get(option.text)
    ends = camera.view_ends() if camera else None
    if camera is None or ends is None:
        return {"camera": option.text}
    near, far = ends
    return at(((near["x_m"] + far["x_m"]) / 2, (near["y_m"] + far["y_m"]) / 2), camera.floor)


def _behind(known: Survey, mover: Mover, option: Option) -> float:
    """The factor on an option's distance: 1 straight ahead, 1 + BEHIND_COST right behind."""
    middle = _middle(known, option)
    if mover.heading_deg is None or "x_m" not in middle or "x_m" not in mover.exit:
        return 1.0
    east_m, north_m = middle["x_m"] - mover.exit["x_m"], middle["y_m"] - mover.exit["y_m"]
    if not (east_m or north_m):
        return 1.0
    turn = math.radians(mover.heading_deg) - math.atan2(east_m, north_m)
    return 1.0 + BEHIND_COST * (1.0 - math.cos(turn)) / 2


def _passage(known: Survey, mover: Mover, option: Option, metres: float, evidence: Evidence) -> Interval:
    """When the mover is between the near and the far end of the option's view."""
    ends = view_ends(evidence, known.cameras.get(option.text))
    if ends is None:
        return _around(known, mover, option, metres)
    pairs = [(mover.exit, end) for end in ends]
    reach = distances(evidence, pairs, f"I measure the way into {option.text}'s view and out of it.")
    if not all(map(math.isfinite, reach)):
        return _around(known, mover, option, metres)
    return mover.end_s + min(reach) / mover.speed_mps, mover.end_s + max(reach) / mover.speed_mps


def _around(known: Survey, mover: Mover, option: Option, metres: float) -> Interval:
    """When the mover is within half a view's length of the view's middle."""
    camera = known.cameras.get(option.text)
    half_m = ((camera.range_m if camera else None) or ASSUMED_RANGE_M) * (1 - BLIND_SHARE) / 2
    return (
        mover.end_s + max(metres - half_m, 0.0) / mover.speed_mps,
        mover.end_s + (metres + half_m) / mover.speed_mps,
    )


def _apart_s(one: Interval, other: Interval) -> float:
    """How far apart the middles of two intervals are."""
    return abs(sum(one) - sum(other)) / 2


def _common(one: Interval, other: Interval) -> Interval:
    """Where two intervals overlap, else what lies between their middles (widened to a second)."""
    start_s, end_s = max(one[0], other[0]), min(one[1], other[1])
    if end_s > start_s:
        return start_s, end_s
    middles = sorted((sum(one) / 2, sum(other) / 2))
    return middles[0] - 0.5, middles[1] + 0.5
