"""Scene files: what goes in comes out, and what is wrong is named."""

import copy
import json
import math
import re
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import LineString, Polygon, box
from shapely.affinity import translate
from shapely.geometry.polygon import orient

from gnomon_tools.geometry.field_of_view import sector
from gnomon_tools.scene import format as scene_format
from gnomon_tools.scene.document import SceneError
from gnomon_tools.scene.format import read_scene, scene_from_json, scene_schema, scene_to_json, write_scene
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, MapImage, Portal, Road, Scene, ScenePlace, Zone

DOCS = Path(__file__).parents[2] / "docs" / "scenes.md"
EXAMPLES = Path(__file__).parents[2] / "examples" / "scenes"

metres = st.floats(-2000, 2000)
points = st.tuples(metres, metres)
ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
floors = st.integers(-2, 5)
maybe = st.none()


@st.composite
def _cameras(draw) -> Camera:
    xy_m = draw(st.none() | points)
    seen = draw(st.booleans())
    matrix = np.diag([0.1, 0.2, 1.0]) + draw(st.floats(0, 0.01))
    return Camera(
        id=draw(ids),
        xy_m=xy_m,
        floor=draw(floors),
        position_error_m=draw(st.floats(0, 50)),
        heading_deg=draw(maybe | st.floats(0, 360)),
        fov_deg=draw(maybe | st.floats(1, 360)),
        range_m=draw(maybe | st.floats(0.1, 1000)),
        field_of_view=sector(draw(points), draw(st.floats(0, 360)), 60, 30) if seen else None,
        homography=matrix if draw(st.booleans()) else None,
        image_size=draw(maybe | st.just((1920, 1080))),
    )


@st.composite
def _scenes(draw) -> Scene:
    rooms = [
        Zone(id=name, floor=draw(floors), area=translate(box(0, 0, 9, 5), *draw(points)), name="room")
        for name in draw(st.lists(ids, max_size=4, unique=True))
    ]
    lifts = [
        Portal(
            id=f"lift{index}",
            kind="lift",
            zones=(one.id, other.id),
            ends_m=(one.area.centroid.coords[0], other.area.centroid.coords[0]),
            length_m=draw(st.floats(0, 20)),
        )
        for index, (one, other) in enumerate(pairwise(rooms))
    ]
    roads = [
        Road(id=name, line=LineString([(x, y), (x + 9, y), (x + 9, y + 1)]), oneway=draw(st.booleans()))
        for name, (x, y) in zip(
            draw(st.lists(ids, max_size=3, unique=True)), iter(lambda: draw(points), 0), strict=False
        )
    ]
    cameras = draw(st.lists(_cameras(), max_size=4))
    return Scene(
        id=draw(ids),
        frame=Frame(
            lon_deg=draw(st.floats(-180, 180)), lat_deg=draw(st.floats(-90, 90)), anchored=draw(st.booleans())
        ),
        kind=draw(st.sampled_from(["outdoor", "indoor"])),
        cameras={camera.id: camera for camera in cameras},
        roads={road.id: road for road in roads},
        zones={zone.id: zone for zone in rooms},
        portals={portal.id: portal for portal in lifts},
        places={"p": ScenePlace(id="p", name=draw(ids), kind="shop", xy_m=draw(points), floor=draw(floors))},
        map_image=draw(
            maybe | st.just(MapImage(file="maps/m.png", metres_per_pixel=0.4, origin_px={-1: (3, 4.5)}))
        ),
        attribution=draw(ids),
    )


