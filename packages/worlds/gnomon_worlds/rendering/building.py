"""What stands in a generated building: floors, walls with doors, stairs, lifts, lamps and things."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from gnomon_tools.scene.scene import Point, Portal, Scene, Zone
from gnomon_worlds.rendering.solid import Colour, Sheet, Solid, along, flat, upright
from gnomon_worlds.world import World

CEILING_M = 3.2
DOOR_M, DOOR_TOP_M = 1.3, 2.1
TILE_M = 1.5
LAMP_GAP_M = 6.0

CORRIDOR_FLOOR, ROOM_FLOOR, JOINT = (166, 162, 152), (150, 128, 104), (150, 146, 137)
WALLS: tuple[Colour, ...] = ((224, 220, 208), (212, 218, 220), (226, 214, 198))
SKIRTING, FRAME, CEILING, LAMP = (120, 112, 104), (110, 82, 60), (236, 236, 232), (255, 255, 248)
RECESS_M = 1.7  # from one escalator to the next
STEPS = 9  # of an escalator that are seen in its recess
SHAFT, COMB, RAIL, GO, NO_ENTRY = (44, 48, 54), (226, 190, 60), (30, 32, 36), (34, 120, 84), (176, 44, 40)
STEEL, STEEL_DARK = (168, 174, 180), (104, 110, 118)
THINGS: dict[str, tuple[Colour, tuple[float, float, float]]] = {  # colour; breadth, depth, height
    "Vending Machine": ((52, 92, 148), (1.0, 0.7, 1.9)),
    "Printer": ((196, 198, 200), (0.8, 0.6, 1.1)),
    "Reception": ((150, 110, 76), (2.2, 0.8, 1.1)),
    "Water Cooler": ((188, 214, 230), (0.4, 0.4, 1.3)),
    "Notice Board": ((96, 130, 92), (1.6, 0.12, 2.0)),
    "First Aid Box": ((236, 238, 236), (0.5, 0.2, 1.7)),
}


@lru_cache(8)
def rooms(world: World, floor: int) -> tuple[Solid, ...]:
    """A storey: every room's floor, ceiling and walls from within, and what stands in it."""
    return tuple(Solid.of([sheet]) for sheet in _sheets(world, floor))


def lamps_of(world: World, floor: int) -> NDArray[np.float64]:
    """Where the lamps hang, (n, 2)."""
    lamps = [lamp for zone in world.scene.zones.values() if zone.floor == floor for lamp in _lamps(zone)]
    return np.array(lamps).reshape(-1, 2)


def _sheets(world: World, floor: int) -> Iterator[Sheet]:
    scene = world.scene
    for number, zone in enumerate(zone for zone in scene.zones.values() if zone.floor == floor):
        ring = _ring(zone.area)
        doors = [p.ends_m[0] for p in scene.portals.values() if p.kind == "door" and zone.id in p.zones]
        is_public = sum(zone.id in portal.zones for portal in scene.portals.values()) > 1
        colour = WALLS[0] if is_public else WALLS[1 + number % 2]
        yield _floor(scene, zone, ring, is_public=is_public)
        lamps = [(flat(_square(at, 0.65)[::-1], CEILING_M), LAMP) for at in _lamps(zone)]
        yield Sheet(flat(ring[::-1], CEILING_M), CEILING, lamps, glow=0.25)
        for start, end in zip(ring, (*ring[1:], ring[0]), strict=True):
            yield from _wall(end, start, doors, colour)
    for portal in scene.portals.values():
        if portal.kind != "door" and floor in (scene.zones[z].floor for z in portal.zones):
            yield from _climb(scene, portal, floor)
    for place in scene.places.values():
        if place.floor == floor and place.name in THINGS:
            yield from _thing(scene, place.name, place.xy_m, floor)


def _ring(area: Polygon) -> list[Point]:
    coordinates = shapely.get_coordinates(shapely.geometry.polygon.orient(area))[:-1]
    return [(float(x), float(y)) for x, y in coordinates]


def _square(middle: Point, half_m: float) -> list[Point]:
    x, y = middle
    return [
        (x - half_m, y - half_m),
        (x + half_m, y - half_m),
        (x + half_m, y + half_m),
        (x - half_m, y + half_m),
    ]


def _lamps(zone: Zone) -> Iterator[Point]:
    west, south, east, north = zone.area.bounds
    for x_m in _spread(west, east):
        for y_m in _spread(south, north):
            yield x_m, y_m


def _spread(low: float, high: float) -> list[float]:
    count = max(1, round((high - low) / LAMP_GAP_M))
    return [low + (number + 0.5) * (high - low) / count for number in range(count)]


