"""Declares the members of a scene's GeoJSON document, each with its checks.

What concerns one member alone is checked here; what concerns several (duplicate ids, portals into zones
that are not there) where the document becomes a Scene.
"""

from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag


class SceneError(ValueError):
    """A scene file or object breaks the format; `field` is the path to the fault, e.g. `features.3.id`."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.message, self.field = message, field


MAX_FEATURES = 20_000
MAX_RING = 4_000  # positions; how a ring crosses itself takes their square to find out
AXES_SLACK = 1e-3
MAX_RINGS = 100  # of an area: so does how its holes lie in each other


class Member(BaseModel):
    """Base of every object in the document: unknown members are refused, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _on_earth(position: list[float]) -> list[float]:
    lon_deg, lat_deg = position
    if not (-180 <= lon_deg <= 180 and -90 <= lat_deg <= 90):
        raise ValueError(f"longitude is in [-180, 180] and latitude in [-90, 90], not {lon_deg}, {lat_deg}")
    return position


def _invertible(matrix: list[list[float]]) -> list[list[float]]:
    if np.linalg.cond(np.asarray(matrix)) > 1 / np.finfo(float).eps:
        raise ValueError("the matrix has no inverse, so it maps no plane to a plane")
    return matrix


def orthonormal(axes: list[list[float]]) -> list[list[float]]:
    """Three unit vectors at right angles to one another, to a thousandth.

    Raises:
        ValueError: they are not.
    """
    matrix = np.asarray(axes)
    if np.abs(matrix @ matrix.T - np.eye(3)).max() > AXES_SLACK:
        raise ValueError("the axes must be three unit vectors at right angles to one another, a row each")
    return axes


def _beside_the_scene(file: str) -> str:
    path = PurePosixPath(file)
    if path.is_absolute() or ".." in path.parts or "\\" in file or ":" in file:
        raise ValueError("must be a path below the scene file's folder, with forward slashes")
    return file


Position = Annotated[
    list[float],
    Field(min_length=2, max_length=2, description="[longitude, latitude] in degrees, WGS 84"),
    AfterValidator(_on_earth),
]
Ring = Annotated[
    list[Position],
    Field(min_length=4, max_length=MAX_RING, description="closed: the last position is the first"),
]
Entry = Annotated[float, Field(ge=-1e12, le=1e12)]
Row = Annotated[list[Entry], Field(min_length=3, max_length=3)]
Axes = Annotated[list[Row], Field(min_length=3, max_length=3), AfterValidator(orthonormal)]
Edge = Annotated[float, Field(gt=0, le=1e6)]
Homography = Annotated[list[Row], Field(min_length=3, max_length=3), AfterValidator(_invertible)]
Pixel = Annotated[list[float], Field(min_length=2, max_length=2)]
Size = Annotated[list[Annotated[int, Field(gt=0, le=100_000)]], Field(min_length=2, max_length=2)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(max_length=500)]
Floor = Annotated[int, Field(ge=-1000, le=1000)]
Metres = Annotated[float, Field(ge=0, le=1e6)]


class PointGeometry(Member):
    """A GeoJSON Point."""

    type: Literal["Point"]
    coordinates: Position


class LineGeometry(Member):
    """A GeoJSON LineString."""

    type: Literal["LineString"]
    coordinates: Annotated[list[Position], Field(min_length=2)]


class PairGeometry(Member):
    """A GeoJSON MultiPoint of two."""

    type: Literal["MultiPoint"]
    coordinates: Annotated[list[Position], Field(min_length=2, max_length=2)]


class AreaGeometry(Member):
    """A GeoJSON Polygon: an outer ring, then holes."""

    type: Literal["Polygon"]
    coordinates: Annotated[list[Ring], Field(min_length=1, max_length=MAX_RINGS)]


class Feature(Member):
    """What all features have. The id is unique within its kind."""

    type: Literal["Feature"]
    id: Id
    bbox: list[float] | None = None


class CameraProperties(Member):
    """A camera; what is not known is left out."""

    kind: Literal["camera"]
    floor: Floor = 0
    position_error_m: Metres = 0.0
    heading_deg: float | None = Field(default=None, ge=0, le=360, description="clockwise from north")
    fov_deg: float | None = Field(default=None, gt=0, le=360, description="horizontal angle of view")
    range_m: float | None = Field(default=None, gt=0, le=1e6)
    homography: Homography | None = Field(
        default=None, description="3 × 3: pixels (right, down) of foot points to metres of the scene's frame"
    )
    image_size: Size | None = Field(default=None, description="width, height in pixels")


