"""Computes the published criteria of itineraries for which a plan and its facts suffice.

ITINERA (Tang and others 2024) counts places recalled, the excess over the shortest tour, crossings of the
route and places that are made up; ChinaTravel (Shao and others 2024) ranks plans by preferences such as
minutes on the way or stops a day. Written after their definitions; the package's README says which need
data that is not here.
"""

import statistics
from collections.abc import Mapping, Sequence

from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.objective import fame_of
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import ItineraryLeg, Visit
from gnomon_trips.itinerary.quality import Ground, least_and_taken
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.route_shape import crossings
from gnomon_trips.itinerary.verify.grounding import UNKNOWN


def published_criteria(ground: Ground) -> Mapping[str, float | None]:
    """Each criterion by its name; None where the plan has nothing that it applies to."""
    return {**_itinera(ground), **_china_travel(ground)}


def _itinera(ground: Ground) -> dict[str, float | None]:
    stops = [visit.place.id for _, visit, _ in ground.visits]
    wanted = {place.id for place in ground.trip.places()}
    least, taken, _ = least_and_taken(ground)
    crossed = [
        crossings([(stop.lat, stop.lon) for stop in (day.start, *(v.place for v in day.visits), day.end)])[0]
        for day in ground.plan.days
    ]
    return {
        "itinera_recall": len(wanted & set(stops)) / len(wanted) if wanted else None,
        "itinera_margin": taken / least - 1 if least > 0 else None,
        "itinera_overlaps": float(sum(crossed)),
        "itinera_fail_rate": sum(stop.startswith(UNKNOWN) for stop in stops) / len(stops) if stops else None,
    }


def _china_travel(ground: Ground) -> dict[str, float | None]:
    legs = [leg for day in ground.plan.days for leg in day.legs if leg.from_id != leg.to_id]
    to_meals = [
        leg
        for day in ground.plan.days
        for visit, leg in zip(day.visits, day.legs, strict=False)
        if leg.from_id != leg.to_id and _feeds(visit, ground.place(visit))
    ]
    sights = [(visit, place) for _, visit, place in ground.visits if not _feeds(visit, place)]
    rules = ground.trip.request.rules
    stays = [
        rules.stay_min(place.kind if place else visit.place.kind) / length
        for visit, place in sights
        if (length := minutes_of(visit.leave) - minutes_of(visit.arrive)) > 0
    ]
    return {
        "chinatravel_minutes_a_leg": _mean_minutes(legs),
        "chinatravel_minutes_to_meals": _mean_minutes(to_meals),
        "chinatravel_metres_on_foot": float(sum(leg.metres for leg in legs if leg.mode == "walk")),
        "chinatravel_stay_wanted_of_had": statistics.fmean(stays) if stays else None,
        "chinatravel_sights_a_day": len(sights) / len(ground.plan.days),
        "chinatravel_fame_of_sights": statistics.fmean(fame_of(place) for _, place in sights if place)
        if any(place for _, place in sights)
        else None,
    }


def _feeds(visit: Visit, place: Place | None) -> bool:
    return (place.kind if place else visit.place.kind) in MEALS


def _mean_minutes(legs: Sequence[ItineraryLeg]) -> float | None:
    return statistics.fmean(leg.minutes for leg in legs) if legs else None
