"""What the tools answer, against values worked out by hand and against each other."""

import json
import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Scene, ScenePlace, Zone


def ask(toolbox: Toolbox, name: str, /, **arguments: object) -> dict:
    seen = toolbox.call(name, json.dumps(arguments))
    assert seen.error is None, seen.content
    return json.loads(seen.content)


def refused(toolbox: Toolbox, name: str, /, **arguments: object) -> str:
    seen = toolbox.call(name, json.dumps(arguments))
    assert seen.error == "tool_error", seen
    return json.loads(seen.content)["error"]


def test_cameras_come_with_what_is_known_of_them(outdoors):
    first, *_, last = ask(outdoors, "list_cameras")["cameras"]
    assert first == {
        "camera": "c1",
        "floor": 0,
        "x_m": -80,
        "y_m": 4,
        "heading_deg": 90,
        "fov_deg": 60,
        "range_m": 40,
        "has_homography": True,
        "error_m": 0.5,
    }
    assert last == {"camera": "c4", "floor": 0, "has_homography": False, "error_m": 0}


def test_a_view_is_the_given_polygon(outdoors):
    view = ask(outdoors, "camera_view", camera="c2")
    assert view["polygon_m"] == [[0, 60], [-8, 15], [8, 15]]
    assert math.isclose(view["area_m2"], 16 * 45 / 2, abs_tol=0.01)
    assert (view["overlaps"], view["error_m"]) == ([], 1)


def test_a_view_that_nobody_knows_is_refused_with_those_known(outdoors):
    assert refused(outdoors, "camera_view", camera="c4").endswith("Known for: c1, c2, c3.")


def test_views_overlap_on_one_floor_only():
    cameras = [
        Camera(id=name, xy_m=(x_m, 0), floor=floor, heading_deg=0, fov_deg=90, range_m=10)
        for name, x_m, floor in (("a", 0, 0), ("b", 5, 0), ("far", 100, 0), ("above", 0, 1))
    ]
    scene = Scene(id="s", frame=Frame(), kind="indoor", cameras={camera.id: camera for camera in cameras})
    toolbox = Toolbox(TOOLS, ToolContext(inputs=held(scene)))
    assert ask(toolbox, "camera_view", camera="a")["overlaps"] == ["b"]
    assert ask(toolbox, "camera_view", camera="above")["overlaps"] == []


def test_a_point_is_seen_by_cameras_of_its_floor(outdoors):
    assert ask(outdoors, "cameras_seeing", points=[[0, 40]]) == {"cameras": [{"camera": "c2", "error_m": 1}]}
    assert ask(outdoors, "cameras_seeing", points=[[0, 40]], floor=1) == {"cameras": []}


def test_a_path_is_seen_in_stretches_in_its_own_order(outdoors):
    there = ask(outdoors, "cameras_seeing", points=[[-100, 0], [0, 0], [0, 80]])
    back = ask(outdoors, "cameras_seeing", points=[[0, 80], [0, 0], [-100, 0]])
    assert there["length_m"] == 180
    assert [seer["camera"] for seer in there["cameras"]] == ["c1", "c2"]
    assert there["cameras"][1]["stretches"] == [{"enters_m": 115, "leaves_m": 160}]
    # c1 stands 4 m beside the road and sees 30° to either side: the road comes into view 4/tan 30° ahead.
    entered_m = there["cameras"][0]["stretches"][0]["enters_m"]
    assert math.isclose(entered_m, 20 + 4 / math.tan(math.radians(30)), abs_tol=0.01)
    assert [seer["camera"] for seer in back["cameras"]] == ["c2", "c1"]
    assert back["cameras"][0]["stretches"] == [{"enters_m": 20, "leaves_m": 65}]


def test_distance_is_straight_and_by_road(outdoors):
    far = ask(outdoors, "distance", start={"camera": "c1"}, end={"camera": "c2"})
    assert math.isclose(far["straight_m"], math.hypot(80, 56), abs_tol=0.001)
    assert (far["path_m"], far["via"], far["floor_changes"]) == (140, ["main-west", "park-road"], 0)
    # Both cameras' errors, and the 4 m from c1 to the road.
    assert (far["error_m"], far["path_error_m"]) == (1.5, 5.5)


