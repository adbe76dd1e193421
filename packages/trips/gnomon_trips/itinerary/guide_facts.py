"""Gathers what a guide may say of a plan: stops, hours, ways and prices, as plain data."""

from typing import Any, Literal

from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.facts import Facts, facts_of
from gnomon_trips.itinerary.guide_claims import is_japanese
from gnomon_trips.itinerary.hours import minutes_of, told_hours
from gnomon_trips.itinerary.kept_free import is_kept_free, near
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Day, Visit
from gnomon_trips.itinerary.request import MEALS, TripRequest
from gnomon_trips.itinerary.track import ALL_ON_FOOT
from gnomon_trips.itinerary.trip import Trip


def language_of(request: TripRequest) -> Literal["en", "ja"]:
    """The language of a guide: as asked for, else that of most names in the request.

    >>> language_of(TripRequest(area="japan", start_date="2026-06-10", places=["浅草寺"]))
    'ja'
    """
    if request.guide in ("en", "ja"):
        return "ja" if request.guide == "ja" else "en"
    names = [name for name in (*request.places, request.hotel) if name]
    japanese = sum(is_japanese(name) or _is_kanji(name) for name in names)
    return "ja" if 2 * japanese > len(names) else "en"


def _is_kanji(name: str) -> bool:
    return any("\u30a0" <= letter <= "\u9fff" for letter in name)


async def guide_facts(draft: DraftPlan, trip: Trip) -> dict[str, Any]:
    """The facts of a drafted plan for whoever writes its guide; unknown things are called that.

    Raises:
        PlaceError: the provider failed.
    """
    plan = await plan_of(draft, trip)
    facts = await facts_of(trip, plan)
    return {
        "area": trip.request.area,
        "days": [_day(number, day, trip, facts) for number, day in enumerate(plan.days, 1)],
        "assumptions": list(plan.assumptions),
        "left_out": [f"{left.place}: {left.reason}" for left in plan.skipped],
    }


def _day(number: int, day: Day, trip: Trip, facts: Facts) -> dict[str, Any]:
    stops = [_stop(at, day, trip, facts) for at in range(len(day.visits))]
    return {
        "day": number,
        "date": day.date.isoformat(),
        "weekday": f"{day.date:%A}",
        "start": day.start.name,
        "end": day.end.name,
        "night": near(day.night.place.name) if day.night else None,
        "night_is": day.night.basis if day.night else None,
        "stops": stops,
        "metres": sum(leg.metres for leg in day.legs),
        "minutes": sum(leg.minutes for leg in day.legs),
        "mode": day.legs[0].mode if day.legs else trip.request.mode,
    }


def _stop(at: int, day: Day, trip: Trip, facts: Facts) -> dict[str, Any]:
    visit, leg = day.visits[at], day.legs[at] if at < len(day.legs) else None
    place = facts.places.get(visit.place.id)
    before = day.visits[at - 1].place if at else day.start
    row: dict[str, Any] = {
        "place": visit.place.id,
        "name": visit.place.name,
        "name_ja": _name_ja(place),
        "kind": visit.place.kind,
        "arrive": visit.arrive,
        "leave": visit.leave,
        "stay_min": minutes_of(visit.leave) - minutes_of(visit.arrive),
        "hours": told_hours(facts.hours(visit.place.id, day.date)),
        "are_hours_sure": _are_sure(visit, day, facts),
        "origin": [origin.words for origin in visit.origins],
        "meal": _meal(visit, trip),
        "cost": f"{visit.cost.amount:.2f} {visit.cost.currency}" if visit.cost else "not known",
    }
    if leg is not None and leg.from_id != leg.to_id and leg.metres and not is_kept_free(before.id):
        row["way"] = {
            "from": before.name,
            "from_ja": _name_ja(facts.places.get(before.id)),
            "mode": "walk" if ALL_ON_FOOT in leg.via else leg.mode,
            "minutes": leg.minutes,
            "metres": leg.metres,
            "exactness": leg.exactness,
        }
    return row


def _are_sure(visit: Visit, day: Day, facts: Facts) -> bool:
    opening = facts.opening(visit.place.id, day.date)
    return opening is not None and not opening.is_unknown and not (opening.perhaps and not opening.sure)


def _name_ja(place: Place | None) -> str | None:
    names = (place.name, *place.also) if place else ()
    return next((name for name in names if _is_kanji(name) or is_japanese(name)), None)


def _meal(visit: Visit, trip: Trip) -> str | None:
    arrive = minutes_of(visit.arrive)
    for meal in trip.request.meals:
        if visit.place.kind in MEALS and meal.start_min <= arrive < meal.end_min:
            return meal.name
    return None
