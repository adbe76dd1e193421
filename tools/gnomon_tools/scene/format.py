"""Scene files: GeoJSON (RFC 7946) in WGS 84, read into and written from the scene's local metres.

The format is told in docs/scenes.md; this is its front door.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import shapely
from pydantic import ValidationError
from shapely import LineString, Polygon
from shapely.geometry.polygon import orient

from gnomon_tools.core.regular_file import open_regular
from gnomon_tools.geometry.to_wgs84 import to_wgs84
from gnomon_tools.scene.boxes import Box
from gnomon_tools.scene.decode import Decoder
from gnomon_tools.scene.document import SceneDocument, SceneError
from gnomon_tools.scene.scene import Camera, Point, Portal, Road, Scene, ScenePlace, Zone

Json = dict[str, Any]


def encode(scene: Scene) -> Json:
    """The scene as a FeatureCollection; see docs/scenes.md."""
    return {"type": "FeatureCollection", "gnomon": _head(scene), "features": _features(scene)}


def _head(scene: Scene) -> Json:
    frame, image = scene.frame, scene.map_image
    head: Json = {
        "format": 1,
        "id": scene.id,
        "kind": scene.kind,
        "frame": {"lon_deg": frame.lon_deg, "lat_deg": frame.lat_deg, "anchored": frame.anchored},
    }
    if image is not None:
        head["map_image"] = {
            "file": image.file,
            "metres_per_pixel": image.metres_per_pixel,
            "origin_px": {str(floor): list(pixel) for floor, pixel in image.origin_px.items()},
        }
    if scene.attribution:
        head["attribution"] = scene.attribution
    return head


Degrees = Callable[[Point], list[float]]  # from metres of a scene to longitude and latitude


def _features(scene: Scene) -> list[Json]:
    """The features; all points become degrees together, once each: roads and rooms share their ends."""
    degrees: defaultdict[Point, list[float]] = defaultdict(list)
    features = list(_described(scene, degrees.__getitem__))
    for position, lon_lat_deg in zip(degrees.values(), to_wgs84(scene.frame, list(degrees)), strict=True):
        position[:] = lon_lat_deg
    return features


def _described(scene: Scene, degrees: Degrees) -> Iterator[Json]:
    for camera in scene.cameras.values():
        yield _camera(camera, degrees)
        if camera.field_of_view is not None:
            yield _feature(camera.id, _area(camera.field_of_view, degrees), {"kind": "view"})
    yield from (_road(road, degrees) for road in scene.roads.values())
    yield from (_zone(zone, degrees) for zone in scene.zones.values())
    yield from (_portal(portal, degrees) for portal in scene.portals.values())
    yield from (_place(place, degrees) for place in scene.places.values())
    yield from (_box(box, degrees) for box in scene.boxes.values())


def _camera(camera: Camera, degrees: Degrees) -> Json:
    homography = camera.homography.tolist() if camera.homography is not None else None
    properties = {
        "kind": "camera",
        "floor": camera.floor,
        "position_error_m": camera.position_error_m,
        "heading_deg": camera.heading_deg,
        "fov_deg": camera.fov_deg,
        "range_m": camera.range_m,
        "homography": homography,
        "image_size": list(camera.image_size) if camera.image_size else None,
    }
    present = {name: value for name, value in properties.items() if value is not None}
    geometry = _geometry("Point", degrees(camera.xy_m)) if camera.xy_m else None
    return _feature(camera.id, geometry, present)


def _road(road: Road, degrees: Degrees) -> Json:
    properties: Json = {"kind": "road", "name": road.name, "oneway": road.oneway}
    if road.speed_mps is not None:
        properties["speed_mps"] = road.speed_mps
    return _feature(road.id, _geometry("LineString", _positions(road.line, degrees)), properties)


def _zone(zone: Zone, degrees: Degrees) -> Json:
    properties = {"kind": "zone", "floor": zone.floor, "name": zone.name}
    return _feature(zone.id, _area(zone.area, degrees), properties)


def _portal(portal: Portal, degrees: Degrees) -> Json:
    properties = {
        "kind": "portal",
        "way": portal.kind,
        "zones": list(portal.zones),
        "length_m": portal.length_m,
    }
    return _feature(portal.id, _geometry("MultiPoint", list(map(degrees, portal.ends_m))), properties)


def _place(place: ScenePlace, degrees: Degrees) -> Json:
    properties = {"kind": "place", "name": place.name, "category": place.kind, "floor": place.floor}
    return _feature(place.id, _geometry("Point", degrees(place.xy_m)), properties)


def _box(box: Box, degrees: Degrees) -> Json:
    *centre_m, z_m = box.centre_m
    properties = {
        "kind": "box",
        "category": box.kind,
        "z_m": z_m,
        "lengths_m": list(box.lengths_m),
        "axes": [list(axis) for axis in box.axes],
    }
    return _feature(box.name, _geometry("Point", degrees((centre_m[0], centre_m[1]))), properties)


def _feature(name: str, geometry: Json | None, properties: Json) -> Json:
    return {"type": "Feature", "id": name, "geometry": geometry, "properties": properties}


def _geometry(kind: str, coordinates: list[Any]) -> Json:
    return {"type": kind, "coordinates": coordinates}


def _area(area: Polygon, degrees: Degrees) -> Json:
    oriented = orient(area)  # RFC 7946: the outer ring runs counterclockwise, holes clockwise
    rings = (oriented.exterior, *oriented.interiors)
    return _geometry("Polygon", [_positions(ring, degrees) for ring in rings])


def _positions(line: LineString, degrees: Degrees) -> list[list[float]]:
    return [degrees((x_m, y_m)) for x_m, y_m in shapely.get_coordinates(line).tolist()]


MAX_SCENE_BYTES = 20_000_000


def read_scene(path: Path) -> Scene:
    """Read a scene file.

    Raises:
        SceneError: the file is absent, larger than 20 MB, not JSON, or not a scene.
    """
    try:
        with open_regular(path) as file:
            text = file.read(MAX_SCENE_BYTES + 1).decode()
    except OSError as error:
        raise SceneError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{path.name} cannot be read: {error}") from None
    if len(text) > MAX_SCENE_BYTES:
        raise SceneError(f"{path.name} is larger than {MAX_SCENE_BYTES:,} bytes")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise SceneError(f"{path.name} nests too deep") from None
    except SceneError:
        raise
    except ValueError as error:
        raise SceneError(f"{path.name} is not JSON: {error}") from None
    return scene_from_json(value)


def write_scene(scene: Scene, path: Path) -> None:
    """Write a scene file, readable again by `read_scene`.

    Raises:
        SceneError: the scene holds something that the format refuses, such as a heading of 400°.
    """
    path.write_text(_text(scene_to_json(scene)), encoding="utf-8")


def sound_scene_text(scene: Scene) -> str:
    """The text that `write_scene` writes of a scene that surely holds nothing that the format refuses."""
    return _text(encode(scene))


BEGINNING = '{"type": "Feature", "id": '  # of each feature


def _text(document: Json) -> str:
    """One feature a line."""
    encode_json = json.JSONEncoder(allow_nan=False).encode
    # All at once, as each call makes an encoder; in a string the quotes would be escaped.
    features = encode_json(document["features"])[1:-1].replace(f", {BEGINNING}", f",\n{BEGINNING}")
    head = encode_json({name: value for name, value in document.items() if name != "features"})
    return f'{head[:-1]}, "features": [\n{features}\n]}}\n'


def scene_from_json(value: object) -> Scene:
    """Make a scene of parsed JSON.

    Raises:
        SceneError: the JSON is not a scene; holds the first fault and its path.
    """
    try:
        document = SceneDocument.model_validate(value)
    except ValidationError as error:
        raise _first_fault(error, value) from None
    return Decoder(document).scene()


def scene_to_json(scene: Scene) -> dict[str, Any]:
    """The scene as JSON-able data; coordinates survive the way there and back to 1 µm.

    Raises:
        SceneError: the scene holds something that the format refuses.
    """
    document = encode(scene)
    scene_from_json(document)
    return document


def scene_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a scene file."""
    return SceneDocument.model_json_schema()


def _refuse_constant(constant: str) -> NoReturn:
    raise SceneError(f"{constant} is no JSON number")


def _first_fault(error: ValidationError, document: object) -> SceneError:
    fault = error.errors(include_url=False)[0]
    loc = list(fault["loc"])
    if len(loc) > 2 and loc[0] == "features":
        del loc[2]  # the kind, which the discriminator put there; no part of the document's own path
    value = "" if isinstance(fault["input"], dict | list) else f", not {repr(fault['input'])[:60]}"
    message = fault["msg"].removeprefix("Value error, ")
    return SceneError(f"{message}{value}{_whose(loc, document)}", field=".".join(map(str, loc)) or "scene")


def _whose(loc: Sequence[object], value: object) -> str:
    """` (camera 'c1')` where the fault lies in a feature that can be named."""
    try:
        feature = value["features"][loc[1]]  # type: ignore[index]  # whatever came in: any miss is caught
        return f" ({feature['properties']['kind']} {feature['id']!r})"
    except (KeyError, IndexError, TypeError):
        return ""
