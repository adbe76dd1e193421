"""Batch forms: row by row what single calls answer, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from gnomon_tools.core.batch import BadColumn, Batch, run_batch
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.geometry.to_wgs84 import to_wgs84
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene

metres = st.floats(-200, 200)
spots = st.tuples(metres, metres)
pairs = st.lists(st.tuples(spots, spots), min_size=1, max_size=20)


def single(name: str, scene: Scene, args: dict[str, Any]) -> dict[str, Any]:
    """What a single call answers, before numbers are rounded."""
    tool = TOOLS.get(name)
    return tool.run(ToolContext(inputs=held(scene)), tool.read_args(args)).model_dump()


def batch(name: str, scene: Scene, **columns: Any) -> dict[str, np.ndarray]:
    return run_batch(TOOLS.get(name), scene, columns)


def at(spot: tuple[float, float], floor: int = 0) -> dict[str, Any]:
    return {"x_m": spot[0], "y_m": spot[1], "floor": floor}


def test_every_batch_form_gives_the_columns_that_it_names(small):
    having = {tool.name for tool in TOOLS if tool.batch is not None}
    assert having >= {"distance", "bearing", "speed", "cameras_seeing"}


@given(pairs=pairs)
def test_straight_lines_are_those_of_single_calls(small, floors, pairs):
    for scene in (small, floors):
        columns = batch("distance", scene, start=[a for a, _ in pairs], end=[b for _, b in pairs])
        expected = [scene.frame.distance_m(a, b) for a, b in pairs]
        assert columns["straight_m"] == pytest.approx(expected, abs=1e-5)


@given(pairs=pairs)
def test_bearings_are_those_of_single_calls_and_of_one_point_nan(small, floors, pairs):
    for scene in (small, floors):
        columns = batch("bearing", scene, start=[a for a, _ in pairs], end=[b for _, b in pairs])
        for row, (start, end) in enumerate(pairs):
            if start == end:
                assert math.isnan(columns["bearing_deg"][row])
                assert math.isnan(columns["error_deg"][row])
            elif math.dist(start, end) > 1e-3:
                answer = single("bearing", scene, {"start": at(start), "end": at(end)})
                assert columns["bearing_deg"][row] == pytest.approx(answer["bearing_deg"])
                assert columns["error_deg"][row] == pytest.approx(answer["error_deg"], abs=1e-3)


def test_cameras_stand_for_their_positions_and_errors(small):
    columns = batch("bearing", small, start="c1", end=["c2", "c3"])
    for row, end in enumerate(("c2", "c3")):
        answer = single("bearing", small, {"start": {"camera": "c1"}, "end": {"camera": end}})
        assert columns["bearing_deg"][row] == pytest.approx(answer["bearing_deg"])
        assert columns["error_deg"][row] == pytest.approx(answer["error_deg"], abs=1e-6)
    lengths = batch("distance", small, start=np.array(["c1", "c2"]), end=np.array(["c3"], dtype=object))
    assert lengths["error_m"] == pytest.approx([1.0, 1.5])


@given(pairs=pairs, levels=st.lists(st.integers(-1, 2), min_size=40, max_size=40))
def test_ways_are_those_of_single_calls_and_nan_where_none_leads(small, floors, pairs, levels):
    for scene in (small, floors):
        floor = levels if scene is floors else [0] * 40
        start_floor, end_floor = floor[: len(pairs)], floor[20 : 20 + len(pairs)]
        columns = batch(
            "travel_time",
            scene,
            start=[a for a, _ in pairs],
            start_floor=start_floor,
            end=[b for _, b in pairs],
            end_floor=end_floor,
            speed_mps=2.0,
            speed_error_mps=[0.5] * (len(pairs) - 1) + [3.0],
        )
        for row, (start, end) in enumerate(pairs):
            args = {
                "start": at(start, start_floor[row]),
                "end": at(end, end_floor[row]),
                "speed_mps": 2.0,
                "speed_error_mps": 0.5 if row < len(pairs) - 1 else 3.0,
            }
            try:
                answer = single("travel_time", scene, args)
            except ToolError:
                assert math.isnan(columns["path_m"][row])
                continue
            for name, column in columns.items():
                expected = math.nan if answer[name] is None else answer[name]
                assert column[row] == pytest.approx(expected, abs=1e-6, nan_ok=True), name


@given(spots=st.lists(spots, min_size=1, max_size=20), radius_m=st.floats(0, 150), floor=st.integers(-1, 2))
def test_what_is_near_is_what_single_calls_find(small, floors, spots, radius_m, floor):
    for scene, level in ((small, 0), (floors, floor)):
        columns = batch("lookup", scene, at=list(spots), at_floor=[level], radius_m=radius_m)
        for row, spot in enumerate(spots):
            answer = single("lookup", scene, {"at": at(spot, level), "radius_m": radius_m})
            here = columns["row"] == row
            near = zip(columns["kind"][here], columns["id"][here], columns["distance_m"][here], strict=True)
            found = {(kind, name): distance_m for kind, name, distance_m in near}
            assert len(found) == answer["total"] == here.sum()
            for match in answer["matches"]:
                assert found[match["kind"], match["id"]] == pytest.approx(match["distance_m"], abs=1e-9)


def test_ways_of_a_scene_without_a_network_are_straight():
    scene = Scene(id="bare", frame=Frame(), kind="outdoor")
    columns = batch("travel_time", scene, start=[[0.0, 0.0]], end=[[30.0, 40.0]], speed_mps=10.0)
    assert columns["seconds"] == pytest.approx([5.0])


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(1e-6, 1e9), st.floats(0, 1e9)), min_size=1))
def test_speeds_are_those_of_single_calls(small, rows):
    names = ("distance_m", "seconds", "distance_error_m")
    columns = batch("speed", small, **dict(zip(names, np.array(rows).T, strict=True)))
    for row, values in enumerate(rows):
        answer = single("speed", small, dict(zip(names, values, strict=True)))
        assert {name: column[row] for name, column in columns.items()} == answer


@given(points=st.lists(spots, max_size=50), data=st.data())
def test_cameras_that_see_points_are_those_of_single_calls(floors, small, points, data):
    for scene in (small, floors):
        on = data.draw(st.lists(st.integers(-1, 2), min_size=len(points), max_size=len(points)))
        columns = batch(
            "cameras_seeing", scene, points=np.array(points).reshape(-1, 2), floor=np.array(on, dtype=int)
        )
        assert (np.diff(columns["row"]) >= 0).all()
        for row, (point, floor) in enumerate(zip(points, on, strict=True)):
            answer = single("cameras_seeing", scene, {"points": [list(point)], "floor": floor})["cameras"]
            here = columns["row"] == row
            seers = dict(
                zip(columns["camera"][here].tolist(), columns["error_m"][here].tolist(), strict=True)
            )
            assert seers == {seer["camera"]: seer["error_m"] for seer in answer}


def test_points_keep_their_rows_and_too_many_pairs_are_refused(small, monkeypatch):
    points = [[500.0, 0.0], [-60.0, 0.0], [500.0, 0.0], [-60.0, 0.0], [-60.0, 0.0]]
    assert batch("cameras_seeing", small, points=points)["row"].tolist() == [1, 3, 4]
    monkeypatch.setattr("gnomon_tools.core.batch.MAX_PAIRS", 2)
    with pytest.raises(ToolError, match="give fewer points"):
        batch("cameras_seeing", small, points=points)


@given(
    st.floats(-90, 90),
    st.floats(-180, 180),
    st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=1, max_size=5),
)
def test_degrees_agree_with_karneys_to_a_hundredth_of_a_millimetre(lat_deg, lon_deg, points):
    frame = Frame(lat_deg=lat_deg, lon_deg=lon_deg, anchored=True)
    for (lon, lat), point in zip(to_wgs84(frame, points), points, strict=True):
        lon_there, lat_there = frame.to_wgs84(point)
        assert Geodesic.WGS84.Inverse(lat, lon, lat_there, lon_there)["s12"] < 1e-5


@given(
    st.lists(
        st.tuples(st.floats(0, 1200), st.floats(-2000, 700), st.floats(1, 100), st.floats(1, 100)),
        min_size=1,
        max_size=20,
    )
)
def test_boxes_are_projected_as_by_single_calls_and_beyond_the_horizon_nan(small, boxes):
    columns = batch("project_track", small, camera="c1", boxes=boxes)
    for row, box in enumerate(boxes):
        try:
            answer = single("project_track", small, {"camera": "c1", "boxes": [list(box)], "times_s": [0.0]})
        except ToolError:
            assert all(math.isnan(column[row]) for column in columns.values())
        else:
            assert [columns["x_m"][row], columns["y_m"][row]] == pytest.approx(answer["points_m"][0])
            assert columns["error_m"][row] == pytest.approx(answer["error_m"])


@pytest.mark.parametrize(
    ("name", "columns", "column", "row"),
    [
        ("distance", {"start": [[0, 0], [0, math.nan]], "end": [1, 1]}, "start", 1),
        ("distance", {"start": [[0, 0], [math.inf, 0]], "end": [1, 1]}, "start", 1),
        ("distance", {"start": [[0, 0], [0, 2e6]], "end": [1, 1]}, "start", 1),
        ("distance", {"start": [[0, 0], [0]], "end": [1, 1]}, "start", None),
        ("distance", {"start": [[0, 0]] * 3, "end": [[1, 1]] * 2}, "end", None),
        ("distance", {"start": [0, 0]}, "end", None),
        ("distance", {"start": [0, 0], "end": [1, 1], "speed": 3}, "speed", None),
        ("distance", {"start": ["c1", "c1", "nowhere"], "end": [1, 1]}, "start", 2),
        ("distance", {"start": "c4", "end": [1, 1]}, "start", 0),
        ("distance", {"start": "c1", "start_floor": 1, "end": [1, 1]}, "start_floor", None),
        ("distance", {"start": [0, 0], "start_floor": [0, 0.5], "end": [1, 1]}, "start_floor", 1),
        ("distance", {"start": [True, False], "end": [1, 1]}, "start", None),
        ("distance", {"start": {"camera": "c1"}, "end": [1, 1]}, "start", None),
        ("speed", {"distance_m": [1, None], "seconds": 1}, "distance_m", None),
        ("speed", {"distance_m": [1, 2], "seconds": [1, 0]}, "seconds", 1),
        ("speed", {"distance_m": "far", "seconds": 1}, "distance_m", None),
        ("project_track", {"camera": ["c1", "c2"], "boxes": [1, 1, 1, 1]}, "camera", 1),
        ("project_track", {"camera": "c1", "boxes": [[1, 1, 1, 1], [1, 1, 0, 1]]}, "boxes", 1),
        ("project_track", {"camera": "c1", "boxes": [1, 1, 1]}, "boxes", None),
        ("project_track", {"camera": 5, "boxes": [1, 1, 1, 1]}, "camera", None),
        ("cameras_seeing", {"points": 7}, "points", None),
    ],
)
def test_what_is_refused_is_told_by_column_and_row(small, name, columns, column, row):
    with pytest.raises(BadColumn) as refused:
        batch(name, small, **columns)
    assert (refused.value.column, refused.value.row) == (column, row)


def test_what_only_a_call_refuses_is_told_by_row_as_well(small):
    class Halves(ToolArgs):
        parts: float = Field(multiple_of=0.5)

    tool = Tool(
        name="halves",
        description="Halve.",
        args=Halves,
        run=lambda _, args: ToolResult(),
        batch=Batch(takes={"parts": "number"}, gives={"parts": "halves"}),
    )
    with pytest.raises(BadColumn, match=r"parts, row 1: Input should be a multiple of 0\.5"):
        run_batch(tool, small, {"parts": [1.0, 0.3]})


def test_no_rows_are_no_rows(small):
    assert len(batch("distance", small, start=np.empty((0, 2)), end=[1, 1])["straight_m"]) == 0
    assert len(batch("cameras_seeing", small, points=[])["row"]) == 0


def test_a_tool_without_a_batch_form_says_so(small):
    with pytest.raises(ToolError, match="list_cameras has no batch form"):
        batch("list_cameras", small)
