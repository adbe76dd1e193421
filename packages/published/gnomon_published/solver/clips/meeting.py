"""Finds where and when two targets are in one camera's view at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon_agents.models.reference.guessing import Option
from gnomon_agents.models.reference.tool_results import Call, Evidence
from gnomon_published.solver.clips.answer import Answer, Interval, cheapest, guess
from gnomon_published.solver.clips.arrivals import by_distance, expected
from gnomon_published.solver.clips.constants import SHIPPED
from gnomon_published.solver.clips.observations import Survey, survey
from gnomon_published.solver.clips.pace import is_vehicle
from gnomon_published.solver.clips.question import Question

LEAST_ERROR_S = 1.0  # no forecast is better than that
MEETING_S = 5.0  # vehicles meet so close to the last sighting; a forecast that errs by more is of no use


def meeting(question: Question, evidence: Evidence) -> Answer:
    """Of the options where both targets may be at the same time, the one that both reach soonest."""
    latest = {clip.target: clip for clip in question.clips}
    clips = [clip for clip in latest.values() if clip.end_s is not None]
    if len(clips) != 2:
        return guess(question, "The question shows no two targets with times.")
    observed = survey(evidence, clips, "I need the cameras' places and both targets' paths on the ground.")
    last_s = max(clip.end_s or 0.0 for clip in clips)
    stays = _stays(observed, question.options, evidence)
    costs = {option: _unlikely(stay, last_s) for option, stay in stays.items()}
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The ways to the options are not known.")
    best = stays[ranked[0]]
    interval = expected(
        observed, ranked[0], _together(best.first, best.second), last_s, vehicle=is_vehicle(clips[0])
    )
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
        return max(self.first[0], self.second[0]) - min(self.first[1], self.second[1])


def _unlikely(stay: Stays, last_s: float) -> float:
    """How unlikely a meeting is: stays far apart for their error, and a long time to go."""
    apart = max(stay.apart_s, 0.0) / max(stay.error_s, LEAST_ERROR_S)
    ahead_s = max(0.0, sum(stay.first) / 2 - last_s, sum(stay.second) / 2 - last_s)
    return apart**2 / 2 + ahead_s / SHIPPED.meeting_soon_s


def _stays(observed: Survey, options: Sequence[Option], evidence: Evidence) -> dict[Option, Stays]:
    """When each of the two targets is in view of the options, as far as that is known."""
    names = [option.text for option in options]
    arguments = {"first": observed.departure(0), "second": observed.departure(1), "cameras": names}
    [result] = evidence.ask(
        [Call("meeting_candidates", arguments)], "I compare when both can be at each option."
    )
    if result is None:
        first, second = (
            by_distance(observed, observed.departure(index), options, evidence) for index in (0, 1)
        )
        return {
            option: Stays(first=first[option].interval, second=second[option].interval, error_s=0.0)
            for option in options
            if option in first and option in second
        }
    seen_by = {clip.camera for clip in observed.clips}
    rows = {row["camera"]: row for row in result["candidates"] if "apart_s" in row}
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


def _together(first: Interval, second: Interval) -> Interval:
    """When both are in view: from the later arrival on, for as long as two such stays usually share.

    Stays of lengths a and b that overlap, at a random offset, share a·b / (a + b) on average.
    """
    lengths_s = first[1] - first[0], second[1] - second[0]
    start_s = max(first[0], second[0])
    usual_s = lengths_s[0] * lengths_s[1] / max(sum(lengths_s), 1e-9)
    return start_s, max(min(first[1], second[1]), start_s + usual_s)
