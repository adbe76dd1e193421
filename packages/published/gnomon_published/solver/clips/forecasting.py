"""Forecasts where a target will be next, and when (one camera, two cameras)."""

from collections.abc import Mapping
from typing import Any

from gnomon_agents.models.reference.guessing import Option
from gnomon_agents.models.reference.tool_results import Evidence
from gnomon_published.solver.clips.answer import Answer, cheapest, guess
from gnomon_published.solver.clips.arrivals import Arrival, arrivals, arrivals_ahead, costs, expected
from gnomon_published.solver.clips.observations import survey
from gnomon_published.solver.clips.pace import is_vehicle
from gnomon_published.solver.clips.question import Clip, Question

TRACK = "I need the cameras' places and the target's path on the ground."


def next_camera(question: Question, evidence: Evidence) -> Answer:
    """The nearest option ahead, and the passage through its view at the speed the target goes on with."""
    clips = question.clips[-1:]
    if not clips or clips[0].end_s is None:
        return guess(question, "The question shows no timed sighting.")
    observed = survey(evidence, clips, TRACK)
    departure = observed.departure(0)
    coming, cost_m = arrivals_ahead(observed, question.options, evidence)
    ranked = cheapest(cost_m)
    if not ranked:
        return guess(question, "No way to any option is known.")
    best = coming[ranked[0]]
    why = f"{ranked[0].text} is the nearest option ahead, {best.metres:.0f} m on, {_told(best, clips[0])}."
    interval = expected(observed, ranked[0], best.interval, departure["time_s"], vehicle=is_vehicle(clips[0]))
    return Answer(options=(ranked[0],), intervals=(interval,), why=why)


def next_two(question: Question, evidence: Evidence) -> Answer:
    """The two options that lie nearest: the way to the first, and on from the middle of its view."""
    clips = question.clips[-1:]
    if len(question.options) < 2 or not clips or clips[0].end_s is None:
        return guess(question, "The question shows no timed sighting or too few options.")
    observed, vehicle = survey(evidence, clips, TRACK), is_vehicle(clips[0])
    departure = observed.departure(0)
    coming, first_cost = arrivals_ahead(observed, question.options, evidence)
    ways = {option: _on(departure, option, arrival) for option, arrival in coming.items()}
    onward = dict(zip(ways, arrivals(observed, list(ways.values()), question.options, evidence), strict=True))
    # Vehicles are seen by every camera of a crossing in turn; who walks comes to the nearest place first.
    firsts = list(ways) if vehicle else cheapest(first_cost)[:1]
    pairs: dict[tuple[Option, Option], float] = {}
    for first in firsts:
        way = ways[first]
        reached_m = (coming[first].middle_s - departure["time_s"]) * departure["speed_mps"]
        for second, cost in costs(observed, way, onward[first]).items():
            pairs[first, second] = first_cost[first] + reached_m + cost
    if not pairs:
        return guess(question, "The ways to the options are not known.")
    first, second = min(pairs, key=lambda pair: (pairs[pair], pair[0].letter, pair[1].letter))
    both = coming[first], onward[first][second]
    why = (
        f"{first.text} is the nearest option ahead, {_told(both[0], clips[0])}, and from there "
        f"{second.text}, {_told(both[1], clips[0])}."
    )
    first_s, second_s = (
        expected(observed, option, arrival.interval, departure["time_s"], vehicle=vehicle)
        for option, arrival in zip((first, second), both, strict=True)
    )
    return Answer(options=(first, second), intervals=(first_s, second_s), why=why)


def _on(departure: Mapping[str, Any], option: Option, arrival: Arrival) -> dict[str, Any]:
    """The departure from the middle of an option's view."""
    on = {**departure, "at": arrival.middle, "time_s": round(arrival.middle_s, 3), "seen_by": option.text}
    for key in ("heading_deg", "track_m", "track_times_s"):
        on.pop(key, None)
    return on if arrival.heading_deg is None else {**on, "heading_deg": arrival.heading_deg}


def _told(arrival: Arrival, clip: Clip) -> str:
    after_s = [end_s - (clip.end_s or 0.0) for end_s in arrival.interval]
    return f"in view from {after_s[0]:.1f} to {after_s[1]:.1f} s after the target was last seen"
