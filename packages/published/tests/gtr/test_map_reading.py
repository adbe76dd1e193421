"""Reading maps that the test draws itself, so that the truth is exact."""

import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_published.benchmarks.gtr_bench.map_reading.arrows import Arrow
from gnomon_published.benchmarks.gtr_bench.map_reading.labels import (
    LETTERS,
    PITCH_PX,
    VARIANTS,
    _glyphs,
    label_centre_px,
)
from gnomon_published.benchmarks.gtr_bench.map_reading.reading import CameraReading, read_map
from gnomon_published.benchmarks.gtr_bench.map_reading.reading_store import ReadingStore
from gnomon_published.benchmarks.gtr_bench.map_reading.scale_bar import TEXT_VALUES_M, _texts, read_scale
from gnomon_tools.geometry.angles import turn_deg
from packages.published.tests.gtr.map_agreement import Sighting, agreements

Entry = dict[str, Any]
Drawn = tuple[str, tuple[float, float], float]  # id, mast in pixels, heading in degrees

SIZE = (640, 420)
FINE = 4  # the drawing is made this much larger and shrunk, for smooth edges
RED = (255, 0, 0)


def draw_map(cameras: Sequence[Drawn], *, bar: tuple[int, int, int] | None = (30, 68, 69)) -> Image.Image:
    """A street, the cameras as published maps draw them, and a bar: its metres, its pixels, those of feet."""
    image = Image.new("RGB", (SIZE[0] * FINE, SIZE[1] * FINE), (247, 247, 247))
    ImageDraw.Draw(image).line(
        [(0, 300 * FINE), (SIZE[0] * FINE, 150 * FINE)], fill=(186, 201, 217), width=24 * FINE
    )
    for _, mast_px, heading_deg in cameras:
        wedge = image.copy()
        ImageDraw.Draw(wedge).pieslice(_around(mast_px, 41), heading_deg - 120, heading_deg - 60, fill=RED)
        image = Image.blend(image, wedge, 0.2)
    pen = ImageDraw.Draw(image)
    for _, mast_px, heading_deg in cameras:
        pen.ellipse(_around(mast_px, 5.8), fill=(0, 0, 0))
        corners = ((0, -2), (46.5, -2), (46.5, -8), (56.1, -2), (60, -2))
        outline = [*corners, *((along, -across) for along, across in reversed(corners))]
        pen.polygon([_at(mast_px, heading_deg, *corner) for corner in outline], fill=RED)
    image = image.resize(SIZE, Image.Resampling.BOX)
    for name, mast_px, heading_deg in cameras:
        _write(image, name, mast_px, heading_deg)
    if bar is not None:
        _bar(image, *bar)
    return image


def _around(mast_px: tuple[float, float], radius_px: float) -> list[float]:
    x, y = (value + 0.5 for value in mast_px)
    return [(x - radius_px) * FINE, (y - radius_px) * FINE, (x + radius_px) * FINE, (y + radius_px) * FINE]


def _at(mast_px: tuple[float, float], heading_deg: float, along: float, across: float) -> tuple[float, float]:
    right, down = math.sin(math.radians(heading_deg)), -math.cos(math.radians(heading_deg))
    x = mast_px[0] + 0.5 + along * right - across * down
    y = mast_px[1] + 0.5 + along * down + across * right
    return x * FINE, y * FINE


def _write(image: Image.Image, name: str, mast_px: tuple[float, float], heading_deg: float) -> None:
    x, y = label_centre_px(Arrow(mast_px=mast_px, heading_deg=heading_deg, fit=1.0))
    for place, letter in enumerate(name):
        ink = _glyphs()[LETTERS.index(letter) * VARIANTS + 1]
        corner = (round(x + (place - len(name) / 2) * PITCH_PX - 1), round(y - 6.5))
        image.paste(RED, corner, Image.fromarray((ink * 255).round().astype(np.uint8)))


def _bar(image: Image.Image, metres: int, metres_px: int, feet_px: int) -> None:
    grey, pen, line = (119, 119, 119), ImageDraw.Draw(image), SIZE[1] - 28
    pen.rectangle((5, line - 14, 4 + max(metres_px, feet_px), line + 15), fill=(250, 250, 250))
    text = 255 - _texts()[TEXT_VALUES_M.index(metres)] * 255
    image.paste(Image.fromarray(text.round().astype(np.uint8)), (10, line - 12))
    pen.rectangle((5, line, 4 + max(metres_px, feet_px), line + 1), fill=grey)
    for length_px, above in ((metres_px, True), (feet_px, False)):
        ends = (line - 14, line) if above else (line, line + 15)
        for left in (5, 3 + length_px):
            pen.rectangle((left, ends[0], left + 1, ends[1]), fill=grey)


