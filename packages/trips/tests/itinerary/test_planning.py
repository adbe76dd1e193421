"""The planner chooses meals, wishes and nights, refuses only with a proof, and answers in any time."""

import itertools
import random
from typing import Any

import pytest

from gnomon_trips.itinerary.draft import DraftDay, DraftPlan, DraftVisit, plan_of
from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.place import LatLon
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.planning import Found, find_plan
from gnomon_trips.itinerary.problem import problem_of
from gnomon_trips.itinerary.proof import is_conflict, is_ruled_out
from gnomon_trips.itinerary.provider import NearbyQuery, answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.solve import solve
from gnomon_trips.itinerary.trip import Trip, open_trip
from gnomon_trips.itinerary.verify.verify import verify_plan
from gnomon_trips.itinerary.verify.violation import Verification

LUNCH = {"name": "lunch"}
DINNER = {"name": "dinner", "start": "17:30", "end": "21:00", "minutes": 60}
HELSINKI = {"area": "helsinki", "start_date": "2026-06-10"}


def trip_of(**fields: Any) -> Trip:
    request = read_request({**HELSINKI, **fields})
    return answered(open_trip(request, embedded(request.area)), is_local=True)


def planned(trip: Trip, **options: Any) -> tuple[Found, Plan, Verification]:
    found = answered(find_plan(trip, **options), is_local=True)
    plan = answered(plan_of(found.draft, trip), is_local=True)
    return found, plan, answered(verify_plan(plan, trip), is_local=True)[1]


def assert_continuous(plan: Plan) -> None:
    for today, tomorrow in itertools.pairwise(plan.days):
        assert today.night is not None
        assert today.end == today.night.place == tomorrow.start


# Nights


def test_paris_and_tokyo_by_car_in_two_days_are_refused_and_it_is_proven() -> None:
    found, plan, _ = planned(trip_of(area="world", days=2, mode="car", places=["Paris", "Tokyo"]))
    assert (plan.status, plan.conflict) == ("refused", ("window",))
    assert found.search.is_proven


def test_cities_are_joined_by_real_legs_and_the_nights_are_told() -> None:
    _, plan, verification = planned(
        trip_of(area="japan", days=2, mode="rail", places=["東京駅", "京都駅", "広島駅"])
    )
    assert plan.status == "planned"
    assert not verification.violations
    assert_continuous(plan)
    legs = [leg for day in plan.days for leg in day.legs if leg.metres > 300_000]
    assert len(legs) == 2
    assert all(leg.minutes > 60 for leg in legs)
    assert plan.days[0].night is not None
    assert plan.days[0].night.basis == "assumed"
    assert any(line.startswith("Night 1 is spent near ") for line in plan.assumptions)


def test_a_night_is_spent_as_requested_else_as_drafted_else_near_the_last_stop() -> None:
    trip = trip_of(days=3, nights=["Hotel Kämp", None], places=["Ateneum", "Kiasma", "Amos Rex"])
    drafted = DraftPlan(
        days=[
            DraftDay(visits=[DraftVisit(place=place, arrive="12:00", leave="13:30")], night=night)
            for place, night in (("Ateneum", "Hotelli Torni"), ("Kiasma", None), ("Amos Rex", None))
        ]
    )
    plan = answered(plan_of(drafted, trip), is_local=True)
    assert_continuous(plan)
    nights = [day.night for day in plan.days]
    assert [night and (night.place.name, night.basis) for night in nights] == [
        ("Hotel Kämp", "given"),
        ("Kiasma", "assumed"),
        None,
    ]
    chosen = drafted.model_copy(
        update={"days": [day.model_copy(update={"night": "Hotelli Torni"}) for day in drafted.days]}
    )
    nights = [day.night for day in answered(plan_of(chosen, trip), is_local=True).days]
    assert [night and night.basis for night in nights] == ["given", "chosen", None]


def test_a_trip_without_a_hotel_gets_one_bed_in_a_town_that_knows_beds() -> None:
    _, plan, verification = planned(trip_of(days=3, places=["Ateneum", "Kiasma", "Amos Rex"]))
    assert not verification.violations
    assert_continuous(plan)
    beds = {day.night.place.id for day in plan.days if day.night}
    assert len(beds) == 1
    assert {day.night.basis for day in plan.days if day.night} == {"chosen"}


