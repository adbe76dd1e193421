"""What stands in a generated town: streets with kerbs and marks, buildings, trees, lamps, parked cars."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LineString, Polygon
from shapely.geometry.base import BaseGeometry

from gnomon.core.ids import stable_seed
from gnomon_tools.scene.scene import Point, Road
from gnomon_worlds.buildings import STOREY_M, draw_buildings, widened
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.outdoor import GREEN_M, greens_of
from gnomon_worlds.rendering.solid import Colour, Sheet, Solid, along, darker, flat, upright
from gnomon_worlds.world import World

STREET_M, WALK_M = 3.6, 6.2  # half widths: of the carriageway, of the street with its pavements
FAR_M = 190.0  # beyond, haze and other buildings hide all
PARKED_M = 2.55  # from the middle of a street to that of a parked car
PARKING_LINES_M = (-1.6, 1.6)
JUNCTION_M = 12.0  # from a junction within which nothing stands at the kerb

ASPHALT, MARK, KERB, PAVING = (86, 88, 92), (214, 214, 206), (186, 182, 174), (160, 156, 148)
YARD, LAWN, PATH = (126, 132, 100), (98, 134, 72), (178, 164, 136)
FACADES: tuple[Colour, ...] = (
    (176, 96, 76), (206, 186, 150), (188, 178, 166), (150, 108, 84), (214, 204, 184), (136, 142, 150),
    (196, 150, 110), (166, 172, 160), (120, 88, 78),
)  # fmt: skip
ROOF: Colour = (104, 98, 96)
GLASS: tuple[Colour, ...] = ((74, 92, 112), (88, 108, 128), (62, 76, 94))
DOOR: Colour = (84, 62, 50)
LAMPLIGHT: Colour = (255, 222, 150)
LEAVES: tuple[Colour, ...] = ((72, 112, 52), (86, 128, 60), (62, 100, 56))


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """A box with a flat roof; its ring goes round anticlockwise."""

    ring_m: tuple[Point, ...]
    height_m: float
    facade: Colour
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Town:
    """All that stands still in a town, but for the ground."""

    buildings: tuple[Building, ...]
    trees_m: tuple[tuple[float, float, float], ...]  # x, y, height
    lamps_m: NDArray[np.float64]
    parked: tuple[tuple[Point, float, int], ...]  # where, facing which way, number of its look


@lru_cache(8)
def town_of(world: World) -> Town:
    """Draw what stands beside a world's streets.

    Where the world has no buildings of its own, none hides a street that a camera looks at.
    """
    rng = Random(stable_seed("town", world.scene.id))
    roads = list(world.scene.roads.values())
    wider_m = wider_m_of(world)
    lines = widened(roads, wider_m)
    greens = greens_of(world.scene.places)
    wedges = _sight_lines(world, roads)
    standing = world.buildings or draw_buildings(rng, roads, [*wedges, *greens], wider_m)
    built = [building.area for building in standing]
    buildings = [
        Building(
            ring_m=_ring(building.area),
            height_m=building.height_m,
            facade=rng.choice(FACADES),
            seed=rng.randrange(2**31),
        )
        for building in standing
    ]
    sights = shapely.union_all(wedges)
    kerbside = [spot for road in roads for spot in _kerbside(rng, road, wider_m.get(road.id, 0.0))]
    stands = shapely.points([spot[0] for spot in kerbside])
    clear_of_lines = shapely.distance(stands, lines)
    hides = shapely.distance(stands, sights) < 2.2
    blocked = (
        shapely.distance(stands, shapely.union_all(built)) < 1.0 if built else np.zeros(len(stands), bool)
    )
    trees, lamps, parked = [], [], []
    for (at, facing, kind, number), away_m, is_hiding, is_blocked in zip(
        kerbside, clear_of_lines.tolist(), hides.tolist(), blocked.tolist(), strict=True
    ):
        if kind == "parked" and not world.lanes and away_m > PARKED_M - 0.1:
            parked.append((at, facing, number))
        elif kind == "lamp" and away_m > STREET_M:
            lamps.append(at)
        elif kind == "tree" and away_m > STREET_M + 0.8 and not is_hiding and not is_blocked:
            trees.append((*at, 5.5 + number % 30 / 10))
    for green in greens:
        for _ in range(16):
            turn, out_m = rng.uniform(0, 2 * math.pi), rng.uniform(5, GREEN_M - 2)
            x_m, y_m = green.centroid.x + out_m * math.cos(turn), green.centroid.y + out_m * math.sin(turn)
            if (
                shapely.distance(shapely.Point(x_m, y_m), sights) > 3
                and lines.distance(shapely.Point(x_m, y_m)) > WALK_M
            ):
                trees.append((x_m, y_m, rng.uniform(5, 8)))
    return Town(
        buildings=tuple(buildings),
        trees_m=tuple(trees),
        lamps_m=np.array(lamps).reshape(-1, 2),
        parked=tuple(parked),
    )


def _ring(area: Polygon) -> tuple[Point, ...]:
    ring = shapely.get_coordinates(shapely.geometry.polygon.orient(area))[:-1]
    return tuple((float(x), float(y)) for x, y in ring)


def _sight_lines(world: World, roads: Sequence[Road]) -> list[BaseGeometry]:
    """The ground between each camera and the streets in its view."""
    lines = [road.line for road in roads]
    wedges: list[BaseGeometry] = []
    for camera in world.scene.cameras.values():
        hung = shapely.Point(world.installation.mounts[camera.id].xy_m)
        parts = shapely.get_parts(shapely.intersection(lines, camera.field_of_view))
        wedges += [shapely.union(part.buffer(2.0), hung).convex_hull for part in parts if not part.is_empty]
    return wedges


def _kerbside(rng: Random, road: Road, wider_m: float) -> Iterator[tuple[Point, float, str, int]]:
    """Where lamps, trees and parked cars stand along a street: point, direction, kind and a number."""
    start, end = ((float(x), float(y)) for x, y in (road.line.coords[0], road.line.coords[-1]))
    east, north = (end[0] - start[0]) / road.line.length, (end[1] - start[1]) / road.line.length
    facing = math.degrees(math.atan2(east, north))
    for side in (-1, 1):
        for step_m, kind, out_m, share in (
            (6.0, "parked", PARKED_M, 0.22), (24.0, "lamp", STREET_M + wider_m + 0.6, 1.0),
            (9.0, "tree", STREET_M + wider_m + 1.1, 0.55)
        ):  # fmt: skip
            at_m = JUNCTION_M + rng.uniform(0, step_m)
            while at_m < road.line.length - JUNCTION_M:
                number = rng.randrange(1000)
                if rng.random() < share:
                    at = (
                        start[0] + at_m * east + side * out_m * north,
                        start[1] + at_m * north - side * out_m * east,
                    )
                    yield at, facing + (180 if side < 0 else 0), kind, number
                at_m += step_m


def ground(world: World, mount: Mount, lines_m: Sequence[float] = PARKING_LINES_M) -> Solid:
    """Yards and lawns, pavements, kerbs, carriageways and their marks, as far as they can be seen.

    `lines_m`: how far from the middle of a street its broken lines are.
    """
    (x_m, y_m) = mount.xy_m
    reach = shapely.box(x_m - FAR_M, y_m - FAR_M, x_m + FAR_M, y_m + FAR_M)
    roads = [road for road in world.scene.roads.values() if road.line.intersects(reach)]
    patches: list[tuple[list[tuple[float, float, float]], Colour]] = []
    wider_m = wider_m_of(world)
    for place in world.scene.places.values():
        if place.kind == "park" and math.dist(place.xy_m, mount.xy_m) < FAR_M:
            patches.append((_round(place.xy_m, GREEN_M), LAWN))
            patches.append((_round(place.xy_m, 7.0), PATH))
            patches.append((_round(place.xy_m, 5.4), LAWN))
    for half_m, colour in (
        (WALK_M, PAVING), (STREET_M + 0.22, KERB), (STREET_M, ASPHALT),
    ):  # fmt: skip
        patches += [(_capsule(road.line, half_m + wider_m.get(road.id, 0.0)), colour) for road in roads]
    for road in roads:
        borders_m = world.lanes[road.id].borders_m if world.lanes else lines_m
        patches += _marks(road, borders_m, wider_m.get(road.id, 0.0))
    size = 3 * FAR_M
    square = [
        (x_m - size, y_m - size),
        (x_m + size, y_m - size),
        (x_m + size, y_m + size),
        (x_m - size, y_m + size),
    ]
    return Solid.of([Sheet(flat(square, 0.0), YARD, patches)])


def wider_m_of(world: World) -> dict[str, float]:
    """By road, how much broader than STREET_M its carriageway is on each side."""
    return {road: lanes.widening_m for road, lanes in world.lanes.items()}


def _round(middle: Point, radius_m: float) -> list[tuple[float, float, float]]:
    turns = np.linspace(0, 2 * math.pi, 28, endpoint=False)
    return [
        (middle[0] + radius_m * math.cos(turn), middle[1] + radius_m * math.sin(turn), 0.0) for turn in turns
    ]


def _capsule(line: LineString, half_m: float) -> list[tuple[float, float, float]]:
    return [
        (float(x), float(y), 0.0) for x, y in shapely.get_coordinates(line.buffer(half_m, quad_segs=6))[:-1]
    ]


def _marks(
    road: Road, lines_m: Sequence[float], wider_m: float
) -> Iterator[tuple[list[tuple[float, float, float]], Colour]]:
    """Broken lines, and a crossing for walkers before each junction."""
    start, end = ((float(x), float(y)) for x, y in (road.line.coords[0], road.line.coords[-1]))
    length_m = road.line.length
    east, north = (end[0] - start[0]) / length_m, (end[1] - start[1]) / length_m

    def strip(from_m: float, to_m: float, left_m: float, right_m: float) -> list[tuple[float, float, float]]:
        return [
            (start[0] + a * east + o * north, start[1] + a * north - o * east, 0.0)
            for a, o in ((from_m, left_m), (to_m, left_m), (to_m, right_m), (from_m, right_m))
        ]

    at_m = JUNCTION_M
    while at_m < length_m - JUNCTION_M:
        for out_m in lines_m:
            yield strip(at_m, at_m + 1.6, out_m - 0.06, out_m + 0.06), MARK
        at_m += 3.2
    for from_m in (6.6, length_m - 9.4):
        for number in range(7 + 2 * math.ceil(wider_m)):
            left_m = -3.2 - wider_m + number * 0.98
            if left_m > 2.8 + wider_m:
                break
            yield strip(from_m, from_m + 2.8, left_m, left_m + 0.5), MARK


@lru_cache(512)
def house(building: Building, *, is_lit: bool = False) -> Solid:
    """A building, or its bright windows alone."""
    return Solid.of(walls(building, is_lit=is_lit))


def walls(building: Building, *, is_lit: bool = False) -> Iterator[Sheet]:
    """A building's walls with windows and doors; `is_lit`: the windows that are bright at night, alone."""
    rng = Random(building.seed)
    ring, height_m = building.ring_m, building.height_m
    for start, end in zip(ring, (*ring[1:], ring[0]), strict=True):
        length_m = math.dist(start, end)
        count = max(1, int((length_m - 0.8) / 2.6))
        gap_m = length_m / count
        storeys = round((height_m - 0.8) / STOREY_M)
        wall = upright(start, end, (0.0, height_m))
        patches: list[tuple[list[tuple[float, float, float]], Colour]] = [
            (upright(start, end, (0.0, 0.5)), darker(building.facade, 0.62)),
            (upright(start, end, (height_m - 0.45, height_m)), darker(building.facade, 0.8)),
        ]
        door = rng.randrange(count)
        for storey in range(storeys):
            for number in range(count):
                middle_m = (number + 0.5) * gap_m
                is_bright = rng.random() < 0.3
                if storey == 0 and number == door:
                    half_m, low_m, top_m, colour = 0.6, 0.0, 2.2, DOOR
                else:
                    half_m, low_m, top_m = 0.62, storey * STOREY_M + 0.95, storey * STOREY_M + 2.45
                    colour = rng.choice(GLASS)
                left, right = (along(start, end, middle_m + side * half_m) for side in (-1, 1))
                pane = upright(left, right, (low_m, top_m))
                if is_lit and is_bright and (storey, number) != (0, door):
                    yield Sheet(_outwards(pane), LAMPLIGHT, glow=1.0)
                edge = [along(start, end, middle_m + side * (half_m + 0.1)) for side in (-1, 1)]
                patches.append(
                    (upright(edge[0], edge[1], (low_m - 0.1 * (low_m > 0), top_m + 0.1)), (226, 222, 214))
                )
                patches.append((pane, colour))
        if not is_lit:
            yield Sheet(wall, building.facade, patches)
    if not is_lit:
        yield Sheet(flat(ring, height_m), ROOF)


