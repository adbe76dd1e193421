"""Checks whether every night of a trip is spent somewhere, and each day begins there."""

import itertools
from collections.abc import Iterator

from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.kept_free import near
from gnomon_trips.itinerary.plan import Day, Night, Plan
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.violation import Violation

SLEEPING = frozenset(
    ("hotel", "hostel", "guest_house", "apartment", "motel", "chalet", "camp_site", "alpine_hut", "ryokan")
)
"""Kinds of place to sleep at."""
FOR_NIGHTS = frozenset((*SLEEPING, "city", "town", "village", "station"))
"""What a request may name for a night, or a trip between cities assume."""


def nights(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults of nights: where the next day begins, and what the plan says of where one sleeps."""
    for number, (today, tomorrow) in enumerate(itertools.pairwise(plan.days)):
        asleep = today.night.place if today.night else today.end
        for path, stop in ((f"days.{number}.end", today.end), (f"days.{number + 1}.start", tomorrow.start)):
            if stop.id != asleep.id:
                yield Violation(
                    code="NIGHT_CONTINUITY",
                    path=path,
                    expected=f"{asleep.name}, where night {number + 1} is spent",
                    found=stop.name,
                )
        yield from _night(number, today, plan, trip, facts)


def _night(number: int, day: Day, plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    requested = trip.request.nights[number] if number < len(trip.request.nights) else trip.request.hotel
    path, night = f"days.{number}.night", day.night
    if night is None:
        if requested is None:
            yield Violation(
                code="NIGHT", path=path, expected=f"where night {number + 1} is spent", found="nothing"
            )
        return
    wanted = trip.named.get(requested) if requested else None
    if wanted is not None and night.place.id != wanted.id:
        yield Violation(code="NIGHT", path=path, expected=wanted.name, found=night.place.name)
    if night.basis == "given" and requested is None:
        yield Violation(
            code="NIGHT", path=f"{path}.basis", expected="chosen or assumed: none is named", found="given"
        )
    place = facts.places.get(night.place.id)
    if night.basis == "chosen" and place is not None and place.kind not in FOR_NIGHTS:
        yield Violation(
            code="NIGHT", path=path, expected="a place to sleep at", found=f"{place.name}, a {place.kind}"
        )
    if night.basis != "given" and not _is_said(night, plan):
        yield Violation(
            code="ASSUMED",
            path="assumptions",
            expected=f"that night {number + 1} is {night.basis}: {near(night.place.name)}",
            found="not a word of it",
        )


def _is_said(night: Night, plan: Plan) -> bool:
    return any(near(night.place.name) in line for line in plan.assumptions)