def test_a_day_without_visits_is_spent_where_the_night_was() -> None:
    trip = trip_of(days=2, places=["Ateneum"])
    visits = [DraftVisit(place="Ateneum", arrive="12:00", leave="13:30")]
    for days in ([DraftDay(visits=visits), DraftDay()], [DraftDay(), DraftDay(visits=visits)]):
        plan = answered(plan_of(DraftPlan(days=days), trip), is_local=True)
        assert len(plan.days) == 2
        assert_continuous(plan)


# Meals and proofs

HOTELS = ("Hotel Kämp", "Hotelli Torni", "Hotel Haven", "Klaus K")
SIGHTS = (("Ateneum", "Kiasma"), ("Amos Rex", "Kiasma"), ("Ateneum", "Amos Rex", "Kiasma"))


@pytest.mark.parametrize(
    ("hotel", "sights"),
    # Of each hotel one; the soak has all.
    [
        pytest.param(hotel, sights, marks=() if sights is SIGHTS[at % len(SIGHTS)] else pytest.mark.soak)
        for at, hotel in enumerate(HOTELS)
        for sights in SIGHTS
    ],
)
def test_lunch_and_dinner_beside_museums_are_planned_from_every_hotel(
    hotel: str, sights: tuple[str, ...]
) -> None:
    window = {"start": "09:00", "end": "21:00"}
    trip = trip_of(hotel=hotel, places=list(sights), meals=[LUNCH, DINNER], window=window)
    found, plan, verification = planned(trip)
    assert (plan.status, verification.violations) == ("planned", ())
    assert found.search.gap is not None
    problem = answered(problem_of(trip), is_local=True)
    assert not is_ruled_out(problem)
    assert not is_conflict(problem, ["meal:dinner"])


def test_a_meal_that_no_time_is_left_for_is_proven_impossible() -> None:
    trip = trip_of(
        hotel="Hotelli Torni",
        places=["Ateneum", "Kiasma"],
        meals=[{"name": "lunch", "start": "12:00", "end": "13:00", "minutes": 60}],
        window={"start": "09:30", "end": "14:15"},
    )
    found, plan, _ = planned(trip)
    assert plan.status == "refused"
    assert found.search.is_proven
    assert "meal:lunch" in (plan.conflict or ())
    problem = answered(problem_of(trip), is_local=True)
    assert is_conflict(problem, plan.conflict or ())
    for name in plan.conflict or ():
        assert not is_conflict(problem, set(plan.conflict or ()) - {name})


def test_time_is_kept_free_for_a_meal_where_no_place_to_eat_is_known() -> None:
    _, plan, verdict = planned(trip_of(area="world", mode="car", places=["Paris"], meals=[LUNCH]))
    assert (plan.status, verdict.failed) == ("planned", frozenset())
    assert [visit.place.name for visit in plan.days[0].visits] == ["Paris", "Time to eat near Paris"]
    assert any("the time is kept free" in line for line in plan.assumptions)
    assert "MEAL_WINDOW" in {entry.code for entry in verdict.unchecked}


def test_time_is_kept_free_rather_than_to_walk_for_hours_to_a_meal() -> None:
    asked = {"hotel": "Tokyo Station", "places": ["Imperial Palace East Gardens", "Ginza Six"]}
    _, plan, verdict = planned(trip_of(area="japan", mode="walk", meals=[LUNCH], **asked))
    assert (plan.status, verdict.failed) == ("planned", frozenset())
    assert max(leg.minutes for leg in plan.days[0].legs) < 60
    assert any(visit.place.kind == "kept_free" for visit in plan.days[0].visits)


def test_a_night_after_time_to_eat_is_near_the_place_of_that_time() -> None:
    meals = [{"name": "lunch", "start": "11:30", "end": "14:00", "minutes": 60}]
    places = ["Kiyomizu-dera", "Fushimi Inari", "Kinkaku-ji", "Senso-ji", "Ueno Park"]
    asked = {"start_date": "2026-11-10", "days": 3, "window": {"start": "08:30", "end": "20:00"}}
    _, plan, verdict = planned(trip_of(area="japan", mode="rail", places=places, meals=meals, **asked))
    assert (plan.status, verdict.failed) == ("planned", frozenset())
    for day in plan.days[:-1]:
        assert day.night is not None
        last = day.visits[-1].place
        assert (last.id.endswith(day.night.place.id)) or last.kind != "kept_free"


