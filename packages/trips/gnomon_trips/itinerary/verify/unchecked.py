"""Names the checks that apply to a plan and that no source can answer, each with what is missing."""

from collections.abc import Iterator

from gnomon_tools.core.name_match import GOOD_NAME, plain_name
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.kept_free import is_kept_free
from gnomon_trips.itinerary.kinds import OPEN_GROUND, is_kind_word
from gnomon_trips.itinerary.plan import Day, Plan
from gnomon_trips.itinerary.same_place import likeness_to
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.grounding import stops_of
from gnomon_trips.itinerary.verify.sources import HOURS_OF, citations, is_other_state, told_assumptions
from gnomon_trips.itinerary.verify.time import covers
from gnomon_trips.itinerary.verify.violation import Unchecked

SAME_NAME = 0.85
"""How alike two spellings of one name are; a part of the name is as like."""


def unchecked(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Unchecked]:
    """What could not be checked in a plan that is no refusal."""
    for number, day in enumerate(plan.days):
        yield from _hours(number, day, facts)
        yield from _ways(number, day, trip, facts)
        yield from _areas(number, day, facts)
    if not facts.country and any(
        facts.hours(visit.place.id, day.date) is not None for day in plan.days for visit in day.visits
    ):
        why = "the data do not say their country: hours on public holidays were not looked at"
        yield Unchecked(code="OPEN_HOURS", path="days", why=why)
    yield from _prices(plan, trip, facts)
    yield from _names(plan, trip)
    yield from _assumed(plan, trip, facts)
    yield from _called(plan, facts)
    yield from _left_out(plan, trip, facts)
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            if trip.origins.get(visit.place.id) and not visit.origins:
                path = f"days.{number}.visits.{index}.origins"
                yield Unchecked(code="EVIDENCE", path=path, why="the plan does not say who thought of it")
    for path, cited, (told_by, _) in citations(plan, facts):
        for source in cited:
            if not source.startswith(HOURS_OF) and is_other_state(source, told_by):
                yield Unchecked(code="EVIDENCE", path=path, why=f"the data of {source} are not at hand")


def _assumed(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Unchecked]:
    """Assumptions that the plan's own facts do not make it say: anybody may have written them."""
    expected = told_assumptions(plan, trip, facts)
    for index, line in enumerate(plan.assumptions):
        if line not in expected:
            yield Unchecked(
                code="ASSUMED", path=f"assumptions.{index}", why=f"nothing here can check “{line}”"
            )


def _left_out(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Unchecked]:
    """Names left out that mean nothing here: such a place may be in the plan under another name."""
    request = trip.request
    told = {*trip.lost, *trip.unseen, *request.places, *request.wishes, *request.avoid, *facts.left_out}
    for index, left in enumerate(plan.skipped):
        if left.place not in told and left.place.partition(",")[0] not in [
            meal.name for meal in request.meals
        ]:
            why = f"nothing is known as {left.place}"
            yield Unchecked(code="SKIPPED", path=f"skipped.{index}", why=why)


def _called(plan: Plan, facts: Facts) -> Iterator[Unchecked]:
    """Names that are near to a place's own names and are none of them."""
    for number, day in enumerate(plan.days):
        for where, stop in stops_of(day):
            place = facts.places.get(stop.id)
            if place is None or (place.id, stop.name) in facts.namesakes:
                continue
            own = {word for name in (place.name, *place.also) for word in plain_name(name).split()}
            likeness = likeness_to(place, stop.name)
            is_other = likeness < SAME_NAME or not own.issuperset(plain_name(stop.name).split())
            if GOOD_NAME <= likeness < 1 and is_other:
                why = f"no source calls {place.name} “{stop.name}”"
                path = f"days.{number}.{where}"
                yield Unchecked(code="NAME_MISMATCH", path=path, why=why)


