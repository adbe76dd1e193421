"""Answers questions of `worlds-families` a second, independent way.

    python -m packages.worlds.tests.families.second_truth [--questions 28]

The prompt's text is read, boxes are put on the ground, and ways are measured anew: in towns on a graph of
corners and crossings, in buildings on a grid of the floors, without the network that tools and truth use.
Then every story is tried of who made which sighting. Prints, for each family, level and kind of place, how
many answers agree.
"""

import argparse
import math
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import combinations, pairwise, product

import networkx as nx
import numpy as np
import shapely
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from gnomon.core.clock import day_span
from gnomon.core.select import LEVELS
from gnomon_published.homography import to_ground
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.families.sample_making import FAMILIES, DrawnQuestion, draw_question
from gnomon_worlds.world import World

AS_IT_COMES = "none"
UNKNOWN = "it cannot be determined"
CELL_M = 0.5
# Steps on the grid to one side; with their images they are longer than a straight line by 1.3 % at most.
STEPS = ((1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (1, 2), (2, -1), (1, -2), (3, 1), (1, 3), (3, -1), (1, -3),
         (3, 2), (2, 3), (3, -2), (2, -3))  # fmt: skip
NEAR_M = 1.5  # from a point to the cells that it is joined to
SHORTEST_M = 1e-9  # of a step: zero would be none
_HEAD = re.compile(r"camera (\S+), a \w+, (\S+)$", re.MULTILINE)
_BOX = re.compile(r"box x=(-?[\d.]+) y=(-?[\d.]+) w=([\d.]+) h=([\d.]+)")
_BOUNDS = re.compile(r"at ([\d.]+) to ([\d.]+) m/s")
_TOP = re.compile(r"faster than ([\d.]+) m/s")

Spot = tuple[float, float, int]  # x_m, y_m, floor


@lru_cache(8)  # as many questions are about one town
def crossed(world: World) -> tuple[list[shapely.LineString], list[set[float]]]:
    """The streets, and how far along each its ends, corners and crossings are."""
    lines = [shapely.LineString(road.line.coords) for road in world.scene.roads.values()]
    marks = [{0.0, line.length, *map(line.project, map(shapely.Point, line.coords))} for line in lines]
    for (number, line), (other, crossing) in combinations(enumerate(lines), 2):
        for part in shapely.get_parts(line.intersection(crossing)):
            if isinstance(part, shapely.Point):
                marks[number].add(line.project(part))
                marks[other].add(crossing.project(part))
    return lines, marks


class Streets:
    """Ways along streets: a graph of their corners and crossings, and of the points asked for."""

    def __init__(self, world: World, spots: Iterable[Spot]) -> None:
        self.graph: nx.DiGraph = nx.DiGraph()
        self.at: dict[Spot, tuple[float, float]] = {}
        lines, crossings = crossed(world)
        marks = [set(on_line) for on_line in crossings]
        for spot in spots:
            point = shapely.Point(spot[:2])
            nearest = min(range(len(lines)), key=lambda number: lines[number].distance(point))
            mark = lines[nearest].project(point)
            marks[nearest].add(mark)
            self.at[spot] = self._node(lines[nearest], mark)
        for road, line, on_line in zip(world.scene.roads.values(), lines, marks, strict=True):
            for start, end in pairwise(sorted(on_line)):
                ends = self._node(line, start), self._node(line, end)
                self.graph.add_edge(*ends, weight=end - start)
                if not road.oneway:
                    self.graph.add_edge(*ends[::-1], weight=end - start)

    @staticmethod
    def _node(line: shapely.LineString, mark: float) -> tuple[float, float]:
        point = line.interpolate(mark)
        return round(point.x, 3), round(point.y, 3)

    def way_m(self, start: Spot, end: Spot) -> float:
        """Length of the shortest way in metres."""
        length_m: float = nx.shortest_path_length(self.graph, self.at[start], self.at[end], weight="weight")
        return length_m


Steps = tuple[np.ndarray, np.ndarray, np.ndarray]  # from, to, metres
Cells = dict[str, tuple[np.ndarray, int]]  # by room: centres, the first one's number


@lru_cache(8)  # as many questions are about one building
def laid(world: World) -> tuple[list[Steps], Cells, int]:
    """The steps on a grid within each room, its cells, and the number of all."""
    steps: list[Steps] = []
    cells: Cells = {}
    count = 0
    for name, zone in world.scene.zones.items():
        west, south, east, north = zone.area.bounds
        xs, ys = np.arange(west, east + CELL_M, CELL_M), np.arange(south, north + CELL_M, CELL_M)
        x_m, y_m = np.meshgrid(xs, ys, indexing="ij")
        is_in = shapely.dwithin(zone.area, shapely.points(x_m, y_m), 1e-6)
        numbers = np.full(is_in.shape, -1)
        numbers[is_in] = count + np.arange(is_in.sum())
        cells[name] = (np.column_stack([x_m[is_in], y_m[is_in]]), count)
        count += int(is_in.sum())
        width, height = numbers.shape
        for right, up in STEPS:
            here = numbers[: max(width - right, 0), max(0, -up) : height - max(0, up)]
            there = numbers[right:, max(0, up) : height - max(0, -up)]
            both = (here >= 0) & (there >= 0)
            steps.append((here[both], there[both], np.full(both.sum(), CELL_M * math.hypot(right, up))))
    return steps, cells, count


class Floors:
    """Ways through a building: steps on a grid within each room, between rooms by doors, stairs and lifts."""

    def __init__(self, world: World, spots: Iterable[Spot]) -> None:
        self.rooms, (steps, self.cells, self.count) = world.scene.zones, laid(world)
        self.steps = list(steps)
        for portal in world.scene.portals.values():
            nodes = [self._join(room, end) for room, end in zip(portal.zones, portal.ends_m, strict=True)]
            self._link(*nodes, max(portal.length_m, math.dist(*portal.ends_m)))
        self.at = {spot: self._join(self._room(spot), spot[:2]) for spot in spots}
        start, end, length_m = map(np.concatenate, zip(*self.steps, strict=True))
        both_ways = np.concatenate([start, end]), np.concatenate([end, start])
        self.graph = csr_matrix((np.tile(length_m, 2), both_ways), shape=(self.count, self.count))
        self.from_m: dict[Spot, np.ndarray] = {}

    def _room(self, spot: Spot) -> str:
        point = shapely.Point(spot[:2])
        return min(
            (name for name, zone in self.rooms.items() if zone.floor == spot[2]),
            key=lambda name: self.rooms[name].area.distance(point),
        )

    def _join(self, room: str, point: Sequence[float]) -> int:
        """A node at a point, with straight lines to the cells of its room that are near."""
        centres, first = self.cells[room]
        away_m = np.hypot(*(centres - np.array(point)).T)
        node = self.count
        self.count += 1
        near = np.flatnonzero(away_m <= max(NEAR_M, float(away_m.min())))
        self.steps.append((np.full(len(near), node), first + near, np.maximum(away_m[near], SHORTEST_M)))
        return node

    def _link(self, start: int, end: int, length_m: float) -> None:
        self.steps.append((np.array([start]), np.array([end]), np.array([max(length_m, SHORTEST_M)])))

    def way_m(self, start: Spot, end: Spot) -> float:
        """Length of the shortest way in metres."""
        if start not in self.from_m:
            self.from_m[start] = dijkstra(self.graph, indices=self.at[start])
        return float(self.from_m[start][self.at[end]])


def sightings_read(drawn: DrawnQuestion) -> list[tuple[Spot, Spot, float, float]]:
    """First place, last place, first and last second of each sighting, read off the prompt's text."""
    sightings = []
    for text in drawn.question.evidence:
        head = _HEAD.search(text)
        span_s = day_span(head[2]) if head else None
        assert head is not None
        assert span_s is not None
        camera = drawn.world.scene.cameras[head[1]]
        boxes = np.array(_BOX.findall(text), dtype=float)
        feet_px = np.column_stack([boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3]])
        places = [
            (float(x_m), float(y_m), camera.floor) for x_m, y_m in to_ground(camera.homography, feet_px)
        ]
        sightings.append((places[0], places[1], *span_s))
    return sightings


