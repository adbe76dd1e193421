"""How a call names a point."""

import json
from dataclasses import replace

import pytest

from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox


def told(toolbox: Toolbox, start: dict, end: dict | None = None) -> str:
    """What `bearing` says against a location."""
    seen = toolbox.call("bearing", json.dumps({"start": start, "end": end or {"x_m": 7, "y_m": 7}}))
    return json.loads(seen.content)["error"]


@pytest.mark.parametrize(
    ("start", "such"),
    [
        ({}, ""),
        ({"camera": "c1", "place": "p1"}, ': {"place": "p1"} alone, for example'),
        ({"camera": "c1", "place": "12:13:58"}, ': {"camera": "c1"} alone, for example'),
        ({"camera": "c9", "place": "12:13:58"}, ': {"place": "12:13:58"} alone, for example'),
        ({"camera": "c1", "x_m": 1, "y_m": 1}, ': {"camera": "c1"} alone, for example'),
        ({"floor": 1}, ""),
        ({"camera": None}, ""),
    ],
)
def test_a_location_names_exactly_one_point(outdoors, start, such):
    assert told(outdoors, start) == f"start: give exactly one of camera, place, or x_m with y_m{such}"


def test_half_a_point_is_none(outdoors):
    assert told(outdoors, {"x_m": 1}) == "start: x_m and y_m go together"


def test_a_camera_has_its_own_floor(outdoors):
    said = told(outdoors, {"camera": "c1", "floor": 0})
    assert said == 'start: leave out floor, which goes with x_m and y_m: give {"camera": "c1"} alone'


@pytest.mark.parametrize("start", [{"x_m": "1", "y_m": 1}, {"x_m": True, "y_m": 1}, {"x_m": 1e7, "y_m": 1}])
def test_nothing_is_coerced(outdoors, start):
    assert told(outdoors, start).startswith("start.x_m: ")


def test_an_unknown_camera_is_told_with_those_there_are(outdoors):
    assert told(outdoors, {"camera": "c9"}) == "There is no camera 'c9'. Cameras: c1, c2, c3, c4."


def test_an_unknown_place_is_told_with_those_there_are(outdoors):
    assert "p1 (Bakery), p2 (Bakery), p3 (North Park)" in told(outdoors, {"place": "Butcher"})


def test_a_name_in_the_wrong_field_is_told_the_right_one(outdoors):
    call_it_place = "There is no camera 'North Park', but a place: give it as `place`."
    assert told(outdoors, {"camera": "North Park"}) == call_it_place
    assert told(outdoors, {"place": "c1"}) == "There is no place 'c1', but a camera: give it as `camera`."


def test_a_scene_without_cameras_says_what_to_give_instead(small):
    toolbox = Toolbox(TOOLS, ToolContext(inputs=held(replace(small, cameras={}))))
    assert told(toolbox, {"camera": "c1"}) == "The scene has no cameras; give `place`, or `x_m` with `y_m`."


def test_a_name_that_two_places_share_is_not_guessed(outdoors):
    assert told(outdoors, {"place": "bakery"}) == (
        "Several places are called 'bakery'; give one by its id: p1 (shop, floor 0), p2 (shop, floor 0)."
    )


def test_a_camera_of_unknown_position_says_so(outdoors):
    assert told(outdoors, {"camera": "c4"}) == "The position of camera 'c4' is unknown."


def test_case_does_not_matter_in_names(indoors):
    seen = indoors.call("distance", json.dumps({"start": {"place": "DESK"}, "end": {"place": "desk"}}))
    assert json.loads(seen.content)["path_m"] == 0
