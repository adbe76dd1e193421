"""Boxes in space: distances against another method, and the tools on them."""

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from gnomon.trials.scene_facts import facts_of
from gnomon_conformance import checks
from gnomon_published.scene_changes.scene_move import Move, moved_scene
from gnomon_rooms.reading import Room
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.geometry.oriented_boxes import box_distance_m, gap_m
from gnomon_tools.scene.boxes import Box, Boxes
from gnomon_tools.scene.format import scene_from_json, scene_to_json
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene

BOX_TOOLS = [tool for tool in TOOLS if tool.needs is Boxes]


def drawn_box(chance: np.random.Generator, name: str) -> Box:
    axes = Rotation.random(random_state=chance).as_matrix().tolist()
    return Box(
        name=name,
        kind=name,
        centre_m=tuple(chance.uniform(-2, 2, 3).tolist()),
        lengths_m=tuple(np.exp(chance.uniform(-4, 1, 3)).tolist()),
        axes=tuple(map(tuple, axes)),
    )


def by_least_squares(first: Box, second: Box) -> float:
    """The distance by a bounded solver: the nearest two points, each within its box."""
    spans = np.hstack((np.array(first.axes).T, -np.array(second.axes).T))
    apart = np.array(second.centre_m) - np.array(first.centre_m)
    half = np.array((*first.lengths_m, *second.lengths_m)) / 2
    found = lsq_linear(spans, apart, (-half, half), method="bvls", tol=1e-14, max_iter=500)
    return float(np.linalg.norm(spans @ found.x - apart))


def test_the_distance_is_that_of_a_bounded_least_squares_solver() -> None:
    chance = np.random.default_rng(7)
    for _ in range(400):
        first, second = drawn_box(chance, "a"), drawn_box(chance, "b")
        exact = box_distance_m(first, second)
        assert exact == pytest.approx(by_least_squares(first, second), abs=3e-5)
        assert exact == pytest.approx(box_distance_m(second, first), abs=1e-9)


def test_the_gap_from_above_is_at_most_the_distance_and_that_of_dense_points() -> None:
    chance = np.random.default_rng(8)
    for _ in range(30):
        first, second = drawn_box(chance, "a"), drawn_box(chance, "b")
        gap = gap_m(first, second)
        assert gap <= box_distance_m(first, second) + 1e-9
        points = [
            np.array(b.centre_m) + (chance.uniform(-0.5, 0.5, (300, 3)) * b.lengths_m) @ np.array(b.axes)
            for b in (first, second)
        ]
        apart = np.linalg.norm(points[0][:, None, :2] - points[1][None, :, :2], axis=2).min()
        assert gap <= apart + 1e-9


# Room, A, B, C; exact distance of A and B, gap from above, angle of C at A towards B.
TABLE = [
    ("scene0144_00", "bed", "door", "lamp", 1.964, 1.954, 71.64),
    ("scene0356_00", "bed", "chair", "radiator", 0.567, 0.567, 102.52),
    ("scene0633_00", "chair", "clock", "lamp", 2.287, 1.844, 151.76),
    ("5942004064", "basket", "bed", "blanket", 0.101, 0.101, 7.93),
    ("fb5a96b1a2", "bookshelf", "computer mouse", "heater", 2.676, 2.676, -47.19),
]


@pytest.mark.parametrize(("room", "a", "b", "c", "distance", "gap", "angle"), TABLE)
def test_values_of_scanned_rooms_by_the_tools(
    scanned: dict[str, Room], room: str, a: str, b: str, c: str, distance: float, gap: float, angle: float
) -> None:
    call = caller({box.name: box for box in scanned[room].boxes})
    assert call("box_distance", first=a, second=b)["distance_m"] == distance
    assert call("box_distance", first=a, second=b)["gap_m"] == gap
    assert call("box_direction", at=a, towards=b, of=c)["turn_deg"] == angle


def caller(by_name: dict[str, Box]) -> Any:
    toolbox = Toolbox(BOX_TOOLS, ToolContext(inputs=held(Boxes(by_name=by_name))))

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        seen = toolbox.call(tool, json.dumps(arguments))
        result: dict[str, Any] = json.loads(seen.content)
        return result

    return call


def level(name: str, x: float, y: float, z: float = 0.0, kind: str = "", edge: float = 1.0) -> Box:
    return Box(name=name, kind=kind or name, centre_m=(x, y, z), lengths_m=(edge, edge, edge))


ROOM = {
    box.name: box
    for box in (
        level("bed", 0, 0),
        level("door", 5, 0),
        level("lamp", 2, 4, 3.0),
        level("chair 1", 2.4, 0.1, kind="chair"),
        level("chair 2", -3, -3, kind="chair"),
        Box(name="bin", kind="bin", centre_m=(0, -4, 0), lengths_m=(0.4, 0.3, 0.9)),
    )
}


