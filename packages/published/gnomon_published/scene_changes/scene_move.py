"""Turns and mirrors scenes: quarter turns and a swap of east and west, exact to the last digit."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from gnomon.core.errors import DataError
from gnomon_tools.scene.boxes import XYZ, Box
from gnomon_tools.scene.scene import Camera, Point, Scene

PixelBox = tuple[float, float, float, float]  # x, y, width, height, y down

_CLOCKWISE: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((1, 0), (0, 1)),
    ((0, 1), (-1, 0)),
    ((-1, 0), (0, -1)),
    ((0, -1), (1, 0)),
)  # (x, y) after so many quarter turns
KEPT = 64  # moved scenes, with the networks that tools have built on them


@dataclass(frozen=True, slots=True)
class Move:
    """A mirror that swaps east and west, or not, and then clockwise quarter turns about (0, 0)."""

    quarters: int = 0
    mirrored: bool = False

    @property
    def inverse(self) -> "Move":
        """The move that takes everything back.

        >>> Move(1).inverse, Move(1, mirrored=True).inverse
        (Move(quarters=3, mirrored=False), Move(quarters=1, mirrored=True))
        """
        return Move(self.quarters if self.mirrored else -self.quarters % 4, self.mirrored)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """2 x 2, for columns (x, y)."""
        turn = np.array(_CLOCKWISE[self.quarters % 4], dtype=np.float64)
        return turn @ np.diag([-1.0, 1.0]) if self.mirrored else turn

    def point(self, xy_m: Point) -> Point:
        """Where a point comes to be.

        >>> Move(1).point((0.0, 5.0)), Move(mirrored=True).point((2.0, 5.0))
        ((5.0, 0.0), (-2.0, 5.0))
        """
        x_m, y_m = self.matrix @ np.array(xy_m) + 0.0
        return float(x_m), float(y_m)

    def heading_deg(self, heading_deg: float) -> float:
        """What a compass direction becomes.

        >>> Move(1).heading_deg(300.0), Move(mirrored=True).heading_deg(90.0)
        (30.0, 270.0)
        """
        turned = (-heading_deg if self.mirrored else heading_deg) + 90 * self.quarters
        return round(turned % 360, 6) % 360

    def box(self, box: PixelBox, image_width: float) -> PixelBox:
        """A box in the picture of a camera of the moved scene: a mirrored world has mirrored pictures."""
        x, y, width, height = box
        return (round(image_width - x - width, 6), y, width, height) if self.mirrored else box


@lru_cache(KEPT)
def moved_scene(scene: Scene, move: Move) -> Scene:
    """The scene after the move; it has no map picture, as the old one shows the old scene.

    Raises:
        DataError: a camera's pictures would be mirrored, and their width is unknown.
    """
    matrix = move.matrix

    def moved_points(points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points @ matrix.T + 0.0

    return replace(
        scene,
        map_image=None,
        cameras={name: _moved_camera(camera, move) for name, camera in scene.cameras.items()},
        roads={
            name: replace(road, line=shapely.transform(road.line, moved_points))
            for name, road in scene.roads.items()
        },
        zones={
            name: replace(zone, area=shapely.transform(zone.area, moved_points))
            for name, zone in scene.zones.items()
        },
        portals={
            name: replace(portal, ends_m=(move.point(portal.ends_m[0]), move.point(portal.ends_m[1])))
            for name, portal in scene.portals.items()
        },
        places={name: replace(place, xy_m=move.point(place.xy_m)) for name, place in scene.places.items()},
        boxes={name: _moved_box(box, move) for name, box in scene.boxes.items()},
    )


def _moved_box(box: Box, move: Move) -> Box:
    def moved(vector: XYZ) -> XYZ:
        return (*move.point(vector[:2]), vector[2])

    x_axis, y_axis, z_axis = map(moved, box.axes)
    return replace(box, centre_m=moved(box.centre_m), axes=(x_axis, y_axis, z_axis))


def _moved_camera(camera: Camera, move: Move) -> Camera:
    view = camera.field_of_view
    return replace(
        camera,
        xy_m=None if camera.xy_m is None else move.point(camera.xy_m),
        heading_deg=None if camera.heading_deg is None else move.heading_deg(camera.heading_deg),
        field_of_view=None
        if view is None
        else shapely.transform(view, lambda points: points @ move.matrix.T + 0.0),
        homography=_moved_homography(camera, move),
    )


def _moved_homography(camera: Camera, move: Move) -> NDArray[np.float64] | None:
    """From pixels of the (mirrored) picture to metres of the moved floor."""
    if camera.homography is None:
        return None
    ground = np.eye(3)
    ground[:2, :2] = move.matrix
    moved: NDArray[np.float64] = ground @ camera.homography
    if not move.mirrored:
        return moved
    if camera.image_size is None:
        raise DataError(f"camera {camera.id}: its picture cannot be mirrored, as its width is unknown")
    flip = np.array([[-1.0, 0.0, float(camera.image_size[0])], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    flipped: NDArray[np.float64] = moved @ flip
    return flipped
