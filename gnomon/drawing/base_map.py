"""Draws what lies under the layers: roads or rooms, cameras and what they see, named places, a graticule."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import shapely
from markupsafe import Markup
from shapely import LineString, Polygon
from shapely.geometry.base import BaseGeometry

from gnomon.drawing.labels import BESIDE, CENTRE, NARROW, Rect, Side, Wish, around, path_of, text_width
from gnomon.drawing.markup import tag
from gnomon.drawing.plan import LETTERS, Bounds, Earth, Plan, ViewBox
from gnomon_tools.core.sketch import XY
from gnomon_tools.geometry.camera_view import View, view_of_camera
from gnomon_tools.geometry.oriented_boxes import footprint
from gnomon_tools.scene.scene import Camera, Scene

ROAD_M, ROAD_PX = 7.0, (5.0, 15.0)  # width of a road, and the least and most that is drawn
DOOR_M = 1.3
SIGN_PX = 30.0  # flights of stairs closer than this share a sign
SIMPLER = 0.4  # pixels by which outlines may be off
RANKS = {"camera": 10, "place": 20, "portal": 25, "room": 30, "street": 40, "degree": 50}
SIZES = {"camera": 0.9, "place": 0.85, "portal": 0.85, "room": 0.8, "street": 0.8, "degree": 0.8}
SCALE_STEPS = (1, 2, 5)
DEGREES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # of a graticule
MOST_MERIDIANS = 10


@dataclass(slots=True, kw_only=True)
class Base:
    """The elements of a base map from bottom to top, their labels, and areas that labels must not cover."""

    elements: list[Markup] = field(default_factory=list)
    wishes: list[Wish] = field(default_factory=list)
    taken: list[Rect] = field(default_factory=list)
    camera_ids: dict[str, str] = field(default_factory=dict)  # of the elements, by camera


def bounds_of_scene(scene: Scene, views: dict[str, View]) -> Bounds | None:
    """West, south, east and north in metres of all that is drawn of a scene; None where there is nothing."""
    shapes: list[BaseGeometry] = [
        *(road.line for road in scene.roads.values()),
        *(zone.area for zone in scene.zones.values()),
        *(view.area for view in views.values()),
        *(shapely.Point(place.xy_m) for place in scene.places.values()),
        *map(footprint, scene.boxes.values()),
        *(shapely.Point(camera.xy_m) for camera in scene.cameras.values() if camera.xy_m is not None),
    ]
    if not shapes:
        return None
    west, south, east, north = map(float, shapely.total_bounds(shapes))
    return (west, south, east, north) if math.isfinite(west + south + east + north) else None


def views_of_scene(scene: Scene) -> dict[str, View]:
    """What each camera sees, known or presumed; cameras of which too little is known are left out."""
    views = {name: view_of_camera(scene, camera) for name, camera in scene.cameras.items()}
    return {name: view for name, view in views.items() if view is not None}


def floors_of(scene: Scene) -> list[int]:
    """The floors of a scene, rising; one for a scene outdoors."""
    floors = {zone.floor for zone in scene.zones.values()}
    if scene.kind == "indoor":
        floors |= {camera.floor for camera in scene.cameras.values()}
        floors |= {place.floor for place in scene.places.values()}
    return sorted(floors) or [0]


def scene_base(scene: Scene, plan: Plan, views: dict[str, View], ident: str) -> Base:
    """The map of a scene; ids of its elements begin with `ident`."""
    base = Base()
    _panels(base, plan)
    _greens(base, scene, plan)
    _roads(base, scene, plan, ident)
    _rooms(base, scene, plan)
    _cameras(base, scene, plan, views, ident)
    _places(base, scene, plan)
    _boxes(base, scene, plan)
    return base


def _panels(base: Base, plan: Plan) -> None:
    if len(plan.offsets) > 1:
        for floor in plan.offsets:
            left, top, right, bottom = plan.panel(floor)
            base.elements.append(
                tag("rect", class_="floor", x=left, y=top, width=right - left, height=bottom - top)
            )


def _greens(base: Base, scene: Scene, plan: Plan) -> None:
    for place in scene.places.values():
        if place.kind == "park":
            x, y = plan.at(place.xy_m, place.floor)
            base.elements.append(tag("circle", class_="green", cx=x, cy=y, r=20.0 * plan.per_unit))


def _roads(base: Base, scene: Scene, plan: Plan, ident: str) -> None:
    if not scene.roads:
        return
    lines = [[plan.at((x, y)) for x, y in _simpler(road.line, plan).coords] for road in scene.roads.values()]
    width = min(max(ROAD_M * plan.per_unit, ROAD_PX[0]), ROAD_PX[1])
    roads = tag("path", id=f"{ident}-roads", d=path_of(lines, is_closed=False))
    base.elements += [
        tag("defs", roads),
        tag("use", href=f"#{ident}-roads", class_="kerb", stroke_width=width + 2.5),
        tag("use", href=f"#{ident}-roads", class_="road", stroke_width=width),
    ]
    longest: dict[str, LineString] = {}
    for road in scene.roads.values():
        if road.name and (road.name not in longest or road.line.length > longest[road.name].length):
            longest[road.name] = road.line
    for name, line in longest.items():
        middle = line.interpolate(0.5, normalized=True)
        base.wishes.append(_wish("street", plan.at((middle.x, middle.y)), name, sides=CENTRE))


def _rooms(base: Base, scene: Scene, plan: Plan) -> None:
    used = Counter(zone for portal in scene.portals.values() for zone in portal.zones)
    rooms: dict[str, list[list[XY]]] = {"room": [], "hall": []}
    for zone in scene.zones.values():
        kind = "hall" if used[zone.id] > 1 else "room"
        rooms[kind].append(_ring(zone.area, plan, zone.floor))
        left, top, right, bottom = _pixel_box(zone.area, plan, zone.floor)
        if zone.name:
            middle = ((left + right) / 2, (top + bottom) / 2)
            box = (left, top, right, bottom)
            base.wishes.append(_wish("room", middle, zone.name, sides=CENTRE, room=box))
    base.elements += [
        tag("path", class_=kind, d=path_of(rings, is_closed=True)) for kind, rings in rooms.items() if rings
    ]
    doors = list(_doors(scene, plan))
    if doors:
        base.elements.append(tag("path", class_="door", d=path_of(doors, is_closed=False)))
    signs: list[tuple[str, XY]] = []
    for kind, floor, xy_m in _stairs(scene):
        x, y = plan.at(xy_m, floor)
        if any(kind == other and math.dist((x, y), at) < SIGN_PX for other, at in signs):
            continue  # flights of one staircase
        signs.append((kind, (x, y)))
        base.elements.append(_stairs_sign(kind, x, y))
        base.taken.append(around((x, y), 7))
        base.wishes.append(_wish("portal", (x, y), kind))


def _doors(scene: Scene, plan: Plan) -> Iterable[list[XY]]:
    for portal in scene.portals.values():
        if portal.kind != "door" or not all(zone in scene.zones for zone in portal.zones):
            continue
        zone, neighbour = (scene.zones[zone_id] for zone_id in portal.zones)
        opening = shapely.Point(portal.ends_m[0]).buffer(DOOR_M / 2)
        gap = zone.area.intersection(neighbour.area).intersection(opening)
        if isinstance(gap, LineString) and not gap.is_empty:
            yield [plan.at((x, y), zone.floor) for x, y in gap.coords]
        else:
            yield [plan.at(end, zone.floor) for end in portal.ends_m]


def _stairs(scene: Scene) -> list[tuple[str, int, XY]]:
    """Stairs, lifts and escalators, each once on every floor that it reaches."""
    ends: dict[tuple[str, int, XY], None] = {}
    for portal in scene.portals.values():
        if portal.kind != "door":
            for zone, xy_m in zip(portal.zones, portal.ends_m, strict=True):
                if zone in scene.zones:
                    ends[portal.kind, scene.zones[zone].floor, xy_m] = None
    return list(ends)


SIGNS = {
    "stairs": "M-5 4h3v-3h3v-3h4",
    "lift": "M-3 3V-3l-2 2M3-3V3l2-2",
    "escalator": "M-5 4h2l6-7h2M0-4h5v5",
}


def _stairs_sign(kind: str, x: float, y: float) -> Markup:
    """A box with three steps in it, with an arrow up and one down, or with a slope and its arrow."""
    steps = SIGNS.get(kind, SIGNS["lift"])
    box = tag("rect", x=-6.5, y=-6.5, width=13, height=13, rx=2)
    return tag("g", box, tag("path", d=steps), class_="portal", transform=f"translate({point(x, y)})")


def point(x: float, y: float) -> str:
    """A point as attributes write it."""
    return f"{x:.1f} {y:.1f}"


def _cameras(base: Base, scene: Scene, plan: Plan, views: dict[str, View], ident: str) -> None:
    for index, camera in enumerate(scene.cameras.values()):
        view = views.get(camera.id)
        at = camera_point(camera, view)
        if at is None:
            continue
        parts = []
        if view is not None:
            ring = _ring(view.area, plan, camera.floor)
            css = "cone presumed" if view.presumed else "cone"
            parts.append(tag("path", class_=css, d=path_of([ring], is_closed=True)))
        x, y = plan.at(at, camera.floor)
        if camera.xy_m is not None:
            parts.append(tag("circle", cx=x, cy=y, r=".3em"))
            base.taken.append(around((x, y), LETTERS * 0.35))
        base.camera_ids[camera.id] = f"{ident}-c{index}"
        base.elements.append(tag("g", *parts, id=f"{ident}-c{index}", class_="camera", data_camera=camera.id))
        base.wishes.append(_wish("camera", (x, y), camera.id))


def camera_point(camera: Camera, view: View | None) -> XY | None:
    """Where a camera's name belongs: where it hangs, else in the middle of what it sees; in metres."""
    if camera.xy_m is not None:
        return camera.xy_m
    if view is None:
        return None
    middle = view.area.representative_point()
    return middle.x, middle.y


