"""Letters a map: names, camera ids, arrows, compass and scale, where they cover nothing else."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import shapely
from PIL import Image, ImageDraw
from shapely import LineString, Polygon, box

from gnomon.drawing.labels import around
from gnomon_published.drawn_maps.letters import box_px, font_of, write
from gnomon_published.drawn_maps.map_sheet import EDGE_PX, FOOT_PX, TITLE_PX, MapSheet
from gnomon_tools.scene.scene import Camera, Point, Scene, ScenePlace

REACHES_PX = (10.0, 18.0, 28.0, 42.0, 60.0)  # from the marked point to the label's edge
SIDES = ((1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.8), (-0.8, -0.8), (0.8, 0.8), (-0.8, 0.8))


Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels


class Labels:
    """The areas of a picture that are taken, and a search for free ones.

    Nearly all of them are boxes, and of boxes and bounds four comparisons tell whether they meet.
    """

    def __init__(self, sheet_px: Box) -> None:
        self._sheet = sheet_px
        self._boxes: list[Box] = []
        self._slanted: list[tuple[Box, Polygon]] = []  # with their bounds

    def take(self, area: Box) -> None:
        self._boxes.append(area)

    def take_slanted(self, area: Polygon) -> None:
        """Keep an area of another form free of labels."""
        self._slanted.append((area.bounds, area))

    def is_free(self, area: Box) -> bool:
        """Whether a label in a box is on the sheet and touches nothing that is taken."""
        left, top, right, bottom = area
        if not _is_inside(area, self._sheet):
            return False
        for west, north, east, south in self._boxes:  # as `_meet`, of which there would be very many calls
            if left <= east and west <= right and top <= south and north <= bottom:
                return False
        near = [taken for bounds, taken in self._slanted if _meet(area, bounds)]
        return not near or not shapely.intersects(near, box(*area)).any()

    def is_free_slanted(self, area: Polygon) -> bool:
        """Whether a label on an area of another form is on the sheet and touches nothing that is taken."""
        bounds = area.bounds
        if not _is_inside(bounds, self._sheet):
            return False
        near = [box(*taken) for taken in self._boxes if _meet(bounds, taken)]
        near += [taken for taken_bounds, taken in self._slanted if _meet(bounds, taken_bounds)]
        return not near or not shapely.intersects(near, area).any()

    def beside(self, at_px: Point, size_px: tuple[float, float], avoid: "Avoided") -> Box:
        """A place for a label next to a point, now taken: the free one that covers least of `avoid`, and of
        equal ones the nearest.

        Where all are taken it is the nearest to the right.
        """
        best, least = None, math.inf
        for place in _boxes_around(at_px, size_px):
            if self.is_free(place):
                covered = avoid.covered_by(place)
                if covered < least:
                    best, least = place, covered
                if least == 0:
                    break
        best = best or next(_boxes_around(at_px, size_px))
        self.take(best)
        return best


class Avoided:
    """Areas that labels should avoid if they can, such as the cameras' views."""

    def __init__(self, areas: Sequence[Polygon]) -> None:
        bounds: list[Box] = shapely.bounds(np.array(areas, dtype=object)).tolist()
        self._areas = list(zip(bounds, areas, strict=True))
        shapely.prepare(areas)

    def covered_by(self, place: Box) -> float:
        """How much of the avoided areas the place covers, in square pixels."""
        near = [at for at, (bounds, _) in enumerate(self._areas) if _meet(place, bounds)]
        if not near:
            return 0.0
        part = box(*place)
        near = [at for at in near if self._areas[at][1].intersects(part)]
        if not near:
            return 0.0
        if len(near) == 1:
            return float(shapely.area(shapely.intersection(self._areas[near[0]][1], part)))
        covered = np.zeros(len(self._areas))  # of each, so that the sum is the same however few are near
        covered[near] = shapely.area(shapely.intersection([self._areas[at][1] for at in near], part))
        return float(covered.sum())

    def met_by(self, place: Polygon) -> int:
        its_bounds = place.bounds
        near = [area for bounds, area in self._areas if _meet(its_bounds, bounds)]
        return int(shapely.intersects(near, place).sum()) if near else 0


def _meet(first: Box, second: Box) -> bool:
    across = first[0] <= second[2] and second[0] <= first[2]
    return across and first[1] <= second[3] and second[1] <= first[3]


