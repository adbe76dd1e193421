"""Draws a scene's map so that a person can answer from it."""

import math
import struct
import zlib
from collections import Counter
from collections.abc import Callable

import numpy as np
import shapely
from PIL import Image, ImageDraw
from shapely import LineString, Polygon

from gnomon.worlds.map_lettering import letter
from gnomon.worlds.map_sheet import MapSheet, sheet_of
from tools.scene.scene import Point, Scene

FINER = 2  # drawn at this many times the size, then reduced, so that edges are smooth
ROAD_PX = 13
DOOR_M = 1.3
GREEN_M = 20.0  # radius of a park

PAPER, ROAD, KERB, GREEN = "#f4f0e6", "#ffffff", "#c6bfb0", "#cfe3bf"
WALL, ROOM, WALK = "#857d70", "#e9e2d2", "#ffffff"
ARROW = "#7a7264"
VIEW, VIEW_EDGE = (46, 116, 214, 70), (46, 116, 214, 190)

Pen = ImageDraw.ImageDraw
Colour = str | tuple[int, int, int, int]
ToPixel = Callable[[Point, int], Point]


def ground(scene: Scene, sheet: MapSheet) -> Image.Image:
    """Streets and greens or rooms and doors, under the cameras' translucent fields of view."""
    size = (sheet.size_px[0] * FINER, sheet.size_px[1] * FINER)
    image = Image.new("RGB", size, PAPER)

    def pixel(xy_m: Point, floor: int) -> Point:
        x, y = sheet.pixel(xy_m, floor)
        return x * FINER, y * FINER

    pen = ImageDraw.Draw(image)
    _greens(pen, scene, sheet, pixel)
    _roads(pen, scene, pixel)
    _rooms(image, scene, pixel)
    _views(image, scene, pixel)
    return image.reduce(FINER)


def _greens(pen: Pen, scene: Scene, sheet: MapSheet, pixel: ToPixel) -> None:
    radius = FINER * GREEN_M / sheet.image.metres_per_pixel
    for place in scene.places.values():
        if place.kind == "park":
            pen.circle(pixel(place.xy_m, place.floor), radius, fill=GREEN)


def _roads(pen: Pen, scene: Scene, pixel: ToPixel) -> None:
    lines = [
        [pixel((x, y), 0) for x, y in shapely.get_coordinates(road.line).tolist()]
        for road in scene.roads.values()
    ]
    for width, colour in ((ROAD_PX + 4, KERB), (ROAD_PX, ROAD)):
        for line in lines:
            pen.line(line, fill=colour, width=width * FINER, joint="curve")
            for end in (line[0], line[-1]):
                pen.circle(end, width * FINER / 2, fill=colour)
    for road in scene.roads.values():
        if road.oneway:
            _arrow(pen, road.line, pixel)


def _arrow(pen: Pen, line: LineString, pixel: ToPixel) -> None:
    """An arrow on a one-way road, beside the name in its middle, in the direction in which it is driven."""
    before, after = (line.interpolate(share, normalized=True) for share in (0.25, 0.27))
    (x0, y0), (x1, y1) = pixel((before.x, before.y), 0), pixel((after.x, after.y), 0)
    far = math.hypot(x1 - x0, y1 - y0)
    along, middle = ((x1 - x0) / far, (y1 - y0) / far), ((x0 + x1) / 2, (y0 + y1) / 2)

    def at(ahead: float, aside: float) -> Point:
        """A point of the arrow, in its own pixels from the middle."""
        ahead, aside = ahead * FINER, aside * FINER
        return (
            middle[0] + ahead * along[0] - aside * along[1],
            middle[1] + ahead * along[1] + aside * along[0],
        )

    pen.line([at(-14, 0), at(8, 0)], fill=ARROW, width=2 * FINER)
    pen.polygon([at(14, 0), at(5, 4.5), at(5, -4.5)], fill=ARROW)


