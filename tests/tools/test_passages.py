"""Tools about what lies ahead and between, on places that can be worked out by hand."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Polygon

from gnomon_published.passages.motion_text import displacement_m, parse_segments
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Portal, Scene, Zone

# Cameras of unknown angle and range at a street that runs east: `near` and `side` at one crossing.
STREET = Scene(
    id="street",
    frame=Frame(),
    kind="outdoor",
    cameras={
        camera.id: camera
        for camera in (
            Camera(id="near", xy_m=(0.0, 0.0), heading_deg=90.0),
            Camera(id="side", xy_m=(6.0, 0.0), heading_deg=0.0),
            Camera(id="facing", xy_m=(300.0, 0.0), heading_deg=270.0),
            Camera(id="lost"),
        )
    },
)


def room(name, floor, west_m, east_m):
    return Zone(id=name, floor=floor, area=Polygon([(west_m, 0), (east_m, 0), (east_m, 10), (west_m, 10)]))


def view(name, floor, west_m, east_m):
    area = Polygon([(west_m, 0), (east_m, 0), (east_m, 10), (west_m, 10)])
    return Camera(id=name, xy_m=(west_m, 5.0), floor=floor, heading_deg=90.0, field_of_view=area)


# Two floors of one long room each; stairs of 10 m join their eastern ends.
HOUSE = Scene(
    id="house",
    frame=Frame(),
    kind="indoor",
    cameras={
        camera.id: camera
        for camera in (
            view("a", 0, 10, 20),
            view("b", 0, 40, 50),
            view("top", 1, 90, 100),
            view("up", 1, 10, 20),
        )
    },
    zones={"low": room("low", 0, 0, 100), "high": room("high", 1, 0, 100)},
    portals={
        "stairs": Portal(
            id="stairs", kind="stairs", zones=("low", "high"), ends_m=((100, 5), (100, 5)), length_m=10.0
        )
    },
)


def call(scene, name, **arguments):
    seen = Toolbox(TOOLS, ToolContext(inputs=held(scene))).call(name, json.dumps(arguments))
    assert seen.error in (None, "tool_error"), seen.content
    return json.loads(seen.content)


def departure(x_m, y_m=5.0, floor=0, **more):
    return {"at": {"x_m": x_m, "y_m": y_m, "floor": floor}, "time_s": 100.0, "speed_mps": 1.0, **more}


def test_a_walker_is_in_view_from_its_near_edge_to_its_far_edge():
    [row] = call(HOUSE, "forecast_arrival", **departure(0.0), cameras=["b"])["arrivals"]
    assert (row["start_s"], row["end_s"], row["basis"]) == (140.0, 150.0, "transit")
    assert (row["exit_x_m"], row["heading_deg"]) == (50.0, 90.0)


def test_who_is_in_view_already_has_been_since_the_edge():
    [row] = call(HOUSE, "forecast_arrival", **departure(13.0, heading_deg=90.0), cameras=["a"])["arrivals"]
    assert (row["start_s"], row["end_s"], row["basis"]) == (97.0, 107.0, "overlap")


def test_stairs_take_longer_and_hide_who_comes_by_them():
    [row] = call(HOUSE, "forecast_arrival", **departure(90.0), cameras=["top"])["arrivals"]
    # 10 m to the stairs, 10 m of stairs that count 17.5, and then 10 m through the view.
    assert row["start_s"] == pytest.approx(100 + 10 + 17.5)
    assert row["end_s"] == pytest.approx(100 + 10 + 17.5 + 10)


def test_a_view_is_entered_at_its_nearest_edge_not_where_the_way_to_its_middle_comes_in():
    # From the corner at (45, 0) the way to the middle of `slanted` enters at its west; its south is nearer.
    area = Polygon([(40, 9), (60, 9), (60, 2), (48, 2)])
    slanted = replace(view("slanted", 0, 40, 60), field_of_view=area)
    house = replace(HOUSE, cameras={"slanted": slanted})
    [row] = call(house, "forecast_arrival", **departure(48.0, 0.0), cameras=["slanted"])["arrivals"]
    assert row["start_s"] == pytest.approx(102.0)
    vague = replace(house, cameras={"slanted": replace(slanted, position_error_m=1.0)})
    [row] = call(vague, "forecast_arrival", **departure(48.0, 0.0), cameras=["slanted"])["arrivals"]
    assert row["start_s"] == pytest.approx(101.0)


def test_who_was_in_another_view_while_seen_was_there_from_edge_to_edge_of_its_track():
    line = {"track_m": [[5, 5], [15, 5], [30, 5]], "track_times_s": [80.0, 90.0, 100.0]}
    a, b = call(HOUSE, "forecast_arrival", **departure(30.0, **line), cameras=["a", "b"])["arrivals"]
    assert (a["basis"], a["start_s"]) == ("overlap", 85.0)
    assert a["end_s"] == pytest.approx(90 + 10 * 5 / 15, abs=0.01)
    assert (b["basis"], b["start_s"]) == ("transit", 110.0)


def test_a_track_that_begins_and_ends_in_a_view_is_lengthened_at_both_ends():
    line = {"track_m": [[12, 5], [18, 5]], "track_times_s": [90.0, 100.0], "heading_deg": 90.0}
    [a] = call(HOUSE, "forecast_arrival", **departure(18.0, **line), cameras=["a"])["arrivals"]
    assert (a["start_s"], a["end_s"]) == (pytest.approx(88.0), pytest.approx(102.0))


def test_a_track_needs_a_time_for_every_point_and_times_that_rise():
    for times_s in ([1.0], [2.0, 1.0]):
        line = {"track_m": [[5, 5], [15, 5]], "track_times_s": times_s}
        seen = Toolbox(TOOLS, ToolContext(inputs=held(HOUSE))).call(
            "forecast_arrival", json.dumps({**departure(15.0, **line), "cameras": ["a"]})
        )
        assert seen.error == "bad_arguments"
        assert "track" in seen.content


def test_a_camera_of_the_mast_that_looks_the_same_way_or_back_takes_nothing_over():
    away = {"at": {"x_m": 20.0, "y_m": 0.0}, "time_s": 0.0, "speed_mps": 10.0, "heading_deg": 90.0}
    [row] = call(STREET, "forecast_arrival", **away, seen_by="near", cameras=["side"])["arrivals"]
    assert row["basis"] != "same_mast"


def test_a_camera_of_the_same_mast_takes_over_after_a_cars_length():
    leaving = {"at": {"x_m": -2.0, "y_m": 0.0}, "time_s": 0.0, "speed_mps": 10.0, "heading_deg": 90.0}
    rows = call(STREET, "forecast_arrival", **leaving, seen_by="side", cameras=["near", "facing", "lost"])
    near, facing, lost = rows["arrivals"]
    assert (near["basis"], near["start_s"]) == ("same_mast", 0.4)
    assert near["end_s"] == pytest.approx((4 + 60) / 10, abs=0.02)
    assert facing["start_s"] == pytest.approx((302 - 60) / 10, abs=0.02)
    assert facing["end_s"] == pytest.approx(302 / 10, abs=0.02)
    assert "lost" in lost["problem"]


def test_a_spread_grows_with_the_way_and_with_the_speeds_error():
    sure, vague = (
        call(HOUSE, "forecast_arrival", **departure(0.0, speed_error_mps=error), cameras=["a", "b"])[
            "arrivals"
        ]
        for error in (0.0, 0.2)
    )
    assert sure[1]["start_error_s"] == 0.0
    assert vague[1]["start_error_s"] == pytest.approx(40 * 0.2)
    assert vague[0]["start_error_s"] < vague[1]["start_error_s"]


def test_across_the_picture_a_target_stays_shorter_than_along_it():
    along = call(STREET, "dwell", camera="near", heading_deg=100.0, speed_mps=10.0)
    across = call(STREET, "dwell", camera="near", heading_deg=10.0, speed_mps=10.0)
    assert (along["alignment"], along["length_m"]) == ("following", pytest.approx(60.0, abs=0.1))
    assert (across["alignment"], across["length_m"]) == (
        "across",
        pytest.approx(10 * math.tan(math.radians(30)), abs=0.01),
    )


def test_neighbours_come_by_distance_with_what_is_ahead():
    rows = call(STREET, "neighbours", camera="near", heading_deg=90.0)["neighbours"]
    assert [row["camera"] for row in rows] == ["side", "facing"]
    assert (rows[0]["same_mast"], rows[1]["same_mast"]) == (True, False)
    assert (rows[1]["turn_deg"], rows[1]["alignment"]) == (0.0, "oncoming")


def test_the_meeting_comes_first_and_overlap_is_negative_distance():
    found = call(
        HOUSE, "meeting_candidates", first=departure(0.0), second=departure(90.0), cameras=["a", "b"]
    )
    best, other = found["candidates"]
    assert (best["camera"], best["apart_s"]) == ("b", -10.0)
    assert (other["camera"], other["apart_s"]) == ("a", 50.0)


def track(*points, floor=0):
    return {"floor": floor, "points_m": [[x, 5.0] for x, _ in points], "times_s": [t for _, t in points]}


def test_between_two_sightings_the_pace_is_even():
    found = call(
        HOUSE, "interpolate", before=track((0, 0)), after=track((80, 40)), via=["a", "b"], speed_mps=1.34
    )
    a, b = sorted(found["passages"], key=lambda row: row["camera"])
    assert (a["enters_s"], a["leaves_s"], b["enters_s"], b["leaves_s"]) == (5.0, 10.0, 20.0, 25.0)
    assert (a["east_m"], a["north_m"], a["length_m"], a["detour_m"], a["way_m"]) == (10, 0, 10, 0, 80)


def test_a_sighting_inside_another_view_counts_for_it():
    found = call(
        HOUSE, "interpolate", before=track((0, 0), (15, 15)), after=track((80, 80)), via=["a"], speed_mps=1.34
    )
    [row] = found["passages"]
    assert (row["enters_s"], row["leaves_s"]) == (10.0, 20.0)


def test_a_camera_off_the_way_costs_a_detour():
    found = call(
        HOUSE, "interpolate", before=track((0, 0)), after=track((80, 400)), via=["up", "b"], speed_mps=1.34
    )
    assert [row["camera"] for row in found["passages"]] == ["b", "up"]
    # From 80 m east up the stairs to 15 m and back, stairs twice; the direct way is 80 m.
    assert found["passages"][1]["detour_m"] == pytest.approx(100 + 17.5 + 85 + 85 + 17.5 + 20 - 80)


def test_sightings_that_overlap_in_time_are_refused():
    found = call(HOUSE, "interpolate", before=track((0, 9)), after=track((80, 9)), via=["a"], speed_mps=1.34)
    assert "later" in found["error"]


def test_the_true_order_is_the_short_one():
    sightings = [
        {"name": name, "entry": {"x_m": x, "y_m": 5.0}, "exit": {"x_m": x + 5.0, "y_m": 5.0}}
        for name, x in (("one", 0.0), ("two", 30.0), ("three", 60.0))
    ]
    orders = [["two", "one", "three"], ["one", "two", "three"]]
    best, worse = call(HOUSE, "order_cost", sightings=sightings, orders=orders)["orders"]
    assert (best["order"], best["distance_m"]) == (["one", "two", "three"], 50.0)
    assert worse["distance_m"] == 35 + 55
    assert "unknown" in call(HOUSE, "order_cost", sightings=sightings, orders=[["one", "unknown"]])["error"]


def test_a_growing_box_comes_nearer_and_a_wider_lens_makes_it_closer():
    boxes = [[900, 500, 100, 50], [900, 500, 300, 150]]
    found = call(STREET, "estimate_track", camera="facing", boxes=boxes, times_s=[0.0, 5.0], target="vehicle")
    focal = 960 / math.tan(math.radians(30))
    assert found["motion"] == "towards"
    assert found["first_range_m"] == pytest.approx(focal * 1.5 / 50, abs=0.01)
    assert found["heading_deg"] == pytest.approx(90, abs=5)
    assert found["error_m"] == pytest.approx(0.4 * found["first_range_m"], abs=0.01)


def test_without_a_position_only_ranges_are_told():
    found = call(
        STREET, "estimate_track", camera="lost", boxes=[[0, 0, 9, 9]], times_s=[0.0], target="person"
    )
    assert "points_m" not in found
    assert "motion" not in found


def test_points_lie_within_a_known_view():
    found = call(HOUSE, "estimate_track", camera="a", boxes=[[0, 0, 9, 9]], times_s=[0.0], target="person")
    [[x_m, y_m]] = found["points_m"]
    assert 10 <= x_m <= 20
    assert 0 <= y_m <= 10


def test_a_told_motion_is_compared_with_a_movement():
    told = ["It moved east at 2 m/s for 10 meters.", "It moved westward for 10 meters.", "It stood."]
    found = call(HOUSE, "compare_motion", texts=told, east_m=10.0, north_m=0.0, length_m=20.0, seconds=10.0)
    right, wrong, silent = found["comparisons"]
    assert (right["direction_cosine"], right["length_ratio"], right["duration_ratio"]) == (1.0, 0.5, 0.5)
    assert (right["error_m"], wrong["direction_cosine"], wrong["error_m"]) == (0.0, -1.0, 20.0)
    assert silent == {"stretches": []}


headings = st.sampled_from(
    ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"]
)


@given(st.lists(st.tuples(headings, st.integers(1, 500)), min_size=1, max_size=5))
def test_a_told_path_is_at_least_as_long_as_its_displacement(parts):
    text = ", then ".join(f"moves {heading} for {metres / 10:.1f} meters" for heading, metres in parts)
    found = parse_segments(text)
    assert [part.length_m for part in found] == [metres / 10 for _, metres in parts]
    assert math.hypot(*displacement_m(found)) <= sum(part.length_m for part in found) + 1e-9


@given(st.floats(0, 99), st.floats(0.3, 3.0))
def test_an_arrival_is_never_later_for_a_faster_walker(x_m, speed_mps):
    slow, fast = (
        call(HOUSE, "forecast_arrival", **{**departure(x_m), "speed_mps": mps}, cameras=["top"])["arrivals"][
            0
        ]
        for mps in (speed_mps, 2 * speed_mps)
    )
    assert 100 <= fast["start_s"] <= slow["start_s"] <= slow["end_s"]
    assert fast["end_s"] <= slow["end_s"]
