"""Changes a plan as little as possible so that it holds again: locked or dropped stops, late days, rain."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gnomon_trips.itinerary.comfort import is_comfortable, settled, stays_of
from gnomon_trips.itinerary.draft import DraftDay, DraftPlan, DraftVisit
from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.ground import Ground, gathered_ways
from gnomon_trips.itinerary.hours import clock_of, minutes_of
from gnomon_trips.itinerary.local_search import Search
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Plan, Skipped
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.terrain import Candidates, candidates_of
from gnomon_trips.itinerary.tours import CODE, Order, Solution
from gnomon_trips.itinerary.trip import Trip, find, open_trip

OUTDOORS = frozenset(
    ("park", "garden", "viewpoint", "artwork", "memorial", "monument", "peak", "ruins", "beach", "playground")
)
"""Kinds of place that nobody visits in the rain."""
MOST_MOVED = 3
"""That many stops of a plan are taken out at once when no fewer are enough; beyond it days are built anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Stops to keep as they are or to leave out, minutes by which a day (from 1) is late, days of rain."""

    lock: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    late_min: Mapping[int, int] = field(default_factory=dict)
    rain: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replanned:
    """The changed plan with the request it answers, every difference in words, and what it costs.

    `metres_more` and `minutes_more` compare all days: ways, and the ends of the days.
    """

    trip: Trip
    draft: DraftPlan
    differences: tuple[str, ...]
    metres_more: int
    minutes_more: int

    @property
    def is_whole(self) -> bool:
        return not self.draft.left_out


async def changed_plan(plan: Plan, trip: Trip, change: Change) -> Replanned:
    """The plan that holds after the change and differs least from the old one.

    Fewest stops left out come first, then fewest meals missed, then fewest stops on another day or new, then
    the objective. Days that need not change keep their times.

    Raises:
        BadArgument: the change names a stop or a day that is not in the plan, or there is no plan.
        PlaceError: the provider failed.
    """
    if plan.status != "planned":
        raise BadArgument("only a plan can be changed, not a refusal")
    visits = {visit.place.id: visit for day in plan.days for visit in day.visits}
    names = {visit.place.name: visit.place.id for visit in visits.values()}
    dropped = {_stop_named(name, visits, names, trip) for name in change.drop}
    locked = {_stop_named(name, visits, names, trip) for name in change.lock}
    for day in (*change.rain, *change.late_min):
        if not 1 <= day <= len(plan.days):
            raise BadArgument(f"there is no day {day}; the plan has {len(plan.days)}")
    if both := dropped & locked:
        raise BadArgument(f"{visits[min(both)].place.name!r} cannot be both locked and dropped")
    trip = await _without(trip, dropped)
    stops = [(await find(trip.provider, place_id)).value for place_id in visits if place_id not in dropped]
    work = await _Work.of(plan, trip, stops, change, locked)
    solution = work.least_change()
    return work.result(solution)


def _stop_named(name: str, visits: Mapping[str, object], names: Mapping[str, str], trip: Trip) -> str:
    place_id = name if name in visits else names.get(name)
    if place_id is None and name in trip.named and trip.named[name].id in visits:
        place_id = trip.named[name].id
    if place_id is None:
        raise BadArgument(f"{name!r} is no stop of the plan; stops: {', '.join(names)}")
    return place_id


async def _without(trip: Trip, dropped: set[str]) -> Trip:
    """The trip whose request no longer asks for the dropped stops."""
    gone = {name for name, place in trip.named.items() if place.id in dropped}
    request: TripRequest = trip.request.model_copy(
        update={
            "places": [name for name in trip.request.places if name not in gone],
            "order": [pair for pair in trip.request.order if not gone & set(pair)],
            "avoid": [*trip.request.avoid, *sorted(dropped)],
        }
    )
    return await open_trip(request, trip.provider) if dropped else trip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """The old plan in the numbers of a search that knows the change."""

    plan: Plan
    trip: Trip
    ground: Ground
    search: Search
    old: tuple[Order, ...]
    fixed: frozenset[int]
    change: Change

    @classmethod
    async def of(
        cls, plan: Plan, trip: Trip, stops: list[Place], change: Change, locked: set[str]
    ) -> "_Work":
        asked = {place.id for place in trip.places()}
        extra = [place for place in stops if place.id not in asked]
        choice: Candidates = await candidates_of(trip)
        choice = replace(choice, meals=tuple({p.id: p for p in [*extra, *choice.meals]}.values()))
        places = [place for place in stops if place.id in asked]
        places += [place for place in trip.places() if place.id not in {p.id for p in places}]
        beds = [(await find(trip.provider, day.night.place.id)).value for day in plan.days if day.night]
        choice = replace(choice, beds=tuple({bed.id: bed for bed in beds}.values()))
        ground = Ground(trip, places, choice, await gathered_ways(trip, places, choice))
        search = ground.search(0)
        for day, row in enumerate(plan.days[:-1]):
            if search.ends[day] < 0 and row.night and row.night.basis == "chosen":
                search.ends[day] = search.starts[day + 1] = ground.number[row.night.place.id]
        old = tuple(
            tuple(
                ground.number[visit.place.id] * CODE + _meal(search, visit.why)
                for visit in row.visits
                if visit.place.id in ground.number
            )
            for row in plan.days
        )
        for day, minutes in change.late_min.items():
            search.late_min[day - 1] = minutes
        for spot, place in enumerate(ground.every):
            for day in change.rain:
                if place.kind in OUTDOORS:
                    search.spots.open_min[spot][day - 1] = ()
        for day, row in enumerate(plan.days):
            for visit in row.visits:
                if visit.place.id in locked:
                    spot = ground.number[visit.place.id]
                    span = (minutes_of(visit.arrive), minutes_of(visit.leave))
                    hours = search.spots.open_min[spot]
                    hours[:] = [
                        (span,) if other == day and hours[other] != () else () for other in range(len(hours))
                    ]
                    search.spots.stay_min[spot] = span[1] - span[0]
        search.__post_init__()
        fixed = frozenset(ground.number[place_id] for place_id in locked)
        return cls(
            plan=plan, trip=trip, ground=ground, search=search, old=old, fixed=fixed, change=change
        )  # fmt: skip

    def least_change(self) -> Solution:
        """The old plan with as few stops taken out as necessary, and those put back where they fit."""
        search, best = self.search, None
        for gone in self._parts():
            kept = [tuple(code for code in order if code not in gone) for order in self.old]
            if search.days_cost(kept) is None:
                continue
            solution = list(kept)
            search.fill(solution, (), has_noise=False)
            for code in gone:  # what the plan had beside what was asked for is kept where it fits
                if search.spots.worth[code // CODE] == 0 and code % CODE == 0:
                    search.insert(solution, [code], range(len(solution)))
            rank = self._rank(solution)
            if best is None or rank < best[0]:
                best = (rank, solution)
            if best[0][:2] == (0, 0) and best[0][2] <= len(gone):
                break
        if best is None:
            solution = [() for _ in self.old]
            search.fill(solution, (), has_noise=False)
            return solution
        return best[1]

    def _parts(self) -> Iterator[frozenset[int]]:
        """Stops to take out, few first; what is locked stays."""
        stops = [code for order in self.old for code in order if code // CODE not in self.fixed]
        for count in range(min(MOST_MOVED, len(stops)) + 1):
            if count < 3 or len(stops) <= 25:
                yield from map(frozenset, itertools.combinations(stops, count))
        days = range(len(self.old))
        for count in (1, 2):
            for chosen in itertools.combinations(days, count):
                codes = (code for day in chosen for code in self.old[day] if code // CODE not in self.fixed)
                yield frozenset(codes)

    def _rank(self, solution: Solution) -> tuple[int, int, int, float]:
        search = self.search
        day_of = {code // CODE: day for day, order in enumerate(solution) for code in order}
        old_day = {code // CODE: day for day, order in enumerate(self.old) for code in order}
        missing = sum(spot not in day_of for spot in search.musts)
        differing = sum(day_of.get(spot) != day for spot, day in old_day.items())
        differing += sum(spot not in old_day for spot in day_of)
        return missing, len(search.unfed(solution)), differing, search.days_cost(solution) or 0.0

    def result(self, solution: Solution) -> Replanned:
        search, every = self.search, self.ground.every
        homes = search.places_of(solution)
        days, ends = [], 0
        for day, order in enumerate(solution):
            old_visits = self.plan.days[day].visits
            is_same = order == self.old[day] and len(order) == len(old_visits)
            if is_same and day not in search.late_min and self._is_kept(day, solution):
                visits = [
                    DraftVisit(place=visit.place.id, arrive=visit.arrive, leave=visit.leave, why=visit.why)
                    for visit in old_visits
                ]
            else:
                why = {visit.place.id: visit.why for visit in old_visits}
                visits = [
                    DraftVisit(
                        place=every[spot].id,
                        arrive=clock_of(arrive),
                        leave=clock_of(leave),
                        why=why.get(every[spot].id) or "moved or put in by the change",
                    )
                    for spot, arrive, leave in self._times(day, order, homes[day])
                ]
            ends += _end_min(visits) - _end_min(old_visits)
            night = self.plan.days[day].night
            chosen = night.place.id if night and night.basis == "chosen" else None
            days.append(DraftDay(visits=visits, night=chosen))
        visited = {code // CODE for order in solution for code in order}
        left_out = [
            Skipped(place=every[spot].name, reason="cannot be kept after the change")
            for spot in search.musts
            if spot not in visited
        ]
        metres = sum(
            priced[1]
            for day, (start, end) in enumerate(homes)
            if (priced := search.day(day, start, end, solution[day])) is not None
        )
        return Replanned(
            trip=self.trip,
            draft=DraftPlan(days=days, left_out=left_out),
            differences=tuple(self._differences(days)),
            metres_more=metres - sum(leg.metres for day in self.plan.days for leg in day.legs),
            minutes_more=ends,
        )

    def _times(self, day: int, order: Order, ends: tuple[int, int]) -> list[tuple[int, int, int]]:
        """The times of a day's stays, comfortable ones where the request leaves that open."""
        request = self.trip.request
        if not is_comfortable(request):
            return self.search.times(day, order, ends[0])
        stays = stays_of(request, [place.kind for place in self.ground.every])
        return settled(self.search, day, order, *ends, stays)

    def _is_kept(self, day: int, solution: Solution) -> bool:
        start, end = self.search.places_of(solution)[day]
        old_start, old_end = self.search.places_of(list(self.old))[day]
        return (start, end) == (old_start, old_end)

    def _differences(self, days: Sequence[DraftDay]) -> Iterator[str]:
        new = {visit.place: (number, visit) for number, day in enumerate(days, 1) for visit in day.visits}
        names = {place.id: place.name for place in self.ground.every}
        old_ids = set()
        for number, day in enumerate(self.plan.days, 1):
            for old in day.visits:
                old_ids.add(old.place.id)
                if old.place.id not in new:
                    yield f"{old.place.name}: left out (was day {number}, {old.arrive})"
                    continue
                new_day, visit = new[old.place.id]
                if new_day != number:
                    yield f"{old.place.name}: day {number}, {old.arrive} → day {new_day}, {visit.arrive}"
                elif (visit.arrive, visit.leave) != (old.arrive, old.leave):
                    yield f"{old.place.name}: {old.arrive}-{old.leave} → {visit.arrive}-{visit.leave}"
        for place_id, (number, visit) in new.items():
            if place_id not in old_ids:
                yield f"{names[place_id]}: new, day {number}, {visit.arrive}"


def _meal(search: Search, why: str) -> int:
    """The number of the meal that a visit's reason names; 0: none."""
    return next((number for number, meal in enumerate(search.meals, 1) if meal.name in why.split(", ")), 0)


def _end_min(visits: Sequence[object]) -> int:
    leave = getattr(visits[-1], "leave", None) if visits else None
    return minutes_of(leave) if isinstance(leave, str) else 0
