"""Planted faults are caught by their code, true plans are not accused, and what no source knows is told."""

import copy
from dataclasses import replace

import pytest

from gnomon_trips.itinerary.barred import barred_as
from gnomon_trips.itinerary.kinds import serves
from gnomon_trips.itinerary.place import LatLon, Place
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.terrain import candidates_of
from gnomon_trips.itinerary.verify.verify import verify_plan
from gnomon_trips.itinerary.verify.violation import counts_in_words
from packages.trips.tests.itinerary.planted_faults import (
    CITY,
    HONEST,
    IN_THE_CITY,
    ROAMING_FAULTS,
    UNKNOWN,
    Change,
    Json,
    city,
    judged,
    made,
    opened,
    roaming,
)


@pytest.fixture(scope="module")
def in_the_city() -> tuple[Json, Json]:
    return city()


@pytest.fixture(scope="module")
def on_the_road() -> tuple[Json, Json]:
    return roaming()


def planted(base: tuple[Json, Json], change: Change) -> tuple[Json, Json]:
    plan, request = copy.deepcopy(base)
    change(plan, request)
    return plan, request


def test_a_plan_with_true_reasons_is_accused_of_nothing(in_the_city: tuple[Json, Json]) -> None:
    verdict = judged(*in_the_city)
    assert verdict.violations == ()
    unread = {
        one.path for one in verdict.unchecked if one.code == "WHY"
    }  # words that claim nothing known here
    assert all(path.endswith(".why") for path in unread)
    others = [one for one in verdict.unchecked if one.path not in unread]
    assert {one.code for one in others} == {"BUDGET"}  # of the night alone
    assert [one.path for one in others] == ["days.0.night"]
    assert len(HONEST) == 6


def test_a_night_that_is_assumed_and_told_is_no_fault(on_the_road: tuple[Json, Json]) -> None:
    verdict = judged(*on_the_road)
    assert verdict.violations == ()
    assert verdict.unchecked == ()


@pytest.mark.parametrize("name", IN_THE_CITY)
def test_a_fault_in_a_city_is_caught(name: str, in_the_city: tuple[Json, Json]) -> None:
    code, change = IN_THE_CITY[name]
    assert code in judged(*planted(in_the_city, change)).failed


@pytest.mark.parametrize("name", ROAMING_FAULTS)
def test_a_fault_of_a_night_is_caught(name: str, on_the_road: tuple[Json, Json]) -> None:
    code, change = ROAMING_FAULTS[name]
    assert code in judged(*planted(on_the_road, change)).failed


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_no_source_knows_is_told_and_never_held(name: str, in_the_city: tuple[Json, Json]) -> None:
    code, change = UNKNOWN[name]
    verdict = judged(*planted(in_the_city, change))
    assert code in {one.code for one in verdict.unchecked}
    assert code not in verdict.held
    assert "could not be checked" in verdict.words


def test_on_christmas_day_hours_of_which_the_source_is_silent_are_not_held() -> None:
    request = {**CITY, "start_date": "2026-12-24"}
    days = [[("Kampin kappeli", "09:05", "09:35")], [("Vanha Kauppahalli", "09:20", "10:10")]]
    verdict = judged(made(request, days), request)
    told = {one.path: one.why for one in verdict.unchecked if one.code == "OPEN_HOURS"}
    assert "24 December" in told["days.0.visits.0"]
    assert "25 December" in told["days.1.visits.0"]
    assert "OPEN_HOURS" not in verdict.held


def test_a_lower_bound_is_no_way_and_less_than_that_is_a_fault() -> None:
    request: Json = {
        "id": "w", "area": "world", "start_date": "2026-06-10", "mode": "rail", "places": ["Lyon", "Paris"],
        "window": {"start": "06:00", "end": "23:00"},
    }  # fmt: skip
    request["places"] = ["Lyon", "Marseille"]
    plan = made(request, [[("Lyon", "08:00", "09:00"), ("Marseille", "13:00", "14:00")]])
    verdict = judged(plan, request)
    assert {"TRAVEL_TIME", "LEG_CLAIM"} <= {one.code for one in verdict.unchecked}
    assert {"TRAVEL_TIME", "LEG_CLAIM"}.isdisjoint(verdict.held)
    plan["days"][0]["legs"][1]["minutes"] = 1
    assert {"IMPOSSIBLE", "LEG_CLAIM"} <= judged(plan, request).failed