def _alike(one: object, other: object) -> bool:
    """Equal, but for a micrometre in what is a number of metres."""
    if isinstance(one, LineString):
        return isinstance(other, LineString) and one.equals_exact(other, 1e-6)
    if isinstance(one, Polygon):
        return isinstance(other, Polygon) and orient(one).equals_exact(orient(other), 1e-6)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=0, abs_tol=1e-6)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if hasattr(one, "__dataclass_fields__"):
        return all(_alike(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)
    return one == other


@given(_scenes())
def test_what_is_written_is_read_again(scene):
    written = json.loads(json.dumps(scene_to_json(scene)))
    assert _alike(scene, scene_from_json(written))


@pytest.mark.parametrize("name", ["small", "floors"])
def test_a_file_survives_a_round_trip(name, tmp_path):
    scene = read_scene(EXAMPLES / f"{name}.geojson")
    write_scene(scene, tmp_path / "copy.geojson")
    assert _alike(scene, read_scene(tmp_path / "copy.geojson"))


def test_rings_are_written_counterclockwise_as_geojson_asks(small):
    rings = [
        feature["geometry"]["coordinates"][0]
        for feature in scene_to_json(small)["features"]
        if feature["geometry"] and feature["geometry"]["type"] == "Polygon"
    ]
    assert rings
    assert all(Polygon(ring).exterior.is_ccw for ring in rings)


def test_the_documented_example_is_a_scene():
    example = json.loads(re.search(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[1])
    scene = scene_from_json(example)
    assert list(scene.cameras) == ["c1", "c2", "c3"]
    assert scene.cameras["c3"].xy_m is None
    assert scene.cameras["c2"].field_of_view is not None


def test_the_document_names_every_kind_and_property():
    text = DOCS.read_text(encoding="utf-8")
    for name, definition in scene_schema()["$defs"].items():
        if name.endswith(("Properties", "Member")):
            for field, told in definition["properties"].items():
                assert f"`{field}`" in text or field == "kind", (name, field)
                assert field != "kind" or "const" not in told or f"`{told['const']}`" in text, told


@pytest.mark.parametrize("name", ["small", "floors"])
def test_examples_satisfy_the_published_schema(name):
    schema = scene_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads((EXAMPLES / f"{name}.geojson").read_text(encoding="utf-8")), schema)


SQUARE = [[0, 0], [0.0001, 0], [0.0001, 0.0001], [0, 0.0001], [0, 0]]
CROSSED = [[0, 0], [0.0001, 0.0001], [0.0001, 0], [0, 0.0001], [0, 0]]


def _minimal() -> dict:
    def feature(name: str, kind: str, geometry: str, coordinates: list, **properties: object) -> dict:
        return {
            "type": "Feature",
            "id": name,
            "geometry": {"type": geometry, "coordinates": coordinates},
            "properties": {"kind": kind, **properties},
        }

    return {
        "type": "FeatureCollection",
        "gnomon": {
            "format": 1,
            "id": "m",
            "kind": "indoor",
            "frame": {"lon_deg": 0, "lat_deg": 0, "anchored": False},
        },
        "features": [
            feature("c", "camera", "Point", [0, 0], heading_deg=90),
            feature("c", "view", "Polygon", [SQUARE]),
            feature("a", "zone", "Polygon", [SQUARE]),
            feature("b", "zone", "Polygon", [SQUARE], floor=1),
            feature("s", "portal", "MultiPoint", [[0, 0], [0, 0]], way="stairs", zones=["a", "b"]),
            feature("r", "road", "LineString", [[0, 0], [0.001, 0]]),
        ],
    }


def test_the_minimal_scene_is_one():
    assert scene_from_json(_minimal()).portals["s"].zones == ("a", "b")


FAULTS = [
    (("gnomon", "format"), 2, "gnomon.format"),
    (("gnomon", "kind"), "underwater", "gnomon.kind"),
    (("gnomon", "frame", "lat_deg"), 91, "gnomon.frame.lat_deg"),
    (("gnomon", "map_image"), {"file": "../m.png", "metres_per_pixel": 1}, "gnomon.map_image.file"),
    (("gnomon", "map_image"), {"file": "/m.png", "metres_per_pixel": 1}, "gnomon.map_image.file"),
    (("gnomon", "colour"), "red", "gnomon.colour"),
    (("crs",), {}, "crs"),
    (("type",), "Feature", "type"),
    (("features", 0, "properties", "heading_deg"), 400, "features.0.properties.heading_deg"),
    (("features", 0, "properties", "heading_deg"), "90", "features.0.properties.heading_deg"),
    (("features", 0, "properties", "heading_deg"), math.nan, "features.0.properties.heading_deg"),
    (("features", 0, "properties", "heading_deg"), math.inf, "features.0.properties.heading_deg"),
    (("features", 0, "properties", "heading_deg"), True, "features.0.properties.heading_deg"),
    (("features", 0, "properties", "headng_deg"), 9, "features.0.properties.headng_deg"),
    (("features", 0, "properties", "kind"), "satellite", "features.0"),
    (("features", 0, "properties", "kind"), None, "features.0"),
    (("features", 0, "properties"), None, "features.0"),
    (("features", 0), 7, "features.0"),
    (("features", 0, "id"), "", "features.0.id"),
    (("features", 0, "id"), 7, "features.0.id"),
    (("features", 0, "properties", "homography"), [[1, 0], [0, 1]], "features.0.properties.homography"),
    (("features", 0, "properties", "homography"), [[1, 0, 0]] * 3, "features.0.properties.homography"),
    (("features", 0, "properties", "image_size"), [0, 5], "features.0.properties.image_size"),
    (("features", 0, "geometry", "coordinates"), [0, 95], "features.0.geometry.coordinates"),
    (("features", 0, "geometry", "coordinates"), [0, 0, 5], "features.0.geometry.coordinates"),
    (("features", 0, "geometry", "coordinates"), [60, 25], "features.0.geometry"),
    (("features", 0, "geometry", "type"), "LineString", "features.0.geometry.type"),
    (("features", 1, "id"), "d", "features.1.id"),
    (("features", 1, "geometry", "coordinates"), [[*SQUARE[:-1], [0, 1e-5]]], "features.1.geometry"),
    (("features", 1, "geometry", "coordinates"), [CROSSED], "features.1.geometry"),
    (("features", 1, "geometry", "coordinates"), [[[0, 0]] * 4], "features.1.geometry"),
    (("features", 3, "id"), "a", "features.3.id"),
    (("features", 4, "properties", "zones"), ["a", "cellar"], "features.4.properties.zones"),
    (("features", 4, "properties", "zones"), ["a"], "features.4.properties.zones"),
    (("features", 4, "properties", "way"), "door", "features.4.properties.zones"),
    (("features", 4, "properties", "way"), "chute", "features.4.properties.way"),
    (("features", 4, "geometry", "coordinates"), [[0, 0], [0.001, 0]], "features.4.geometry"),
    (("features", 5, "geometry", "coordinates"), [[0, 0], [0, 0]], "features.5.geometry"),
    (("features", 5, "geometry"), None, "features.5.geometry"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "field"), FAULTS, ids=lambda part: str(part)[:60])
def test_a_fault_is_named_by_its_place(path, value, field):
    document = _minimal()
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    with pytest.raises(SceneError) as caught:
        scene_from_json(document)
    assert caught.value.field == field or caught.value.field.startswith(f"{field}.")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("like", "says"), [(4, "portals into one zone"), (5, "road ends at one junction")])