def test_a_wish_in_the_plural_is_served_by_one_of_its_kind() -> None:
    _, plan, verdict = planned(trip_of(hotel="Hotelli Torni", places=["Kiasma"], wishes=["parks"]))
    assert (plan.status, verdict.failed) == ("planned", frozenset())
    assert "a park, as wished" in {visit.why for visit in plan.days[0].visits}


def test_a_refusal_tells_the_names_that_were_not_found() -> None:
    places = ["Ateneum", "Atlantis", "Kampin kappeli"]
    _, plan, _ = planned(trip_of(hotel="Hotelli Torni", places=places, start_date="2026-06-08"))
    assert plan.status == "refused"
    assert "Atlantis" in {left.place for left in plan.skipped}


def test_what_does_not_fit_is_refused_with_the_important_places_kept() -> None:
    places = ["Ateneum", "Kiasma", "Amos Rex", "Kampin kappeli", "Vanha kirkkopuisto", "Esplanadinpuisto"]
    window = {"start": "10:00", "end": "14:30"}
    found, plan, _ = planned(trip_of(hotel="Hotelli Torni", places=places, window=window))
    assert plan.status == "refused"
    assert found.search.is_proven
    assert plan.conflict is not None
    assert "window" in plan.conflict
    assert found.partial is not None
    kept = [visit.place for visit in found.partial.days[0].visits]
    named = trip_of(places=places).named
    assert len({named[name].id for name in ("Ateneum", "Kiasma", "Amos Rex")} & set(kept)) >= 2
    assert {item.place for item in found.left_out} < set(places)


def test_a_wish_that_nothing_serves_is_left_out_with_its_reason() -> None:
    _, plan, _ = planned(trip_of(hotel="Hotelli Torni", places=["Ateneum"], wishes=["volcano", "park"]))
    assert plan.status == "planned"
    assert [item.place for item in plan.skipped] == ["volcano"]
    assert any(visit.place.kind == "park" for visit in plan.days[0].visits)


# Anytime


def test_without_choices_the_least_walk_is_found_and_proven() -> None:
    fields = {"hotel": "Hotelli Torni", "prefer": "short_walk", "days": 2}
    trip = trip_of(**fields, places=["Ateneum", "Kiasma", "Amos Rex", "Kampin kappeli", "Vanha kirkkopuisto"])
    found, plan, verification = planned(trip)
    assert not verification.violations
    assert found.search.is_proven
    assert found.search.gap == 0.0
    assert plan.search == found.search
    assert plan.totals.metres == solve(answered(problem_of(trip), is_local=True)).metres


@pytest.mark.parametrize("seed", range(5))
def test_no_plan_costs_less_than_the_bound(seed: int) -> None:
    """Of drawn requests with meals, wishes, beds and caps: the bound is one."""
    chance = random.Random(seed)
    kinds = ("museum", "park", "place_of_worship", "gallery")
    near = NearbyQuery(LatLon(lat_deg=60.17, lon_deg=24.94), 1500.0, kinds=kinds, limit=60)
    hits = answered(embedded("helsinki").nearby(near), is_local=True).value
    fields: dict[str, Any] = {
        "days": chance.randint(1, 3),
        "places": [hit.place.id for hit in chance.sample(hits, chance.randint(1, 6))],
        "meals": [LUNCH, DINNER][: chance.randint(0, 2)],
        "wishes": ["cafe", "park"][: chance.randint(0, 2)],
    }
    if chance.random() < 0.5:
        fields["hotel"] = "Hotelli Torni"
    if chance.random() < 0.5:
        fields["prefer"] = "short_walk"
    found = answered(find_plan(trip_of(**fields), seconds=2.0), is_local=True)
    if found.cost is not None:
        assert found.least is not None
        assert found.cost >= found.least - 1


