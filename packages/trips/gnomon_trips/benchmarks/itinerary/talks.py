"""Trips of several turns: what the traveller says next, as a message, and how all the answers are judged."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gnomon.core.sample import FollowUp, Part
from gnomon.core.score import Score
from gnomon_tools.core.inputs import held
from gnomon_trips.benchmarks.itinerary.prompt import FACTS, facts_in_words
from gnomon_trips.benchmarks.itinerary.sayings import MARK, STANDS
from gnomon_trips.benchmarks.itinerary.task import Task, Turn
from gnomon_trips.itinerary.errors import BadArgument, PlaceError
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.replanning import Change, changed_plan
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.trip import Trip

FIELDS: Mapping[str, frozenset[str]] = {
    "DAY_WINDOW": frozenset(("window",)),
    "MAX_WALK": frozenset(("max_walk_m",)),
    "BUDGET": frozenset(("budget", "party")),
    "DAY_COUNT": frozenset(("days",)),
    "MUST_VISIT": frozenset(("places",)),
    "FORBIDDEN": frozenset(("avoid",)),
    "ORDER": frozenset(("order",)),
}
"""The fields of a request that a check holds a plan to."""
Stops = list[list[str]]


def follow_ups(task: Task) -> tuple[FollowUp, ...]:
    """What the traveller says after each plan; tools are bound to the trip as it is then asked for."""
    said = []
    before = task
    for turn in task.turns:
        words = [f"{MARK}{turn.said}", *_new_places(before, turn.task), STANDS]
        parts = (
            Part(content="\n".join(words)),
            Part(content=f"\n\n{FACTS}\n{facts_in_words(turn.task)}", shown="facts"),
        )
        said.append(FollowUp(parts=parts, inputs=held(turn.task.trip.unjudged())))
        before = turn.task
    return tuple(said)


def _new_places(before: Task, now: Task) -> list[str]:
    """Stay and price of places that were not asked for before: rules of the trip, which no source has."""
    request = now.trip.request
    new = [name for name in request.places if name not in before.trip.request.places]
    lines = []
    for name in new:
        kind = now.trip.named[name].kind
        price = request.rules.price.get(kind)
        cost = f", {price:g} {request.rules.currency} a person" if price else ", free"
        lines.append(f"“{name}” ({kind}): least stay {request.rules.stay_min(kind)} minutes{cost}.")
    return lines


def score_of_talk(task: Task, scores: Sequence[Score]) -> Score:
    """The last turn's score, with measures of the turns before; `scores` are those of the answers given.

    Fewer answers than turns are those to the last turns.
    """
    turns = [Turn(said="", task=task, fields=frozenset()), *task.turns][-len(scores) :]
    last, result = scores[-1], _result(scores[-1])
    metrics: dict[str, float | str | None] = {**last.metrics, "turns": float(len(task.turns) + 1)}
    if len(scores) > len(task.turns):
        metrics["first_holds"] = scores[0].value
    metrics["last_holds"] = last.value
    plan = _plan(last)
    if len(scores) > 1:
        metrics |= _kept(_plan(scores[-2]), plan, turns[-1].task.trip)
    metrics["forgets_earlier"] = _forgets(task, plan, last)
    result["turns"] = [
        {"said": turn.said, "score": score.value, "faults": list(score.flags), "answer": _result(score)}
        for turn, score in zip(turns[:-1], scores[:-1], strict=True)
    ] + [{"said": turns[-1].said, "score": last.value, "faults": list(last.flags)}]
    answer = json.dumps(result, ensure_ascii=False) if last.answer is not None else None
    return replace(last, metrics=metrics, answer=answer)


def _result(score: Score) -> dict[str, Any]:
    value = json.loads(score.answer) if score.answer is not None else {}
    return value if isinstance(value, dict) else {}


def _plan(score: Score) -> Plan | None:
    plan = _result(score).get("plan")
    return Plan.model_validate(plan) if plan and plan["status"] == "planned" else None


def _forgets(task: Task, plan: Plan | None, last: Score) -> float | None:
    """Whether the last plan breaks what was asked for before the last turn and still stands."""
    if plan is None:
        return None
    before = [task, *(turn.task for turn in task.turns)][-2].trip.request
    now, changed = task.turns[-1].task.trip.request, task.turns[-1].fields
    named = task.turns[-1].task.trip.named
    visits = [visit.place.id for day in plan.days for visit in day.visits]
    still_wanted = [named[name].id for name in now.places if name in before.places]
    still_avoided = [named[name].id for name in now.avoid if name in before.avoid]
    broken = not set(still_wanted) <= set(visits) or bool(set(still_avoided) & set(visits))
    for first, then in (pair for pair in now.order if pair in before.order):
        ends = named[first].id, named[then].id
        broken = broken or (set(ends) <= set(visits) and visits.index(ends[0]) > visits.index(ends[1]))
    codes = set(last.flags) & FIELDS.keys() - {"MUST_VISIT", "FORBIDDEN", "ORDER"}
    return float(broken or any(not FIELDS[code] & changed for code in codes))


def _kept(old: Plan | None, new: Plan | None, trip: Trip) -> dict[str, float | None]:
    """The share of the old plan's stops that stay where they were, of those that could."""
    if old is None or new is None:
        return {"stops_kept": None}
    could = _stops(old, trip.request, trip)
    if not sum(map(len, could)):
        return {"stops_kept": None}
    kept: dict[str, float | None] = {"stops_kept": _share(could, _stops(new, trip.request, trip))}
    least = _least_change(old, could, trip)
    return kept if least is None else {**kept, "stops_kept_least_change": _share(could, least)}


def _stops(plan: Plan, request: TripRequest, trip: Trip) -> Stops:
    """The stops of each day that are still asked for."""
    wanted = {trip.named[name].id for name in request.places}
    return [[visit.place.id for visit in day.visits if visit.place.id in wanted] for day in plan.days][
        : request.days
    ]


def _share(old: Stops, new: Stops) -> float:
    """Stops that keep their day and their place in its order, over all."""
    kept = sum(common_length(before, after) for before, after in zip(old, new, strict=False))
    return kept / sum(map(len, old))


def common_length(names: Sequence[str], truth: Sequence[str]) -> int:
    """The length of the longest common subsequence: order without collapsing after one slip.

    >>> common_length(["a", "x", "b", "c"], ["a", "b", "c"])
    3
    """
    row = [0] * (len(truth) + 1)
    for item in names:
        before = 0
        for index, true_name in enumerate(truth):
            before, row[index + 1] = (
                row[index + 1],
                max(row[index + 1], row[index], before + 1 if item == true_name else 0),
            )
    return row[-1]


def _least_change(old: Plan, could: Stops, trip: Trip) -> Stops | None:
    """The share that the smallest change keeps; None where days differ in number, or none exists."""
    if len(old.days) != trip.request.days or trip.answerable is False:
        return None
    wanted = {place for day in could for place in day}
    days = [
        day.model_copy(update={"visits": tuple(v for v in day.visits if v.place.id in wanted)})
        for day in old.days
    ]
    try:
        smallest = answered(
            changed_plan(old.model_copy(update={"days": tuple(days)}), trip, Change()),
            is_local=trip.provider.is_local,
        )
    except (BadArgument, PlaceError):
        return None
    return (
        [[visit.place for visit in day.visits] for day in smallest.draft.days] if smallest.is_whole else None
    )