def _is_inside(inner: Box, outer: Box) -> bool:
    within = outer[0] <= inner[0] and inner[2] <= outer[2]
    return within and outer[1] <= inner[1] and inner[3] <= outer[3]


def _boxes_around(at_px: Point, size_px: tuple[float, float]) -> Iterator[Box]:
    """Boxes around a point, near ones first."""
    width, height = size_px
    for reach in REACHES_PX:
        for east, south in SIDES:
            x = at_px[0] + east * (reach + width / 2)
            y = at_px[1] + south * (reach + height / 2)
            yield x - width / 2, y - height / 2, x + width / 2, y + height / 2


INK, FAINT, HALO, PAPER = "#2b2b2b", "#6d675c", "#ffffff", "#f4f0e6"
CAMERA, PLACE, PARK, PORTAL = "#12448c", "#a03c22", "#2f7a35", "#6b3a8f"
DOT_PX, ARROW_PX, ARROW_FREE_PX = 6, 26, 5
CAMERA_PT, PLACE_PT, STREET_PT, TITLE_PT, ROOM_PT, SIGN_PT = 19, 15, 15, 18, 12, 14
BARS_M = (200, 100, 50, 20, 10, 5)
BARS_FT = (500, 200, 100, 50, 20, 10)
FOOT_M = 0.3048
ROUNDING = 1e-9  # share of an area

Pen = ImageDraw.ImageDraw


def letter(image: Image.Image, scene: Scene, sheet: MapSheet, *, in_feet: bool = False) -> None:
    """Write everything that is to be read onto the ground; labels keep clear of one another."""
    pen = ImageDraw.Draw(image)
    labels = Labels((2, 2, sheet.size_px[0] - 2, sheet.size_px[1] - FOOT_PX + 10))
    for panel in sheet.panels:
        if scene.zones:
            left, top = panel.area_px[0], panel.area_px[1] - TITLE_PX
            labels.take((left, top, left + 120, panel.area_px[1]))
            write(pen, (left, top + 6), f"Floor {panel.floor}", points=TITLE_PT, fill=INK)
    _compass(pen, sheet)
    _scale(pen, sheet, in_feet=in_feet)
    views = [
        (camera.field_of_view, camera.floor)
        for camera in scene.cameras.values()
        if camera.field_of_view is not None
    ]
    avoid = Avoided(list(sheet.areas(views)))
    arrows = [
        arrow for camera in scene.cameras.values() if (arrow := _mark_camera(pen, labels, camera, sheet))
    ]
    if arrows:
        for free in shapely.buffer(shapely.linestrings(arrows), ARROW_FREE_PX, quad_segs=16):
            labels.take_slanted(free)
    for place in scene.places.values():
        labels.take(around(sheet.pixel(place.xy_m, place.floor), 5))
    portals = _portals(scene)
    for _, xy_m, floor in portals:
        labels.take(around(sheet.pixel(xy_m, floor), 8))
    for camera in scene.cameras.values():
        if camera.xy_m is not None:
            at = sheet.pixel(camera.xy_m, camera.floor)
            _label(pen, labels, at, camera.id, CAMERA, CAMERA_PT, avoid)
    for name, xy_m, floor in portals:
        _mark_portal(pen, sheet.pixel(xy_m, floor))
        _label(pen, labels, sheet.pixel(xy_m, floor), name, PORTAL, PLACE_PT, avoid)
    for place in scene.places.values():
        _place(pen, labels, place, sheet, avoid)
    _streets(image, labels, scene, sheet, avoid)
    _room_names(pen, labels, scene, sheet)


def _mark_camera(pen: Pen, labels: Labels, camera: Camera, sheet: MapSheet) -> tuple[Point, Point] | None:
    if camera.xy_m is None:
        return None
    arrow = None
    x, y = sheet.pixel(camera.xy_m, camera.floor)
    labels.take(around((x, y), DOT_PX + 2))
    if camera.heading_deg is not None:
        east, south = math.sin(math.radians(camera.heading_deg)), -math.cos(math.radians(camera.heading_deg))
        tip = (x + ARROW_PX * east, y + ARROW_PX * south)
        back = (tip[0] - 9 * east, tip[1] - 9 * south)
        wings = ((back[0] - 5 * south, back[1] + 5 * east), (back[0] + 5 * south, back[1] - 5 * east))
        pen.line([(x, y), back], fill=CAMERA, width=3)
        pen.polygon([tip, *wings], fill=CAMERA)
        arrow = ((x, y), tip)
    pen.circle((x, y), DOT_PX, fill=CAMERA, outline=HALO, width=2)
    return arrow


