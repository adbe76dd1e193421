"""What every tool keeps to, also those that come later."""

import json
import math
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_conformance.check import checks_in
from gnomon_conformance.tools import ToolSuite, hold
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult, contract_hash
from gnomon_tools.core.toolbox import TOOLS, Toolbox, to_json
from gnomon_tools.scene.format import read_scene
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Scene

ROOT = Path(__file__).parents[2]
TOOL_DOCS = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
SCENES = [
    read_scene(ROOT / "examples" / "scenes" / "small.geojson"),
    read_scene(ROOT / "examples" / "scenes" / "floors.geojson"),
    Scene(id="empty", frame=Frame(), kind="outdoor"),
    Scene(id="unknown", frame=Frame(), kind="indoor", cameras={"c1": Camera(id="c1")}),
]

every_tool = pytest.mark.parametrize("name", TOOLS.names())


def test_there_are_tools():
    assert set(TOOLS.names()) >= {"bearing", "camera_view", "cameras_seeing", "distance", "list_cameras"}
    assert set(TOOLS.names()) >= {"lookup", "project_track", "speed", "travel_time"}


@every_tool
def test_a_tool_keeps_what_all_keep(name):
    assert TOOLS.get(name).name == name
    assert TOOLS.summary(name)
    for check in checks_in(ToolSuite(TOOLS.get(name), SCENES)):
        check()


@every_tool
def test_a_tool_is_documented_with_its_arguments_results_and_error(name):
    section = re.search(rf"^### `{name}`\n(.*?)(?=^##|\Z)", TOOL_DOCS, re.DOTALL | re.MULTILINE)
    assert section, f"docs/tools.md has no section {name}"
    tool = TOOLS.get(name)
    arguments = set(tool.schema()["function"]["parameters"]["properties"])
    results = set(tool.result_schema()["properties"])
    for field in arguments:
        assert re.search(rf"[( ]{field}[,)=]", section[1]), field
    for field in results:
        assert f"`{field}`" in section[1], field
    assert "Error: " in section[1]


def _offers(contract: dict) -> st.SearchStrategy:
    """Arguments that a schema allows, more or less: ids of the scenes are among the texts."""
    kinds = {
        "string": st.sampled_from(
            ["c1", "c2", "c4", "k1", "p1", "Bakery", "desk", "nowhere", "", "\x00", "é", "Nara", "奈良市"]
        ),
        "number": st.floats(allow_nan=True, allow_infinity=True)
        | st.floats(contract.get("minimum", -2000), contract.get("maximum", 2000))
        | st.floats(0, 900),
        "integer": st.integers(-3, 3) | st.integers(),
        "boolean": st.booleans(),
    }
    if contract.get("type") == "object":
        fields = {name: _offers(field) for name, field in contract.get("properties", {}).items()}
        needed = {name: fields.pop(name) for name in contract.get("required", ())}
        return st.fixed_dictionaries(needed, optional=fields)
    if contract.get("type") == "array":
        low, high = contract.get("minItems", 0), min(contract.get("maxItems", 4), 4)
        return st.lists(_offers(contract["items"]), min_size=low, max_size=high)
    return kinds[contract["type"]]


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@cache
def _arguments(name: str) -> st.SearchStrategy:
    schema = TOOLS.get(name).schema()["function"]["parameters"]
    return _offers(schema) | st.dictionaries(st.sampled_from(sorted(schema["properties"]) or ["x"]), junk)


@every_tool
@given(data=st.data())
def test_whatever_a_model_sends_comes_back_as_an_observation(name, data):
    arguments = json.dumps(data.draw(_arguments(name)))
    for scene in SCENES:
        hold(TOOLS.get(name), scene, arguments)


def test_a_thousand_faults_are_told_in_few_words():
    toolbox = Toolbox([TOOLS.get("cameras_seeing")], ToolContext(inputs=held(SCENES[0])))
    for name, arguments in (("cameras_seeing", {"points": [["a", "b"]] * 1000}), ("x" * 10_000, {})):
        told = json.loads(toolbox.call(name, json.dumps(arguments)).content)["error"]
        assert told.endswith("…")
        assert len(told) < 2000


def test_a_number_that_json_cannot_say_is_a_fault_of_the_tool():
    class Broken(ToolResult):
        far_m: float

    class Nothing(ToolArgs):
        """Nothing."""

    tool = Tool(name="broken", description="", args=Nothing, run=lambda *_: Broken(far_m=math.inf))
    assert Toolbox([tool], ToolContext(inputs=held(SCENES[2]))).call("broken", "{}").error == "tool_crash"


def test_positions_on_the_earth_are_told_to_the_metre_and_all_else_to_three_decimals():
    class Spot(ToolResult):
        lat_deg: float
        town_lon_deg: float
        bearing_deg: float
        points_lon_lat_deg: list[tuple[float, float]]

    spot = Spot(
        lat_deg=60.1678123,
        town_lon_deg=24.9386571,
        bearing_deg=12.3456789,
        points_lon_lat_deg=[(24.9386571, 60.1678123)],
    )
    assert json.loads(to_json(spot)) == {
        "lat_deg": 60.16781,
        "town_lon_deg": 24.93866,
        "bearing_deg": 12.346,
        "points_lon_lat_deg": [[24.93866, 60.16781]],
    }


def test_equal_tools_have_equal_contracts_in_any_order():
    tools = tuple(TOOLS)
    assert contract_hash(tools) == contract_hash(tools[::-1])
    assert contract_hash(tools) != contract_hash(tools[1:])


def test_a_schema_is_one_object_for_a_whole_process() -> None:
    tool = TOOLS.get("distance")
    assert tool.schema() is tool.schema()