def near(read: CameraReading, drawn: Drawn, px: float = 0.75, deg: float = 1.0) -> bool:
    _, mast_px, heading_deg = drawn
    return math.dist(read.mast_px, mast_px) <= px and abs(turn_deg(heading_deg, read.heading_deg)) <= deg


@given(x=st.floats(120, 520), y=st.floats(120, 300), heading=st.floats(0, 359.9), number=st.integers(0, 999))
def test_one_camera_is_read_wherever_it_stands_and_looks(
    x: float, y: float, heading: float, number: int
) -> None:
    drawn = (f"c{number:03d}", (x, y), heading)
    reading = read_map(draw_map([drawn]), [drawn[0]])
    (camera,) = reading.cameras
    assert not reading.unread
    assert near(camera, drawn)
    assert math.dist(camera.mast_px, drawn[1]) <= camera.error_px + 0.25


def test_labels_over_one_another_are_told_apart_by_the_ids_asked_for() -> None:
    drawn = [("c071", (300.0, 200.0), 40.0), ("c086", (300.0, 200.0), 52.0), ("c05", (310.0, 203.0), 280.0)]
    reading = read_map(draw_map(drawn), [name for name, _, _ in drawn])
    found = {camera.camera_id: camera for camera in reading.cameras}
    assert all(near(found[name], (name, mast, heading), px=1.5, deg=2) for name, mast, heading in drawn)


def test_masts_a_few_pixels_apart_stay_two() -> None:
    drawn = [("c012", (300.0, 200.0), 95.0), ("c034", (306.0, 203.0), 300.0), ("c056", (296.0, 206.0), 190.0)]
    reading = read_map(draw_map(drawn), [name for name, _, _ in drawn])
    for camera, truth in zip(reading.cameras, drawn, strict=True):
        assert near(camera, truth)


def test_an_id_that_is_not_on_the_map_is_reported_and_not_guessed() -> None:
    drawn = [("c012", (300.0, 200.0), 95.0), ("c034", (400.0, 203.0), 300.0)]
    reading = read_map(draw_map(drawn), ["c012", "c034", "c021", "x1"])
    assert [camera.camera_id for camera in reading.cameras] == ["c012", "c034"]
    assert reading.unread == ("c021", "x1")


@pytest.mark.parametrize("asked", ["c023", "c03", "c020", "c088"])
def test_a_label_is_not_taken_for_one_that_looks_like_it(asked: str) -> None:
    picture = draw_map([("c028", (300.0, 200.0), 95.0)])
    assert read_map(picture, [asked]).unread == (asked,)


@pytest.mark.parametrize("picture", [draw_map([]), Image.new("RGB", (3, 2)), Image.new("L", (60, 40), 128)])
def test_a_picture_without_cameras_gives_none(picture: Image.Image) -> None:
    reading = read_map(picture, ["c012"])
    assert (reading.cameras, reading.unread) == ((), ("c012",))


def test_the_metres_are_those_of_the_upper_bar() -> None:
    assert [
        scale and round(scale.metres_per_pixel, 3)
        for scale in (read_scale(draw_map([], bar=bar)) for bar in ((30, 68, 69), (50, 57, 69)))
    ] == [0.442, 0.881]


@pytest.mark.parametrize("bar", [None, (50, 68, 69), (30, 57, 69)])
def test_without_a_bar_that_makes_sense_there_are_headings_but_no_metres(
    bar: tuple[int, int, int] | None,
) -> None:
    reading = read_map(draw_map([("c012", (300.0, 200.0), 95.0)], bar=bar), ["c012"])
    (camera,) = reading.cameras
    assert reading.scale is None
    assert reading.xy_m(camera) is None
    assert near(camera, ("c012", (300.0, 200.0), 95.0))