def test_distance_indoors_goes_through_doors_and_floors(indoors):
    far = ask(indoors, "distance", start={"place": "desk"}, end={"place": "shelf"})
    assert far["via"] == ["office", "d1", "hall", "l1", "gallery", "d2", "store"]
    assert math.isclose(far["path_m"], 3 + math.hypot(4, 2) + math.hypot(14, 2) + 3, abs_tol=0.001)
    assert (far["straight_m"], far["floor_changes"]) == (10, 1)


def test_without_a_network_the_straight_line_remains():
    toolbox = Toolbox(TOOLS, ToolContext(inputs=held(Scene(id="s", frame=Frame(), kind="outdoor"))))
    ends = {"start": {"x_m": 0, "y_m": 0}, "end": {"x_m": 3, "y_m": 4}}
    far = ask(toolbox, "distance", **ends)
    assert far == {
        "straight_m": 5,
        "error_m": 0,
        "no_path_reason": "the scene has no roads, so only the straight line is known",
    }
    assert ask(toolbox, "travel_time", **ends, speed_mps=2)["basis"] == "straight"


def test_what_cannot_be_reached_is_refused_with_the_straight_line(indoors):
    said = refused(indoors, "distance", start={"place": "desk"}, end={"x_m": 5, "y_m": 7, "floor": 4})
    assert (
        said == "No way leads from the start (floor 0) to the end (floor 4); in a straight line it is 0.0 m."
    )


spots = st.fixed_dictionaries({"x_m": st.floats(-100, 120), "y_m": st.floats(-20, 100)})


@given(spots, spots)
def test_straight_lines_are_equally_long_both_ways_and_no_way_is_shorter_than_its_error_allows(
    outdoors, a, b
):
    there, back = ask(outdoors, "distance", start=a, end=b), ask(outdoors, "distance", start=b, end=a)
    assert math.isclose(there["straight_m"], back["straight_m"], abs_tol=0.0011)
    assert there["path_m"] + there["path_error_m"] >= there["straight_m"] - 0.01


@given(spots, spots)
def test_a_bearing_back_is_the_opposite(outdoors, a, b):
    assume(math.hypot(a["x_m"] - b["x_m"], a["y_m"] - b["y_m"]) > 1)
    there, back = ask(outdoors, "bearing", start=a, end=b), ask(outdoors, "bearing", start=b, end=a)
    off = (there["bearing_deg"] + 180 - back["bearing_deg"] + 180) % 360 - 180
    assert abs(off) < 0.01


def test_a_bearing_is_a_compass_direction_with_an_error(outdoors):
    told = ask(outdoors, "bearing", start={"camera": "c1"}, end={"x_m": -80, "y_m": 104})
    assert (told["bearing_deg"], told["compass"]) == (0, "N")
    # Half a metre in a hundred, and next to nothing for the meridian 80 m off.
    assert math.isclose(told["error_deg"], math.degrees(math.asin(0.5 / 100)), abs_tol=0.003)


def test_a_bearing_within_the_error_is_no_knowledge(outdoors):
    assert ask(outdoors, "bearing", start={"camera": "c1"}, end={"x_m": -80, "y_m": 4.2})["error_deg"] == 180


def test_a_point_has_no_bearing_to_itself(outdoors):
    assert "same point" in refused(outdoors, "bearing", start={"camera": "c1"}, end={"camera": "c1"})


def test_travel_time_divides_the_way_and_spans_the_errors(outdoors):
    ends = {"start": {"camera": "c1"}, "end": {"camera": "c2"}}
    told = ask(outdoors, "travel_time", **ends, speed_mps=10, speed_error_mps=2)
    assert (told["seconds"], told["path_m"], told["error_m"], told["basis"]) == (14, 140, 5.5, "path")
    assert math.isclose(told["earliest_s"], (140 - 5.5) / 12, abs_tol=0.001)
    assert math.isclose(told["latest_s"], (140 + 5.5) / 8, abs_tol=0.001)