def right_words(drawn: DrawnQuestion) -> str:
    """How the words of the right option begin, from the prompt's text and ways that are measured anew."""
    text, sightings = drawn.question.text, sightings_read(drawn)
    places = {
        place.name: (*place.xy_m, place.floor)
        for place in drawn.world.scene.places.values()
        if place.name in drawn.question.options
    }
    spots = [spot for sighting in sightings for spot in sighting[:2]] + list(places.values())
    ways = Streets(drawn.world, spots) if drawn.world.scene.kind == "outdoor" else Floors(drawn.world, spots)
    bounds = _BOUNDS.search(text) or _TOP.search(text)
    assert bounds is not None
    fast_mps = float(bounds[bounds.re.groups])
    slow_mps = float(bounds[1]) if bounds.re.groups == 2 else 0.0

    def can_go(start: Spot, end: Spot, seconds: float) -> bool:
        return slow_mps * seconds <= ways.way_m(start, end) <= fast_mps * seconds

    if moment := re.search(r"At (\S+) it was", text):
        span_s = day_span(f"{moment[1]}-{moment[1]}")
        assert span_s is not None
        can = [
            name
            for name, place in places.items()
            if can_go(sightings[0][1], place, span_s[0] - sightings[0][3])
            and can_go(place, sightings[1][0], sightings[1][2] - span_s[0])
        ]
        return can[0] if len(can) == 1 else UNKNOWN
    going = {
        (a, b)
        for a, b in combinations(range(len(sightings)), 2)
        if sightings[b][2] > sightings[a][3]
        and can_go(sightings[a][1], sightings[b][0], sightings[b][2] - sightings[a][3])
    }
    if "went out of sight" in text:
        return _of_hidden(text, len(sightings), going)
    if "at least" in text:
        return str(len(sightings) - _matched(going, range(len(sightings)), range(len(sightings))))
    later = [b for a, b in sorted(going) if a == 0]
    if "exactly one" in text:
        return f"sighting {later[0] + 1}" if len(later) == 1 else UNKNOWN
    return "yes" if later else "no"


