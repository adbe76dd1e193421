"""Maps of generated worlds."""

import io
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from shapely import affinity, box

from gnomon_published.benchmarks.gtr_bench.case import SCENES
from gnomon_published.drawn_maps.map_lettering import CAMERA, Avoided, Labels
from gnomon_published.drawn_maps.map_picture import draw_map
from gnomon_published.drawn_maps.map_sheet import LONG_SIDE_PX, sheet_of
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.sample_making import map_of, world_of

DOT = tuple(int(CAMERA[at : at + 2], 16) for at in (1, 3, 5))


@pytest.mark.parametrize("scene", SCENES)
def test_every_camera_is_a_dot_at_its_place_on_the_map(scene: str) -> None:
    world = world_of(31, scene, 0)
    picture = Image.open(io.BytesIO(map_of(world))).convert("RGB")
    image = world.scene.map_image
    assert image is not None
    assert max(picture.size) <= LONG_SIDE_PX + 1
    for camera in world.scene.cameras.values():
        assert camera.xy_m is not None
        x_px, y_px = image.origin_px[camera.floor]
        x = x_px + camera.xy_m[0] / image.metres_per_pixel
        y = y_px - camera.xy_m[1] / image.metres_per_pixel
        assert picture.getpixel((round(x), round(y))) == DOT


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCENES))
def test_everything_lies_on_its_floors_panel(seed: int, scene: str) -> None:
    world = world_of(seed, scene, 0)
    sheet = sheet_of(world.scene, file="map.png")
    panels = {panel.floor: box(*panel.area_px) for panel in sheet.panels}
    assert not any(a.intersects(b) for a in panels.values() for b in panels.values() if a is not b)
    for camera in world.scene.cameras.values():
        assert camera.field_of_view is not None
        corners = [sheet.pixel((x, y), camera.floor) for x, y in camera.field_of_view.exterior.coords]
        for x, y in corners:
            west, north, east, south = panels[camera.floor].bounds
            assert west <= x <= east
            assert north <= y <= south


def test_a_scale_bar_of_pixels_is_as_long_as_it_says() -> None:
    world = world_of(31, "outdoor", 0)
    sheet = sheet_of(world.scene, file="map.png")
    (ax, ay), (bx, by) = sheet.pixel((0, 0), 0), sheet.pixel((30, 40), 0)
    assert math.hypot(ax - bx, ay - by) * sheet.image.metres_per_pixel == pytest.approx(50)
    assert (bx > ax, by < ay) == (True, True)  # east is right, north is up


def test_labels_do_not_cover_one_another() -> None:
    labels = Labels((0, 0, 300, 300))
    placed = [box(*labels.beside((150, 150), (40, 12), Avoided([]))) for _ in range(12)]
    assert not any(a.intersects(b) for i, a in enumerate(placed) for b in placed[:i])


steps = st.integers(0, 12)
boxes = st.tuples(steps, steps, st.integers(1, 4), st.integers(1, 4)).map(
    lambda drawn: (drawn[0], drawn[1], drawn[0] + drawn[2], drawn[1] + drawn[3])
)


@given(boxes, st.lists(boxes, max_size=4), st.lists(boxes, max_size=3))
def test_what_is_free_is_what_touches_nothing_that_is_taken(place, taken, turned):
    labels, slanted = Labels((1, 1, 14, 14)), [affinity.rotate(box(*area), 30) for area in turned]
    for area in taken:
        labels.take(area)
    for shape in slanted:
        labels.take_slanted(shape)
    everything = [*(box(*area) for area in taken), *slanted]
    for shape, is_free in (
        (box(*place), labels.is_free(place)),
        (affinity.rotate(box(*place), 20), labels.is_free_slanted(affinity.rotate(box(*place), 20))),
    ):
        is_on_sheet = box(1, 1, 14, 14).covers(shape)
        assert is_free == (is_on_sheet and not any(shape.intersects(area) for area in everything))


@pytest.mark.parametrize("scene", SCENES)
def test_a_place_without_names_has_a_map(scene: str) -> None:
    named = world_of(31, scene, 0).scene
    roads = {name: replace(road, name="") for name, road in named.roads.items()}
    zones = {name: replace(zone, name="") for name, zone in named.zones.items()}
    unnamed = replace(named, roads=roads, zones=zones)
    assert draw_map(unnamed) != draw_map(named)


def test_a_scene_with_nothing_to_walk_on_has_no_map() -> None:
    with pytest.raises(ValueError, match="neither roads nor zones"):
        draw_map(Scene(id="void", frame=Frame(), kind="outdoor"))