def test_a_speed_next_to_nothing_is_refused_and_no_fault_of_the_tool(outdoors):
    call = {"start": {"camera": "c1"}, "end": {"camera": "c2"}, "speed_mps": 5e-324}
    assert outdoors.call("travel_time", json.dumps(call)).error == "bad_arguments"


def test_who_may_stand_still_has_no_latest_arrival(outdoors):
    ends = {"start": {"camera": "c1"}, "end": {"camera": "c2"}}
    assert "latest_s" not in ask(outdoors, "travel_time", **ends, speed_mps=1, speed_error_mps=1)


def test_speed_is_distance_over_time(outdoors):
    told = ask(outdoors, "speed", distance_m=100, seconds=10, distance_error_m=1)
    assert told == {"speed_mps": 10, "kmh": 36, "error_mps": 0.1}


def _toolbox_over(homography: np.ndarray, size: tuple[int, int] | None = (100, 100)) -> Toolbox:
    camera = Camera(id="c", floor=1, homography=homography, image_size=size)
    scene = Scene(id="s", frame=Frame(), kind="indoor", cameras={"c": camera})
    return Toolbox(TOOLS, ToolContext(inputs=held(scene)))


TENTH = np.diag([0.1, -0.1, 1.0])  # ten pixels a metre, north up the picture
BOXES = [[0, 10, 20, 70], [30, 0, 20, 40], [30, -40, 20, 40]]  # feet at (10, 80), (40, 40), (40, 0) pixels


def test_a_track_is_projected_by_its_feet():
    told = ask(_toolbox_over(TENTH), "project_track", camera="c", boxes=BOXES, times_s=[5, 6, 7])
    assert told["points_m"] == [[1, -8], [4, -4], [4, 0]]
    assert (told["floor"], told["length_m"], told["duration_s"], told["speed_mps"]) == (1, 9, 2, 4.5)
    assert math.isclose(told["displacement_m"], math.hypot(3, 8), abs_tol=0.001)
    assert math.isclose(told["heading_deg"], math.degrees(math.atan2(3, 8)), abs_tol=0.001)
    assert told["compass"] == "NNE"
    assert told["outside_image"] == 0


def test_a_track_names_the_zones_it_passes_on_its_own_floor():
    def zone(name: str, floor: int, west_m: float, east_m: float) -> Zone:
        return Zone(id=name, floor=floor, area=shapely.box(west_m, -10, east_m, 5))

    zones = [zone("hall", 1, 0, 2), zone("yard", 1, 3, 6), zone("below", 0, 0, 6)]
    camera = Camera(id="c", floor=1, homography=TENTH, image_size=(100, 100))
    scene = Scene(
        id="s", frame=Frame(), kind="indoor", cameras={"c": camera}, zones={one.id: one for one in zones}
    )
    inside = Toolbox(TOOLS, ToolContext(inputs=held(scene)))
    assert ask(inside, "project_track", camera="c", boxes=BOXES, times_s=[5, 6, 7])["zones"] == [
        "hall",
        "yard",
    ]
    no_zones = ask(_toolbox_over(TENTH), "project_track", camera="c", boxes=BOXES, times_s=[5, 6, 7])
    assert "zones" not in no_zones


def test_a_tracks_error_is_that_of_its_pixels():
    told = ask(_toolbox_over(TENTH), "project_track", camera="c", boxes=BOXES, times_s=[5, 6, 7])
    ends = [(2 + 0.015 * height) * 0.1 * math.sqrt(2) for height in (70, 40)]
    assert math.isclose(told["error_m"], max(ends), abs_tol=0.001)
    assert math.isclose(told["speed_error_mps"], math.hypot(*ends) / 2, abs_tol=0.001)


def test_a_single_box_has_a_place_and_no_motion():
    told = ask(_toolbox_over(TENTH), "project_track", camera="c", boxes=BOXES[:1], times_s=[0])
    assert told["points_m"] == [[1, -8]]
    assert not {"speed_mps", "speed_error_mps", "heading_deg", "compass"} & told.keys()


