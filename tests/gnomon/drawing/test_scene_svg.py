"""What is drawn of a scene, and that it is well-formed, escaped and within its view."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from gnomon.core.select import Select
from gnomon.drawing.labels import place, text_width
from gnomon.drawing.layer import Layer
from gnomon.drawing.scene_svg import PictureBelow, scene_svg
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_tools.core.sketch import Area, Dot, Line, Sketch, Span
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Scene
from gnomon_worlds.sample_making import draw
from gnomon_worlds.sample_numbers import Number

SVG = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert("1")</script> & \x00\x1b'


def drawing(scene, *layers, **how):
    return scene_svg(scene, layers, ident="map", title="A map", **how)


def parsed(markup):
    return ET.fromstring(markup)


def svg_of(markup):
    root = parsed(markup)
    return next(each for each in root if each.tag == f"{SVG}svg")


def group(svg, key):
    return [each for each in svg.iter() if each.get("data-layer") == key]


def world(k):
    """The scene of a generated sample, and layers as a trace page has them."""
    drawn = draw(Number(5, k))
    trip, sighting = drawn.question.clip_sightings[0]
    ways = tuple(
        Line(points=tuple(stretch.points_m), times_s=tuple(stretch.times_s), floor=stretch.floor)
        for stretch in trip.journey.stretches
    )
    seen = Sketch(
        marks=(Line(points=(sighting.entry.xy_m, sighting.exit.xy_m), floor=sighting.entry.floor),),
        cameras=(sighting.camera,),
    )
    step = Sketch(
        marks=(
            Dot(at=sighting.exit.xy_m, role="asked", floor=sighting.exit.floor),
            Dot(at=ways[-1].points[-1], label="41.3 s", floor=ways[-1].floor, radius_m=3.0),
            Line(points=ways[-1].points, floor=ways[-1].floor, has_arrow=True, is_dashed=True),
        ),
        cameras=(trip.sightings[-1].camera,),
    )
    layers = (
        Layer("Seen", seen, "seen"),
        Layer("Gold", Sketch(marks=ways), "truth"),
        Layer("Step 3", step, "step", key="step-3"),
        Layer("tools", Sketch(marks=(Dot(at=ways[0].points[0], floor=ways[0].floor),)), 1),
    )
    return drawn.world.scene, layers


WORLDS = pytest.mark.parametrize(
    "k", [0, 10, 1, 11], ids=["outdoor", "outdoor-path", "indoor", "indoor-path"]
)


@WORLDS
def test_a_world_is_drawn_in_well_formed_xml_of_less_than_40_kb(k):
    scene, layers = world(k)
    markup = drawing(scene, *layers)
    assert len(markup.encode()) < 40_000
    assert svg_of(markup).get("role") == "img"


@WORLDS
def test_equal_scenes_and_layers_give_equal_drawings(k):
    scene, layers = world(k)
    assert drawing(scene, *layers) == drawing(scene, *layers)


@WORLDS
def test_every_mark_is_within_the_whole_view_and_the_crop_is_too(k):
    scene, layers = world(k)
    svg = svg_of(drawing(scene, *layers))
    left, top, width, height = map(float, svg.get("data-view-whole").split())
    points = [point for line in svg.iter(f"{SVG}polyline") for point in line.get("points").split()]
    pairs = [tuple(map(float, point.split(","))) for point in points]
    pairs += [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.iter(f"{SVG}circle")]
    assert len(pairs) > 20
    assert all(left <= x <= left + width and top <= y <= top + height for x, y in pairs)
    x, y, wide, high = map(float, svg.get("data-view-crop").split())
    assert x >= left - 0.1
    assert y >= top - 0.1
    assert x + wide <= left + width + 0.1
    assert y + high <= top + height + 0.1
    assert wide == pytest.approx(700)


@WORLDS
@pytest.mark.parametrize("is_wide", [False, True], ids=["narrow", "wide"])
def test_labels_of_one_view_do_not_overlap(k, is_wide):
    scene, layers = world(k)
    svg = svg_of(drawing(scene, *layers))
    view = "at-crop" if svg.get("data-view-crop") != svg.get("data-view-whole") else "at-any"
    em = float(svg.get("data-letters-crop")) * (1 if is_wide else 1.75)
    sizes = {
        "camera-name": 0.9,
        "place-name": 0.85,
        "portal-name": 0.85,
        "room-name": 0.8,
        "street-name": 0.8,
    }
    boxes = []
    named = {
        text.text
        for each in group(svg, "step-3")
        for text in each.iter(f"{SVG}text")
        if "named" in text.get("class")
    }
    for part in svg.iter(f"{SVG}g"):
        if part.get("class") != view:
            continue
        for text in part.iter(f"{SVG}text"):
            css = text.get("class").split()
            if css[0] in {"scale-text", "floor-name"} or ("wide" in css and not is_wide):
                continue
            if css[0] == "camera-name" and "named" not in css and text.text in named:
                continue  # the step's bold name lies on it
            letter = em * (1.0 if "named" in css else sizes.get(css[0], 1.0))
            dx, dy = (float(text.get(key, "0em")[:-2]) * letter for key in ("dx", "dy"))
            width = text_width(text.text) * letter
            x = (
                float(text.get("x"))
                + dx
                - width * {None: 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
            )
            y = float(text.get("y")) + dy
            boxes.append((text.text, x, y - 0.7 * letter, x + width, y + 0.2 * letter))
    assert len(boxes) > 8
    for (_, *one), (_, *other) in combinations(boxes, 2):
        is_apart = one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
        assert is_apart, (one, other)


def test_text_from_outside_stays_text():
    scene = Scene(
        id=EVIL,
        frame=Frame(),
        kind="outdoor",
        cameras={EVIL: Camera(id=EVIL, xy_m=(0.0, 0.0), heading_deg=10.0)},
    )
    sketch = Sketch(marks=(Dot(at=(5.0, 5.0), label=EVIL), Area(ring=((0, 0), (9, 0), (9, 9)), label=EVIL)))
    markup = scene_svg(
        scene,
        [Layer(EVIL, sketch, "step", key=EVIL)],
        ident="m",
        title=EVIL,
        cameras=[EVIL],
    )
    assert "<script" not in markup
    assert "\x00" not in markup
    texts = [text.text for text in parsed(markup).iter(f"{SVG}text")]
    assert any(text.startswith("<script>") for text in texts)


def test_nothing_is_styled_or_scripted_inline():
    scene, layers = world(11)
    markup = drawing(scene, *layers)
    assert not re.search(r'\sstyle="|\son\w+="|<script|<style', markup)


def test_a_layer_is_a_group_that_can_be_switched_and_the_truth_lies_lowest():
    scene, layers = world(10)
    svg = svg_of(
        drawing(scene, *layers, Layer("Step 4", layers[2].sketch, "step", key="step-4", is_on=False))
    )
    keys = [each.get("data-layer") for each in svg.iter(f"{SVG}g") if each.get("data-layer")]
    assert list(dict.fromkeys(keys)) == ["Gold", "Seen", "step-3", "tools", "step-4"]
    assert all("look-step" in each.get("class").split() for each in group(svg, "step-3"))
    assert all("is-off" in each.get("class").split() for each in group(svg, "step-4"))


def test_the_base_map_is_drawn_once_however_many_steps_there_are():
    scene, layers = world(10)
    steps = [Layer(f"Step {n}", layers[2].sketch, "step") for n in range(40)]
    markup = drawing(scene, *layers[:2], *steps)
    assert markup.count('class="camera"') == len(scene.cameras)
    assert markup.count('class="road"') == 1


def test_roles_differ_in_shape_or_dash():
    marks = (
        Dot(at=(0, 0), role="asked"),
        Dot(at=(5, 0), role="result"),
        Dot(at=(9, 0), role="problem"),
        Line(points=((0, 0), (9, 0)), role="problem"),
    )
    svg = svg_of(drawing(None, Layer("Step 1", Sketch(marks=marks), "step")))
    inside = [each for part in group(svg, "Step 1") for each in part]
    assert [each.get("class") for each in inside] == [
        "line problem", "cross", "dot asked", "dot result", "cross",
    ]  # fmt: skip
    assert inside[1].get("href") == "#map-cross"


@pytest.mark.parametrize(("place", "shape"), [(0, "square"), (2, "triangle"), (3, "diamond"), (4, "disc")])
def test_an_arm_has_its_shape(place, shape):
    svg = svg_of(drawing(None, Layer("raw", Sketch(marks=(Dot(at=(0, 0)),)), place)))
    assert [use.get("href") for use in svg.iter(f"{SVG}use")] == [f"#map-{shape}"]


def test_cameras_that_are_right_have_a_ring_and_those_of_an_arm_its_shape():
    scene, _ = world(10)
    name = next(iter(scene.cameras))
    layers = [Layer(str(look), Sketch(cameras=(name,)), look) for look in ("truth", 0, 1, 4)]
    svg = svg_of(drawing(scene, *layers))
    assert [each.get("class") for each in group(svg, "truth")[0]] == ["named", "ring"]
    shapes = [group(svg, arm)[0][1] for arm in ("0", "1", "4")]
    assert [each.get("href") for each in shapes] == ["#map-square", "#map-disc", "#map-disc"]
    assert len({(each.get("x"), each.get("y")) for each in shapes}) == 3


def test_the_truth_is_named_on_the_map():
    scene, layers = world(10)
    svg = svg_of(drawing(scene, layers[1]))
    assert "Gold" in [text.text for part in group(svg, "Gold") for text in part.iter(f"{SVG}text")]


def test_a_floor_gets_its_own_panel_and_marks_lie_in_the_panel_of_their_floor():
    scene, _ = world(1)
    floors = sorted({zone.floor for zone in scene.zones.values()})
    zones = {zone.floor: zone for zone in scene.zones.values()}
    places = {floor: zones[floor].area.representative_point() for floor in floors}
    marks = tuple(Dot(at=(places[floor].x, places[floor].y), floor=floor) for floor in floors)
    svg = svg_of(drawing(scene, Layer("Step 1", Sketch(marks=marks), "step")))
    panels = [each for each in svg.iter(f"{SVG}rect") if each.get("class") == "floor"]
    names = {text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "floor-name"}
    assert names == {f"Floor {floor}" for floor in floors}
    assert len(panels) == len(floors) == 3
    for dot in (each for part in group(svg, "Step 1") for each in part.iter(f"{SVG}circle")):
        x, y = float(dot.get("cx")), float(dot.get("cy"))
        inside = [
            panel
            for panel in panels
            if 0 <= x - float(panel.get("x")) <= float(panel.get("width"))
            and 0 <= y - float(panel.get("y")) <= float(panel.get("height"))
        ]
        assert len(inside) == 1


def test_one_floor_that_matters_is_the_whole_of_the_first_view():
    scene, _ = world(1)
    zone = next(zone for zone in scene.zones.values() if zone.floor == 1)
    middle = zone.area.representative_point()
    sketch = Sketch(marks=(Dot(at=(middle.x, middle.y), floor=1),))
    svg = svg_of(drawing(scene, Layer("Gold", sketch, "truth")))
    in_crop = [part for part in svg.iter(f"{SVG}g") if part.get("class") == "at-crop"]
    names = [
        text.text for part in in_crop for text in part.iter(f"{SVG}text") if text.get("class") == "floor-name"
    ]
    assert names == ["Floor 1"]


def test_a_timed_line_carries_its_times_and_points():
    line = Line(points=((0, 0), (10, 0), (10, 10)), times_s=(1.0, 2.5, 4.0))
    svg = svg_of(drawing(None, Layer("Seen", Sketch(marks=(line,)), "seen")))
    polyline = next(each for part in group(svg, "Seen") for each in part)
    assert polyline.get("data-times") == "1 2.5 4"
    assert polyline.get("data-points") == polyline.get("points")
    assert len(polyline.get("points").split()) == 3


def test_a_step_that_names_every_camera_does_not_widen_the_view():
    scene, layers = world(10)
    every = Layer("Step 1", Sketch(cameras=tuple(scene.cameras)), "step")
    views = [svg_of(drawing(scene, *each)).get("data-view-crop") for each in (layers, (*layers, every))]
    assert views[0] == views[1]


def test_a_named_camera_is_drawn_again_with_emphasis():
    scene, _ = world(10)
    name = next(iter(scene.cameras))
    svg = svg_of(drawing(scene, Layer("Step 1", Sketch(cameras=(name, "no such camera")), "step")))
    uses = [each for part in group(svg, "Step 1") for each in part.iter(f"{SVG}use")]
    drawn = next(each for each in svg.iter(f"{SVG}g") if each.get("data-camera") == name)
    assert [use.get("href") for use in uses] == [f"#{drawn.get('id')}"]


def test_positions_that_are_no_places_are_counted_and_not_drawn():
    scene, layers = world(10)
    wild = (Dot(at=(1e9, 0.0)), Dot(at=(float("nan"), 0.0)), Line(points=()), Area(ring=()))
    svg = svg_of(drawing(scene, layers[0], Layer("Step 1", Sketch(marks=wild), "step")))
    assert svg.find(f"{SVG}desc").text == "4 marks lie beyond the map."
    assert svg.get("data-view-whole") == svg_of(drawing(scene, layers[0])).get("data-view-whole")
    assert "nan" not in ET.tostring(svg, encoding="unicode")


def test_whole_opens_with_the_whole_map_and_letters_of_the_same_size_on_the_page():
    scene, layers = world(10)
    svg = svg_of(drawing(scene, *layers, view="whole"))
    assert svg.get("viewBox") == svg.get("data-view-whole") != svg.get("data-view-crop")
    assert "is-whole" in svg.get("class").split()
    share = float(svg.get("data-letters-whole")) / float(svg.get("data-letters-crop"))
    widths = [float(svg.get(f"data-view-{name}").split()[2]) for name in ("whole", "crop")]
    assert share == pytest.approx(widths[0] / widths[1], rel=0.01)


def test_degrees_are_drawn_with_east_to_the_right_and_equal_scales():
    at = {"west": (24.9, 60.0), "east": (25.1, 60.0), "north": (25.0, 60.1)}
    sketch = Sketch(plane="earth", marks=tuple(Dot(at=xy, label=name) for name, xy in at.items()))
    svg = svg_of(drawing(None, Layer("Step 1", sketch, "step"), plane="earth"))
    west, east, north = (
        (float(each.get("cx")), float(each.get("cy")))
        for part in group(svg, "Step 1")
        for each in part.iter(f"{SVG}circle")
    )
    assert west[0] < north[0] < east[0]
    assert north[1] < west[1]
    assert (east[0] - west[0]) / (west[1] - north[1]) == pytest.approx(1.0, rel=0.01)  # 0.2° by cos 60°; 0.1°
    degrees = [text.text for text in svg.iter(f"{SVG}text") if "degree-name" in text.get("class")]
    assert any(text.endswith("° E") for text in degrees)
    assert any(text.endswith("° N") for text in degrees)


def test_a_sketch_on_a_picture_lies_on_that_picture_alone():
    picture = PictureBelow(sha256="ab", href="/ui/media/ab", width=1400, height=900)
    box = Area(ring=((0, 0), (1400, 0), (1400, 900), (0, 900)))
    on = Layer("Step 1", Sketch(plane="picture", picture="ab", marks=(box,)), "step")
    elsewhere = Layer("Step 2", Sketch(plane="picture", picture="cd", marks=(box,)), "step")
    svg = svg_of(drawing(None, on, elsewhere, plane="picture", picture=picture))
    image = next(svg.iter(f"{SVG}image"))
    assert (image.get("href"), image.get("width"), image.get("height")) == ("/ui/media/ab", "700", "450")
    assert svg.get("viewBox") == "0.0 0.0 700.0 450.0"
    path = next(each for part in group(svg, "Step 1") for each in part)
    assert path.get("d") == "M0 0 700 0 700 450 0 450z"
    assert not group(svg, "Step 2")


def test_nothing_at_all_is_an_empty_map():
    assert svg_of(drawing(None)).get("viewBox")
    assert svg_of(drawing(None, Layer("Seen", Sketch(spans=(Span(start_s=0, end_s=1),)), "seen"))).get(
        "viewBox"
    )


def test_labels_that_do_not_fit_are_dropped():
    assert place([], view=(0, 0, 10, 10), em=1.0, taken=[]) == []


def test_scenes_of_the_published_benchmark_are_drawn(gtr_dir, gtr_media):
    samples = gtr_bench.open(data=gtr_dir, select=Select(limit=7), protocol="guarded", media=gtr_media)
    scenes = [samples.get(ref.sample_id).scene for ref in samples.refs]
    assert scenes
    for scene in scenes:
        cameras = tuple(scene.cameras)
        markup = drawing(scene, Layer("Step 1", Sketch(cameras=cameras[:2]), "step"))
        assert len(markup.encode()) < 40_000
        assert markup.count('class="camera"') == len(cameras)
