"""Lists what to settle before a trip: beds and tables to book, prices, assumptions, open points.

Each thing is said once; nothing is said that does not follow from the plan, its request and its checks.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon_trips.export.checks import faults_of, stop_label, unchecked_of
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.words import clock_text, listed
from gnomon_trips.itinerary.assumptions import NO_HOTEL
from gnomon_trips.itinerary.kept_free import near
from gnomon_trips.itinerary.objective import LARGE_PARTY
from gnomon_trips.itinerary.plan import NO_ROOM, Night, Visit
from gnomon_trips.itinerary.request import MEALS, Meal
from gnomon_trips.itinerary.verify.check_kinds import check_kinds

TICKETED = frozenset(("museum", "gallery", "zoo", "aquarium", "theatre", "theme_park", "castle", "palace"))
NIGHT = "Night "
"""What the plan's assumptions about nights begin with: they are among what is to be booked."""


def bookings(result: TripResult) -> list[str]:
    """The things to book or to pay for, as far as the plan says it."""
    return [*_beds(result), *_tables(result), *_tickets(result)]


def not_known(result: TripResult) -> str:
    """What no source here says about bookings; empty where nothing is to be booked."""
    visits = [visit for day in result.plan.days for visit in day.visits]
    parts = []
    if any(visit.place.kind in TICKETED for visit in visits):
        parts.append("whether tickets are for a fixed time")
        parts += [] if _is_priced(result) else ["what they cost"]
    legs = [leg for day in result.plan.days for leg in day.legs]
    if any("Shinkansen" in part for leg in legs for part in leg.via):
        parts.append("whether a seat on the Shinkansen must be reserved")
    if any(leg.mode != "walk" for leg in legs):
        parts.append("what rides cost")
    if any(day.night and day.night.basis != "given" for day in result.plan.days):
        parts.append("whether a bed is free")
    return f"No source here says {listed(parts).replace(' and ', ' or ')}." if parts else ""


def assumed(result: TripResult) -> list[str]:
    """The assumptions of the plan, without those about its nights, which stand elsewhere."""
    others = (words for words in result.plan.assumptions if not words.startswith(NIGHT))
    return [words for words in others if not words.endswith(NO_HOTEL)]


def open_points(result: TripResult) -> list[dict[str, Any]]:
    """The checks that could not be made, each with its reason once and all the places that it is about."""
    points: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for code, kind in check_kinds().items():
        for fault in unchecked_of(code, result):
            is_of_trip = fault.anchor == "trip"
            if is_of_trip and any(entry.place in fault.reason for entry in result.plan.skipped):
                continue  # told where the plan says what is left out
            places = points.setdefault((code, kind.topic or kind.holds, fault.reason), [])
            if not is_of_trip:
                name = _name(result, fault.anchor)
                places.append({"where": fault.where, "anchor": fault.anchor, "name": name})
    return [
        {"code": code, "topic": topic, "reason": reason, "places": places}
        for (code, topic, reason), places in points.items()
    ]


def remarks(result: TripResult) -> list[dict[str, str]]:
    """Remarks of the checks that are no faults, without what is left out, which has a part of its own."""
    return [
        {"where": fault.where, "anchor": fault.anchor, "reason": fault.reason}
        for fault in faults_of(result)
        if not fault.is_error and fault.code not in ("SKIPPED", "WISH")
    ]


def left_out(result: TripResult) -> list[str]:
    """What is not in the plan, with the reason."""
    named = [(entry.place, entry.reason) for entry in result.plan.skipped]
    named += [(entry["place"], entry["reason"]) for entry in result.alternatives.get("left_out", ())]
    return [f"{place}: {reason}" for place, reason in dict.fromkeys(named)]


def lost(result: TripResult) -> list[str]:
    """The names that a refused request was planned without, because they were not found."""
    if result.plan.status != "refused":
        return []
    return [f"{it.place}: {it.reason}" for it in result.plan.skipped if it.reason not in NO_ROOM]


def _name(result: TripResult, anchor: str) -> str:
    """The name of the stop that an anchor of the page means, with its number."""
    kind, *numbers = anchor.split("-")
    if kind != "stop":
        return ""
    day, stop = (int(number) for number in numbers)
    return f"{stop_label(result, day, stop)} {result.plan.days[day - 1].visits[stop - 1].place.name}"


def _beds(result: TripResult) -> list[str]:
    stays: list[tuple[Night, list[dt.date]]] = []
    for day in result.plan.days:
        if day.night is None:
            continue
        if stays and stays[-1][0].place.id == day.night.place.id and stays[-1][0].basis == day.night.basis:
            stays[-1][1].append(day.date)
        else:
            stays.append((day.night, [day.date]))
    return [_bed(night, dates, result) for night, dates in stays]


def _bed(night: Night, dates: Sequence[dt.date], result: TripResult) -> str:
    party, rooms = int(result.request.get("party", 1)), result.request.get("rooms")
    who = f" for {party}" if party > 1 else ""
    who += f" in {rooms} room{'s' * (rooms != 1)}" if rooms else ""
    last = dates[-1] + dt.timedelta(days=1)
    when = f"{dates[0]:%A %-d %B} to {last:%A %-d %B} ({len(dates)} night{'s' * (len(dates) > 1)})"
    if night.basis == "assumed":
        return f"A bed{who} near {near(night.place.name)}, {when}: none is known there, look for one."
    chosen = ", chosen from the map" if night.basis == "chosen" else ""
    return f"{night.place.name}{who}, {when}{chosen}."


def _tables(result: TripResult) -> list[str]:
    """Tables for a large party: for each day the first place to eat within the hours of each meal."""
    party, meals = int(result.request.get("party", 1)), result.request.get("meals", ())
    if party < LARGE_PARTY:
        return []
    tables: dict[str, None] = {}
    for day in result.plan.days:
        for meal in meals:
            visit = next((visit for visit in day.visits if _is_meal(visit, meal)), None)
            if visit is not None:
                tables[f"{visit.place.name}, {day.date:%A %-d %B}, {clock_text(visit.arrive)}"] = None
    return [f"Tables for {party}: {'; '.join(tables)}."] if tables else []


def _is_meal(visit: Visit, meal: Mapping[str, Any]) -> bool:
    usual = Meal()
    start, end = meal.get("start", usual.start), meal.get("end", usual.end)
    return visit.place.kind in MEALS and start <= visit.arrive and visit.leave <= end


def _tickets(result: TripResult) -> list[str]:
    party = int(result.request.get("party", 1))
    who = f" for {party}" if party > 1 else ""
    return [
        f"{visit.place.name}{who}: {visit.cost.amount:,.2f} {visit.cost.currency}, by the request's prices."
        for day in result.plan.days
        for visit in day.visits
        if visit.cost and visit.cost.amount and visit.place.kind not in MEALS
    ]


def _is_priced(result: TripResult) -> bool:
    """Whether every sight that may ask for a ticket has a price."""
    visits = (visit for day in result.plan.days for visit in day.visits)
    return all(visit.cost is not None for visit in visits if visit.place.kind in TICKETED)
