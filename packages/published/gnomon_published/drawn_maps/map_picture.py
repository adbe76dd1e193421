"""Draws a scene's map so that a person can answer from it."""

import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice, pairwise

import shapely
from PIL import Image, ImageDraw
from shapely import LineString, Polygon
from zlib_ng import zlib_ng

from gnomon_published.drawn_maps.map_lettering import letter
from gnomon_published.drawn_maps.map_sheet import MapSheet, sheet_of
from gnomon_tools.scene.scene import Point, Scene

FINER = 2  # drawn at this many times the size, then reduced, so that edges are smooth
ROAD_PX = 13
DOOR_M = 1.3
GREEN_M = 20.0  # radius of a park

PAPER, WHITE, KERB, GREEN = "#f4f0e6", "#ffffff", "#c6bfb0", "#cfe3bf"
WALL, ROOM, ARROW = "#857d70", "#e9e2d2", "#7a7264"
ROAD = WALK = WHITE
VIEW, VIEW_EDGE = (46, 116, 214, 70), (46, 116, 214, 190)

Pen = ImageDraw.ImageDraw
ToPixel = Callable[[Point, int], Point]


def ground(scene: Scene, sheet: MapSheet) -> Image.Image:
    """Streets and greens or rooms and doors, under the cameras' translucent fields of view."""
    image = Image.new("RGB", (sheet.size_px[0] * FINER, sheet.size_px[1] * FINER), PAPER)

    def pixel(xy_m: Point, floor: int) -> Point:
        x, y = sheet.pixel(xy_m, floor)
        return x * FINER, y * FINER

    pen = ImageDraw.Draw(image)
    _greens(pen, scene, sheet, pixel)
    _roads(pen, scene, sheet, pixel)
    _rooms(pen, scene, pixel)
    _views(image, scene, pixel)
    return image.reduce(FINER)


def _greens(pen: Pen, scene: Scene, sheet: MapSheet, pixel: ToPixel) -> None:
    radius = FINER * GREEN_M / sheet.image.metres_per_pixel
    for place in scene.places.values():
        if place.kind == "park":
            pen.circle(pixel(place.xy_m, place.floor), radius, fill=GREEN)


def _roads(pen: Pen, scene: Scene, sheet: MapSheet, pixel: ToPixel) -> None:
    if not scene.roads:
        return
    shapes = [road.line for road in scene.roads.values()]
    corners = map(tuple, (sheet.pixels(shapes, 0) * FINER).tolist())
    lines = [list(islice(corners, count)) for count in shapely.get_num_coordinates(shapes).tolist()]
    ends = dict.fromkeys(end for line in lines for end in (line[0], line[-1]))  # roads share them
    for width, colour in ((ROAD_PX + 4, KERB), (ROAD_PX, ROAD)):
        for line in lines:
            pen.line(line, fill=colour, width=width * FINER, joint="curve")
        for end in ends:
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


def _rooms(pen: Pen, scene: Scene, pixel: ToPixel) -> None:
    used = Counter(zone for portal in scene.portals.values() for zone in portal.zones)
    rectangles: dict[str, list[list[float]]] = {}  # by zone, its corners; they take a tenth of the time
    areas = [zone.area for zone in scene.zones.values()]
    points = iter(shapely.get_coordinates(areas).tolist())
    counts = shapely.get_num_coordinates(areas).tolist()
    for zone, count in zip(scene.zones.values(), counts, strict=True):
        colour, corners = WALK if used[zone.id] > 1 else ROOM, list(islice(points, count))
        xs, ys = ({corner[axis] for corner in corners} for axis in (0, 1))
        if len(corners) == 5 and len(xs) == len(ys) == 2:
            rectangles[zone.id] = corners
            (left, bottom), (right, top) = (pixel((of(xs), of(ys)), zone.floor) for of in (min, max))
            pen.rectangle((left, top, right, bottom), fill=colour, outline=WALL, width=2 * FINER)
        else:
            ring = _ring(zone.area, zone.floor, pixel)
            pen.polygon(ring, fill=colour, outline=WALL, width=2 * FINER)
    for portal in scene.portals.values():
        if portal.kind == "door":
            here, there = (scene.zones[zone] for zone in portal.zones)
            ends_m = None
            if here.id in rectangles and there.id in rectangles:
                ends_m = _opening(portal.ends_m[0], rectangles[here.id], rectangles[there.id])
            ends_m = ends_m or _cut_opening(portal.ends_m[0], here.area, there.area)
            if ends_m:
                pen.line([pixel((x, y), here.floor) for x, y in ends_m], fill=WALK, width=5 * FINER)


