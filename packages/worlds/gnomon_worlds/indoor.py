"""Generates indoor worlds: a building of some floors, its corridors, rooms and cameras."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal

import shapely

from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Point, Portal, Scene, ScenePlace, Zone
from gnomon_worlds.camera_model import Candidate, Mount, install
from gnomon_worlds.names import ROOMS, THINGS
from gnomon_worlds.world import Spot, World

LENGTH_M = (58.0, 72.0)
ROOM_DEPTH_M = 8.0
CORRIDOR_M = 3.0
CORE_DEPTH_M = 10.0  # of the rooms between the two long corridors
ROOM_WIDTH_M = (8.0, 14.0)
OPEN_HALLS = 0.3  # share of the core's rooms with a door to either corridor
PASSAGES = (0.04, 0.45, 0.9)  # where passages join the long corridors, as shares of the length

Core = Literal["rooms", "atrium", "yard"]
CORES: tuple[Core, ...] = ("rooms", "atrium", "yard")
JOINS: Mapping[Core, Callable[[int], Sequence[int]]] = {  # how many passages a floor may have
    "rooms": lambda _: (2, 3),
    "atrium": lambda _: (2, 3),
    "yard": lambda floor: (0, 1) if floor else (1,),
}

# From the south: rooms, corridor, core, corridor, rooms.
_ROWS_M = (
    0.0,
    ROOM_DEPTH_M,
    ROOM_DEPTH_M + CORRIDOR_M,
    ROOM_DEPTH_M + CORRIDOR_M + CORE_DEPTH_M,
    ROOM_DEPTH_M + 2 * CORRIDOR_M + CORE_DEPTH_M,
    2 * (ROOM_DEPTH_M + CORRIDOR_M) + CORE_DEPTH_M,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """A room, hall (open to both corridors), passage or long corridor; metres from the building's corner."""

    id: str
    kind: Literal["room", "hall", "passage", "corridor"]
    name: str
    x_m: tuple[float, float]
    y_m: tuple[float, float]

    @property
    def corners_m(self) -> tuple[Point, ...]:
        (west, east), (south, north) = self.x_m, self.y_m
        return ((west, south), (east, south), (east, north), (west, north))

    @property
    def middle_m(self) -> Point:
        return (sum(self.x_m) / 2, sum(self.y_m) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A door between two rectangles, at a point of the wall they share."""

    zones: tuple[str, str]
    xy_m: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorPlan:
    """One storey."""

    rectangles: tuple[Rectangle, ...]
    doors: tuple[Door, ...]


def floor_plan(rng: Random, *, floor: int, length_m: float, core: Core = "rooms") -> FloorPlan:
    """Draw a storey: two long corridors, joined by passages and halls, with rooms on all sides.

    Between the corridors there are rooms; or an atrium, a hall on the ground floor and nothing above it; or a
    yard that parts two wings, which are joined by few passages and by bridges.
    """
    corridors = tuple(
        Rectangle(
            id=f"z{floor}{letter}",
            kind="corridor",
            name=f"Corridor {floor}{letter}",
            x_m=(0.0, length_m),
            y_m=(_ROWS_M[row], _ROWS_M[row + 1]),
        )
        for letter, row in (("A", 1), ("B", 3))
    )
    numbers = iter(rng.sample(range(10, 100), 60))
    passages = list(_passages(rng, floor, length_m, JOINS[core](floor)))
    rooms: list[Rectangle] = []
    doors = [door for passage in passages for door in _doors(passage, corridors, 0.5)]
    walls_m = [0.0, *(edge for passage in passages for edge in passage.x_m), length_m]
    outer = ((0, 0.0, length_m, corridors[:1]), (4, 0.0, length_m, corridors[1:]))
    inner = ((2, west, east, corridors) for west, east in zip(walls_m[::2], walls_m[1::2], strict=True))
    is_open = core == "yard" or (core == "atrium" and floor > 0)
    for row, west, east, neighbours in outer if is_open else (*outer, *inner):
        for x_m in [(west, east)] if core == "atrium" and row == 2 else _widths(rng, west, east):
            hall = len(neighbours) == 2 and (rng.random() < OPEN_HALLS or core == "atrium")
            number = f"{floor}{next(numbers)}"
            room = Rectangle(
                id=f"z{number}",
                kind="hall" if hall else "room",
                name=f"{'Hall' if hall else rng.choice(ROOMS)} {number}",
                x_m=x_m,
                y_m=(_ROWS_M[row], _ROWS_M[row + 1]),
            )
            rooms.append(room)
            reached = neighbours if hall else (rng.choice(neighbours),)
            doors += _doors(room, reached, rng.uniform(0.2, 0.8))
    return FloorPlan(rectangles=(*corridors, *passages, *rooms), doors=tuple(doors))


def _passages(rng: Random, floor: int, length_m: float, counts: Sequence[int]) -> Iterator[Rectangle]:
    kept = rng.sample(PASSAGES, rng.choice(counts))
    for number, share in enumerate(sorted(kept), start=1):
        west = round(share * length_m, 2)
        yield Rectangle(
            id=f"z{floor}P{number}",
            kind="passage",
            name=f"Passage {floor}P{number}",
            x_m=(west, west + CORRIDOR_M),
            y_m=(_ROWS_M[2], _ROWS_M[3]),
        )


def _doors(room: Rectangle, neighbours: tuple[Rectangle, ...], share: float) -> Iterator[Door]:
    x_m = round(room.x_m[0] + share * (room.x_m[1] - room.x_m[0]), 2)
    for neighbour in neighbours:
        wall = set(room.y_m) & set(neighbour.y_m)
        yield Door(zones=(room.id, neighbour.id), xy_m=(x_m, wall.pop()))


def _widths(rng: Random, west: float, east: float) -> Iterator[tuple[float, float]]:
    """Draw the widths of rooms side by side from west to east; the last room gets what is left over."""
    if east - west < ROOM_WIDTH_M[0] / 2:
        if east - west > 1.0:
            yield west, east
        return
    edges = [west]
    while east - edges[-1] >= 2 * ROOM_WIDTH_M[0]:
        edges.append(round(edges[-1] + rng.uniform(*ROOM_WIDTH_M), 2))
        if east - edges[-1] < ROOM_WIDTH_M[0]:
            edges.pop()
            break
    yield from pairwise([*edges, east])


FLOORS = (2, 3)
SEVERAL = (1, 2, 3, 4, 5, 6)  # floors of buildings with several plans
A_FLOOR = 6  # cameras
STAIRS_M, LIFT_M = 12.0, 18.0  # a lift's wait and ride, as if walked
ESCALATOR_M = 6.4  # a rise of 3.2 m at 30 degrees
ESCALATORS = (0.26, 0.74)  # shares of the length at which one runs up and one down, each in its corridor
SLOT_M = 10.0  # of a corridor for one camera, about
CEILING_M = (2.6, 3.0)
LOW_M = (2.0, 2.3)  # on walls of crowded buildings: people hide people from these
FOV_DEG = (62.0, 78.0)
RANGE_M = (7.0, 9.0)
WALL_M = 0.3  # from a wall to a camera
MARGIN_M = 12.0  # distances that differ by less are too close to ask about
VIEWS_APART_M = 0.5
JOURNEY = 0.55  # ends of a journey are at least this share of the building's length apart
THINGS_DRAWN = 5

Climb = Literal["stairs", "lift", "escalator"]
LENGTHS_M: Mapping[Climb, float] = {"stairs": STAIRS_M, "lift": LIFT_M, "escalator": ESCALATOR_M}
Turn = Callable[[Point], Point]


def indoor(
    rng: Random,
    *,
    name: str,
    has_several: bool = False,
    has_escalators: bool = False,
    is_crowded: bool = False,
) -> World:
    """Draw a building. It is turned by quarter circles and mirrored by lot: no direction is special.

    `has_several`: it has one of several plans and up to six floors; `has_escalators`: and two or more floors,
    with an escalator up and one down from each to the next.
    """
    turn = _turn(rng)
    length_m = round(rng.uniform(*LENGTH_M), 1)
    core: Core = rng.choice(CORES) if has_several else "rooms"
    floors = range(rng.choice(SEVERAL[1:] if has_escalators else SEVERAL if has_several else FLOORS))
    plans = [floor_plan(rng, floor=floor, length_m=length_m, core=core) for floor in floors]
    rooms = [(floor, room) for floor, plan in enumerate(plans) for room in plan.rectangles]
    areas = shapely.polygons([list(map(turn, room.corners_m)) for _, room in rooms])
    zones = {
        room.id: Zone(id=room.id, floor=floor, area=area, name=room.name)
        for (floor, room), area in zip(rooms, areas, strict=True)
    }
    candidates = [
        Candidate(
            mount=_mount(rng, turn(eye_m), turn(far_m), LOW_M if is_crowded else CEILING_M),
            floor=floor,
            room=zones[room.id].area,
        )
        for floor, room in rooms
        for eye_m, far_m in _looks(rng, room)
    ]
    rng.shuffle(candidates)
    installation = install(rng, candidates, count=A_FLOOR * len(plans), apart_m=VIEWS_APART_M)
    scene = Scene(
        id=name,
        frame=Frame(),
        kind="indoor",
        cameras=installation.cameras,
        zones=zones,
        portals=_portals(plans, length_m, turn)
        | (_escalators(rng, plans, length_m, turn) if has_escalators else {}),
        places=_things(rng, rooms, turn),
        attribution="generated by Gnomon",
    )
    return World(
        scene=scene,
        installation=installation,
        ends=tuple(
            Spot(xy_m=turn(room.middle_m), floor=floor) for floor, room in rooms if room.kind == "room"
        ),
        apart_m=JOURNEY * length_m,
        margin_m=MARGIN_M,
        spots=_spots(installation.cameras.values()),
    )


def _turn(rng: Random) -> Turn:
    """One of the eight ways to lay a rectangle along the axes, by lot."""
    across, flip_x, flip_y = (rng.random() < 0.5 for _ in range(3))

    def turn(xy_m: Point) -> Point:
        x_m, y_m = (xy_m[1], xy_m[0]) if across else xy_m
        return (round(-x_m if flip_x else x_m, 3), round(-y_m if flip_y else y_m, 3))

    return turn


def _looks(rng: Random, room: Rectangle) -> Iterator[tuple[Point, Point]]:
    """Where cameras could hang in a room and which point each would look at.

    In corridors and passages they look along, one in every slot, from either end of it; in halls from a
    corner to the one across; in other rooms there is none.
    """
    (west, east), (south, north) = room.x_m, room.y_m
    if room.kind == "hall":
        x_m, y_m = list(room.x_m), list(room.y_m)
        rng.shuffle(x_m)
        rng.shuffle(y_m)
        inwards = [WALL_M if x_m[0] == west else -WALL_M, WALL_M if y_m[0] == south else -WALL_M]
        yield (x_m[0] + inwards[0], y_m[0] + inwards[1]), (x_m[1], y_m[1])
    elif room.kind == "passage":
        ends = [south + WALL_M, north - WALL_M]
        rng.shuffle(ends)
        aside = rng.choice((west + WALL_M, east - WALL_M))
        yield (aside, ends[0]), ((west + east) / 2, ends[1])
    elif room.kind == "corridor":
        slots = round((east - west) / SLOT_M)
        for slot in range(slots):
            ends = [west + (east - west) * (slot + share) / slots for share in (0.02, 0.98)]
            rng.shuffle(ends)
            aside = rng.choice((south + WALL_M, north - WALL_M))
            yield (ends[0], aside), (ends[1], (south + north) / 2)


def _mount(rng: Random, eye_m: Point, far_m: Point, heights_m: tuple[float, float]) -> Mount:
    return Mount(
        xy_m=eye_m,
        height_m=round(rng.uniform(*heights_m), 2),
        heading_deg=round(bearing_deg(eye_m, far_m), 1),
        fov_deg=round(rng.uniform(*FOV_DEG), 1),
        range_m=round(rng.uniform(*RANGE_M), 1),
    )


def _portals(plans: Sequence[FloorPlan], length_m: float, turn: Turn) -> dict[str, Portal]:
    """Doors; stairs at two opposite ends of the long corridors, and a lift between."""
    portals = [
        Portal(
            id=f"d{floor}{number:02d}",
            kind="door",
            zones=door.zones,
            ends_m=(turn(door.xy_m), turn(door.xy_m)),
        )
        for floor, plan in enumerate(plans)
        for number, door in enumerate(plan.doors, 1)
    ]
    for floor in range(len(plans) - 1):
        corridor_a, corridor_b = (
            [plan.rectangles[index] for plan in plans[floor : floor + 2]] for index in (0, 1)
        )
        portals += (
            _climb(f"s{floor}A", "stairs", corridor_a, 1.0, turn),
            _climb(f"s{floor}B", "stairs", corridor_b, length_m - 1.0, turn),
            _climb(f"l{floor}", "lift", corridor_a, round(0.62 * length_m, 1), turn),
        )
    return {portal.id: portal for portal in portals}


def _escalators(rng: Random, plans: Sequence[FloorPlan], length_m: float, turn: Turn) -> dict[str, Portal]:
    """One escalator up from each floor to the next in one long corridor, and one down in the other."""
    up, down = rng.sample((0, 1), 2)
    portals = []
    for floor in range(len(plans) - 1):
        for index, share in zip((up, down), ESCALATORS, strict=True):
            corridors = [plan.rectangles[index] for plan in plans[floor : floor + 2]]
            x_m = round(share * length_m, 1)
            is_up = index == up
            portals.append(
                _climb(
                    f"e{floor}{'U' if is_up else 'D'}",
                    "escalator",
                    corridors if is_up else corridors[::-1],
                    x_m,
                    turn,
                )
            )
    return {portal.id: portal for portal in portals}


def _climb(portal_id: str, kind: Climb, corridors: Sequence[Rectangle], x_m: float, turn: Turn) -> Portal:
    first, last = corridors
    foot_m = turn((x_m, first.middle_m[1]))
    return Portal(
        id=portal_id,
        kind=kind,
        zones=(first.id, last.id),
        ends_m=(foot_m, foot_m),
        length_m=LENGTHS_M[kind],
    )


def _things(rng: Random, rooms: Sequence[tuple[int, Rectangle]], turn: Turn) -> dict[str, ScenePlace]:
    """Landmarks, each in the middle of a passage or hall, or along a corridor."""
    public = [(floor, room) for floor, room in rooms if room.kind in ("passage", "hall")]
    drawn = zip(
        rng.sample(THINGS, len(THINGS)), rng.sample(public, min(THINGS_DRAWN, len(public))), strict=False
    )
    return {
        f"p{number}": ScenePlace(
            id=f"p{number}", name=name, kind="thing", xy_m=turn(room.middle_m), floor=floor
        )
        for number, (name, (floor, room)) in enumerate(drawn, 1)
    }


def _spots(cameras: Collection[Camera]) -> Mapping[str, tuple[Spot, ...]]:
    """By camera the middle of the part that it sees, which is convex."""
    middles = shapely.centroid([camera.field_of_view for camera in cameras])
    return {
        camera.id: (Spot(xy_m=(x_m, y_m), floor=camera.floor),)
        for camera, (x_m, y_m) in zip(cameras, shapely.get_coordinates(middles).tolist(), strict=True)
    }
