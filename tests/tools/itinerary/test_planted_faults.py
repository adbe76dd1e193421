"""Planted faults are caught by their code, true plans are not accused, and what no source knows is told."""

import copy
from dataclasses import replace

import pytest

from tests.tools.itinerary.planted_faults import (
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
from tools.itinerary.provider import answered
from tools.itinerary.verify.verify import verify_plan
from tools.itinerary.verify.violation import counts_in_words


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
    assert {one.code for one in verdict.unchecked} == {"BUDGET"}  # of the night alone
    assert [one.path for one in verdict.unchecked] == ["days.0.night"]
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
    assert verdict.micro == 1.0
    assert len(verdict.held) == len(verdict.checked) - 1
    assert verdict.words == counts_in_words(len(verdict.held), 0, 1)
    assert verdict.words.endswith("1 could not be checked")