def _floor(scene: Scene, zone: Zone, ring: list[Point], *, is_public: bool) -> Sheet:
    west, south, east, north = zone.area.bounds
    patches: list[tuple[list[tuple[float, float, float]], Colour]] = []
    colour = CORRIDOR_FLOOR if is_public else ROOM_FLOOR
    if is_public:
        joints = [(x_m - 0.02, south, x_m + 0.02, north) for x_m in np.arange(west + TILE_M, east, TILE_M)]
        joints += [(west, y_m - 0.02, east, y_m + 0.02) for y_m in np.arange(south + TILE_M, north, TILE_M)]
        patches += [(flat([(a, b), (c, b), (c, d), (a, d)], 0.0), JOINT) for a, b, c, d in joints]
    for portal in scene.portals.values():
        if zone.id not in portal.zones or portal.kind == "door":
            continue
        at = portal.ends_m[0]
        across = east - west < north - south  # stairs lie along the room
        if portal.kind == "lift":
            patches += [(flat(_square(at, 0.8), 0.0), STEEL_DARK), (flat(_square(at, 0.7), 0.0), STEEL)]
        elif portal.kind == "escalator":
            patches += [(flat(_square(at, 0.75), 0.0), COMB), (flat(_square(at, 0.65), 0.0), STEEL_DARK)]
        else:
            for step in range(8):
                low, high = -1.2 + 0.3 * step, -1.2 + 0.3 * (step + 1)
                strip = [(low, -0.8), (high, -0.8), (high, 0.8), (low, 0.8)]
                turned = [(v, u) for u, v in strip][::-1] if across else strip
                tone = 70.0 + 11 * step
                patches.append(
                    (flat([(at[0] + u, at[1] + v) for u, v in turned], 0.0), (tone, tone, tone - 4))
                )
    return Sheet(flat(ring, 0.0), colour, patches)


def _wall(start: Point, end: Point, doors: Sequence[Point], colour: Colour) -> Iterator[Sheet]:
    """A wall as seen from its right, with an opening at each of its doors."""
    length_m = math.dist(start, end)
    gaps = sorted(
        along_m
        for along_m, off_m in (_place(start, end, door) for door in doors)
        if off_m < 0.05 and 0 < along_m < length_m
    )
    at_m = 0.0
    for gap_m in gaps:
        low_m, high_m = max(gap_m - DOOR_M / 2, at_m), min(gap_m + DOOR_M / 2, length_m)
        if low_m > at_m:
            yield _stretch(start, end, at_m, low_m, colour, frame=(False, True))
        a, b = along(start, end, low_m), along(start, end, high_m)
        lintel = upright(a, b, (DOOR_TOP_M, CEILING_M))
        yield Sheet(lintel, colour, [(upright(a, b, (DOOR_TOP_M, DOOR_TOP_M + 0.1)), FRAME)])
        at_m = high_m
    if at_m < length_m:
        yield _stretch(start, end, at_m, length_m, colour, frame=(bool(gaps), False))


def _place(start: Point, end: Point, point: Point) -> tuple[float, float]:
    """How far along a line a point is, and how far off it."""
    length_m = math.dist(start, end)
    east, north = (end[0] - start[0]) / length_m, (end[1] - start[1]) / length_m
    x_m, y_m = point[0] - start[0], point[1] - start[1]
    return x_m * east + y_m * north, abs(x_m * north - y_m * east)


def _stretch(
    start: Point, end: Point, from_m: float, to_m: float, colour: Colour, *, frame: tuple[bool, bool]
) -> Sheet:
    a, b = along(start, end, from_m), along(start, end, to_m)
    patches: list[tuple[list[tuple[float, float, float]], Colour]] = [(upright(a, b, (0.0, 0.12)), SKIRTING)]
    darker = (colour[0] * 0.88, colour[1] * 0.9, colour[2] * 0.93)
    patches.append((upright(a, b, (0.12, 1.0)), darker))
    for is_framed, low_m, high_m in ((frame[0], from_m, from_m + 0.1), (frame[1], to_m - 0.1, to_m)):
        if is_framed:
            jamb = along(start, end, low_m), along(start, end, high_m)
            patches.append((upright(*jamb, (0.0, DOOR_TOP_M + 0.1)), FRAME))
    return Sheet(upright(a, b, (0.0, CEILING_M)), colour, patches)


def _climb(scene: Scene, portal: Portal, floor: int) -> Iterator[Sheet]:
    """A lift's doors, an escalator's recess or the sign of stairs, on the nearest wall."""
    zone = next(scene.zones[z] for z in portal.zones if scene.zones[z].floor == floor)
    at = portal.ends_m[0]
    start, end = _nearest_wall(zone, at)
    along_m, _ = _place(start, end, at)
    inwards = _inwards(start, end)
    if portal.is_oneway and floor != scene.zones[portal.zones[0]].floor:
        along_m += RECESS_M  # beside the one on which people go on

    def plate(low_m: float, high_m: float, z_m: tuple[float, float]) -> list[tuple[float, float, float]]:
        a, b = along(start, end, along_m + low_m), along(start, end, along_m + high_m)
        return [(x + 0.03 * inwards[0], y + 0.03 * inwards[1], z) for x, y, z in upright(b, a, z_m)]

    if portal.kind == "lift":
        patches = [
            (plate(-0.75, -0.02, (0.02, 2.15)), STEEL),
            (plate(0.02, 0.75, (0.02, 2.15)), STEEL),
            (plate(1.0, 1.12, (1.0, 1.3)), (60, 66, 74)),
        ]
        yield Sheet(plate(-0.9, 1.2, (0.0, 2.3)), STEEL_DARK, patches)
        yield Sheet(
            plate(-0.3, 0.3, (2.4, 2.62)), (40, 44, 48), [(plate(-0.1, 0.1, (2.44, 2.58)), (250, 160, 60))]
        )
    elif portal.kind == "escalator":
        first, last = (scene.zones[zone].floor for zone in portal.zones)
        yield from _escalator(
            plate, is_up=last > first, is_entry=floor == first, rises=floor < max(first, last)
        )
    else:
        steps = [
            (plate(-0.32 + 0.16 * n, 0.32, (1.86 + 0.1 * n, 1.96 + 0.1 * n)), (244, 246, 244))
            for n in range(4)
        ]
        yield Sheet(plate(-0.42, 0.42, (1.8, 2.34)), (34, 120, 84), steps, glow=0.6)


