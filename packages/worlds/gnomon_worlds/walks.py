"""Tells walks in words, as straight runs with directions, and draws others that are hard to tell apart."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from random import Random

import shapely
from shapely import Geometry, LineString

from gnomon_tools.geometry.angles import EIGHTHS, bearing_deg, compass, turn_deg
from gnomon_tools.scene.scene import Point, Scene
from gnomon_tools.scene.scene_cache import cached_per_scene
from gnomon_worlds.movement import BEND_DEG, Journey
from gnomon_worlds.world import Spot, World

MAX_RUNS = 3
MAX_REORDERED_RUNS = 5  # of questions whose wrong options have as many
WALKS_TRIED = 24
EVEN = 4.0  # shape of the gamma distribution by which a length is shared out: the more, the more evenly
MIN_RUN_M = 4.0
ALIKE = 1.35  # lengths within this factor read the same
ROAD_M = 10.0
DOOR_M = 1.5

_SHORT = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A way without a turn: its compass direction as an index into EIGHTHS, and its length."""

    direction: int
    length_m: float


Runs = tuple[Run, ...]


def between(journey: Journey, start_s: float, end_s: float, *, most: int = MAX_RUNS) -> Runs | None:
    """The runs from one moment to another; None across floors, or where they are too many or too short."""
    for stretch in journey.stretches:
        if stretch.times_s[0] <= start_s and end_s <= stretch.times_s[-1]:
            break
    else:
        return None
    inner = [
        point
        for point, time_s in zip(stretch.points_m, stretch.times_s, strict=True)
        if start_s < time_s < end_s
    ]
    return along([journey.at(start_s).xy_m, *inner, journey.at(end_s).xy_m], most=most)


def along(points_m: Sequence[Point], *, most: int = MAX_REORDERED_RUNS) -> Runs | None:
    """The runs of a line; None where they are too many or too short."""
    runs = tuple(_runs(points_m))
    if not 0 < len(runs) <= most or min(run.length_m for run in runs) < MIN_RUN_M:
        return None
    return runs


def _runs(points_m: Sequence[Point]) -> Iterator[Run]:
    pieces = [piece for piece in pairwise(points_m) if piece[0] != piece[1]]
    if not pieces:
        return  # it stood
    straight = [pieces[0]]
    for before, piece in pairwise(pieces):
        if abs(turn_deg(bearing_deg(*before), bearing_deg(*piece))) > BEND_DEG:
            yield _run(straight)
            straight = []
        straight.append(piece)
    yield _run(straight)


def _run(pieces: Sequence[tuple[Point, Point]]) -> Run:
    direction = _SHORT.index(compass(bearing_deg(pieces[0][0], pieces[-1][1])))
    return Run(direction=direction, length_m=math.fsum(math.dist(*piece) for piece in pieces))


def variants(rng: Random, runs: Runs, count: int) -> list[Runs] | None:
    """Draw `count` of the images of `runs` that read differently from it and from one another.

    The images are those under the 16 symmetries of an oriented walk on a grid: 4 turns, each also
    mirrored, each also walked backwards. None where fewer than `count` differ.
    """
    drawn: list[Runs] = []
    images = list(_images(runs))
    for image in rng.sample(images, len(images)):
        if not any(_alike(image, other) for other in (runs, *drawn)):
            drawn.append(image)
        if len(drawn) == count:
            return drawn
    return None


