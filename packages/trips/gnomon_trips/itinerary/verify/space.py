"""Checks whether days and nights begin and end where they should, and legs are as far as the plan says."""

import itertools
from collections.abc import Iterator, Mapping

from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.kept_free import near
from gnomon_trips.itinerary.place import AdminPath, Exactness, Mode
from gnomon_trips.itinerary.plan import Day, ItineraryLeg, Plan
from gnomon_trips.itinerary.trip import Trip
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
    runs = [city for city, _ in itertools.groupby(filter(None, areas))]
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
    if night.basis != "given" and not any(near(night.place.name) in line for line in plan.assumptions):
        yield Violation(
            code="ASSUMED",
            path="assumptions",
            expected=f"that night {number + 1} is {night.basis}: {near(night.place.name)}",
            found="not a word of it",
        )
