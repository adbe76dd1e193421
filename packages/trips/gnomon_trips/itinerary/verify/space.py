"""Checks whether days begin and end where they should, and legs are as far as the plan says."""

from collections.abc import Iterator, Mapping
from itertools import groupby

from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.place import AdminPath, Exactness, Mode
from gnomon_trips.itinerary.plan import Day, ItineraryLeg, Plan
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.nights import nights
from gnomon_trips.itinerary.verify.violation import Violation

CLAIM_M, CLAIM_RATIO, CLAIM_MIN = 20, 0.05, 1
"""A stated leg may be off by that many metres or that share, and by that many minutes."""


USUAL_WALK_M = 20_000
"""Metres a day on foot, some four hours, above which a word is due though the request has no limit."""
KNOWN_WELL: Mapping[Exactness, int] = {
    "lower_bound": 0, "estimate": 1, "network": 2, "timetable": 2, "exact": 3,
}  # fmt: skip


def space(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults of homes, nights, cities and legs."""
    for number, day in enumerate(plan.days):
        yield from _home(number, day, trip)
        for index, leg in enumerate(day.legs):
            yield from _leg(f"days.{number}.legs.{index}", leg, facts, trip.request.mode)
    yield from nights(plan, trip, facts)
    yield from _long_walks(plan, facts)
    yield from _cities(plan, facts)


def _home(number: int, day: Day, trip: Trip) -> Iterator[Violation]:
    for where, stop in (("start", day.start), ("end", day.end)):
        home = trip.home(number, at_end=where == "end")
        if home is not None and stop.id != home.id:
            yield Violation(code="HOME", path=f"days.{number}.{where}", expected=home.name, found=stop.name)


def _leg(path: str, leg: ItineraryLeg, facts: Facts, mode: Mode) -> Iterator[Violation]:
    key = (leg.from_id, leg.to_id, leg.mode)
    track = facts.tracks.get(key)
    is_same_state = facts.way_sources.get(key) in leg.evidence
    has_track = track is not None and is_same_state and (leg.via or leg.path)
    for field in ("via", "path") if has_track else ():
        claimed, known = getattr(leg, field), getattr(track, field)
        if claimed != known:
            words = [" ".join(map(str, value)) or "nothing known" for value in (known, claimed)]
            yield Violation(
                code="LEG_CLAIM", path=f"{path}.{field}", expected=words[0][:300], found=words[1][:300]
            )
    if leg.mode not in (mode, "walk"):
        yield Violation(code="MODE", path=path, expected=f"{mode}, as asked for", found=leg.mode)
    if key not in facts.ways:
        return
    way = facts.ways[key]
    if way is None:
        yield Violation(code="MODE", path=path, expected="a mode that joins the two", found=leg.mode)
        return
    if way.exactness == "estimate":
        minutes, metres = max(10.0, 0.25 * way.minutes), max(1000.0, 0.25 * way.metres)
    else:
        minutes, metres = max(CLAIM_MIN, CLAIM_RATIO * way.minutes), max(CLAIM_M, CLAIM_RATIO * way.metres)
    over_min, over_m = leg.minutes - way.minutes, leg.metres - way.metres
    if way.exactness == "lower_bound":  # more than the least may well be so
        over_min, over_m = min(0, over_min), min(0, over_m)
    if KNOWN_WELL[leg.exactness] > KNOWN_WELL[way.exactness]:
        yield Violation(
            code="LEG_CLAIM",
            path=f"{path}.exactness",
            expected=way.exactness,
            found=leg.exactness,
            evidence=f"{facts.provider} {facts.version}",
        )
    elif abs(over_min) > minutes or abs(over_m) > metres:
        yield Violation(
            code="LEG_CLAIM",
            path=path,
            expected=f"{way.minutes} min, {way.metres} m",
            found=f"{leg.minutes} min, {leg.metres} m",
            evidence=f"{facts.provider} {facts.version}, {way.exactness}",
        )


def _long_walks(plan: Plan, facts: Facts) -> Iterator[Violation]:
    for number, day in enumerate(plan.days):
        ways = [facts.ways.get((leg.from_id, leg.to_id, leg.mode)) for leg in day.legs]
        walked_m = sum(way.metres for way in ways if way is not None and way.mode == "walk")
        if walked_m > USUAL_WALK_M:
            yield Violation(
                code="LONG_WALK",
                path=f"days.{number}",
                expected=f"usually no more than {USUAL_WALK_M / 1000:g} km",
                found=f"{walked_m / 1000:.1f} km",
                severity="warn",
            )


def _cities(plan: Plan, facts: Facts) -> Iterator[Violation]:
    """A city that is left and seen again: worth a word, as a base for day trips is left on purpose."""
    visited = [visit.place.id for day in plan.days for visit in day.visits]
    areas = [_city(facts.areas[place_id]) for place_id in visited if place_id in facts.areas]
    runs = [city for city, _ in groupby(filter(None, areas))]
    for city in sorted({city for city in runs if runs.count(city) > 1}):
        yield Violation(
            code="CITY_RUNS",
            path="days",
            expected=f"{city} in one go",
            found=" → ".join(runs),
            severity="warn",
        )


def _city(area: AdminPath) -> str:
    """The city of a place; the wards of a Japanese city are one with it.

    >>> _city(AdminPath(prefecture="Tokyo", municipality="Shibuya-ku"))
    'Tokyo'
    >>> _city(AdminPath(prefecture="Kyoto", municipality="Kyoto-shi"))
    'Kyoto'
    """
    if area.municipality.endswith("-ku"):
        return area.prefecture
    return area.municipality.removesuffix("-shi")
