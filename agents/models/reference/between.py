"""Between: what happened in the gap of two sightings (which camera, when, how it moved)."""

import math

from agents.models.reference.answer import Answer, Interval, cheapest, guess
from agents.models.reference.evidence import Call, Evidence
from agents.models.reference.motion import Gap, misfit, read_motion
from agents.models.reference.question import Option, Question, span_s
from agents.models.reference.survey import Location, Survey, distances, survey, view_ends

ENDS = "I need the cameras' places and the target's path on the ground before and after the gap."


def passed_camera(question: Question, evidence: Evidence) -> Answer:
    """The option that is the least detour on the way from the first sighting to the second."""
    ends = question.ends
    if ends is None:
        return guess(question, "The question shows no two sightings.")
    known = survey(evidence, ends, ENDS)
    start, end = known.exit(0), known.entry(1)
    pairs = [(start, _camera(option)) for option in question.options]
    pairs += [(_camera(option), end) for option in question.options]
    metres = distances(evidence, pairs, "I compare the way by each option.")
    count = len(question.options)
    detours = {option: metres[i] + metres[count + i] for i, option in enumerate(question.options)}
    ranked = cheapest(detours)
    if not ranked:
        return guess(question, "No way by any option is known.")
    best = ranked[0]
    why = f"By {best.text} the way is {detours[best]:.0f} m, the shortest of the options."
    return Answer(options=(best,), why=why)


def passing_time(question: Question, evidence: Evidence) -> Answer:
    """The option that overlaps most with the passage expected at an even pace through the gap."""
    ends = question.ends
    middle = next((camera for camera in question.cameras if ends and camera not in _seen(question)), None)
    if ends is None or middle is None or ends[0].end_s is None or ends[1].start_s is None:
        return guess(question, "The question names no middle camera between two timed sightings.")
    known = survey(evidence, ends, ENDS)
    shares = _shares(known, middle, evidence)
    if shares is None:
        return guess(question, f"The way by {middle} is not known.")
    gap_s = ends[1].start_s - ends[0].end_s
    expected = tuple(ends[0].end_s + share * gap_s for share in shares)
    costs = {
        option: _time_misfit((expected[0], expected[1]), span)
        for option in question.options
        if (span := span_s(option.text))
    }
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The options hold no times.")
    after_s = [value - ends[0].end_s for value in expected]
    why = (
        f"At an even pace the target is in {middle}'s view {after_s[0]:.1f}-{after_s[1]:.1f} s into the gap."
    )
    return Answer(options=(ranked[0],), why=why)


def _shares(known: Survey, middle: str, evidence: Evidence) -> tuple[float, float] | None:
    """Which part of the way through the gap lies in the middle camera's view: from, to, in [0, 1]."""
    view = view_ends(evidence, known.cameras.get(middle))
    spots: tuple[Location, ...] = view or ({"camera": middle},)
    start, end = known.exit(0), known.entry(1)
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
    """Distance of the intervals' ends, in seconds."""
    return abs(expected[0] - offered[0]) + abs(expected[1] - offered[1])


def moved(question: Question, evidence: Evidence) -> Answer:
    """The option whose told path fits the displacement, length and duration of the gap best."""
    ends = question.ends
    if ends is None:
        return guess(question, "The question shows no two sightings.")
    known = survey(evidence, ends, ENDS)
    start, end = known.exit(0), known.entry(1)
    why = "I need direction and length of the way through the gap."
    calls = [Call("bearing", {"start": start, "end": end}), Call("distance", {"start": start, "end": end})]
    bearing, distance = evidence.ask(calls, why)
    if bearing is None or distance is None:
        return guess(question, "The displacement in the gap is not known.")
    straight_m = distance.get("straight_m", 0.0)
    gap = Gap(
        bearing_deg=bearing["bearing_deg"],
        straight_m=straight_m,
        path_m=distance.get("path_m") or straight_m,
        duration_s=(ends[1].start_s or 0.0) - (ends[0].end_s or 0.0),
        first_deg=known.tracks[0].heading_deg if 0 in known.tracks else None,
        last_deg=known.tracks[1].heading_deg if 1 in known.tracks else None,
    )
    costs: dict[Option, float] = {}
    for option in question.options:
        told = read_motion(option.text)
        if told is not None:
            costs[option] = misfit(told, gap)
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The options tell no directions.")
    towards = f"{gap.path_m:.0f} m towards {gap.bearing_deg:.0f}°"
    why = f"From sighting to sighting it is {towards} in {gap.duration_s:.1f} s."
    return Answer(options=(ranked[0],), why=why)


def _camera(option: Option) -> Location:
    return {"camera": option.text}


def _seen(question: Question) -> set[str]:
    return {clip.camera for clip in question.clips}
