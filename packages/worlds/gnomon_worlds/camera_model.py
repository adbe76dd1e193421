"""Places generated cameras: how they hang, how their pixels become metres, how their clocks go."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from random import Random

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from gnomon_tools.geometry.field_of_view import arcs
from gnomon_tools.scene.scene import Camera, Point
from gnomon_worlds.buildings import visible
from gnomon_worlds.names import camera_ids

SIDE_MARGIN_DEG = 2.0  # the lens sees a little more than the field of view on either side
FAR_ROW, NEAR_ROW = 0.4, 0.97  # image rows, as fractions of the height, of the far and the near edge
LEEWAY_M = 1e-3  # by which boxes that are nearly too close are looked at closely
MOUNTS = 512  # whose projections are remembered
OFF_S, OFF_STEP_S = 15.0, 0.1  # by how much a clock that goes wrong is off at most, and in which steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A pinhole camera at `height_m` above `xy_m`, level across, tilted down so that its range fits.

    One that moves is tilted as it is told instead: `pitch_deg`, up positive.

    Pinhole model as in Hartley and Zisserman, Multiple View Geometry, chapter 6; square pixels, no
    distortion.
    """

    xy_m: Point
    height_m: float
    heading_deg: float
    fov_deg: float
    range_m: float
    image_size: tuple[int, int] = (1920, 1080)
    pitch_deg: float | None = None

    @property
    def focal_px(self) -> float:
        """Focal length: half the image's width spans half the field of view and its margin."""
        return self.image_size[0] / 2 / math.tan(math.radians(self.fov_deg / 2 + SIDE_MARGIN_DEG))

    @property
    def tilt_rad(self) -> float:
        """Angle of the optical axis below the horizon: floor at `range_m` appears in the row FAR_ROW."""
        if self.pitch_deg is not None:
            return math.radians(-self.pitch_deg)
        return math.atan(self.height_m / self.range_m) + self._row_angle_rad(0.5 - FAR_ROW)

    @property
    def near_m(self) -> float:
        """Distance straight ahead at which the floor leaves the image at NEAR_ROW."""
        return self.height_m / math.tan(self.tilt_rad + self._row_angle_rad(NEAR_ROW - 0.5))

    def _row_angle_rad(self, rows: float) -> float:
        return math.atan(rows * self.image_size[1] / self.focal_px)

    def near_edge_m(self) -> tuple[Point, Point]:
        """The left and the right end of what it sees nearest to its feet."""
        half_deg = self.fov_deg / 2
        along_m = self.near_m / math.cos(math.radians(half_deg))
        left, right = (
            (
                self.xy_m[0] + along_m * math.sin(math.radians(self.heading_deg + side)),
                self.xy_m[1] + along_m * math.cos(math.radians(self.heading_deg + side)),
            )
            for side in (-half_deg, half_deg)
        )
        return left, right

    def projection(self) -> NDArray[np.float64]:
        """3 x 4 matrix from (x, y, z above the floor, 1) in metres to pixels times depth."""
        return _projection(self).copy()

    def homography(self) -> NDArray[np.float64]:
        """3 x 3 matrix from pixels of the floor to metres; its third row is positive below the horizon."""
        own: NDArray[np.float64] = homographies([self])[0]
        return own

    def pixel(self, xy_m: Point, z_m: float = 0.0) -> tuple[float, float, float]:
        """Column, row and depth (metres along the optical axis) of a point `z_m` above the floor."""
        (x_m, y_m), (across, down, ahead) = xy_m, _rows(self)
        depth_m = ahead[0] * x_m + ahead[1] * y_m + ahead[2] * z_m + ahead[3]
        u = across[0] * x_m + across[1] * y_m + across[2] * z_m + across[3]
        v = down[0] * x_m + down[1] * y_m + down[2] * z_m + down[3]
        return u / depth_m, v / depth_m, depth_m


