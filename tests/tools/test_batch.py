"""Batch forms say of each row what the single call says."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.core.batch import run_batch
from tools.core.tool import ToolContext, ToolError
from tools.core.toolbox import TOOLS
from tools.scene.format import read_scene

SCENE = read_scene(Path(__file__).parents[2] / "examples" / "scenes" / "small.geojson")
points = st.lists(st.tuples(st.floats(-200, 200), st.floats(-200, 200)), min_size=1, max_size=8)


def single(name, **args):
    tool = TOOLS.get(name)
    return tool.run(ToolContext(scene=SCENE), tool.args.model_validate(args))


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(1e-6, 1e9), st.floats(0, 1e9)), min_size=1))
def test_speeds_are_those_of_single_calls(rows):
    lengths, times, errors = zip(*rows, strict=True)
    columns = {"distance_m": lengths, "seconds": times, "distance_error_m": errors}
    answer = run_batch(TOOLS.get("speed"), SCENE, columns)
    for index, row in enumerate(rows):
        result = single("speed", **dict(zip(columns, row, strict=True)))
        assert {name: values[index] for name, values in answer.items()} == result.model_dump()


@given(points)
def test_bearings_are_those_of_single_calls(ends):
    tool, starts = TOOLS.get("bearing"), [(300.0, 300.0)] * len(ends)
    angles = run_batch(tool, SCENE, {"start_m": starts, "end_m": ends})["bearing_deg"]
    for (x_m, y_m), angle in zip(ends, angles, strict=True):
        result = single("bearing", start={"x_m": 300.0, "y_m": 300.0}, end={"x_m": x_m, "y_m": y_m})
        assert angle == pytest.approx(result.bearing_deg, abs=1e-9)


@given(points)
def test_cameras_are_those_of_single_calls(spots):
    answer = run_batch(TOOLS.get("cameras_seeing"), SCENE, {"points_m": spots})
    for index, spot in enumerate(spots):
        cameras = set(answer["cameras"][answer["camera"][answer["row"] == index]].tolist())
        assert cameras == {seer.camera for seer in single("cameras_seeing", points=[list(spot)]).cameras}


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("speed", {"distance_m": [1.0, np.nan], "seconds": [1.0, 1.0]}, "row 1"),
        ("speed", {"distance_m": [1.0], "seconds": [1.0, 1.0]}, "different numbers"),
        ("speed", {"distance_m": [1.0]}, "seconds"),
        ("bearing", {"start_m": [[0, 0], [1, 1]], "end_m": [[1, 1], [1, 1]]}, "Row 1"),
        ("cameras_seeing", {"points_m": [[0, 0], [0, np.inf]]}, "row 1"),
        ("cameras_seeing", {"points_m": [0, 0]}, "shape"),
        ("list_cameras", {}, "no batch form"),
    ],
)
def test_what_is_wrong_is_named_by_its_row_or_column(name, columns, message):
    with pytest.raises(ToolError, match=message):
        run_batch(TOOLS.get(name), SCENE, columns)