def _escalator(
    plate: Callable[[float, float, tuple[float, float]], list[tuple[float, float, float]]],
    *,
    is_up: bool,
    is_entry: bool,
    rises: bool,
) -> Iterator[Sheet]:
    """The steps of an escalator in a recess of the wall; above, its direction or that nobody may enter."""
    patches: list[tuple[list[tuple[float, float, float]], Colour]] = [(plate(-0.62, 0.62, (0.0, 2.2)), SHAFT)]
    for step in range(STEPS):
        near, far = step / STEPS, (step + 1) / STEPS
        half_m = 0.5 - 0.22 * near
        low_m, high_m = (1.5 * near, 1.5 * far) if rises else (0.42 * near, 0.42 * far)
        tone = (150.0 - 9 * step) if rises else (110.0 - 10 * step)
        patches.append((plate(-half_m, half_m, (low_m, high_m)), (tone, tone, tone + 4)))
        patches.append((plate(-half_m, half_m, (high_m - 0.03, high_m)), COMB))
    for side in (-1, 1):
        low_m, high_m = sorted((side * 0.5, side * 0.62))
        patches.append((plate(low_m, high_m, (0.0, 1.05)), RAIL))
    yield Sheet(plate(-0.75, 0.75, (0.0, 2.3)), STEEL, patches)
    if is_entry:
        head_m = (2.46, 2.7) if is_up else (2.7, 2.46)
        arrow = [
            (plate(-0.26 + 0.065 * n, 0.26 - 0.065 * n, _between(head_m, n / 4)), (244, 246, 244))
            for n in range(4)
        ]
        yield Sheet(plate(-0.4, 0.4, (2.4, 2.76)), GO, arrow, glow=0.6)
    else:
        yield Sheet(
            plate(-0.4, 0.4, (2.4, 2.76)),
            NO_ENTRY,
            [(plate(-0.3, 0.3, (2.53, 2.63)), (244, 246, 244))],
            glow=0.6,
        )


def _between(ends_m: tuple[float, float], share: float) -> tuple[float, float]:
    """A quarter of the height from a share of it on, lower end first."""
    span_m = ends_m[1] - ends_m[0]
    low_m, high_m = sorted((ends_m[0] + share * span_m, ends_m[0] + (share + 0.25) * span_m))
    return low_m, high_m


def _nearest_wall(zone: Zone, at: Point) -> tuple[Point, Point]:
    ring = _ring(zone.area)
    return min(zip(ring, (*ring[1:], ring[0]), strict=True), key=lambda wall: _place(wall[0], wall[1], at)[1])


def _inwards(start: Point, end: Point) -> Point:
    """Unit vector to the left of a wall of an anticlockwise ring: into its room."""
    length_m = math.dist(start, end)
    return (-(end[1] - start[1]) / length_m, (end[0] - start[0]) / length_m)


def _thing(scene: Scene, name: str, at: Point, floor: int) -> Iterator[Sheet]:
    """A thing, moved from the middle of its room to the nearest wall, out of everybody's way."""
    colour, (broad_m, deep_m, tall_m) = THINGS[name]
    zone = next(
        (z for z in scene.zones.values() if z.floor == floor and z.area.contains(shapely.Point(at))), None
    )
    if zone is None:
        return
    start, end = _nearest_wall(zone, at)
    along_m, _ = _place(start, end, at)
    inwards = _inwards(start, end)
    a, b = along(start, end, along_m - broad_m / 2 + 0.9), along(start, end, along_m + broad_m / 2 + 0.9)
    back = [(x + 0.02 * inwards[0], y + 0.02 * inwards[1]) for x, y in (a, b)]
    front = [(x + deep_m * inwards[0], y + deep_m * inwards[1]) for x, y in (a, b)]
    ring = [back[0], back[1], front[1], front[0]]
    darker = (colour[0] * 0.55, colour[1] * 0.55, colour[2] * 0.55)
    for p, q in zip(ring, (*ring[1:], ring[0]), strict=True):
        length_m = math.dist(p, q)
        pane = upright(
            along(p, q, 0.12 * length_m), along(p, q, 0.88 * length_m), (0.52 * tall_m, 0.9 * tall_m)
        )
        yield Sheet(upright(p, q, (0.0, tall_m)), colour, [(pane, darker)])
    yield Sheet(flat(ring, tall_m), colour)
