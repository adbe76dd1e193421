"""Maps a scene's metres to its picture, panel by panel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Geometry, Polygon

from gnomon_tools.scene.scene import MapImage, Point, Scene

LONG_SIDE_PX = 1200
EDGE_PX = 24
FOOT_PX = 64  # below the panels, for the scale bar and the legend
TITLE_PX = 30  # above an indoor panel, for the floor's name
LANE = 3  # floors, at most, above or beside one another in one lane
FREE_M = 2.5  # around everything that is drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One floor on the sheet: its area in pixels (left, top, right, bottom) without its title."""

    floor: int
    area_px: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSheet:
    """The sheet's size, its panels, and the scale they share; north is up."""

    size_px: tuple[int, int]
    panels: tuple[Panel, ...]
    image: MapImage

    def pixel(self, xy_m: Point, floor: int) -> Point:
        x_px, y_px = self.image.origin_px[floor]
        scale = self.image.metres_per_pixel
        return x_px + xy_m[0] / scale, y_px - xy_m[1] / scale

    def pixels(self, shapes: Sequence[Geometry], floor: int) -> NDArray[np.float64]:
        """Where the corners of shapes on a floor are on the sheet (n × 2)."""
        scale = self.image.metres_per_pixel
        return shapely.get_coordinates(shapes) / (scale, -scale) + self.image.origin_px[floor]

    def areas(self, on_floors: Sequence[tuple[Polygon, int]]) -> NDArray[np.object_]:
        """Areas, each of a floor, on the sheet, without their holes."""
        if not on_floors:
            return np.empty(0, object)
        rings = shapely.get_exterior_ring([area for area, _ in on_floors])
        corners_m, ring = shapely.get_coordinates(rings, return_index=True)
        origins_px = np.array([self.image.origin_px[floor] for _, floor in on_floors])
        scale = self.image.metres_per_pixel
        corners_px = corners_m / (scale, -scale) + origins_px[ring]
        return np.asarray(shapely.polygons(shapely.linearrings(corners_px, indices=ring)), dtype=object)


def sheet_of(scene: Scene, *, file: str) -> MapSheet:
    """Lay the scene's floors out: wide ones above one another, tall ones side by side; many in two lanes."""
    west, south, east, north = _bounds(scene)
    width_m, height_m = east - west, north - south
    floors = sorted({zone.floor for zone in scene.zones.values()}) or [0]
    stacked = width_m >= height_m
    lanes = 1 if len(floors) <= LANE else 2
    in_lane = math.ceil(len(floors) / lanes)
    columns, rows = (lanes, in_lane) if stacked else (in_lane, lanes)
    title_px = TITLE_PX if scene.zones else 0
    scale = max(
        columns * width_m / (LONG_SIDE_PX - (columns + 1) * EDGE_PX),
        rows * height_m / (LONG_SIDE_PX - FOOT_PX - rows * (EDGE_PX + title_px)),
    )
    panel_px = (width_m / scale, height_m / scale)
    step_px = (panel_px[0] + EDGE_PX, panel_px[1] + EDGE_PX + title_px)
    panels = []
    for place, floor in enumerate(reversed(floors) if stacked else floors):
        lane, along = divmod(place, in_lane)
        left = EDGE_PX + step_px[0] * (lane if stacked else along)
        top = EDGE_PX + title_px + step_px[1] * (along if stacked else lane)
        panels.append(Panel(floor=floor, area_px=(left, top, left + panel_px[0], top + panel_px[1])))
    origin_px = {
        panel.floor: (panel.area_px[0] - west / scale, panel.area_px[3] + south / scale) for panel in panels
    }
    image = MapImage(file=file, metres_per_pixel=scale, origin_px=origin_px)
    size_px = (EDGE_PX + columns * step_px[0], rows * step_px[1] + FOOT_PX)
    return MapSheet(size_px=(math.ceil(size_px[0]), math.ceil(size_px[1])), panels=tuple(panels), image=image)


def with_map(scene: Scene, *, file: str) -> Scene:
    """The scene with its map picture laid out."""
    return replace(scene, map_image=sheet_of(scene, file=file).image)


def _bounds(scene: Scene) -> tuple[float, float, float, float]:
    shapes = [
        *(road.line for road in scene.roads.values()),
        *(zone.area for zone in scene.zones.values()),
        *(camera.field_of_view for camera in scene.cameras.values()),
        *(shapely.Point(place.xy_m) for place in scene.places.values()),
    ]
    west, south, east, north = shapely.total_bounds(shapes)
    return float(west - FREE_M), float(south - FREE_M), float(east + FREE_M), float(north + FREE_M)
