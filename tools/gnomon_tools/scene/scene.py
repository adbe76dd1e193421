"""Scene: a fixed place, in a local metric frame (x east, y north, metres)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from gnomon_tools.core.inputs import Input
from gnomon_tools.scene.boxes import Box
from gnomon_tools.scene.frame import Frame

if TYPE_CHECKING:  # a process may hold a sample without a scene, and need neither
    import numpy as np
    from numpy.typing import NDArray
    from shapely import LineString, Polygon

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Camera:
    """A fixed camera; what is not known about it is None, never guessed.

    `homography` maps image pixels (u right, v down, foot point of a target) to `xy_m` on its floor.
    """

    id: str
    xy_m: Point | None = None
    floor: int = 0
    position_error_m: float = 0.0
    heading_deg: float | None = None  # compass direction it looks to, clockwise from north
    fov_deg: float | None = None  # horizontal angle of view
    range_m: float | None = None
    field_of_view: "Polygon | None" = None  # what it sees of its floor
    homography: "NDArray[np.float64] | None" = None  # 3 x 3
    image_size: tuple[int, int] | None = None  # width, height in pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Road:
    """A stretch of road between junctions, driven along `line` (and against it unless one-way)."""

    id: str
    line: "LineString"
    name: str = ""
    oneway: bool = False
    speed_mps: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """A room, hall or corridor: a walkable area on one floor. Convex, or walks through it are approximate."""

    id: str
    floor: int
    area: "Polygon"
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portal:
    """A way between two zones: a door, or stairs, a lift or an escalator between floors.

    An escalator runs from its first zone to its second, and nobody goes against it.
    """

    id: str
    kind: Literal["door", "stairs", "lift", "escalator"]
    zones: tuple[str, str]
    ends_m: tuple[Point, Point]  # where it is entered in the first zone and in the second
    length_m: float = 0.0  # walked inside it; never taken for less than the straight line between its ends

    @property
    def is_oneway(self) -> bool:
        """Whether it leads from the first zone to the second only."""
        return self.kind == "escalator"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenePlace:
    """Something with a name on the map."""

    id: str
    name: str
    kind: str
    xy_m: Point
    floor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MapImage:
    """The picture of the map: where it lies and how its pixels become metres, floor by floor."""

    file: str
    metres_per_pixel: float
    origin_px: Mapping[int, Point] = field(default_factory=dict)  # pixel of (0, 0) m, by floor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Scene(Input):
    """Everything that is known about a place. Ids are unique within their kind."""

    heading: ClassVar[str] = "On a scene"
    in_words: ClassVar[str] = "a scene: cameras, places, roads or zones"

    id: str
    frame: Frame
    kind: Literal["outdoor", "indoor"]
    cameras: Mapping[str, Camera] = field(default_factory=dict)
    roads: Mapping[str, Road] = field(default_factory=dict)
    zones: Mapping[str, Zone] = field(default_factory=dict)
    portals: Mapping[str, Portal] = field(default_factory=dict)
    places: Mapping[str, ScenePlace] = field(default_factory=dict)
    boxes: Mapping[str, Box] = field(default_factory=dict)
    map_image: MapImage | None = None
    attribution: str = ""