@lru_cache(MOUNTS)
def _projection(mount: Mount) -> NDArray[np.float64]:
    heading, tilt = math.radians(mount.heading_deg), mount.tilt_rad
    ahead = np.array([math.sin(heading), math.cos(heading), 0.0])
    right = np.array([math.cos(heading), -math.sin(heading), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    rotation = np.stack(
        [
            right,
            -math.sin(tilt) * ahead - math.cos(tilt) * up,
            math.cos(tilt) * ahead - math.sin(tilt) * up,
        ]
    )
    width, height = mount.image_size
    lens = np.array([[mount.focal_px, 0, width / 2], [0, mount.focal_px, height / 2], [0, 0, 1]])
    centre = np.array([*mount.xy_m, mount.height_m])
    matrix: NDArray[np.float64] = lens @ np.column_stack([rotation, -rotation @ centre])
    return matrix


@lru_cache(MOUNTS)
def _rows(mount: Mount) -> list[list[float]]:
    """Its projection as plain numbers, which are faster than an array for a single point."""
    rows: list[list[float]] = _projection(mount).tolist()
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A place for a camera: walls of `room` bound what it sees, `walls` hide what is behind them."""

    mount: Mount
    floor: int = 0
    room: Polygon | None = None
    walls: Sequence[Polygon] = ()

    def camera(self, camera_id: str, view: Polygon, homography: NDArray[np.float64]) -> Camera:
        """The camera that hangs so, and what it sees."""
        return Camera(
            id=camera_id,
            xy_m=self.mount.xy_m,
            floor=self.floor,
            heading_deg=self.mount.heading_deg % 360,
            fov_deg=self.mount.fov_deg,
            range_m=self.mount.range_m,
            field_of_view=view,
            homography=homography,
            image_size=self.mount.image_size,
        )


def homographies(mounts: Sequence[Mount]) -> NDArray[np.float64]:
    """The homography of each (n × 3 × 3)."""
    on_floor = np.stack([_projection(mount)[:, [0, 1, 3]] for mount in mounts])
    return np.asarray(np.linalg.inv(on_floor), dtype=np.float64)


def fields_of_view(mounts: Sequence[Mount]) -> list[Polygon]:
    """What each sees of an open floor: its sector without the strip before its feet."""
    if not mounts:
        return []
    far_m = arcs([(mount.xy_m, mount.heading_deg, mount.fov_deg, mount.range_m) for mount in mounts])
    near_m = np.array([mount.near_edge_m() for mount in mounts])
    rings = [part for far, near in zip(far_m, near_m, strict=True) for part in (near[:1], far, near[1:])]
    ring = np.repeat(np.arange(len(mounts)), [len(far) + 2 for far in far_m])
    areas = shapely.polygons(shapely.linearrings(np.concatenate(rings), indices=ring))
    views: list[Polygon] = np.asarray(areas, dtype=object).tolist()
    return views


def views_of(candidates: Sequence[Candidate]) -> list[Polygon]:
    """What each camera would see; empty where walls leave it nothing in one piece."""
    views = fields_of_view([candidate.mount for candidate in candidates])
    rooms = [place for place, candidate in enumerate(candidates) if candidate.room is not None]
    inside = shapely.intersection(
        [candidates[place].room for place in rooms], [views[place] for place in rooms]
    )
    for place, part in zip(rooms, inside, strict=True):
        views[place] = part if isinstance(part, Polygon) else Polygon()
    return [
        visible(view, candidate.mount.xy_m, candidate.walls)
        if candidate.walls and candidate.room is None
        else view
        for candidate, view in zip(candidates, views, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Cameras by id, how each hangs, and the views of those that could hang too but do not.

    Whether a candidate was built is a matter of lot alone. So a view on a target's way tells nothing by
    its place or time about whether it belongs to a camera: questions about times rely on that.
    """

    cameras: Mapping[str, Camera]
    mounts: Mapping[str, Mount]
    unbuilt: tuple[Camera, ...]
    unbuilt_mounts: Mapping[str, Mount] = field(default_factory=dict)


def install(rng: Random, candidates: Iterable[Candidate], *, count: int, apart_m: float) -> Installation:
    """Take candidates whose fields of view keep `apart_m` from one another, then build `count` of them.

    Raises:
        ValueError: fewer than `count` candidates keep apart.
    """
    just_less_m = math.nextafter(apart_m, 0)  # `dwithin` counts its bound as within
    everywhere = list(candidates)
    views = views_of(everywhere)
    close = _close_boxes(views, apart_m + LEEWAY_M)
    is_taken = [False] * len(views)
    for number, (candidate, view) in enumerate(zip(everywhere, views, strict=True)):
        near = [
            views[other]
            for other in close[number]
            if is_taken[other] and everywhere[other].floor == candidate.floor
        ]
        is_taken[number] = bool(view) and not (near and shapely.dwithin(view, near, just_less_m).any())
    taken = list(compress(zip(everywhere, views, strict=True), is_taken))
    if len(taken) < count:
        raise ValueError(f"{count} cameras wanted, but only {len(taken)} places keep {apart_m:g} m apart")
    rng.shuffle(taken)
    built = dict(zip(camera_ids(rng, count), taken[:count], strict=True))
    to_floor = homographies([candidate.mount for candidate, _ in built.values()])
    return Installation(
        cameras={
            camera_id: candidate.camera(camera_id, view, homography)
            for (camera_id, (candidate, view)), homography in zip(built.items(), to_floor, strict=True)
        },
        mounts={name: candidate.mount for name, (candidate, _) in built.items()},
        unbuilt=tuple(
            Camera(id=f"u{number:02d}", floor=candidate.floor, field_of_view=view)
            for number, (candidate, view) in enumerate(taken[count:])
        ),
        unbuilt_mounts={
            f"u{number:02d}": candidate.mount for number, (candidate, _) in enumerate(taken[count:])
        },
    )


def _close_boxes(views: Sequence[Polygon], apart_m: float) -> list[list[int]]:
    """For each view, the earlier views whose boxes lie too near to its own box."""
    west, south, east, north = shapely.bounds(views).reshape(-1, 4).T
    across_m, along_m = west[:, None] - east, south[:, None] - north
    gap_m = np.maximum(np.maximum(across_m, across_m.T), np.maximum(along_m, along_m.T))
    close: list[list[int]] = [[] for _ in views]
    for view, other in np.argwhere(np.tril(gap_m <= apart_m, -1)).tolist():
        close[view].append(other)
    return close


def draw_clocks(rng: Random, cameras: Collection[str]) -> Mapping[str, float]:
    """Draw by camera how many seconds its clock is ahead of the place's clock."""
    steps = round(OFF_S / OFF_STEP_S)
    return {camera: rng.randint(-steps, steps) / round(1 / OFF_STEP_S) for camera in sorted(cameras)}
