"""Tools that answer from map data: tolerant of spelling, never by a guess, and only what the data hold."""

import json
from typing import Any

import pytest

from gnomon_published.map_record.context import read_context
from gnomon_published.map_record.record import MapPlace, MapRecord
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from tests.published_maps import CONTEXT

MAP_TOOLS = [tool for tool in TOOLS if tool.needs is MapRecord]


def toolbox(context: str = CONTEXT, record: MapRecord | None = None) -> Toolbox:
    known = record or read_context(context).record
    return Toolbox(MAP_TOOLS, ToolContext(inputs=held(known)))


def call(name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(toolbox().call(name, json.dumps(arguments)).content)
    return result


def test_map_tools_are_offered_with_map_data_alone() -> None:
    assert len(toolbox().schemas) == len(MAP_TOOLS) == 7
    assert not Toolbox(MAP_TOOLS, ToolContext()).schemas


@pytest.mark.parametrize(
    "name", ["amberlow museum", "Museum", "AMBERLOW  MUSÉUM", "Amberlow Musuem", "the Amberlow Museum"]
)
def test_a_name_may_be_spelled_freely(name: str) -> None:
    (place,) = call("map_place", place=name)["places"]
    assert place["name"] == "Amberlow Museum"
    assert place["hours"][1] == {"weekday": "Tuesday", "open": "9:00 AM - 5:00 PM"}


def test_what_may_mean_several_places_is_refused_with_all_of_them() -> None:
    assert call("map_place", place="Green")["error"] == (
        "'Green' may mean several: Far Green; Near Green. Write one of these."
    )


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    error = call("map_place", place="Zoo of Elsewhere")["error"]
    assert error.startswith("Not known")
    assert "Brine Castle" in error


def test_one_name_at_several_addresses_gives_all_and_repeated_entries_one() -> None:
    places = (
        MapPlace(name="Corner Shop", address="4 High Street, Amberlow", rating="4.0"),
        MapPlace(name="Corner Shop", address="4 High St"),
        MapPlace(name="Corner Shop", address="77 Low Street, Amberlow"),
    )
    answer = toolbox(record=MapRecord(places=places)).call("map_place", '{"place": "corner shop"}')
    assert [place["address"] for place in json.loads(answer.content)["places"]] == [
        "4 High Street, Amberlow",
        "77 Low Street, Amberlow",
    ]


def test_lists_keep_their_order_and_are_found_by_kind() -> None:
    cafes = call("map_nearby", around="the museum of Amberlow", kind="cafe")
    assert [place["name"] for place in cafes["places"]] == ["Tin Cup", "Old Kettle"]
    assert cafes["order"] == "nearest first"
    assert "Name the kind" in call("map_nearby", around="Amberlow Museum")["error"]
    assert "There are: Cafes around Amberlow Museum" in call("map_nearby", around="Brine Castle")["error"]


def test_ways_are_directed_and_unknown_modes_named() -> None:
    there = call("map_travel", start="Amberlow Museum", end="Brine Castle")
    assert [(way["mode"], way["duration_s"]) for way in there["ways"]] == [("foot", 3900.0), ("car", 720.0)]
    back = call("map_travel", start="Brine Castle", end="Amberlow Museum", mode="car")
    assert back["ways"][0]["duration_s"] == 540.0
    error = call("map_travel", start="Brine Castle", end="Amberlow Museum", mode="foot")["error"]
    assert error == "Not known: the way from Brine Castle to Amberlow Museum by foot. Known by: car."


def test_a_table_holds_each_direction() -> None:
    table = call("map_travel_table", places=["Amberlow Museum", "Brine Castle"], mode="car")
    assert [(way["start"], way["duration"]) for way in table["ways"]] == [
        ("Amberlow Museum", "12 mins"),
        ("Brine Castle", "9 mins"),
    ]


def test_routes_are_listed_in_short_and_one_in_steps() -> None:
    ends = {"start": "Amberlow Museum", "end": "Brine Castle", "mode": "car"}
    listed = call("map_routes", **ends)["routes"]
    assert [(route["via"], route["step_count"]) for route in listed] == [("North Rd", 3), ("Ring Rd", 2)]
    assert all("steps" not in route for route in listed)
    (route,) = call("map_routes", **ends, via="ring rd")["routes"]
    assert route["steps"][1]["distance_m"] == 3000.0
    assert "Not known" in call("map_routes", **{**ends, "mode": "foot"})["error"]


def test_the_straight_line_is_the_geodesic() -> None:
    line = call("map_distance", start="Amberlow Museum", end="Brine Castle")
    assert line["distance_m"] == pytest.approx(9955, abs=5)
    assert line["direction"] == "north"
    assert 0 < line["error_m"] < 20
    error = call("map_distance", start="Amberlow Museum", end="Tin Cup")["error"]
    assert "no place with a position 'Tin Cup'" in error


def test_contents_name_what_there_is() -> None:
    contents = call("map_contents")
    assert contents["places"] == ["Amberlow Museum", "Brine Castle"]
    assert contents["nearby"][0] == {"around": "Amberlow Museum", "kind": "Cafes", "place_count": 2}
    assert contents["travel_modes"] == ["foot", "car"]
    assert contents["routes"] == [
        {"start": "Amberlow Museum", "end": "Brine Castle", "mode": "car", "route_count": 2}
    ]


@pytest.mark.parametrize("tool", MAP_TOOLS, ids=lambda tool: tool.name)
def test_an_empty_record_knows_nothing(tool: Any) -> None:
    arguments = {
        "map_contents": {},
        "map_distance": {"start": "a", "end": "b"},
        "map_nearby": {"around": "a"},
        "map_place": {"place": "a"},
        "map_routes": {"start": "a", "end": "b", "mode": "car"},
        "map_travel": {"start": "a", "end": "b"},
        "map_travel_table": {"places": ["a", "b"], "mode": "car"},
    }[tool.name]
    answer = json.loads(toolbox(record=MapRecord()).call(tool.name, json.dumps(arguments)).content)
    assert answer.get("error", "Not known").startswith("Not known")
    assert not answer.get("places")