class CameraFeature(Feature):
    """A camera; its geometry is null where its position is unknown."""

    geometry: PointGeometry | None
    properties: CameraProperties


class ViewProperties(Member):
    """A camera's field of view; the feature's id is the camera's."""

    kind: Literal["view"]


class ViewFeature(Feature):
    """What the camera of the same id sees of its floor."""

    geometry: AreaGeometry
    properties: ViewProperties


class RoadProperties(Member):
    """A road between two junctions."""

    kind: Literal["road"]
    name: Name = ""
    oneway: bool = False
    speed_mps: float | None = Field(default=None, gt=0, le=1000)


class RoadFeature(Feature):
    """A road, drawn in its direction of travel."""

    geometry: LineGeometry
    properties: RoadProperties


class ZoneProperties(Member):
    """A walkable area on one floor."""

    kind: Literal["zone"]
    floor: Floor = 0
    name: Name = ""


class ZoneFeature(Feature):
    """A room, hall or corridor."""

    geometry: AreaGeometry
    properties: ZoneProperties


class PortalProperties(Member):
    """A way between two zones."""

    kind: Literal["portal"]
    way: Literal["door", "stairs", "lift", "escalator"] = Field(
        description="an escalator runs from the first zone to the second, never back"
    )
    zones: Annotated[list[Id], Field(min_length=2, max_length=2)]
    length_m: Metres = 0.0


class PortalFeature(Feature):
    """A portal; its two points are where it is entered in the first zone and in the second."""

    geometry: PairGeometry
    properties: PortalProperties


class PlaceProperties(Member):
    """Something with a name."""

    kind: Literal["place"]
    name: Name
    category: Name
    floor: Floor = 0


class PlaceFeature(Feature):
    """A place on the map."""

    geometry: PointGeometry
    properties: PlaceProperties


class BoxProperties(Member):
    """A box around a thing; without axes its edges run east, north and up."""

    kind: Literal["box"]
    category: Name
    z_m: Entry = Field(description="height of its centre")
    lengths_m: Annotated[list[Edge], Field(min_length=3, max_length=3, description="its three whole edges")]
    axes: Axes | None = Field(default=None, description="a row for each edge: the unit vector along it")


class BoxFeature(Feature):
    """A box; its geometry is its centre, its id its name."""

    geometry: PointGeometry
    properties: BoxProperties


class FrameMember(Member):
    """Origin of the local plane; `anchored` is false where nobody knows where on Earth the place is."""

    lon_deg: float = Field(ge=-180, le=180)
    lat_deg: float = Field(ge=-90, le=90)
    anchored: bool


class MapImageMember(Member):
    """The map's picture, beside the scene file."""

    file: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_beside_the_scene)]
    metres_per_pixel: float = Field(gt=0, le=1e6)
    origin_px: dict[Annotated[str, Field(pattern=r"^-?\d{1,4}$")], Pixel] = Field(
        default={}, description="by floor: the pixel (right, down) of the frame's origin"
    )


class GnomonMember(Member):
    """The foreign member that makes a FeatureCollection a scene."""

    format: Literal[1]
    id: Id
    kind: Literal["outdoor", "indoor"]
    frame: FrameMember
    map_image: MapImageMember | None = None
    attribution: Annotated[str, Field(max_length=10_000)] = ""


def _kind_of(feature: Any) -> str | None:
    properties = (
        feature.get("properties") if isinstance(feature, dict) else getattr(feature, "properties", None)
    )
    return properties.get("kind") if isinstance(properties, dict) else getattr(properties, "kind", None)


AnyFeature = Annotated[
    Annotated[CameraFeature, Tag("camera")]
    | Annotated[ViewFeature, Tag("view")]
    | Annotated[RoadFeature, Tag("road")]
    | Annotated[ZoneFeature, Tag("zone")]
    | Annotated[PortalFeature, Tag("portal")]
    | Annotated[PlaceFeature, Tag("place")]
    | Annotated[BoxFeature, Tag("box")],
    Discriminator(
        _kind_of,
        custom_error_type="kind",
        custom_error_message="`properties.kind` must be camera, view, road, zone, portal, place or box",
    ),
]


class SceneDocument(Member):
    """A whole scene: a GeoJSON FeatureCollection (RFC 7946) with the foreign member `gnomon`."""

    type: Literal["FeatureCollection"]
    gnomon: GnomonMember
    features: Annotated[list[AnyFeature], Field(max_length=MAX_FEATURES)]
    bbox: list[float] | None = None
