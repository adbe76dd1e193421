"""The eight tools on a real trip: what they tell, how they fail, and that nothing sent breaks them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_trips.itinerary.request import Window
from gnomon_trips.itinerary.trip import Trip

NAMES = (
    *("find_place", "where_is", "places_near", "place_details"),
    *("travel", "travel_table", "order_visits", "check_plan"),
)


@pytest.fixture(scope="module")
def toolbox(trip: Trip) -> Toolbox:
    return Toolbox([TOOLS.get(name) for name in NAMES], ToolContext(inputs=held(trip)))


def call(toolbox: Toolbox, tool: str, /, **arguments: Any) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(toolbox.call(tool, json.dumps(arguments)).content)
    return told


def test_tools_of_trips_are_offered_for_trips_only(trip: Trip) -> None:
    every = list(TOOLS)
    for_trips = {
        schema["function"]["name"] for schema in Toolbox(every, ToolContext(inputs=held(trip))).schemas
    }
    elsewhere = {schema["function"]["name"] for schema in Toolbox(every, ToolContext()).schemas}
    assert set(NAMES) <= for_trips
    assert "camera_view" not in for_trips
    assert not set(NAMES) & elsewhere


def test_a_place_is_found_looked_at_and_walked_to(toolbox: Toolbox) -> None:
    hit = call(toolbox, "find_place", name="ateneum")["hits"][0]
    assert (hit["name"], hit["kind"], hit["score"]) == ("Ateneum", "museum", 100)
    details = call(toolbox, "place_details", place=hit["id"])
    assert [day["open"] for day in details["days"]] == ["10:00-20:00", "10:00-20:00"]
    assert details["cost"] == "30.00 EUR"
    way = call(toolbox, "travel", start="Hotelli Torni", end=hit["id"])
    assert (way["exactness"], way["mode"]) == ("network", "walk")
    assert 5 < way["minutes"] < 15
    table = call(toolbox, "travel_table", places=["Hotelli Torni", "Ateneum"])
    assert table["minutes"][0][1] == way["minutes"]
    assert call(toolbox, "where_is", lat=hit["lat_deg"], lon=hit["lon_deg"])["municipality"] == "Helsinki"
    near = call(toolbox, "places_near", lat=hit["lat_deg"], lon=hit["lon_deg"], radius_m=300, kinds=["cafe"])
    assert near["hits"]
    assert all(one["kind"] == "cafe" for one in near["hits"])


def test_an_order_is_found_and_a_plan_made_of_it_passes(toolbox: Toolbox, trip: Trip) -> None:
    found = call(toolbox, "order_visits", places=trip.request.places)
    days = [
        {"visits": [{key: one[key] for key in ("place", "arrive", "leave")} for one in day["visits"]]}
        for day in found["days"]
    ]
    checked = call(toolbox, "check_plan", plan={"days": days})
    assert (checked["errors"], checked["faults"]) == (0, [])
    assert {row["code"] for row in checked["unchecked"]} == {"BUDGET"}, "chapels have no price here"
    days[0]["visits"].pop()
    told = call(toolbox, "check_plan", plan={"days": days})
    assert "MUST_VISIT" in {fault["code"] for fault in told["faults"]}


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("find_place", {"name": "Museum of Nothing Qx"}, "not_found"),
        ("place_details", {"place": "R-Kioski"}, "ambiguous"),
        ("where_is", {"lat": 0.0, "lon": 0.0}, "unsupported"),
        ("travel", {"start": "Ateneum", "end": "Nowhere Qx"}, "not_found"),
        ("order_visits", {"places": ["Ateneum"], "day": 3}, "bad_argument"),
    ],
)
def test_a_failure_is_a_code_and_words(name: str, arguments: Any, code: str, toolbox: Toolbox) -> None:
    assert call(toolbox, name, **arguments)["error"].startswith(f"{code}: ")


def test_an_ambiguous_name_comes_with_its_candidates(toolbox: Toolbox) -> None:
    assert "candidates: helsinki/" in call(toolbox, "place_details", place="R-Kioski")["error"]


def test_a_day_that_cannot_be_names_what_stands_against_it(toolbox: Toolbox, trip: Trip) -> None:
    from dataclasses import replace

    request = trip.request.model_copy(update={"max_walk_m": 300})
    tight = Toolbox([TOOLS.get("order_visits")], ToolContext(inputs=held(replace(trip, request=request))))
    told = call(tight, "order_visits", places=["Ateneum", "Kiasma"], day=1)["error"]
    assert told.startswith("infeasible: ")
    assert told.endswith("max_walk_m")


def test_one_short_day_of_a_trip_on_streets_is_called_infeasible_and_by_no_estimates(trip: Trip) -> None:
    from dataclasses import replace

    request = trip.request.model_copy(update={"windows": [Window(start="10:00", end="10:30"), None]})
    short = Toolbox([TOOLS.get("order_visits")], ToolContext(inputs=held(replace(trip, request=request))))
    told = call(short, "order_visits", places=["Ateneum", "Kiasma"], day=1)["error"]
    assert told == "infeasible: these cannot be kept together: window"


@given(
    name=st.sampled_from(NAMES),
    arguments=st.dictionaries(
        st.sampled_from(
            ["name", "place", "places", "plan", "lat", "lon", "start", "end", "day", "kinds", "x"]
        ),
        st.none()
        | st.text(max_size=20)
        | st.floats()
        | st.sampled_from(["Ateneum", "Kiasma", "helsinki/n1", "R-Kioski", "\x00"])
        | st.lists(st.sampled_from(["Ateneum", "Kiasma", "", "é"]), max_size=4)
        | st.just({"days": [{"visits": [{"place": "Ateneum", "arrive": "09:99", "leave": "x"}]}]}),
        max_size=4,
    ),
)
def test_whatever_a_model_sends_is_no_crash(name: str, arguments: Any, toolbox: Toolbox) -> None:
    assert toolbox.call(name, json.dumps(arguments)).error != "tool_crash"