def test_wishes_around_a_place_that_is_not_known_are_refused() -> None:
    fields = {"area": "japan", "days": 2, "mode": "rail", "hotel": "Sanjo Station"}  # there are three
    found, plan, _ = planned(trip_of(**fields, wishes=["place_of_worship"]))
    assert (plan.status, plan.conflict) == ("refused", ("place:Sanjo Station",))
    assert not found.search.is_proven


@pytest.mark.parametrize("days", [6, pytest.param(14, marks=pytest.mark.soak)])
def test_many_days_with_wishes_and_lunch_are_planned(days: int) -> None:
    trip = trip_of(
        hotel="Hotelli Torni",
        days=days,
        places=["Ateneum", "Kiasma", "Amos Rex"],
        wishes=["park", "museum", "cafe"],
        meals=[LUNCH],
    )
    found, plan, verification = planned(trip, seconds=6.0)
    assert (plan.status, verification.violations) == ("planned", ())
    assert found.search.gap is not None


def test_a_search_without_time_answers_with_the_best_so_far() -> None:
    trip = trip_of(hotel="Hotelli Torni", days=3, places=["Ateneum", "Kiasma"], meals=[LUNCH])
    found, plan, verification = planned(trip, seconds=1e-6)
    assert (plan.status, verification.violations) == ("planned", ())
    assert not found.search.is_proven


# Days that people would follow


@pytest.fixture(scope="module")
def many_places() -> list[str]:
    city = embedded("helsinki").providers[0]  # type: ignore[attr-defined]
    kinds = ("artwork", "memorial", "park", "gallery", "library")
    return sorted(place.id for place in city.places.values() if place.kind in kinds and place.hours is None)


@pytest.mark.parametrize(("days", "count"), [(3, 24), pytest.param(5, 40, marks=pytest.mark.soak)])
def test_many_places_are_clustered_by_day_and_the_days_are_even(
    many_places: list[str], days: int, count: int
) -> None:
    trip = trip_of(hotel="Hotelli Torni", days=days, places=many_places[::2][:count])
    _, plan, verification = planned(trip)
    assert (plan.status, verification.violations) == ("planned", ())
    stays = [
        sum(minutes_of(visit.leave) - minutes_of(visit.arrive) for visit in day.visits) for day in plan.days
    ]
    assert max(stays) <= 3 * min(stays)
    rows = trip_of(days=1, places=[visit.place.id for day in plan.days for visit in day.visits][::5])
    zigzag = answered(problem_of(rows), is_local=True)
    steps = [zigzag.table.metres[a][a + 1] or 0 for a in range(len(zigzag.places) - 1)]
    legs = [leg.metres for day in plan.days for leg in day.legs[1:-1]]
    assert sum(legs) / len(legs) < 0.6 * sum(steps) / len(steps)


@pytest.mark.parametrize(("days", "count"), [(5, 20), pytest.param(14, 60, marks=pytest.mark.soak)])
def test_many_places_with_two_meals_a_day_are_planned(many_places: list[str], days: int, count: int) -> None:
    window = {"start": "09:00", "end": "21:00"}
    fields = {"hotel": "Hotelli Torni", "days": days, "meals": [LUNCH, DINNER], "window": window}
    _, plan, verification = planned(trip_of(**fields, places=many_places[:count]), seconds=12.0)
    assert (plan.status, verification.violations) == ("planned", ())


def test_the_days_of_a_trip_are_all_used_and_meals_are_near_noon() -> None:
    trip = trip_of(
        hotel="Hotelli Torni",
        days=3,
        places=["Ateneum", "Kiasma", "Amos Rex", "Kampin kappeli", "Vanha kirkkopuisto", "Esplanadinpuisto"],
        meals=[LUNCH],
    )
    _, plan, _ = planned(trip)
    sights = [sum(visit.why == "asked for" for visit in day.visits) for day in plan.days]
    assert sights == [2, 2, 2] or sorted(sights) == [1, 2, 3]
    lunches = [minutes_of(visit.arrive) for day in plan.days for visit in day.visits if visit.why == "lunch"]
    assert len(lunches) == 3
    assert all(11 * 60 + 30 <= start <= 13 * 60 + 45 for start in lunches)
