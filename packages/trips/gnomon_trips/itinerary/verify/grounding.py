"""Checks whether what a plan names exists, is called that, and is where the plan says."""

from collections.abc import Iterator

from gnomon_tools.core.name_match import GOOD_NAME, likeness
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.place import AdminPath, Place
from gnomon_trips.itinerary.plan import Area, Day, Plan, Stop, stop_of
from gnomon_trips.itinerary.same_place import likeness_to
from gnomon_trips.itinerary.verify.violation import Violation

NEAR_M = 100.0
UNKNOWN, AMBIGUOUS = "unknown:", "ambiguous:"
"""What a stop's id begins with when nothing, or too much, was found under the name a model gave."""


def grounding(plan: Plan, facts: Facts) -> Iterator[Violation]:
    """Faults of every stop, once for each time it is named."""
    for number, day in enumerate(plan.days):
        for where, stop in stops_of(day):
            yield from _stop(f"days.{number}.{where}", stop, facts)


def stops_of(day: Day) -> Iterator[tuple[str, Stop]]:
    """Everything that a day names as a place, with its path in the day."""
    yield from (("start", day.start), ("end", day.end))
    yield from ((f"visits.{index}.place", visit.place) for index, visit in enumerate(day.visits))
    if day.night:
        yield "night.place", day.night.place


def _stop(path: str, stop: Stop, facts: Facts) -> Iterator[Violation]:
    place = facts.places.get(stop.id)
    if place is None:
        if stop.id.startswith(AMBIGUOUS):
            yield Violation(
                code="AMBIGUOUS", path=path, expected="a name that means one place", found=stop.name
            )
        else:
            yield Violation(
                code="KNOWN_PLACE",
                path=path,
                expected=f"a place that {facts.provider or 'the provider'} knows",
                found=f"{stop.name} ({stop.id})",
            )
        return
    other = facts.namesakes.get((stop.id, stop.name))
    if likeness_to(place, stop.name) < GOOD_NAME:
        yield Violation(code="NAME_MISMATCH", path=path, expected=place.name, found=stop.name)
    elif other is not None and other.id != stop.id:
        kind = other.kind.replace("_", " ")
        yield Violation(
            code="NAME_MISMATCH",
            path=path,
            expected=place.name,
            found=f"{stop.name}, which is another {kind}",
        )
    own_script = stop_of(place).other_script
    if stop.other_script not in ("", own_script, *place.also):
        yield Violation(
            code="NAME_MISMATCH",
            path=f"{path}.other_script",
            expected=own_script or "none: no other name is known",
            found=stop.other_script,
        )
    if stop.kind and stop.kind != place.kind:
        yield Violation(code="KIND", path=f"{path}.kind", expected=place.kind, found=stop.kind)
    off_m = float(metres_between(stop.lat, stop.lon, place.at.lat_deg, place.at.lon_deg))
    if off_m > NEAR_M:
        yield Violation(
            code="COORD",
            path=path,
            expected=f"{place.at.lat_deg:.5f}, {place.at.lon_deg:.5f}",
            found=f"{stop.lat:.5f}, {stop.lon:.5f}, {off_m:.0f} m off",
        )
    yield from _area(path, stop, place, facts)


def _area(path: str, stop: Stop, place: Place, facts: Facts) -> Iterator[Violation]:
    claimed, area = stop.admin, facts.areas.get(place.id)
    if claimed is None or area is None or area.is_approximate:
        return
    for level in ("country", "prefecture", "municipality"):
        said, is_so = _level(claimed, level), _level(area, level)
        if said and is_so and likeness(said, is_so) < GOOD_NAME:
            yield Violation(code="HIERARCHY", path=f"{path}.admin.{level}", expected=is_so, found=said)


def _level(area: Area | AdminPath, level: str) -> str:
    return str(getattr(area, level))
