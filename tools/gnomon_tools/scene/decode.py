"""Turns a checked document into a Scene: degrees become metres, names are looked up."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import shapely
from geographiclib.geodesic import Geodesic
from numpy.typing import NDArray
from shapely import LineString, Polygon

from gnomon_tools.geometry.road_graph import JUNCTION_M
from gnomon_tools.scene.boxes import XYZ, Box
from gnomon_tools.scene.document import (
    AreaGeometry,
    BoxFeature,
    CameraFeature,
    Feature,
    PlaceFeature,
    PortalFeature,
    RoadFeature,
    SceneDocument,
    SceneError,
    ViewFeature,
    ZoneFeature,
)
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, MapImage, Point, Portal, Road, Scene, ScenePlace, Zone

ROUNDS = 6  # of Vincenty's iteration; 100 km need three
NOWHERE = 1e-15  # of the radius: six nanometres


def to_local_many(frame: Frame, positions_deg: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """`Frame.to_local` of many positions within 200 km of the origin, to 1 µm of it and a thousand times as
    fast; infinite for those further away.

    Formula: the inverse of Vincenty (1975).

    >>> to_local_many(Frame(lat_deg=60.0), [[0.0, 60.0], [0.0, 60.001], [90.0, 0.0]]).round(3).tolist()
    [[0.0, 0.0], [0.0, 111.412], [inf, inf]]
    """
    position_rad = np.radians(np.asarray(positions_deg, dtype=np.float64).reshape(-1, 2))
    a, f = Geodesic.WGS84.a, Geodesic.WGS84.f
    b = a * (1 - f)
    lat1 = math.atan((1 - f) * math.tan(math.radians(frame.lat_deg)))
    lat2 = np.arctan((1 - f) * np.tan(position_rad[:, 1]))
    sin1, cos1, sin2, cos2 = math.sin(lat1), math.cos(lat1), np.sin(lat2), np.cos(lat2)
    apart = np.mod(position_rad[:, 0] - math.radians(frame.lon_deg) + math.pi, math.tau) - math.pi
    turn = apart
    for _ in range(ROUNDS):
        east, north = cos2 * np.sin(turn), cos1 * sin2 - sin1 * cos2 * np.cos(turn)
        sin_arc, cos_arc = np.hypot(east, north), sin1 * sin2 + cos1 * cos2 * np.cos(turn)
        arc = np.arctan2(sin_arc, cos_arc)
        per_arc = np.divide(1.0, sin_arc, out=np.zeros_like(arc), where=sin_arc > NOWHERE)
        sin_azimuth = cos1 * east * per_arc
        cos2_azimuth = 1 - sin_azimuth**2
        middle = cos_arc - 2 * sin1 * np.divide(
            sin2, cos2_azimuth, out=np.zeros_like(arc), where=cos2_azimuth > 1e-12
        )
        c = f / 16 * cos2_azimuth * (4 + f * (4 - 3 * cos2_azimuth))
        inner = middle + c * cos_arc * (2 * middle**2 - 1)
        turn = apart + (1 - c) * f * sin_azimuth * (arc + c * sin_arc * inner)
    u2 = cos2_azimuth * (a**2 - b**2) / b**2
    big_a = 1 + u2 / 16384 * (4096 + u2 * (u2 * (320 - 175 * u2) - 768))
    big_b = u2 / 1024 * (256 + u2 * (u2 * (74 - 47 * u2) - 128))
    last = big_b / 6 * middle * (4 * sin_arc**2 - 3) * (4 * middle**2 - 3)
    less = big_b * sin_arc * (middle + big_b / 4 * (cos_arc * (2 * middle**2 - 1) - last))
    scale = b * big_a * (arc - less) * per_arc
    local = np.stack((scale * east, scale * north), axis=1)
    local[arc > 200_000 / b] = np.inf
    return local


MAX_POSITIONS = 100_000
MAX_EXTENT_M = 100_000.0
MAX_JOINTS = 200_000  # pairs of road ends at one junction, or of portals into one zone: what a network costs
PORTAL_SLACK_M = 1.0  # how far a portal's end may lie outside its zone: walls have a thickness

VALID = "Valid Geometry"  # in the words of GEOS

F = TypeVar("F", bound=Feature)
T = TypeVar("T")


class Decoder:
    """Turns the features of one document into the parts of one scene.

    Raises:
        SceneError: a feature cannot be decoded; every method names the feature.
    """

    def __init__(self, document: SceneDocument) -> None:
        self._document = document
        frame = document.gnomon.frame
        self._frame = Frame(lon_deg=frame.lon_deg, lat_deg=frame.lat_deg, anchored=frame.anchored)
        self._positions = 0

    def scene(self) -> Scene:
        """The whole scene."""
        head = self._document.gnomon
        views = self._each(ViewFeature, lambda feature, at: self._area(feature.geometry, at))
        cameras = self._each(CameraFeature, lambda feature, at: self._camera(feature, views, at))
        zones = self._each(ZoneFeature, self._zone)
        portals = self._each(PortalFeature, lambda feature, at: self._portal(feature, zones, at))
        roads = self._each(RoadFeature, self._road)
        self._refuse_unknown(ViewFeature, cameras, "camera")
        _refuse_knots(roads.values(), portals.values())
        return Scene(
            id=head.id,
            frame=self._frame,
            kind=head.kind,
            cameras=cameras,
            roads=roads,
            zones=zones,
            portals=portals,
            places=self._each(PlaceFeature, self._place),
            boxes=self._each(BoxFeature, self._box),
            map_image=self._map_image(),
            attribution=head.attribution,
        )

    def _features(self, kind: type[F]) -> Iterator[tuple[str, F]]:
        for index, feature in enumerate(self._document.features):
            if isinstance(feature, kind):
                yield f"features.{index}", feature

    def _each(self, kind: type[F], decode: Callable[[F, str], T]) -> dict[str, T]:
        decoded: dict[str, T] = {}
        for at, feature in self._features(kind):
            if feature.id in decoded:
                raise SceneError(f"the id {feature.id!r} is used twice among its kind", field=f"{at}.id")
            decoded[feature.id] = decode(feature, at)
        return decoded

    def _refuse_unknown(self, kind: type[F], cameras: dict[str, Camera], noun: str) -> None:
        for at, feature in self._features(kind):
            if feature.id not in cameras:
                raise SceneError(f"there is no {noun} {feature.id!r}", field=f"{at}.id")

    def _camera(self, feature: CameraFeature, views: dict[str, Polygon], at: str) -> Camera:
        properties = feature.properties
        return Camera(
            id=feature.id,
            xy_m=self._points([feature.geometry.coordinates], at)[0] if feature.geometry else None,
            floor=properties.floor,
            position_error_m=properties.position_error_m,
            heading_deg=properties.heading_deg,
            fov_deg=properties.fov_deg,
            range_m=properties.range_m,
            field_of_view=views.get(feature.id),
            homography=np.array(properties.homography, dtype=float) if properties.homography else None,
            image_size=(properties.image_size[0], properties.image_size[1])
            if properties.image_size
            else None,
        )

    def _road(self, feature: RoadFeature, at: str) -> Road:
        properties = feature.properties
        line = LineString(self._points(feature.geometry.coordinates, at))
        if line.length == 0:
            raise SceneError("the road has no length", field=f"{at}.geometry")
        return Road(
            id=feature.id,
            line=line,
            name=properties.name,
            oneway=properties.oneway,
            speed_mps=properties.speed_mps,
        )

    def _zone(self, feature: ZoneFeature, at: str) -> Zone:
        properties = feature.properties
        return Zone(
            id=feature.id, floor=properties.floor, area=self._area(feature.geometry, at), name=properties.name
        )

    def _portal(self, feature: PortalFeature, zones: dict[str, Zone], at: str) -> Portal:
        properties = feature.properties
        ends_m = self._points(feature.geometry.coordinates, at)
        for zone, end_m in zip(properties.zones, ends_m, strict=True):
            if zone not in zones:
                raise SceneError(f"there is no zone {zone!r}", field=f"{at}.properties.zones")
            off_m = zones[zone].area.distance(shapely.Point(end_m))
            if off_m > PORTAL_SLACK_M:
                raise SceneError(f"an end is {off_m:.1f} m outside zone {zone!r}", field=f"{at}.geometry")
        first, second = properties.zones
        if properties.way == "door" and zones[first].floor != zones[second].floor:
            raise SceneError("a door joins zones of one floor", field=f"{at}.properties.zones")
        return Portal(
            id=feature.id,
            kind=properties.way,
            zones=(first, second),
            ends_m=(ends_m[0], ends_m[1]),
            length_m=properties.length_m,
        )

    def _place(self, feature: PlaceFeature, at: str) -> ScenePlace:
        properties = feature.properties
        return ScenePlace(
            id=feature.id,
            name=properties.name,
            kind=properties.category,
            xy_m=self._points([feature.geometry.coordinates], at)[0],
            floor=properties.floor,
        )

    def _box(self, feature: BoxFeature, at: str) -> Box:
        properties = feature.properties
        (x_m, y_m), z_m = self._points([feature.geometry.coordinates], at)[0], properties.z_m
        box = Box(
            name=feature.id,
            kind=properties.category,
            centre_m=(x_m, y_m, z_m),
            lengths_m=_triple(properties.lengths_m),
        )
        if properties.axes is None:
            return box
        x_axis, y_axis, z_axis = map(_triple, properties.axes)
        return replace(box, axes=(x_axis, y_axis, z_axis))

    def _map_image(self) -> MapImage | None:
        image = self._document.gnomon.map_image
        if image is None:
            return None
        origin_px = {int(floor): (pixel[0], pixel[1]) for floor, pixel in image.origin_px.items()}
        return MapImage(file=image.file, metres_per_pixel=image.metres_per_pixel, origin_px=origin_px)

    def _area(self, geometry: AreaGeometry, at: str) -> Polygon:
        for ring in geometry.coordinates:
            if ring[0] != ring[-1]:
                raise SceneError("a ring must end where it begins", field=f"{at}.geometry")
        outer, *holes = [self._points(ring, at) for ring in geometry.coordinates]
        area = Polygon(outer, holes)
        reason = shapely.is_valid_reason(area)
        if reason != VALID or area.area == 0:
            raise SceneError(f"not a simple area: {reason}", field=f"{at}.geometry")
        return area

    def _points(self, positions: Sequence[Sequence[float]], at: str) -> list[Point]:
        self._positions += len(positions)
        if self._positions > MAX_POSITIONS:
            raise SceneError(f"a scene has at most {MAX_POSITIONS:,} positions", field=at)
        points_m = to_local_many(self._frame, positions)
        far = np.flatnonzero(np.abs(points_m).max(axis=1) > MAX_EXTENT_M)
        if far.size:
            lon_deg, lat_deg = positions[far[0]]
            message = (
                f"[{lon_deg}, {lat_deg}] lies more than {MAX_EXTENT_M / 1000:.0f} km from the frame's"
                " origin; positions are [longitude, latitude]"
            )
            raise SceneError(message, field=f"{at}.geometry")
        return [(x_m, y_m) for x_m, y_m in points_m.tolist()]


def _triple(values: Sequence[float]) -> XYZ:
    x, y, z = values
    return x, y, z


def _refuse_knots(roads: Iterable[Road], portals: Iterable[Portal]) -> None:
    """Refuse what is small to write and huge to walk: thousands of ways that meet at one point."""
    ends_m = [end for road in roads for end in (road.line.coords[0], road.line.coords[-1])]
    doors = Counter(zone for portal in portals for zone in portal.zones)
    for joints, what in (
        (_close_pairs(ends_m), "road ends at one junction"),
        (sum(count**2 for count in doors.values()), "portals into one zone"),
    ):
        if joints > MAX_JOINTS:
            raise SceneError(
                f"too many {what}: they make {joints:,} pairs of {MAX_JOINTS:,}", field="features"
            )


def _close_pairs(points_m: list[tuple[float, ...]]) -> int:
    """How many ordered pairs of points share a junction; may be more where even all pairs are few."""
    if len(points_m) ** 2 <= MAX_JOINTS:
        return len(points_m) ** 2  # SciPy takes longer to import than most scenes to read
    from scipy.spatial import cKDTree  # late: the API reads scenes, but seldom

    tree = cKDTree(np.array(points_m, dtype=float))
    return int(tree.count_neighbors(tree, JUNCTION_M))
