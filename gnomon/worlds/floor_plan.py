"""Floor plan: the rooms and corridors of one storey as rectangles, before the building is turned."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal

from gnomon.worlds.names import ROOMS
from tools.scene.scene import Point

LENGTH_M = (58.0, 72.0)
ROOM_DEPTH_M = 8.0
CORRIDOR_M = 3.0
CORE_DEPTH_M = 10.0  # of the rooms between the two long corridors
ROOM_WIDTH_M = (8.0, 14.0)
OPEN_HALLS = 0.3  # share of the core's rooms with a door to either corridor
PASSAGES = (0.04, 0.45, 0.9)  # where passages join the long corridors, as shares of the length

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


def floor_plan(rng: Random, *, floor: int, length_m: float) -> FloorPlan:
    """Draw a storey: two long corridors, joined by passages and halls, with rooms on all sides."""
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
    passages = list(_passages(rng, floor, length_m))
    rooms: list[Rectangle] = []
    doors = [door for passage in passages for door in _doors(passage, corridors, 0.5)]
    walls_m = [0.0, *(edge for passage in passages for edge in passage.x_m), length_m]
    outer = ((0, 0.0, length_m, corridors[:1]), (4, 0.0, length_m, corridors[1:]))
    core = ((2, west, east, corridors) for west, east in zip(walls_m[::2], walls_m[1::2], strict=True))
    for row, west, east, neighbours in (*outer, *core):
        for x_m in _widths(rng, west, east):
            hall = len(neighbours) == 2 and rng.random() < OPEN_HALLS
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


def _passages(rng: Random, floor: int, length_m: float) -> Iterator[Rectangle]:
    kept = rng.sample(PASSAGES, rng.choice((2, 3)))
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
    """Rooms side by side from west to east; what is left over widens the last one."""
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