def _label(pen: Pen, labels: Labels, at: Point, text: str, colour: str, points: int, avoid: Avoided) -> None:
    left, top, right, bottom = box_px(text, points)
    where = labels.beside(at, (right - left + 4, bottom - top + 4), avoid)
    x, y = where[0] + 2 - left, where[1] + 2 - top
    write(pen, (x, y), text, points=points, fill=colour, halo=HALO)


def _portals(scene: Scene) -> list[tuple[str, Point, int]]:
    """Stairs, lifts and escalators, once on every floor they reach, named by where they are.

    Of an escalator it is told which way it runs.
    """
    floors_of: dict[tuple[str, str, Point], set[int]] = {}
    for portal in scene.portals.values():
        if portal.kind != "door":
            first, last = (scene.zones[zone].floor for zone in portal.zones)
            runs = "" if not portal.is_oneway else " up" if last > first else " down"
            for floor, xy_m in zip((first, last), portal.ends_m, strict=True):
                floors_of.setdefault((portal.kind, runs, xy_m), set()).add(floor)
    counts: dict[str, int] = {}
    named = []
    for (kind, runs, xy_m), floors in floors_of.items():
        counts[kind] = counts.get(kind, 0) + 1
        named += [(f"{kind.capitalize()} {counts[kind]}{runs}", xy_m, floor) for floor in sorted(floors)]
    return named


def _mark_portal(pen: Pen, at: Point) -> None:
    x, y = at
    pen.rectangle((x - 7, y - 7, x + 7, y + 7), fill=HALO, outline=PORTAL, width=2)
    for step in (-3, 0, 3):
        pen.line((x - 5, y + step, x + 5, y + step), fill=PORTAL, width=1)


