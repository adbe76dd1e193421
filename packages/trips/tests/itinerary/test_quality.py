"""Measures of quality: between 0 and 1, told with what they count, and never worse for a better plan."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_trips.itinerary.draft import DraftDay, DraftPlan, DraftVisit, plan_of
from gnomon_trips.itinerary.facts import facts_of
from gnomon_trips.itinerary.hours import clock_of
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.provider import Provider, answered
from gnomon_trips.itinerary.published import published_criteria
from gnomon_trips.itinerary.quality import DEFINITIONS, Measure, ground_of, measures
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.route_shape import EXACT_STOPS, crossings, length, shortest
from gnomon_trips.itinerary.trip import Trip, open_trip

REQUEST: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex", "Kampin kappeli", "Helsingin tuomiokirkko"],
    "window": {"start": "09:00", "end": "20:00"},
}
PLACES: list[str] = REQUEST["places"]
FOUR = PLACES[:4]  # in all of their 24 orders


def opened(provider: Provider, **changes: Any) -> Trip:
    return answered(open_trip(read_request({**REQUEST, **changes}), provider), is_local=True)


def drafted(trip: Trip, days: Sequence[Sequence[tuple[str, int, int]]]) -> Plan:
    """A plan of stays: name, arrival and length in minutes."""
    written = [
        DraftDay(
            visits=[
                DraftVisit(place=name, arrive=clock_of(arrive), leave=clock_of(arrive + stay))
                for name, arrive, stay in day
            ]
        )
        for day in days
    ]
    return answered(plan_of(DraftPlan(days=written), trip), is_local=True)


def measured(trip: Trip, plan: Plan) -> dict[str, Measure]:
    facts = answered(facts_of(trip, plan), is_local=True)
    ground = answered(ground_of(plan, trip, facts), is_local=True)
    return {measure.name: measure for measure in measures(ground)}


def in_order(trip: Trip, names: Sequence[str], start: int = 600, stay: int = 45) -> Plan:
    return drafted(trip, [[(name, start + number * 75, stay) for number, name in enumerate(names)]])


def value(measures: dict[str, Measure], name: str) -> float:
    found = measures[name].value
    assert found is not None, measures[name].reason
    return found


@pytest.fixture(scope="module")
def day_trip(helsinki: Provider) -> Trip:
    return opened(helsinki)


def test_every_measure_is_a_share_or_has_a_reason(day_trip: Trip, trip: Trip, plan: Plan) -> None:
    for by_name in (measured(day_trip, in_order(day_trip, PLACES)), measured(trip, plan)):
        assert list(by_name) == list(DEFINITIONS)
        for measure in by_name.values():
            assert measure.counts == DEFINITIONS[measure.name].counts
            if measure.value is None:
                assert measure.reason
            else:
                assert 0 <= measure.value <= 1
                assert measure.denominator > 0
                share = measure.numerator / measure.denominator
                assert measure.value == pytest.approx(min(1.0, share), abs=1e-3)


def test_a_refusal_has_no_quality(day_trip: Trip) -> None:
    refused = answered(plan_of(DraftPlan(status="refused", conflict=["window"]), day_trip), is_local=True)
    assert {
        name: measure.value for name, measure in measured(day_trip, refused).items() if measure.value
    } == {}


@pytest.fixture(scope="module")
def every_order(day_trip: Trip) -> list[Plan]:
    """The plans of all orders, the shortest first."""
    plans = (in_order(day_trip, order) for order in itertools.permutations(FOUR))
    return sorted(plans, key=lambda plan: plan.totals.metres)


def test_a_shorter_order_of_a_day_never_has_more_zigzag(day_trip: Trip, every_order: list[Plan]) -> None:
    values = [value(measured(day_trip, plan), "direct_route") for plan in every_order]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1


def test_an_order_that_was_asked_for_is_no_zigzag(
    helsinki: Provider, day_trip: Trip, every_order: list[Plan]
) -> None:
    worst = every_order[-1]
    names = [visit.place.name for visit in worst.days[0].visits]
    told = opened(helsinki, order=[list(pair) for pair in itertools.pairwise(names)])
    assert value(measured(day_trip, worst), "direct_route") < 1
    assert value(measured(told, in_order(told, names)), "direct_route") == 1


def test_more_of_what_was_asked_for_is_never_worse(day_trip: Trip) -> None:
    shares = [
        value(measured(day_trip, in_order(day_trip, PLACES[:count])), "asked_served") for count in range(1, 6)
    ]
    assert shares == sorted(shares)
    assert shares[-1] == 1


@given(st.lists(st.integers(10, 300), min_size=2, max_size=5), st.integers(1, 60))
def test_minutes_moved_from_the_fullest_to_the_emptiest_day_make_days_more_even(
    day_trip: Trip, stays: list[int], moved: int
) -> None:
    full, empty = stays.index(max(stays)), stays.index(min(stays))
    moved = min(moved, (stays[full] - stays[empty]) // 2)
    better = list(stays)
    better[full] -= moved
    better[empty] += moved
    longer = day_trip.request.model_copy(update={"days": len(stays)})
    known: dict[str, Any] = {
        "provider": day_trip.provider,
        "named": day_trip.named,
        "country": day_trip.country,
    }
    changed = Trip(request=longer, **known)

    def evenness(minutes: list[int]) -> float:
        days = [[("Kiasma", 600, stay)] for stay in minutes]
        return value(measured(changed, drafted(changed, days)), "even_days")

    assert evenness(better) >= evenness(stays) - 1e-9


def test_everything_on_one_day_is_as_uneven_as_can_be(helsinki: Provider) -> None:
    trip = opened(helsinki, days=3)
    uneven = drafted(trip, [[("Kiasma", 600, 90), ("Ateneum", 720, 90)], [], []])
    assert value(measured(trip, uneven), "even_days") == 0


def test_a_meal_nearer_to_its_usual_hour_is_better(helsinki: Provider) -> None:
    trip = opened(helsinki, meals=[{"name": "lunch", "start": "11:00", "end": "15:00"}])
    shares = [
        value(measured(trip, drafted(trip, [[("Ravintola Kosmos", at, 60)]])), "meal_times")
        for at in (750, 780, 810, 840)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1
    none = drafted(trip, [[("Kiasma", 750, 60)]])
    assert value(measured(trip, none), "meal_times") == 0


def test_a_wait_counts_and_a_way_does_not(day_trip: Trip) -> None:
    way = in_order(day_trip, ["Kiasma", "Amos Rex"]).days[0].legs[1].minutes
    prompt = drafted(day_trip, [[("Kiasma", 660, 60), ("Amos Rex", 720 + way, 60)]])
    late = drafted(day_trip, [[("Kiasma", 660, 60), ("Amos Rex", 780 + way, 60)]])
    assert value(measured(day_trip, prompt), "no_waiting") == 1
    assert measured(day_trip, late)["no_waiting"].numerator == 120 + way


def test_a_stay_that_ends_as_the_door_closes_has_no_slack(day_trip: Trip) -> None:
    at_close = drafted(day_trip, [[("Kiasma", 20 * 60 + 30 - 90, 90)]])  # open until 20:30 on Wednesdays
    before = drafted(day_trip, [[("Kiasma", 20 * 60 - 90, 90)]])
    assert value(measured(day_trip, at_close), "opening_slack") == 0
    assert value(measured(day_trip, before), "opening_slack") == 1


def test_hours_that_are_not_known_are_counted_apart(day_trip: Trip) -> None:
    measures = measured(day_trip, drafted(day_trip, [[("Kiasma", 660, 60), ("Simonpuistikko", 780, 30)]]))
    assert (measures["opening_slack"].denominator, measures["opening_slack"].unknown) == (1, 1)
    alone = measured(day_trip, drafted(day_trip, [[("Simonpuistikko", 780, 30)]]))
    assert alone["opening_slack"].value is None


def test_tags_decide_and_their_absence_does_not(helsinki: Provider) -> None:
    wheelchair = {"wheelchair": True}
    trip = opened(helsinki, preferences=wheelchair)
    known = measured(trip, in_order(trip, ["Kiasma", "Ateneum"]))["wheelchair"]
    assert (known.value, known.denominator, known.unknown) == (1, 2, 0)
    partly = measured(trip, in_order(trip, ["Kiasma", "Amos Rex"]))["wheelchair"]
    assert (partly.value, partly.denominator, partly.unknown) == (1, 1, 1)
    limited = measured(trip, in_order(trip, ["Kiasma", "Helsingin tuomiokirkko"]))["wheelchair"]
    assert limited.value == 0.75
    nothing = measured(trip, in_order(trip, ["Amos Rex"]))["wheelchair"]
    assert (nothing.value, nothing.unknown) == (None, 1)
    plain = opened(helsinki)
    assert measured(plain, in_order(plain, ["Kiasma"]))["wheelchair"].reason == "not asked for"


def test_a_slower_pace_wants_an_emptier_day(helsinki: Provider) -> None:
    full = [[(name, 545 + number * 130, 120) for number, name in enumerate(PLACES)]]
    light = [[("Kiasma", 600, 200)]]
    paces = {}
    for pace in ("relaxed", "packed"):
        trip = opened(helsinki, preferences={"pace": pace})
        paces[pace] = [value(measured(trip, drafted(trip, days)), "pace") for days in (full, light)]
    assert paces["packed"][0] > paces["packed"][1]
    assert paces["relaxed"][1] > paces["relaxed"][0]


def test_famous_places_early_or_late_are_away_from_crowds(helsinki: Provider) -> None:
    trip = opened(helsinki, preferences={"crowds": "avoid"})
    shares = [
        value(measured(trip, drafted(trip, [[("Kiasma", at, 60)]])), "crowds") for at in (600, 630, 720, 960)
    ]
    assert shares == [1, 0.5, 0, 1]


def test_a_budget_without_every_price_is_not_said_to_be_kept(helsinki: Provider) -> None:
    budget = {"budget": {"amount": 20, "currency": "EUR"}}
    unknown = opened(helsinki, **budget)
    assert measured(unknown, in_order(unknown, ["Kiasma"]))["budget_kept"].value is None
    for price, share in ((15, 1.0), (40, 0.5)):
        trip = opened(helsinki, **budget, rules={"price": {"museum": price}})
        assert value(measured(trip, in_order(trip, ["Kiasma"])), "budget_kept") == share


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_the_shortest_order_is_that_of_all_permutations(seed: int, count: int) -> None:
    chance = random.Random(seed)
    ways = [[chance.randint(1, 99) for _ in range(count + 2)] for _ in range(count + 2)]
    stops = list(range(1, count + 1))
    before = {stops[-1]: frozenset((1,))} if count > 1 else {}
    allowed = [order for order in itertools.permutations(stops) if order.index(1) < order.index(stops[-1])]
    best = min(length(ways, order, 0, count + 1) for order in allowed)
    assert shortest(ways, stops, 0, count + 1, before) == best
    chance.shuffle(stops)
    assert shortest(ways, stops, 0, count + 1, before) == best


def test_long_days_are_compared_with_one_order_whatever_theirs() -> None:
    count = EXACT_STOPS + 4
    chance = random.Random(3)
    points = [(chance.random(), chance.random()) for _ in range(count + 2)]
    ways = [[((x - u) ** 2 + (y - v) ** 2) ** 0.5 for u, v in points] for x, y in points]
    stops = list(range(1, count + 1))
    least = shortest(ways, stops, 0, count + 1, {3: frozenset((2,))})
    for _ in range(5):
        chance.shuffle(stops)
        assert shortest(ways, stops, 0, count + 1, {3: frozenset((2,))}) == least
    assert (
        least < sum(length(ways, chance.sample(stops, count), 0, count + 1) for _ in range(20)) / 20
    )  # shorter than by chance


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9))
def test_a_way_crosses_itself_no_more_often_than_it_could(points: list[tuple[int, int]]) -> None:
    found, pairs = crossings([(float(x), float(y)) for x, y in points])
    assert 0 <= found <= pairs
    assert crossings([(float(x), float(y)) for x, y in reversed(points)]) == (found, pairs)


def test_published_criteria_count_what_their_papers_do(helsinki: Provider) -> None:
    trip = opened(helsinki, places=["Kiasma", "Amos Rex", "Ateneum"])
    stays = [
        ("Kiasma", 600, 180),
        ("No Such Place", 800, 30),
        ("Ravintola Kosmos", 840, 60),
        ("Amos Rex", 930, 90),
    ]
    plan = drafted(trip, [stays])
    facts = answered(facts_of(trip, plan), is_local=True)
    criteria = published_criteria(answered(ground_of(plan, trip, facts), is_local=True))
    assert criteria["itinera_recall"] == pytest.approx(2 / 3)
    assert criteria["itinera_fail_rate"] == 0.25
    assert criteria["itinera_margin"] is None  # where it is made up no way is known
    assert criteria["chinatravel_sights_a_day"] == 3
    assert criteria["chinatravel_stay_wanted_of_had"] == pytest.approx((90 / 180 + 30 / 30 + 90 / 90) / 3)
    assert criteria["chinatravel_metres_on_foot"] == plan.totals.metres
    assert criteria["chinatravel_minutes_to_meals"] == plan.days[0].legs[2].minutes
    direct = drafted(trip, [[("Kiasma", 600, 90), ("Amos Rex", 720, 90)]])
    measures = measured(trip, direct)
    facts = answered(facts_of(trip, direct), is_local=True)
    margin = published_criteria(answered(ground_of(direct, trip, facts), is_local=True))["itinera_margin"]
    assert margin is not None
    assert value(measures, "direct_route") == pytest.approx(1 / (1 + margin), abs=1e-5)