def _matched(going: Collection[tuple[int, int]], before: Iterable[int], after: Iterable[int]) -> int:
    """How many can be another's next at most: a maximum matching."""
    graph = nx.Graph()
    tops = [("from", a) for a in before]
    graph.add_nodes_from([*tops, *(("to", b) for b in after)])
    graph.add_edges_from(
        (("from", a), ("to", b))
        for a, b in going
        if graph.has_node(("from", a)) and graph.has_node(("to", b))
    )
    return len(nx.bipartite.maximum_matching(graph, top_nodes=tops)) // 2


def _of_hidden(text: str, count: int, going: set[tuple[int, int]]) -> str:
    """What all stories agree on of who came out where: each body's sighting, or None while it is hidden."""
    listed = re.search(r"After sightings ([\d, and]+) t", text)
    assert listed is not None
    went = len(re.findall(r"\d", listed[1]))
    before, after = range(went), range(went, count)
    if "How many" in text:
        return str(went - _matched(going, before, after))
    outs = min(went, len(after))
    stories = [
        story
        for story in product([None, *after], repeat=went)
        if all(b is None or (a, b) in going for a, b in enumerate(story))
        and len({b for b in story if b is not None}) == outs == sum(b is not None for b in story)
    ]
    if came := re.search(r"one of the two was the \w+ of sighting (\d)", text):
        stories = [story for story in stories if story[int(came[1]) - 1] is not None]
    words: set[str]
    if "came into sight first" in text:
        words = {f"that of sighting {1 + int((story[0] or 0) > (story[1] or 0))}" for story in stories}
    elif asked := re.search(r"Is the \w+ of sighting (\d) still", text):
        words = {"yes" if story[int(asked[1]) - 1] is None else "no" for story in stories}
    else:
        asked = re.search(r"Which sighting is of the \w+ of sighting (\d)", text)
        assert asked is not None
        words = {f"sighting {(story[int(asked[1]) - 1] or 0) + 1}" for story in stories}
    return words.pop() if len(words) == 1 else UNKNOWN


def agrees(drawn: DrawnQuestion) -> bool:
    """Whether the second way finds the same option."""
    return drawn.question.options[drawn.question.right].startswith(right_words(drawn))


def main() -> None:
    """Print the agreement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=28, help="of each family, kind of place and level")
    parser.add_argument("--levels", nargs="+", default=[AS_IT_COMES, LEVELS[-1]])
    parser.add_argument("--scenes", nargs="+", default=["indoor", "outdoor"])
    parser.add_argument("--seed", type=int, default=500)
    chosen = parser.parse_args()
    totals: dict[tuple[str, str], list[bool]] = {}
    for level, scene, family in product(chosen.levels, chosen.scenes, FAMILIES):
        difficulty = None if level == AS_IT_COMES else Difficulty.from_tag(level)
        same = [
            agrees(draw_question(FamilyNumber(family, scene, chosen.seed, k, difficulty)))
            for k in range(chosen.questions)
        ]
        totals.setdefault((level, scene), []).extend(same)
        sys.stdout.write(f"{level} {scene} {family.task}: {sum(same)} of {len(same)}\n")
    for (level, scene), same in totals.items():
        sys.stdout.write(f"{level} {scene}, all: {sum(same)} of {len(same)}\n")


if __name__ == "__main__":
    main()