def _places(base: Base, scene: Scene, plan: Plan) -> None:
    dots = []
    for place in scene.places.values():
        x, y = plan.at(place.xy_m, place.floor)
        dots.append(tag("circle", cx=x, cy=y, r=".2em"))
        base.taken.append(around((x, y), LETTERS * 0.22))
        base.wishes.append(_wish("place", (x, y), place.name))
    if dots:
        base.elements.append(tag("g", *dots, class_="places"))


def _boxes(base: Base, scene: Scene, plan: Plan) -> None:
    """The boxes from above, the lowest first, each with its name."""
    for box in sorted(scene.boxes.values(), key=lambda box: box.centre_m[2]):
        ring = [plan.at((x, y)) for x, y in shapely.get_coordinates(footprint(box)).tolist()[:-1]]
        base.elements.append(tag("path", class_="room", d=path_of([ring], is_closed=True)))
        middle = plan.at((box.centre_m[0], box.centre_m[1]))
        base.wishes.append(_wish("place", middle, box.name, sides=(*CENTRE, *BESIDE)))


def _wish(
    kind: str, at: XY, text: str, *, sides: tuple[Side, ...] = BESIDE, room: Rect | None = None
) -> Wish:
    css, rank, size = f"{kind}-name", RANKS[kind], SIZES[kind]
    return Wish(at=at, text=text, css=css, rank=rank, size=size, sides=sides, room=room)


