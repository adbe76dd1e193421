"""Moves and new names change scenes exactly, and can be taken back; tools agree with them."""

import json
from random import Random
from typing import Any

import numpy as np
import pytest

from gnomon.core.derangement import derangement
from gnomon.core.errors import DataError
from gnomon_published.scene_changes.scene_move import Move, moved_scene
from gnomon_published.scene_changes.scene_names import renamed_scene
from gnomon_published.scene_changes.wording import shifted, turned
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.geometry.angles import EIGHTHS, turn_deg
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.sample_making import world_of

MOVES = [Move(1), Move(2), Move(3), Move(mirrored=True), Move(1, mirrored=True), Move(3, mirrored=True)]
KINDS = ("outdoor", "indoor")


def numbers(scene: Scene) -> dict[str, Any]:
    """Every number of a scene that a move could change."""
    return {
        **{
            f"camera {name}": (camera.xy_m, camera.heading_deg, list(camera.field_of_view.exterior.coords))
            for name, camera in scene.cameras.items()
            if camera.field_of_view is not None
        },
        **{f"road {name}": list(road.line.coords) for name, road in scene.roads.items()},
        **{f"zone {name}": list(zone.area.exterior.coords) for name, zone in scene.zones.items()},
        **{f"portal {name}": portal.ends_m for name, portal in scene.portals.items()},
        **{f"place {name}": place.xy_m for name, place in scene.places.items()},
    }


def call(scene: Scene, tool: str, **arguments: Any) -> dict[str, Any]:
    observation = Toolbox([TOOLS.get(tool)], ToolContext(inputs=held(scene))).call(
        tool, json.dumps(arguments)
    )
    return dict(json.loads(observation.content)) if observation.error is None else {}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_move_and_its_inverse_leave_every_number_as_it_was(kind: str, move: Move) -> None:
    scene = world_of(3, kind, 0).scene
    moved = moved_scene(scene, move)
    assert numbers(moved) != numbers(scene)
    assert numbers(moved_scene(moved, move.inverse)) == numbers(scene)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("kind", KINDS)
def test_homographies_put_a_moved_picture_on_the_moved_floor(kind: str, move: Move) -> None:
    scene = world_of(3, kind, 0).scene
    for name, camera in moved_scene(scene, move).cameras.items():
        old = scene.cameras[name]
        assert old.homography is not None
        assert camera.homography is not None
        assert old.image_size is not None
        for u, v in ((300.0, 900.0), (1500.0, 700.0)):
            before = old.homography @ (u, v, 1.0)
            x, y, width, height = move.box((u - 20, v - 90, 40.0, 90.0), old.image_size[0])
            after = camera.homography @ (x + width / 2, y + height, 1.0)
            expected = move.matrix @ (before[:2] / before[2])
            assert after[:2] / after[2] == pytest.approx(expected, abs=1e-6)
            assert np.sign(after[2]) == np.sign(before[2])


@pytest.mark.parametrize("words", [*EIGHTHS, "5 meters northeast, then 3.0 meters west"])
def test_words_of_direction_go_with_headings(words: str) -> None:
    for quarters in range(4):
        assert turned(turned(words, quarters), -quarters) == words
        mirrored = turned(words, quarters, mirrored=True)
        assert turned(mirrored, quarters, mirrored=True) == words
        if words in EIGHTHS:
            heading_deg = 45.0 * EIGHTHS.index(words)
            assert 45.0 * EIGHTHS.index(turned(words, quarters)) == Move(quarters).heading_deg(heading_deg)
            assert 45.0 * EIGHTHS.index(mirrored) == Move(quarters, True).heading_deg(heading_deg)


def test_times_of_day_come_back() -> None:
    text = "from 12:59:59.250 to 13:00:00, in 12.5 s"
    for seconds in (1, 599, 7200):
        assert shifted(text, seconds) != text
        assert shifted(shifted(text, seconds), -seconds) == text


@pytest.mark.parametrize("kind", KINDS)
def test_renaming_deals_names_anew_and_keeps_every_number(kind: str) -> None:
    scene = world_of(3, kind, 0).scene
    names = renamed_scene(scene, 7)
    assert sorted(names.cameras) == sorted(names.cameras.values()) == sorted(scene.cameras)
    for old, new in names.cameras.items():
        assert old != new
        assert names.scene.cameras[new].id == new
        assert names.scene.cameras[new].xy_m == scene.cameras[old].xy_m
    for kind_of in ("roads", "zones", "places"):
        before, after = (
            {item.name for item in getattr(each, kind_of).values()} for each in (scene, names.scene)
        )
        assert len(before) == len(after)
    rooms = {(zone.floor, zone.area.wkt, zone.id) for zone in scene.zones.values()}
    renamed = {(zone.floor, zone.area.wkt, zone.id) for zone in names.scene.zones.values()}
    assert len(rooms) == len(renamed)
    assert not scene.zones or rooms != renamed
    assert all(set(portal.zones) <= set(names.scene.zones) for portal in names.scene.portals.values())


def test_nothing_keeps_its_place_in_a_derangement() -> None:
    for seed in range(50):
        drawn = derangement("ABCD", Random(seed))
        assert sorted(drawn.values()) == list("ABCD")
        assert all(old != new for old, new in drawn.items())
    with pytest.raises(DataError):
        derangement("A", Random(0))


@pytest.mark.parametrize("kind", KINDS)
def test_tools_measure_the_same_distances_and_turned_headings_on_a_moved_scene(kind: str) -> None:
    scene = world_of(3, kind, 0).scene
    cameras = sorted(scene.cameras)
    for move in MOVES[:4]:
        moved = moved_scene(scene, move)
        for start, end in zip(cameras[:4], cameras[4:8], strict=True):
            asked = {"start": {"camera": start}, "end": {"camera": end}}
            before, after = (call(each, "distance", **asked) for each in (scene, moved))
            assert before["straight_m"] >= 0
            assert after.get("path_m") == pytest.approx(before.get("path_m"), abs=0.011)
            assert after.get("straight_m") == pytest.approx(before.get("straight_m"), abs=0.011)
            before, after = (call(each, "bearing", **asked) for each in (scene, moved))
            if before:
                expected = move.heading_deg(before["bearing_deg"])
                assert abs(turn_deg(expected, after["bearing_deg"])) < 0.11