def test_tools_answer_for_a_small_room() -> None:
    call = caller(ROOM)
    assert call("box_list", kind="chairs")["total"] == 2
    assert call("box_list")["objects"][0] == {"name": "bed", "x_m": 0.0, "y_m": 0.0, "z_m": 0.0}
    assert call("box_distance", first="the bed", second="Door")["distance_m"] == 4.0
    nearest = call("box_nearest", to="bed", among=["door", "chair"])["nearest"]
    assert [(row["asked"], row["name"], row["distance_m"]) for row in nearest] == [
        ("chair", "chair 1", 1.4),
        ("door", "door", 4.0),
    ]
    assert call("box_direction", at="bed", towards="door", of="lamp")["quarter"] == "front-left"
    assert call("box_direction", at="bed", towards="door", of="chair 2")["is_behind"] is True
    assert [row["name"] for row in call("box_view", at="bed", towards="door")["in_view"]] == [
        "door",
        "chair 1",
    ]
    assert call("box_count", kind="chair", near="bed", radius_m=3.0)["count"] == 1
    middle = call("box_midpoint", first="bed", second="door")
    assert (middle["x_m"], middle["nearest"][0]["name"]) == (2.5, "chair 1")
    assert call("box_distance", first="bed", second="lamp")["gap_m"] == pytest.approx(
        math.hypot(1, 3), abs=1e-3
    )
    assert call("box_extent", name="bin")["edges_m"] == [0.9, 0.4, 0.3]
    assert call("box_extent", name="bin")["width_m"] == 0.3


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        (
            "box_extent",
            {"name": "sofa"},
            "There is no box 'sofa'. There are: bed, door, lamp, chair 1, chair 2",
        ),
        ("box_extent", {"name": "chair"}, "Name one: chair 1, chair 2."),
        ("box_list", {"kind": "sofa"}, "There are: bed, door, lamp, chair, bin."),
        ("box_list", {"page": 2}, "There is no page 2; allowed: 1 to 1."),
        ("box_nearest", {"to": "bed", "among": ["bed"]}, "'bed' is what the call measures from"),
        ("box_direction", {"at": "bed", "towards": "bed", "of": "door"}, "have one centre seen from above"),
    ],
)
def test_a_call_that_cannot_be_answered_says_what_is_allowed(
    tool: str, arguments: dict[str, Any], says: str
) -> None:
    assert says in caller(ROOM)(tool, **arguments)["error"]


def test_no_tool_costs_more_than_250_tokens() -> None:
    """A token of cl100k is 3.4 to 3.8 bytes of these schemas."""
    assert len(BOX_TOOLS) == 8
    for tool in BOX_TOOLS:
        assert len(json.dumps(tool.schema())) <= 3.4 * 250, tool.name


@pytest.mark.parametrize("check", [check for tool in BOX_TOOLS for check in checks(tool)], ids=str)
def test_tools_keep_what_every_tool_keeps(check: Any) -> None:
    check()


def test_a_scene_with_boxes_is_written_and_read_again() -> None:
    scene = Scene(id="room", frame=Frame(anchored=False), kind="indoor", boxes=ROOM)
    again = scene_from_json(scene_to_json(scene)).boxes
    assert list(again) == list(ROOM)
    for name, box in ROOM.items():
        assert again[name].centre_m == pytest.approx(box.centre_m, abs=1e-6)
        assert (again[name].lengths_m, again[name].axes, again[name].kind) == (
            box.lengths_m,
            box.axes,
            box.kind,
        )


@pytest.mark.parametrize("move", [Move(1), Move(3), Move(mirrored=True), Move(2, mirrored=True)])
def test_boxes_move_with_their_scene(move: Move) -> None:
    chance = np.random.default_rng(9)
    first, second = drawn_box(chance, "a"), drawn_box(chance, "b")
    scene = Scene(id="room", frame=Frame(anchored=False), kind="indoor", boxes={"a": first, "b": second})
    other = moved_scene(scene, move).boxes
    assert other["a"] != first
    assert box_distance_m(other["a"], other["b"]) == pytest.approx(box_distance_m(first, second), abs=1e-9)
    assert np.array(other["a"].axes) @ np.array(other["a"].axes).T == pytest.approx(np.eye(3), abs=1e-9)


def test_the_facts_of_a_scene_hold_its_boxes() -> None:
    scene = Scene(id="room", frame=Frame(anchored=False), kind="indoor", boxes=ROOM)
    assert f"- {ROOM['bin'].in_words()}" in facts_of(scene)


def test_a_stand_in_has_what_the_question_says_and_other_numbers() -> None:
    boxes = Boxes(by_name=ROOM, said=("bed", "chair"))
    other = Boxes(by_name={f"thing {at}": level(f"thing {at}", at, 0, kind="thing") for at in range(3)})
    for seed in range(20):
        stand_in = boxes.stand_in(other, seed=seed)
        assert "bed" in stand_in.by_name
        assert stand_in.of_kind("chair")
        assert len(stand_in.of_kind("chair")) != 2
        assert stand_in == boxes.stand_in(other, seed=seed)