def test_metres_count_east_and_north_from_the_centre_and_err_more_far_from_it() -> None:
    drawn = [("c012", (320.0, 210.0), 95.0), ("c034", (420.0, 110.0), 200.0)]
    reading = read_map(draw_map(drawn), ["c012", "c034"])
    at_centre, north_east = reading.cameras
    assert reading.xy_m(at_centre) == pytest.approx((0, 0), abs=0.4)
    assert reading.xy_m(north_east) == pytest.approx((44.15, 44.15), abs=0.7)
    assert 0.2 < reading.error_m(at_centre) < reading.error_m(north_east) < 1.0


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def test_a_picture_is_read_once_for_the_same_ids(tmp_path: Path) -> None:
    store, picture = ReadingStore(tmp_path), _png(draw_map([("c012", (300.0, 200.0), 95.0)]))
    first = store.read(picture, ["c012", "c013"])
    (kept,) = tmp_path.iterdir()
    assert store.read(picture, {"c013", "c012"}) == first
    kept.write_text(kept.read_text(encoding="utf-8").replace("c013", "c077"), encoding="utf-8")
    assert store.read(picture, ["c012", "c013"]).unread == ("c077",)
    assert store.read(picture, ["c012"]).unread == ()
    kept.write_text("{", encoding="utf-8")
    assert store.read(picture, ["c012", "c013"]) == first


@pytest.fixture
def outdoor(publish: Callable[..., Path], forecast: Entry) -> Path:
    """The TF case as an outdoor one: c01, c02, c04, c05 drawn, c03 not."""
    forecast["map_image_path"] = "./data/outdoor/map/m.png"
    root = publish(forecast, scene="outdoor")
    drawn = [
        ("c01", (150.0, 150.0), 95.0),
        ("c02", (450.0, 200.0), 300.0),
        ("c04", (300.0, 120.0), 180.0),
        ("c05", (300.0, 280.0), 20.0),
    ]
    draw_map(drawn).save(root / "data/outdoor/map/m.png")
    return root


@pytest.mark.parametrize("protocol", ["guarded", "official"])
def test_cameras_of_a_sample_stand_where_its_map_draws_them(
    outdoor: Path, media: MediaStore, protocol: Any
) -> None:
    samples = gtr_bench.open(data=outdoor, select=Select(), protocol=protocol, media=media)
    scene = samples.get("case-tf").scene
    assert scene is not None
    assert scene is samples.get("case-tf").scene
    assert not scene.frame.anchored
    assert scene.cameras["c04"].xy_m == pytest.approx((-20 * 0.4415, 90 * 0.4415), abs=0.5)
    assert scene.cameras["c04"].heading_deg == pytest.approx(180, abs=1)
    assert 0 < scene.cameras["c04"].position_error_m < 1
    assert (scene.cameras["c04"].range_m, scene.cameras["c04"].fov_deg) == (None, None)
    assert (scene.cameras["c03"].xy_m, scene.cameras["c03"].heading_deg) == (None, None)
    assert scene.map_image is not None
    assert scene.map_image.origin_px == {0: (320, 210)}
    assert scene.map_image.metres_per_pixel == pytest.approx(0.4415, abs=1e-3)


def test_what_is_hidden_moves_no_camera(outdoor: Path, media: MediaStore) -> None:
    def scene_of() -> dict[str, object]:
        samples = gtr_bench.open(data=outdoor, select=Select(), protocol="guarded", media=media)
        scene = samples.get("case-tf").scene
        assert scene is not None
        return {name: (camera.xy_m, camera.heading_deg) for name, camera in scene.cameras.items()}

    before = scene_of()
    (path,) = (outdoor / "data/outdoor").glob("*.json")
    published = json.loads(path.read_bytes())
    for clip in published["cases"][0]["camera_images"]:
        clip |= {"video_path": "./elsewhere/c099/vdo.avi", "object_id": 99, "direction": "north"}
    path.write_text(json.dumps(published), encoding="utf-8")
    assert scene_of() == before


def test_a_false_reading_stands_out_and_does_not_bend_the_others() -> None:
    places = {"c1": (0.0, 0.0), "c2": (100.0, 0.0), "c3": (0.0, 80.0)}
    seen = [
        Sighting(
            case_id=f"map {cut}",
            physical=name,
            camera_id="c0",
            xy_m=(x - 7.0 * cut, y + 3.0 * cut),
            heading_deg=(350.0 + 10 * cut) % 360,
            error_m=1.0,
        )
        for cut in range(4)
        for name, (x, y) in places.items()
    ]
    assert max(one.residual_m for one in agreements(seen)) < 1e-6
    seen[4] = replace(seen[4], xy_m=(seen[4].xy_m[0] + 30, seen[4].xy_m[1]))
    worst = sorted(one.residual_m for one in agreements(seen))
    assert worst[-1] == pytest.approx(30, abs=1)
    assert worst[-2] < 1
    assert agreements(seen[:3]) == []