def _simpler(line: LineString, plan: Plan) -> LineString:
    simpler = line.simplify(SIMPLER / plan.per_unit)
    return simpler if isinstance(simpler, LineString) and not simpler.is_empty else line


def _ring(area: Polygon, plan: Plan, floor: int) -> list[XY]:
    simpler = area.simplify(SIMPLER / plan.per_unit)
    ring = simpler if isinstance(simpler, Polygon) and not simpler.is_empty else area
    return [plan.at((x, y), floor) for x, y in list(ring.exterior.coords)[:-1]]


def _pixel_box(area: Polygon, plan: Plan, floor: int) -> Rect:
    west, south, east, north = area.bounds
    (left, top), (right, bottom) = plan.at((west, north), floor), plan.at((east, south), floor)
    return left, top, right, bottom


def earth_base(plan: Plan, earth: Earth) -> Base:
    """A graticule of round degrees over the whole picture."""
    view = plan.whole
    west, north = earth.degrees((view.x / plan.per_unit, -view.y / plan.per_unit))
    right, bottom = view.rect[2], view.rect[3]
    east, south = earth.degrees((right / plan.per_unit, -bottom / plan.per_unit))
    step = next((step for step in DEGREES if (east - west) / step <= MOST_MERIDIANS), DEGREES[-1])
    base, lines = Base(), []
    for lon in _multiples(west, east, step):
        x, _ = plan.at((lon, south))
        lines.append([(x, view.y), (x, bottom)])
        base.wishes.append(_wish("degree", (x, plan.crop.rect[3]), _degrees(lon, step, "EW")))
    for lat in _multiples(south, north, step):
        _, y = plan.at((west, lat))
        lines.append([(view.x, y), (right, y)])
        base.wishes.append(_wish("degree", (plan.crop.x, y), _degrees(lat, step, "NS")))
    base.elements.append(tag("path", class_="graticule", d=path_of(lines, is_closed=False)))
    return base


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _degrees(value: float, step: float, sides: str) -> str:
    """A round degree with its side: 24.95° E."""
    digits = max(0, -math.floor(math.log10(step) + 1e-9) + (1 if f"{step:g}".endswith("25") else 0))
    side = sides[0] if value >= 0 else sides[1]
    return f"{abs(value):.{digits}f}° {side}"