def _hours(number: int, day: Day, facts: Facts) -> Iterator[Unchecked]:
    for index, visit in enumerate(day.visits):
        path = f"days.{number}.visits.{index}"
        if visit.place.id not in facts.places or is_kept_free(visit.place.id):
            continue
        opening = facts.opening(visit.place.id, day.date)
        if opening is None and facts.places[visit.place.id].kind in OPEN_GROUND:
            continue
        if opening is None:
            yield Unchecked(code="OPEN_HOURS", path=path, why="no source has its hours")
            continue
        arrive, leave = minutes_of(visit.arrive), minutes_of(visit.leave)
        if covers(opening.possible, arrive, leave) and not covers(opening.sure, arrive, leave):
            why = "; ".join((*opening.doubts, *opening.notes))
            yield Unchecked(code="OPEN_HOURS", path=path, why=why)


def _ways(number: int, day: Day, trip: Trip, facts: Facts) -> Iterator[Unchecked]:
    request, missing = trip.request, False
    for index, leg in enumerate(day.legs):
        if leg.from_id not in facts.places or leg.to_id not in facts.places or leg.from_id == leg.to_id:
            continue
        way, path = facts.ways.get((leg.from_id, leg.to_id, leg.mode)), f"days.{number}.legs.{index}"
        track = facts.tracks.get((leg.from_id, leg.to_id, leg.mode))
        if track is not None and track.path and not (leg.via or leg.path):
            yield Unchecked(code="LEG_CLAIM", path=path, why="the plan does not say how the way runs")
        if way is None:
            missing = True
            yield Unchecked(
                code="TRAVEL_TIME",
                path=path,
                why=f"no source knows a way {'on foot' if leg.mode == 'walk' else f'by {leg.mode}'}",
            )
        elif way.exactness == "lower_bound":
            missing = missing or way.mode == "walk"
            why = "only the straight line is known: it takes longer than that"
            for code in ("TRAVEL_TIME", "LEG_CLAIM"):
                yield Unchecked(code=code, path=path, why=why)
            if request.max_leg_min is not None and way.minutes <= request.max_leg_min:
                yield Unchecked(code="MAX_LEG", path=path, why=why)
    if missing and request.max_walk_m is not None:
        yield Unchecked(code="MAX_WALK", path=f"days.{number}", why="not every way on foot is known")


def _areas(number: int, day: Day, facts: Facts) -> Iterator[Unchecked]:
    for index, visit in enumerate(day.visits):
        claimed, area = visit.place.admin, facts.areas.get(visit.place.id)
        if claimed is None or visit.place.id not in facts.places:
            continue
        for level in ("country", "prefecture", "municipality"):
            is_known = area is not None and not area.is_approximate and getattr(area, level)
            if getattr(claimed, level) and not is_known:
                path = f"days.{number}.visits.{index}.place.admin.{level}"
                yield Unchecked(code="HIERARCHY", path=path, why=f"no source knows its {level}")


def _prices(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Unchecked]:
    request = trip.request
    if request.budget is None:
        return
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            place = facts.places.get(visit.place.id)
            if request.price(place.kind if place else visit.place.kind) is None:
                path = f"days.{number}.visits.{index}"
                yield Unchecked(code="BUDGET", path=path, why=f"no price of {visit.place.name} is known")
        for index, leg in enumerate(day.legs):
            if leg.mode != "walk" and leg.from_id != leg.to_id:
                path = f"days.{number}.legs.{index}"
                yield Unchecked(code="BUDGET", path=path, why=f"no fare by {leg.mode} is known")
    for number in range(len(plan.days) - 1 if request.price("hotel") is None else 0):
        yield Unchecked(code="BUDGET", path=f"days.{number}.night", why="no price of the night is known")


def _names(plan: Plan, trip: Trip) -> Iterator[Unchecked]:
    """Wishes about places that nobody could find, or that the plan does not have."""
    request, named = trip.request, trip.named
    visited = {visit.place.id for day in plan.days for visit in day.visits}
    for name in request.avoid:
        if name not in named and name not in trip.candidates and not is_kind_word(name):
            yield Unchecked(code="FORBIDDEN", path="days", why=f"nothing is known as {name}")
    for pair in request.order:
        for name in pair:
            if name not in named or named[name].id not in visited:
                yield Unchecked(
                    code="ORDER", path="days", why=f"{pair[0]} before {pair[1]}: {name} is not in the plan"
                )
                break
