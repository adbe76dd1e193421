"""Judges the steps to a plan one by one: places of a film, the selection, recommendations, the guide."""

from collections.abc import Iterable, Sequence

from gnomon_trips.benchmarks.itinerary.film import seen_rates
from gnomon_trips.itinerary.errors import AmbiguousPlace, NoSuchPlace
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.plan import Day, Plan, Recommendation, Visit
from gnomon_trips.itinerary.request import BEDS, MEALS
from gnomon_trips.itinerary.selection import kept_share
from gnomon_trips.itinerary.trip import Trip, find
from gnomon_trips.itinerary.verify.guide import guide_sentences

Metrics = dict[str, float | str | None]
STEPS = ("video_", "selection_", "recommended", "guide_")
"""How the names of the measures of steps begin."""
MEAL_M, BED_M = 1_500, 5_000
"""So near to the stop before, in a straight line, is what is recommended within reach."""


def steps_of(plan: Plan, trip: Trip, facts: Facts) -> Metrics:
    """The measures of the steps that the request asks for; `trip` is as it was before any place was cut."""
    visited = [visit.place.id for day in plan.days for visit in day.visits]
    fame, must = kept_share(trip, visited)
    metrics: Metrics = {"selection_fame_kept": fame, "selection_must_see_kept": must}
    if plan.recommendations:
        metrics |= _recommended(plan, facts)
    if plan.guide or trip.request.guide:
        metrics |= _guided(plan, trip, facts)
    return {name: value for name, value in metrics.items() if value is not None}


async def film_rates(trip: Trip, shown: Sequence[str]) -> Metrics:
    """Precision and recall of the places that were seen in a film, which is known to show others.

    Raises:
        PlaceError: the provider failed.
    """
    ids_seen = {
        name: place.id
        for name, place in trip.named.items()
        if any(origin.basis == "seen" for origin in trip.origins.get(place.id, ()))
    }
    truth: dict[str, str] = {}
    for name in shown:
        try:
            truth[name] = (await find(trip.provider, name)).value.id
        except (NoSuchPlace, AmbiguousPlace):
            truth[name] = next(
                (ids_seen[other] for other in ids_seen if other.casefold() == name.casefold()), ""
            )
    return dict(seen_rates({**ids_seen, **dict.fromkeys(trip.unseen, "")}, truth))


def _recommended(plan: Plan, facts: Facts) -> Metrics:
    """Shares of what was recommended; a measure that nothing is known for is left out."""
    rows = [(pick, plan.days[pick.day - 1]) for pick in plan.recommendations if pick.day <= len(plan.days)]
    kinds = [pick.place.kind in (BEDS if pick.purpose == "night" else MEALS) for pick, _ in rows]
    reach = [
        pick.distance_m <= (BED_M if pick.purpose == "night" else MEAL_M)
        for pick, _ in rows
        if pick.distance_m is not None
    ]
    opened = [_is_open(pick, day, facts) for pick, day in rows if pick.purpose != "night"]
    return {
        "recommended": float(len(rows)),
        "recommended_in_plan": _share(_is_taken(pick, day) for pick, day in rows),
        "recommended_of_kind": _share(kinds),
        "recommended_within_reach": _share(reach),
        "recommended_open": _share(verdict for verdict in opened if verdict is not None),
        "recommended_hours_unknown": _share(verdict is None for verdict in opened),
        "recommended_alternatives": sum(len(pick.alternatives) for pick, _ in rows) / len(rows),
    }


def _is_taken(pick: Recommendation, day: Day) -> bool:
    if pick.purpose == "night":
        return day.night is not None and day.night.place.id == pick.place.id
    return _visit_at(pick, day) is not None


def _visit_at(pick: Recommendation, day: Day) -> Visit | None:
    return next((visit for visit in day.visits if visit.place.id == pick.place.id), None)


def _is_open(pick: Recommendation, day: Day, facts: Facts) -> bool | None:
    """Whether it is open during the whole meal; None: not known, or not in the plan."""
    visit, opening = _visit_at(pick, day), facts.opening(pick.place.id, day.date)
    if visit is None or opening is None or opening.is_unknown:
        return None
    arrive, leave = minutes_of(visit.arrive), minutes_of(visit.leave)
    if any(start <= arrive and leave <= end for start, end in opening.sure):
        return True
    return None if any(start <= arrive and leave <= end for start, end in opening.possible) else False


def _guided(plan: Plan, trip: Trip, facts: Facts) -> Metrics:
    """How many sentences make a claim, and the shares of these that are true, false and unknown."""
    verdicts = [sentence.verdict for sentence in guide_sentences(plan, trip, facts)]
    claims = [verdict for verdict in verdicts if verdict != "no claim"]
    days = {guide.day for guide in plan.guide}
    return {
        "guide_days": len(days) / len(plan.days) if plan.days else None,
        "guide_sentences": float(len(verdicts)),
        "guide_claims": float(len(claims)),
        "guide_true": _share(verdict == "true" for verdict in claims),
        "guide_false": _share(verdict == "false" for verdict in claims),
        "guide_unknown": _share(verdict == "unknown" for verdict in claims),
        "guide_cut": float(sum(guide.cut for guide in plan.guide)),
    }


def _share(verdicts: Iterable[bool]) -> float | None:
    rows = list(verdicts)
    return sum(rows) / len(rows) if rows else None