def test_ways_that_all_meet_at_one_point_are_refused_before_they_are_walked(like, says):
    document = _minimal()
    document["features"] += [{**document["features"][like], "id": f"again{n}"} for n in range(500)]
    with pytest.raises(SceneError, match=says) as caught:
        scene_from_json(document)
    assert caught.value.field == "features"


def test_a_fault_names_the_feature_too():
    document = _minimal()
    document["features"][0]["properties"]["heading_deg"] = 400
    with pytest.raises(
        SceneError, match=r"features\.0\.properties\.heading_deg: .*360, not 400 \(camera 'c'\)"
    ):
        scene_from_json(document)


def test_an_absent_member_is_named():
    for name in ("type", "gnomon", "features"):
        document = _minimal()
        del document[name]
        with pytest.raises(SceneError) as caught:
            scene_from_json(document)
        assert caught.value.field == name


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_junk_anywhere_is_a_scene_error_or_a_scene(data):
    document = copy.deepcopy(_minimal())
    parent, key = document, data.draw(st.sampled_from(sorted(document)))
    while isinstance(parent[key], dict | list) and parent[key] and data.draw(st.booleans()):
        parent = parent[key]
        key = data.draw(st.sampled_from(sorted(parent) if isinstance(parent, dict) else range(len(parent))))
    parent[key] = data.draw(junk)
    with suppress(SceneError):
        assert scene_from_json(document).id


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"{", "not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe", "cannot be read"),
        (b'{"type": NaN}', "NaN"),
        (b'{"type": -Infinity}', "Infinity"),
        (b"[" * 100_000, "nests too deep"),
        (b'{"a":' * 100_000, "nests too deep"),
        (b"[]", "scene"),
        (b"9" * 5000, "not JSON"),
    ],
)
def test_a_file_that_is_no_scene_is_refused(text, says, tmp_path):
    file = tmp_path / "x.geojson"
    file.write_bytes(text)
    with pytest.raises(SceneError, match=says):
        read_scene(file)


def test_an_absent_file_is_a_scene_error(tmp_path):
    with pytest.raises(SceneError, match="cannot be read"):
        read_scene(tmp_path / "none.geojson")


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(scene_format, "MAX_SCENE_BYTES", 10)
    file = tmp_path / "x.geojson"
    file.write_text(json.dumps(_minimal()), encoding="utf-8")
    with pytest.raises(SceneError, match="larger than 10 bytes"):
        read_scene(file)


def test_a_scene_that_breaks_the_format_is_not_written(tmp_path):
    crooked = Scene(
        id="s", frame=Frame(), kind="outdoor", cameras={"c": Camera(id="c", xy_m=(0, 0), heading_deg=400.0)}
    )
    with pytest.raises(SceneError, match="heading_deg"):
        write_scene(crooked, tmp_path / "s.geojson")
    assert not (tmp_path / "s.geojson").exists()


def _zoned(*rings: list[tuple[float, float]]) -> dict:
    document = scene_to_json(
        Scene(id="s", frame=Frame(), kind="indoor", zones={"z": Zone(id="z", floor=0, area=box(0, 0, 9, 9))})
    )
    document["features"][0]["geometry"]["coordinates"] = [
        [[x * 1e-4, y * 1e-4] for x, y in (*ring, ring[0])] for ring in rings
    ]
    return document


@pytest.mark.parametrize(("count", "said"), [(91, "simple area"), (4_001, "at most 4000")])
def test_a_star_that_crosses_itself_everywhere_is_refused(count: int, said: str) -> None:
    """A larger one before anybody looks where it crosses itself."""
    step = count // 2 - 1
    star = [
        (math.cos(math.tau * step * i / count), math.sin(math.tau * step * i / count)) for i in range(count)
    ]
    with pytest.raises(SceneError, match=said):
        scene_from_json(_zoned(star))


def test_an_area_has_a_hundred_rings_at_most() -> None:
    frame = [(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0)]
    nested = [[(i * 1e-4, i * 1e-4), (8.0, i * 1e-4), (8.0, 8.0)] for i in range(1, 5_000)]
    with pytest.raises(SceneError, match="at most 100"):
        scene_from_json(_zoned(frame, *nested))