def detours(world: World, rng: Random, start: Spot, runs: Runs) -> list[Runs]:
    """Walks with as many runs, as far in each direction, in another order, that leave the world's ways.

    They lead from `start` to where `runs` lead and are as long. So neither a straight line between the clips
    nor a length nor a count tells them apart; the map does.
    """
    if any(before.direction == after.direction for before, after in pairwise(runs)):
        return []  # no walk below reads like that
    total_m: dict[int, float] = defaultdict(float)
    for run in runs:
        total_m[run.direction] += run.length_m
    orders = [
        order
        for order in product(sorted(total_m), repeat=len(runs))
        if len(set(order)) == len(total_m) and all(before != after for before, after in pairwise(order))
    ]
    walks: list[Runs] = []
    for _ in range(WALKS_TRIED):
        walk = _shared_out(rng, rng.choice(orders), total_m)
        is_read_apart = not any(_alike(walk, other) for other in (runs, *walks))
        is_long = min(run.length_m for run in walk) >= MIN_RUN_M
        if is_read_apart and is_long and _is_off(world, _line(start.xy_m, walk), start.floor):
            walks.append(walk)
    return walks


def _shared_out(rng: Random, order: Sequence[int], total_m: Mapping[int, float]) -> Runs:
    """A walk in these directions whose length in each is divided among its runs by lot."""
    parts = [rng.gammavariate(EVEN, 1.0) for _ in order]
    whole: dict[int, float] = defaultdict(float)
    for direction, part in zip(order, parts, strict=True):
        whole[direction] += part
    return tuple(
        Run(direction=direction, length_m=total_m[direction] * part / whole[direction])
        for direction, part in zip(order, parts, strict=True)
    )


def _is_off(world: World, line: LineString, floor: int) -> bool:
    """Whether a walk leaves the roads by more than the world's margin, or goes through a wall."""
    roads, walls = ways_of(world.scene)
    if world.scene.kind == "outdoor":
        return bool(line.difference(roads).length >= world.margin_m)
    return floor in walls and bool(line.intersects(walls[floor]))


@cached_per_scene
def ways_of(scene: Scene) -> tuple[Geometry, Mapping[int, Geometry]]:
    """The roads, ROAD_M wide to either side; and by floor the walls, with gaps of DOOR_M at doors."""
    roads = shapely.union_all([road.line for road in scene.roads.values()]).buffer(ROAD_M)
    walls = {}
    for floor in {zone.floor for zone in scene.zones.values()}:
        edges = shapely.union_all(
            [zone.area.exterior for zone in scene.zones.values() if zone.floor == floor]
        )
        doors = [
            shapely.Point(portal.ends_m[0]).buffer(DOOR_M)
            for portal in scene.portals.values()
            if portal.kind == "door" and scene.zones[portal.zones[0]].floor == floor
        ]
        walls[floor] = edges.difference(shapely.union_all(doors))
    return roads, walls


def _line(start_m: Point, walk: Runs) -> LineString:
    points_m = [start_m]
    for run in walk:
        angle = math.radians(45 * run.direction)
        x_m, y_m = points_m[-1]
        points_m.append((x_m + run.length_m * math.sin(angle), y_m + run.length_m * math.cos(angle)))
    return LineString(points_m)


def _images(runs: Runs) -> Iterator[Runs]:
    back = tuple(replace(run, direction=(run.direction + 4) % 8) for run in reversed(runs))
    for walk in (runs, back):
        for quarter in range(0, 8, 2):
            yield tuple(replace(run, direction=(run.direction + quarter) % 8) for run in walk)
            yield tuple(replace(run, direction=(quarter - run.direction) % 8) for run in walk)


def _alike(left: Runs, right: Runs) -> bool:
    return all(
        a.direction == b.direction and max(a.length_m, b.length_m) < ALIKE * min(a.length_m, b.length_m)
        for a, b in zip(left, right, strict=True)
    )


def phrase(runs: Runs, speed_mps: float) -> str:
    """The runs as an option's text.

    >>> phrase((Run(direction=2, length_m=118.24), Run(direction=0, length_m=75.0)), 8.9)
    'The target moves at 8.9 m/s on average: 118.2 meters east, then 75.0 meters north.'
    """
    ways = ", then ".join(f"{run.length_m:.1f} meters {EIGHTHS[run.direction]}" for run in runs)
    return f"The target moves at {speed_mps:.1f} m/s on average: {ways}."