def _outwards(pane: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """A pane a hand's breadth before its wall, so that it is drawn over the wall."""
    (x0, y0, _), (x1, y1, _) = pane[0], pane[1]
    length_m = math.dist((x0, y0), (x1, y1))
    out = (0.06 * (y1 - y0) / length_m, -0.06 * (x1 - x0) / length_m)
    return [(x + out[0], y + out[1], z) for x, y, z in pane]


def facing_camera(
    at: Point,
    mount: Mount,
    shapes: Sequence[tuple[Sequence[tuple[float, float]], Colour]],
    *,
    glow: float = 0.0,
) -> Iterator[Sheet]:
    """Flat shapes of (across, up) in metres, upright at a point and turned towards the camera."""
    away_m = math.dist(at, mount.xy_m) or 1.0
    east, north = (at[1] - mount.xy_m[1]) / away_m, -(at[0] - mount.xy_m[0]) / away_m
    for shape, colour in shapes:
        yield Sheet([(at[0] + u * east, at[1] + u * north, up) for u, up in shape], colour, glow=glow)


def tree(at: tuple[float, float, float], mount: Mount) -> Solid:
    """A trunk and a crown of some clumps of leaves."""
    x_m, y_m, height_m = at
    rng = Random(stable_seed("tree", round(x_m * 100), round(y_m * 100)))
    shapes: list[tuple[list[tuple[float, float]], Colour]] = [
        ([(-0.14, 0), (0.14, 0), (0.1, 0.6 * height_m), (-0.1, 0.6 * height_m)], (92, 74, 58))
    ]
    radius_m = 0.24 * height_m
    for number in range(9):
        middle = (rng.uniform(-0.6, 0.6) * radius_m, (0.68 + rng.uniform(-0.14, 0.16)) * height_m)
        size_m = radius_m * rng.uniform(0.5, 0.75)
        clump = [
            (
                middle[0] + size_m * rng.uniform(0.86, 1.1) * math.cos(turn),
                middle[1] + 0.85 * size_m * rng.uniform(0.86, 1.1) * math.sin(turn),
            )
            for turn in np.linspace(0, 2 * math.pi, 14, endpoint=False).tolist()
        ]
        shapes.append((clump, darker(LEAVES[number % 3], 0.72 + 0.05 * number)))
    nearer = []
    for number, sheet in enumerate(facing_camera((x_m, y_m), mount, shapes)):
        towards = 0.02 * number
        away_m = math.dist((x_m, y_m), mount.xy_m)
        shift = ((mount.xy_m[0] - x_m) / away_m * towards, (mount.xy_m[1] - y_m) / away_m * towards)
        nearer.append(sheet._replace(corners=[(x + shift[0], y + shift[1], z) for x, y, z in sheet.corners]))
    return Solid.of(nearer)


def lamp(at: Point, mount: Mount) -> Solid:
    """A street lamp."""
    post = [(-0.07, 0.0), (0.07, 0.0), (0.05, 5.2), (-0.05, 5.2)]
    head = [(-0.3, 5.15), (0.3, 5.15), (0.22, 5.4), (-0.22, 5.4)]
    return Solid.of(facing_camera(at, mount, [(post, (70, 72, 76)), (head, (222, 216, 190))], glow=0.0))