def _opening(
    door_m: Point, here_m: Sequence[Sequence[float]], there_m: Sequence[Sequence[float]]
) -> list[Point] | None:
    """The part that a door takes of the wall between two rectangles, as the first one's outline runs."""
    for start, end in pairwise(here_m):
        along = int(start[0] == end[0])  # 1: it runs along y
        across = 1 - along
        theirs = [corner[along] for corner in there_m if corner[across] == door_m[across]]
        if start[across] == door_m[across] and theirs:
            least = max(min(start[along], end[along]), min(theirs), door_m[along] - DOOR_M / 2)
            most = min(max(start[along], end[along]), max(theirs), door_m[along] + DOOR_M / 2)
            if least < door_m[along] < most:
                reach = (least, most) if start[along] < end[along] else (most, least)
                return [(door_m[across], at) if along else (at, door_m[across]) for at in reach]
    return None


def _cut_opening(door_m: Point, here: Polygon, there: Polygon) -> list[Point]:
    """The part of a wall within half a door's width of the door; empty where the zones share no wall."""
    part = here.intersection(there).intersection(shapely.Point(door_m).buffer(DOOR_M / 2))
    return [(x, y) for x, y in part.coords] if isinstance(part, LineString) else []


def _views(image: Image.Image, scene: Scene, pixel: ToPixel) -> None:
    """Lay the views over what is drawn, each on the part that it reaches: Pillow masks all it draws on."""
    for camera in scene.cameras.values():
        if camera.field_of_view is None:
            continue
        ring = _ring(camera.field_of_view, camera.floor, pixel)
        xs, ys = [x for x, _ in ring], [y for _, y in ring]
        left, top = max(0, int(min(xs)) - FINER), max(0, int(min(ys)) - FINER)
        right, bottom = min(image.width, int(max(xs)) + FINER), min(image.height, int(max(ys)) + FINER)
        if left >= right or top >= bottom:
            continue
        part = image.crop((left, top, right, bottom))
        moved = [(x - left, y - top) for x, y in ring]
        ImageDraw.Draw(part, "RGBA").polygon(moved, fill=VIEW, outline=VIEW_EDGE, width=FINER)
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


LEVEL = 2  # of compression: 1 takes a quarter less time for a fifth more
RGB_8_BITS = (8, 2, 0, 0, 0)  # bits a channel, colour type, and the only methods that there are


def quick_png(image: Image.Image) -> bytes:
    """An RGB picture as PNG (ISO/IEC 15948), all rows without a filter.

    Pillow takes much longer: it tries five filters on each row, and even areas need none. The library that
    deflates is pinned: which one the system has is another matter, and with it the bytes.
    """
    width, height = image.size
    # Each row begins with the number of its filter, which is 0: none. Pillow puts 0 after each row.
    rows = memoryview(image.tobytes("raw", "RGB", 1 + 3 * width, 1))[:-1]
    deflater = zlib_ng.compressobj(LEVEL)
    deflated = (deflater.compress(b"\0"), deflater.compress(rows), deflater.flush())
    chunks = (
        (b"IHDR", struct.pack(">II5B", width, height, *RGB_8_BITS)),
        (b"IDAT", b"".join(deflated)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib_ng.crc32(name + content))
        for name, content in chunks
    )