def test_a_long_day_on_foot_is_worth_a_word_without_any_limit() -> None:
    request: Json = {
        "id": "w", "area": "world", "start_date": "2026-06-10", "places": ["Helsinki", "Kerava"],
        "window": {"start": "00:30", "end": "23:59"},
    }  # fmt: skip
    plan = made(request, [[("Helsinki", "01:00", "01:30"), ("Kerava", "09:30", "10:00")]])
    assert plan["days"][0]["legs"][1]["metres"] > 20_000
    verdict = judged(plan, request)
    assert [one.severity for one in verdict.violations if one.code == "LONG_WALK"] == ["warn"]
    assert verdict.failed == set()


def test_what_a_name_was_taken_for_is_told(in_the_city: tuple[Json, Json]) -> None:
    """A name that several places share is decided aloud: the words may not be taken away."""
    plan, request = in_the_city
    trip = replace(opened(request), assumed={"Kiasma": "Kiasma was taken for the museum."})
    verdict = answered(verify_plan(plan, trip), is_local=True)[1]
    assert "ASSUMED" in verdict.failed
    told = {**plan, "assumptions": [*plan["assumptions"], "Kiasma was taken for the museum."]}
    assert answered(verify_plan(told, trip), is_local=True)[1].failed == set()


def test_a_name_that_nobody_knows_is_a_remark_where_the_plan_tells_it(in_the_city: tuple[Json, Json]) -> None:
    plan, request = copy.deepcopy(in_the_city)
    request["places"] = [*request["places"], "Zanzibar Palace"]
    plan["skipped"] = [{"place": "Zanzibar Palace", "reason": "nobody knows it"}]
    verdict = judged(plan, request)
    assert [one.severity for one in verdict.violations if one.code == "SKIPPED"] == ["warn"]
    assert verdict.failed == set()


def test_a_wish_that_is_told_as_unserved_is_a_remark(in_the_city: tuple[Json, Json]) -> None:
    plan, request = copy.deepcopy(in_the_city)
    request["wishes"] = ["zoo"]
    plan["skipped"] = [{"place": "zoo", "reason": "none is known within reach"}]
    verdict = judged(plan, request)
    assert [one.severity for one in verdict.violations if one.code == "WISH"] == ["warn"]
    assert "WISH" not in verdict.failed


def test_a_share_leaves_out_what_could_not_be_checked(in_the_city: tuple[Json, Json]) -> None:
    verdict = judged(*in_the_city)
    assert verdict.micro_of(verdict.checked) == 1.0
    assert len(verdict.held) == len(verdict.checked) - 2  # the night's price, and words that nothing reads
    assert verdict.words == counts_in_words(len(verdict.held), 0, 2)
    assert verdict.words.endswith("2 could not be checked")


def test_one_long_stay_is_one_meal() -> None:
    request: Json = {
        "id": "m", "area": "helsinki", "start_date": "2026-06-10", "places": ["Cafe Lasipalatsi"],
        "window": {"start": "09:00", "end": "20:00"},
        "meals": [{"name": "lunch"}, {"name": "dinner", "start": "17:00", "end": "20:00"}],
    }  # fmt: skip
    verdict = judged(made(request, [[("Cafe Lasipalatsi", "12:00", "19:00")]]), request)
    assert [(one.code, one.found) for one in verdict.violations] == [
        ("MEAL_WINDOW", "a stay that is another meal")
    ]


def test_who_avoids_a_chain_avoids_its_branches_and_the_word_says_so() -> None:
    """Of several branches the name means all, and the planner sits down at none."""
    request: Json = {
        "id": "a", "area": "helsinki", "start_date": "2026-06-10", "places": ["Kiasma"],
        "avoid": ["McDonald's"], "meals": [{"name": "lunch"}],
    }  # fmt: skip
    trip = opened(request)
    branches = [hit.place for hit in trip.candidates["McDonald's"]]
    assert len(branches) > 1
    for branch in branches:
        plan = made(request, [[("Kiasma", "10:00", "11:30"), (branch.id, "12:00", "12:45")]])
        assert "FORBIDDEN" in judged(plan, request).failed
    choices = answered(candidates_of(trip), is_local=True)
    assert choices.meals
    assert not {place.id for place in choices.meals} & {place.id for place in branches}
    verdict = judged(made(request, [[("Kiasma", "10:00", "11:30")]]), request)
    assert "SKIPPED" not in {one.code for one in verdict.violations}


def test_a_branch_that_a_barred_name_was_not_taken_for_is_barred_too() -> None:
    request: Json = {
        "id": "b", "area": "helsinki", "start_date": "2026-06-10", "places": ["Kiasma"],
        "avoid": ["helsinki/n606996931", "McDonald's"],
    }  # fmt: skip
    trip = opened(request)
    branch = trip.named["helsinki/n606996931"]
    assert barred_as(trip, replace(branch, id="helsinki/n0", at=LatLon(lat_deg=60.1, lon_deg=24.9)))
    assert barred_as(trip, replace(branch, id="helsinki/n0", name="Hesburger")) is None


@pytest.mark.parametrize("name", ["Shinjuku-sanchome", "Seibu-Shinjuku", "Higashi-Shinjuku"])
def test_the_name_of_a_neighbour_is_no_name_of_a_stop(name: str) -> None:
    request: Json = {
        "id": "s", "area": "japan", "start_date": "2026-06-10", "mode": "rail",
        "places": ["Shinjuku Station"],
    }  # fmt: skip
    plan = made(request, [[("Shinjuku Station", "10:00", "10:30")]], embedded("japan"))
    assert judged(plan, request, embedded("japan")).failed == set()
    plan["days"][0]["visits"][0]["place"]["name"] = name
    assert "NAME_MISMATCH" in judged(plan, request, embedded("japan")).failed


def test_what_is_left_out_in_another_script_is_not_visited() -> None:
    request: Json = {
        "id": "k", "area": "japan", "start_date": "2026-06-10", "mode": "rail", "places": ["Senso-ji Temple"],
    }  # fmt: skip
    plan = made(request, [[("Senso-ji Temple", "10:00", "10:30")]], embedded("japan"))
    plan["skipped"] = [{"place": "浅草寺", "reason": "no time"}]
    assert "SKIPPED" in judged(plan, request, embedded("japan")).failed


def test_the_wards_of_a_city_are_one_city() -> None:
    request: Json = {
        "id": "c", "area": "japan", "start_date": "2026-06-10", "mode": "rail",
        "places": ["Shinjuku Gyoen", "Shibuya Crossing", "Golden Gai"],
    }  # fmt: skip
    days = [
        [
            ("Shinjuku Gyoen", "09:00", "09:30"),
            ("Shibuya Crossing", "10:30", "11:00"),
            ("Golden Gai", "12:00", "12:30"),
        ]
    ]
    verdict = judged(made(request, days, embedded("japan")), request, embedded("japan"))
    assert "CITY_RUNS" not in {one.code for one in verdict.violations}


@pytest.mark.parametrize(
    ("wish", "kind", "is_served"),
    [("church", "place_of_worship", True), ("parks", "park", True), ("park", "hotel", False)],
)
def test_a_wish_is_served_by_its_kind_and_not_by_the_name_of_another(
    wish: str, kind: str, is_served: bool
) -> None:
    at_the_park = LatLon(lat_deg=60.17, lon_deg=24.94)
    assert serves(Place(id="1", name="Park Hotel", at=at_the_park, kind=kind), wish) == is_served


def test_a_wish_for_churches_finds_houses_of_worship() -> None:
    request: Json = {
        "id": "w", "area": "helsinki", "start_date": "2026-06-10",
        "places": ["Kiasma"], "wishes": ["churches"],
    }  # fmt: skip
    choices = answered(candidates_of(opened(request)), is_local=True)
    assert {place.kind for place in dict(choices.wishes)["churches"]} == {"place_of_worship"}
    assert choices.missing == ()


def test_a_crossing_and_a_district_have_no_hours_that_could_be_unknown() -> None:
    request: Json = {
        "id": "o", "area": "japan", "start_date": "2026-06-10", "mode": "rail",
        "places": ["Shibuya Crossing", "Akihabara", "Tokyo Tower"],
    }  # fmt: skip
    days = [
        [
            ("Shibuya Crossing", "09:00", "09:30"),
            ("Akihabara", "11:00", "11:30"),
            ("Tokyo Tower", "13:00", "13:45"),
        ]
    ]
    verdict = judged(made(request, days, embedded("japan")), request, embedded("japan"))
    assert [one.path for one in verdict.unchecked if one.code == "OPEN_HOURS"] == ["days.0.visits.2"]