def image_base(plan: Plan, href: str | None, size: tuple[float, float]) -> Base:
    """A picture at its full size."""
    left, top = plan.at((0.0, 0.0))
    width, height = size[0] * plan.per_unit, size[1] * plan.per_unit
    element = (
        tag("rect", class_="floor", x=left, y=top, width=width, height=height)
        if href is None
        else tag("image", href=href, x=left, y=top, width=width, height=height)
    )
    return Base(elements=[element])


def furniture(view: ViewBox, plan: Plan) -> tuple[list[Markup], list[Rect]]:
    """What belongs to the corners of one view: a scale bar of round length, an arrow to the north, names of
    floors; a picture has none of them. Also what they cover where letters are large.
    """
    if plan.unit == "px":
        return [], []
    em = view.letters
    left, top, right, bottom = view.rect
    longest = 0.2 * view.width / plan.per_unit
    power = 10.0 ** math.floor(math.log10(longest))
    length = max(step * power for step in SCALE_STEPS if step * power <= longest)
    text = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
    x, y, width = left + 0.9 * em, bottom - 0.9 * em, length * plan.per_unit
    tick = 0.45 * em
    bar = f"M{point(x, y - tick)}v{tick:.1f}h{width:.1f}v{-tick:.1f}"
    parts = [
        tag("path", class_="scale-bar", d=bar),
        tag("text", text, class_="scale-text", x=x + width / 2, y=y, dy="-.55em", text_anchor="middle"),
    ]
    taken: list[Rect] = [(left, y - 2.6 * em, x + width + em, bottom)]
    x, y = right - 1.6 * em, bottom - 1.2 * em
    turned = f"translate({point(x, y)})scale({em / LETTERS:.2f})"
    parts += [
        tag("path", class_="north", d="M0-13 5 4 0 1-5 4z", transform=turned),
        tag("text", "N", class_="scale-text", x=x, y=y - 1.15 * em, text_anchor="middle"),
    ]
    taken.append((right - 3.2 * em, bottom - 4.4 * em, right, bottom))
    for floor in plan.offsets if len(plan.offsets) > 1 else ():
        panel = plan.panel(floor)
        if panel[2] > left and panel[0] < right and panel[3] > top and panel[1] < bottom:
            name = f"Floor {floor}"
            x, y = max(panel[0], left) + 0.5 * em, max(panel[1], top) + 0.4 * em
            parts.append(tag("text", name, class_="floor-name", x=x, y=y, dy=".85em"))
            taken.append((x, y, x + NARROW * em * text_width(name), y + NARROW * 1.1 * em))
    return parts, taken