def test_feet_outside_the_picture_are_counted_and_projected():
    boxes = [[-50, 0, 20, 20], [0, 90, 20, 20], [0, 0, 20, 20]]
    told = ask(_toolbox_over(TENTH), "project_track", camera="c", boxes=boxes, times_s=[0, 1, 2])
    assert told["outside_image"] == 2
    assert len(told["points_m"]) == 3
    blind = _toolbox_over(TENTH, size=None)
    assert "outside_image" not in ask(blind, "project_track", camera="c", boxes=boxes, times_s=[0, 1, 2])


@pytest.mark.parametrize(
    ("boxes", "times_s", "says"),
    [
        (BOXES, [0, 1], "3 boxes but 2 times"),
        (BOXES, [0, 1, 1], "entry 2 does not come after"),
        (BOXES, [0, 2, 1], "entry 2 does not come after"),
        (BOXES, [0, 5e-324, 1], "entry 1 does not come after"),
        ([[0, 0, 0, 5]], [0], "Box 0 is empty"),
    ],
)
def test_a_track_that_makes_no_sense_is_refused(boxes, times_s, says):
    assert says in refused(_toolbox_over(TENTH), "project_track", camera="c", boxes=boxes, times_s=times_s)


def test_feet_in_the_sky_are_refused(outdoors):
    said = refused(outdoors, "project_track", camera="c1", boxes=[[600, 10, 60, 50]], times_s=[0])
    assert said == "The feet of boxes 0 lie on or beyond the horizon, not on the floor."


def test_a_camera_without_homography_projects_nothing(outdoors):
    said = refused(outdoors, "project_track", camera="c2", boxes=[[0, 0, 9, 9]], times_s=[0])
    assert said == "Camera 'c2' has no homography. Cameras that have one: c1."


def test_a_whole_name_comes_before_a_part_of_one():
    places = {
        id_: ScenePlace(id=id_, name=name, kind="shop", xy_m=(0, 0))
        for id_, name in (("a", "Old Mill Inn"), ("b", "Mill"), ("c", "Bakery"))
    }
    toolbox = Toolbox(
        TOOLS, ToolContext(inputs=held(Scene(id="s", frame=Frame(), kind="outdoor", places=places)))
    )
    assert [match["id"] for match in ask(toolbox, "lookup", name="mill")["matches"]] == ["b", "a"]


def test_a_name_is_looked_up_in_all_kinds_and_in_any_case(outdoors):
    found = ask(outdoors, "lookup", name="PARK")["matches"]
    assert [(match["kind"], match["id"]) for match in found] == [("place", "p3"), ("road", "park-road")]
    assert [match["id"] for match in ask(outdoors, "lookup", name="bakery")["matches"]] == ["p1", "p2"]


def test_what_lies_around_comes_the_nearest_first(outdoors):
    found = ask(outdoors, "lookup", at={"x_m": 30, "y_m": 20}, radius_m=22)["matches"]
    assert [(match["id"], match["distance_m"]) for match in found] == [
        ("square", 0),
        ("p1", 5),
        ("main-east", 20),
    ]


def test_a_name_and_a_place_look_for_the_name_around_there(outdoors):
    found = ask(outdoors, "lookup", name="bakery", at={"camera": "c3"}, radius_m=100)
    assert [match["id"] for match in found["matches"]] == ["p2", "p1"]
    assert found["matches"][0]["error_m"] == 0.5


def test_other_floors_are_not_around(indoors):
    found = ask(indoors, "lookup", at={"place": "shelf"}, radius_m=100)["matches"]
    assert {match["floor"] for match in found} == {1}


def test_what_is_not_there_is_an_empty_list(outdoors):
    assert ask(outdoors, "lookup", name="butcher") == {"matches": [], "total": 0}


def test_many_matches_are_counted_and_the_first_shown():
    cameras = {f"c{i}": Camera(id=f"c{i}", xy_m=(float(i), 0.0)) for i in range(50)}
    toolbox = Toolbox(
        TOOLS, ToolContext(inputs=held(Scene(id="s", frame=Frame(), kind="outdoor", cameras=cameras)))
    )
    found = ask(toolbox, "lookup", at={"x_m": 0, "y_m": 0}, radius_m=60)
    assert (len(found["matches"]), found["total"]) == (30, 50)
    assert found["matches"][7]["id"] == "c7"