def _place(pen: Pen, labels: Labels, place: ScenePlace, sheet: MapSheet, avoid: Avoided) -> None:
    colour = PARK if place.kind == "park" else PLACE
    x, y = sheet.pixel(place.xy_m, place.floor)
    pen.polygon([(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], fill=colour)
    _label(pen, labels, (x, y), place.name, colour, PLACE_PT, avoid)


NAMES = 128  # turned along their streets, remembered: maps of one town share most of them
SHARES = (0.5, 0.38, 0.62)  # of a stretch of road, where the middle of its name can be
QUARTERS = np.array([(0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])  # the corners of a unit square
Slanted = tuple[float, Polygon]  # angle in degrees, area


def _streets(image: Image.Image, labels: Labels, scene: Scene, sheet: MapSheet, avoid: Avoided) -> None:
    """Each street's name along one of its stretches, where it covers neither labels nor views."""
    named: dict[str, list[LineString]] = {}
    for road in scene.roads.values():
        named.setdefault(road.name, []).append(road.line)
    named.pop("", None)  # tracks without a street plan make roads without names
    boxes = {}
    for name in named:
        left, top, right, bottom = box_px(name, STREET_PT)
        boxes[name] = (left, top, right - left, bottom - top)
    along = [(line, boxes[name][2:]) for name, lines in named.items() for line in lines]
    places = iter(_places_along(along, sheet) if along else ())
    for name, lines in named.items():
        angle, area = _best([place for _ in lines for place in next(places)], labels, avoid)
        _write_along(image, name, angle, area, boxes[name])
        labels.take_slanted(area)


def _best(places: Sequence[Slanted], labels: Labels, avoid: Avoided) -> Slanted:
    """The first place that is free and meets no view, else the one that meets least of them."""
    ranked: list[tuple[bool, int, int, Slanted]] = []
    for order, place in enumerate(places):
        rank = (not labels.is_free_slanted(place[1]), avoid.met_by(place[1]))
        ranked.append((*rank, order, place))
        if rank == (False, 0):
            break
    return min(ranked)[-1]


def _places_along(
    texts: Sequence[tuple[LineString, tuple[int, int]]], sheet: MapSheet
) -> Iterator[list[Slanted]]:
    """For a text of a width and height along each stretch of road, at each of SHARES: its angle (degrees, so
    that it is upright) and area.
    """
    lines, sizes = [line for line, _ in texts], np.array([[size] for _, size in texts])
    corners_px, line = sheet.pixels(lines, 0), shapely.get_coordinates(lines, return_index=True)[1]
    on_sheet = np.asarray(shapely.linestrings(corners_px, indices=line), dtype=object)
    starts_px, ends_px = (shapely.get_coordinates(shapely.get_point(on_sheet, at)) for at in (0, -1))
    slopes = [math.atan2(y_px, x_px) for x_px, y_px in (ends_px - starts_px).tolist()]
    angles = [(math.degrees(slope) + 90) % 180 - 90 for slope in slopes]
    turns = [(math.cos(math.radians(angle)), math.sin(math.radians(angle))) for angle in angles]
    turned = np.array([[[cos, sin], [-sin, cos]] for cos, sin in turns])
    middles = shapely.line_interpolate_point(on_sheet[:, None], SHARES, normalized=True)
    middles_px = shapely.get_coordinates(middles).reshape(-1, len(SHARES), 1, 2)
    areas = shapely.polygons(middles_px + (QUARTERS * sizes @ turned)[:, None])
    return ([(angle, area) for area in row] for angle, row in zip(angles, areas, strict=True))


def _write_along(
    image: Image.Image, text: str, angle: float, area: Polygon, box_px: tuple[float, float, int, int]
) -> None:
    turned = _turned(text, angle, box_px)
    at = (round(area.centroid.x - turned.width / 2), round(area.centroid.y - turned.height / 2))
    image.paste(turned, at, turned)


@lru_cache(NAMES)
def _turned(text: str, angle: float, box_px: tuple[float, float, int, int]) -> Image.Image:
    left, top, width, height = box_px
    tag = Image.new("RGBA", (width + 4, height + 4))
    write(ImageDraw.Draw(tag), (2 - left, 2 - top), text, points=STREET_PT, fill=FAINT)
    return tag.rotate(-angle, expand=True, resample=Image.Resampling.BICUBIC)


def _room_names(pen: Pen, labels: Labels, scene: Scene, sheet: MapSheet) -> None:
    """Names of rooms, each in its middle, where there is room."""
    zones = list(scene.zones.values())
    areas = sheet.areas([(zone.area, zone.floor) for zone in zones])
    bounds = shapely.bounds(areas).tolist()
    fills = shapely.area(areas) > (1 - ROUNDING) * shapely.area(shapely.envelope(areas))  # a rectangle
    middles = shapely.get_coordinates(shapely.centroid([zone.area for zone in zones])).tolist()
    for zone, area, reach, is_box, middle in zip(zones, areas, bounds, fills, middles, strict=True):
        x, y = sheet.pixel(middle, zone.floor)
        width = font_of(ROOM_PT).getlength(zone.name)
        place = (x - width / 2, y - 8, x + width / 2, y + 8)
        if _is_inside(place, reach) and labels.is_free(place) and (is_box or area.covers(box(*place))):
            write(pen, (x, y), zone.name, points=ROOM_PT, fill=FAINT, anchor="mm")
            labels.take(place)


def _compass(pen: Pen, sheet: MapSheet) -> None:
    x, y = sheet.size_px[0] - EDGE_PX - 12, sheet.size_px[1] - FOOT_PX / 2
    pen.polygon([(x, y - 22), (x + 9, y + 16), (x, y + 9), (x - 9, y + 16)], fill=INK)
    write(pen, (x - 24, y - 3), "N", points=20, fill=INK, anchor="mm")


def _scale(pen: Pen, sheet: MapSheet, *, in_feet: bool) -> None:
    """A bar of a round number of metres or feet, and what the signs mean."""
    per_metre = (FOOT_M if in_feet else 1) / sheet.image.metres_per_pixel
    length = next((bar for bar in (BARS_FT if in_feet else BARS_M) if bar * per_metre <= 190), BARS_M[-1])
    x, y, width = EDGE_PX, sheet.size_px[1] - FOOT_PX / 2 + 8, length * per_metre
    pen.rectangle((x, y - 4, x + width, y + 4), fill=HALO, outline=INK, width=2)
    pen.rectangle((x, y - 4, x + width / 2, y + 4), fill=INK)
    write(pen, (x, y - 9), "0", points=SIGN_PT, fill=INK, anchor="ls")
    unit = "ft" if in_feet else "m"
    write(pen, (x + width, y - 9), f"{length} {unit}", points=SIGN_PT, fill=INK, anchor="ms")
    legend = x + width + 60
    pen.circle((legend, y), DOT_PX, fill=CAMERA, outline=HALO, width=2)
    signs = "camera, the way it looks and what it sees"
    write(pen, (legend + 14, y), signs, points=SIGN_PT, fill=INK, anchor="lm")