def _rooms(image: Image.Image, scene: Scene, pixel: ToPixel) -> None:
    used = Counter(zone for portal in scene.portals.values() for zone in portal.zones)
    pen = ImageDraw.Draw(image)
    for zone in scene.zones.values():
        ring, colour = _ring(zone.area, zone.floor, pixel), WALK if used[zone.id] > 1 else ROOM
        xs, ys = {x for x, _ in ring}, {y for _, y in ring}
        if len(xs) == len(ys) == 2:  # a rectangle, which Pillow draws in a tenth of the time
            box = (min(xs), min(ys), max(xs), max(ys))
            pen.rectangle(box, fill=colour, outline=WALL, width=2 * FINER)
        else:
            _outlined(image, "RGB", ring, colour, WALL, 2 * FINER)
    doors = [portal for portal in scene.portals.values() if portal.kind == "door"]
    here, there = ([scene.zones[portal.zones[side]].area for portal in doors] for side in (0, 1))
    openings = shapely.buffer([shapely.Point(portal.ends_m[0]) for portal in doors], DOOR_M / 2, quad_segs=16)
    gaps = shapely.intersection(shapely.intersection(here, there), openings)
    for portal, gap in zip(doors, gaps, strict=True):
        if isinstance(gap, LineString) and not gap.is_empty:
            floor = scene.zones[portal.zones[0]].floor
            pen.line([pixel((x, y), floor) for x, y in gap.coords], fill=WALK, width=5 * FINER)


def _views(image: Image.Image, scene: Scene, pixel: ToPixel) -> None:
    for camera in scene.cameras.values():
        if camera.field_of_view is not None:
            ring = _ring(camera.field_of_view, camera.floor, pixel)
            _outlined(image, "RGBA", ring, VIEW, VIEW_EDGE, FINER)


def _outlined(
    image: Image.Image, mode: str, ring: list[Point], fill: Colour, outline: Colour, width: int
) -> None:
    """A polygon with an outline, drawn on a copy of its surroundings: Pillow masks all that it draws on."""
    xs, ys = [x for x, _ in ring], [y for _, y in ring]
    left, top = max(0, int(min(xs)) - width), max(0, int(min(ys)) - width)
    right, bottom = min(image.width, int(max(xs)) + width), min(image.height, int(max(ys)) + width)
    part = image.crop((left, top, right, bottom))
    moved = [(x - left, y - top) for x, y in ring]
    ImageDraw.Draw(part, mode).polygon(moved, fill=fill, outline=outline, width=width)
    image.paste(part, (left, top))


def _ring(area: Polygon, floor: int, pixel: ToPixel) -> list[Point]:
    return [pixel((x, y), floor) for x, y in shapely.get_coordinates(area.exterior).tolist()]


def draw_map(scene: Scene, *, in_feet: bool = False) -> bytes:
    """The map as PNG: streets or floor plans, cameras with their views, places, scale and compass.

    The scale is in metres unless `in_feet`.

    Raises:
        ValueError: the scene has neither roads nor zones.
    """
    if not scene.roads and not scene.zones:
        raise ValueError(f"the scene {scene.id!r} has neither roads nor zones to draw")
    sheet = sheet_of(scene, file=scene.map_image.file if scene.map_image else "")
    image = ground(scene, sheet)
    letter(image, scene, sheet, in_feet=in_feet)
    return quick_png(image)


LEVEL = 1  # of compression: higher ones take twice the time for a tenth less
RGB_8_BITS = (8, 2, 0, 0, 0)  # bits a channel, colour type, and the only methods that there are


def quick_png(image: Image.Image) -> bytes:
    """An RGB picture as PNG (ISO/IEC 15948), all rows without a filter.

    Pillow takes four times as long: it tries five filters on each row, and even areas need none.
    """
    width, height = image.size
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with the number of its filter: none
    rows[:, 1:] = np.asarray(image).reshape(height, -1)
    chunks = (
        (b"IHDR", struct.pack(">II5B", width, height, *RGB_8_BITS)),
        (b"IDAT", zlib.compress(rows.tobytes(), LEVEL)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )
