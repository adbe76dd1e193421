"""From a Scene to plain data: metres become degrees, defaults are left out."""

from collections.abc import Iterable, Iterator
from typing import Any

from shapely import Polygon
from shapely.geometry.polygon import orient

from tools.scene.frame import Frame
from tools.scene.scene import Camera, Place, Point, Portal, Road, Scene, Zone

Json = dict[str, Any]


def encode(scene: Scene) -> Json:
    """The scene as a FeatureCollection; see docs/scenes.md."""
    return {"type": "FeatureCollection", "gnomon": _head(scene), "features": list(_features(scene))}


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


def _features(scene: Scene) -> Iterator[Json]:
    frame = scene.frame
    for camera in scene.cameras.values():
        yield _camera(camera, frame)
        if camera.field_of_view is not None:
            yield _feature(camera.id, _area(camera.field_of_view, frame), {"kind": "view"})
    yield from (_road(road, frame) for road in scene.roads.values())
    yield from (_zone(zone, frame) for zone in scene.zones.values())
    yield from (_portal(portal, frame) for portal in scene.portals.values())
    yield from (_place(place, frame) for place in scene.places.values())


def _camera(camera: Camera, frame: Frame) -> Json:
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
    known = {name: value for name, value in properties.items() if value is not None}
    geometry = _geometry("Point", _position(camera.xy_m, frame)) if camera.xy_m else None
    return _feature(camera.id, geometry, known)


def _road(road: Road, frame: Frame) -> Json:
    properties: Json = {"kind": "road", "name": road.name, "oneway": road.oneway}
    if road.speed_mps is not None:
        properties["speed_mps"] = road.speed_mps
    return _feature(road.id, _geometry("LineString", _positions(road.line.coords, frame)), properties)


def _zone(zone: Zone, frame: Frame) -> Json:
    properties = {"kind": "zone", "floor": zone.floor, "name": zone.name}
    return _feature(zone.id, _area(zone.area, frame), properties)


def _portal(portal: Portal, frame: Frame) -> Json:
    properties = {
        "kind": "portal",
        "way": portal.kind,
        "zones": list(portal.zones),
        "length_m": portal.length_m,
    }
    return _feature(portal.id, _geometry("MultiPoint", _positions(portal.ends_m, frame)), properties)


def _place(place: Place, frame: Frame) -> Json:
    properties = {"kind": "place", "name": place.name, "category": place.kind, "floor": place.floor}
    return _feature(place.id, _geometry("Point", _position(place.xy_m, frame)), properties)


def _feature(name: str, geometry: Json | None, properties: Json) -> Json:
    return {"type": "Feature", "id": name, "geometry": geometry, "properties": properties}


def _geometry(kind: str, coordinates: list[Any]) -> Json:
    return {"type": kind, "coordinates": coordinates}


def _area(area: Polygon, frame: Frame) -> Json:
    oriented = orient(area)  # RFC 7946: the outer ring runs counterclockwise, holes clockwise
    rings = (oriented.exterior, *oriented.interiors)
    return _geometry("Polygon", [_positions(ring.coords, frame) for ring in rings])


def _positions(points_m: Iterable[tuple[float, ...]], frame: Frame) -> list[list[float]]:
    return [_position((point[0], point[1]), frame) for point in points_m]


def _position(xy_m: Point, frame: Frame) -> list[float]:
    return list(frame.to_wgs84(xy_m))
