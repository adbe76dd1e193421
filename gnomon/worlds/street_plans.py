"""Draws street plans where straight lines mislead: towns on a river, round a centre, grown without a plan."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from random import Random

import numpy as np

from gnomon.worlds.names import STREETS
from tools.scene.scene import Point

LAZY = ("networkx", "scipy.spatial")

HALF_M = 290.0  # half a town's width
APART_M = 95.0  # between junctions of a town that grew without a plan, at least
GROWN = 30  # its junctions, about
RINGS_M = (95.0, 190.0, 285.0)
SPOKES = 7
BRIDGES = 2
ROWS = COLUMNS = 5
ONE_WAY = 0.3  # share of stretches that are driven one way only, where every place stays in reach
KINDS = ("Street", "Avenue", "Lane", "Road")

Stretch = tuple[int, int]  # of street, between two junctions; driven from the first to the second if one-way


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetPlan:
    """Junctions by number, stretches of street with their names, and those that are one-way."""

    junctions_m: Mapping[int, Point]
    streets: Mapping[Stretch, str]
    one_way: frozenset[Stretch]


def draw_plan(rng: Random) -> StreetPlan:
    """One of the plans by lot, turned by any angle; every stretch is on a round trip."""
    junctions_m, stretches = rng.choice((_river, _radial, _organic))(rng)
    angle = rng.uniform(0, 2 * math.pi)
    turned_m = {
        number: (
            round(x_m * math.cos(angle) - y_m * math.sin(angle), 2),
            round(x_m * math.sin(angle) + y_m * math.cos(angle), 2),
        )
        for number, (x_m, y_m) in junctions_m.items()
    }
    return StreetPlan(
        junctions_m=turned_m,
        streets=_names(rng, stretches, turned_m),
        one_way=_one_way(rng, stretches),
    )


Plan = tuple[dict[int, Point], list[Stretch]]


def _river(rng: Random) -> Plan:
    """A grid that a river cuts in two, once or twice; few bridges cross it."""
    step_m = 2 * HALF_M / (COLUMNS - 1)
    junctions_m = {
        column * ROWS + row: (
            column * step_m - HALF_M + rng.uniform(-18, 18),
            row * step_m - HALF_M + rng.uniform(-18, 18),
        )
        for column in range(COLUMNS)
        for row in range(ROWS)
    }
    banks = rng.choice(((2,), (1, 3)))  # columns behind a river
    stretches = [(number, number + 1) for number in junctions_m if number % ROWS < ROWS - 1]
    for column in range(COLUMNS - 1):
        across = [(column * ROWS + row, (column + 1) * ROWS + row) for row in range(ROWS)]
        stretches += _spread(rng, across) if column + 1 in banks else across
    return junctions_m, _thinned(rng, stretches, keep=round(1.25 * len(junctions_m)))


def _spread(rng: Random, across: list[Stretch]) -> list[Stretch]:
    """BRIDGES of the stretches, not beside one another."""
    far = [pair for pair in combinations(range(len(across)), BRIDGES) if pair[1] - pair[0] > 1]
    return [across[place] for place in rng.choice(far)]


def _radial(rng: Random) -> Plan:
    """Rings round a centre, and spokes that join them; some stretches are closed."""
    junctions_m = {0: (0.0, 0.0)}
    stretches: list[Stretch] = []
    phase = rng.uniform(0, 2 * math.pi)
    for ring, radius_m in enumerate(RINGS_M):
        for spoke in range(SPOKES):
            angle = phase + 2 * math.pi * (spoke + rng.uniform(-0.16, 0.16)) / SPOKES
            far_m = radius_m + rng.uniform(-12, 12)
            number = 1 + ring * SPOKES + spoke
            junctions_m[number] = (far_m * math.cos(angle), far_m * math.sin(angle))
            stretches.append((number, 1 + ring * SPOKES + (spoke + 1) % SPOKES))
            stretches.append((number - SPOKES if ring else 0, number))
    return junctions_m, _thinned(rng, stretches, keep=round(1.3 * len(junctions_m)))


def _organic(rng: Random) -> Plan:
    """Junctions strewn over the town; each is joined to near ones, as far as no street crosses another."""
    from scipy.spatial import Delaunay

    strewn: list[Point] = []
    for _ in range(40 * GROWN):
        xy_m = (rng.uniform(-HALF_M, HALF_M), rng.uniform(-HALF_M, HALF_M))
        if len(strewn) < GROWN and all(math.dist(xy_m, other) >= APART_M for other in strewn):
            strewn.append(xy_m)
    sides = {
        tuple(sorted(map(int, side)))
        for corners in Delaunay(np.array(strewn)).simplices
        for side in combinations(corners, 2)
    }
    short = sorted((first, second) for first, second in sides if _joins(first, second, strewn))
    return dict(enumerate(strewn)), _thinned(rng, short, keep=round(1.3 * len(strewn)))


def _joins(first: int, second: int, strewn: list[Point]) -> bool:
    """Whether no third junction lies in the circle over the stretch: the rule of Gabriel and Sokal (1969)."""
    middle_m = tuple((a + b) / 2 for a, b in zip(strewn[first], strewn[second], strict=True))
    radius_m = math.dist(strewn[first], strewn[second]) / 2
    others = (xy_m for number, xy_m in enumerate(strewn) if number not in (first, second))
    return all(math.dist(xy_m, middle_m) >= radius_m for xy_m in others)


def _thinned(rng: Random, stretches: list[Stretch], *, keep: int) -> list[Stretch]:
    """Close stretches by lot down to `keep`, or as far as every stretch stays on a round trip."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(stretches)
    graph.remove_edges_from(list(nx.bridges(graph)))  # type: ignore[arg-type]  # dead ends, and what hangs on a single stretch
    largest = max(nx.connected_components(graph), key=len)
    graph = nx.Graph(graph.subgraph(largest))
    left = [stretch for stretch in stretches if graph.has_edge(*stretch)]
    for stretch in rng.sample(left, len(left)):
        if graph.number_of_edges() <= keep:
            break
        graph.remove_edge(*stretch)
        if not nx.is_connected(graph) or nx.has_bridges(graph):
            graph.add_edge(*stretch)
    return [stretch for stretch in left if graph.has_edge(*stretch)]


def _one_way(rng: Random, stretches: list[Stretch]) -> frozenset[Stretch]:
    """About ONE_WAY of the stretches, as far as each junction can still be reached from every other."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph([*stretches, *((second, first) for first, second in stretches)])
    one_way: set[Stretch] = set()
    for stretch in rng.sample(stretches, len(stretches)):
        if len(one_way) >= ONE_WAY * len(stretches):
            break
        graph.remove_edge(stretch[1], stretch[0])
        if nx.is_strongly_connected(graph):
            one_way.add(stretch)
        else:
            graph.add_edge(stretch[1], stretch[0])
    return frozenset(one_way)


def _names(rng: Random, stretches: list[Stretch], junctions_m: Mapping[int, Point]) -> dict[Stretch, str]:
    """A name for each stretch; one that goes straight on keeps the name of the one before it."""
    fresh = iter(f"{name} {kind}" for kind in KINDS for name in rng.sample(STREETS, len(STREETS)))
    names: dict[Stretch, str] = {}
    for stretch in stretches:
        straight = (name for other, name in names.items() if _goes_on(other, stretch, junctions_m))
        names[stretch] = next(straight, "") or next(fresh)
    return names


def _goes_on(first: Stretch, second: Stretch, junctions_m: Mapping[int, Point]) -> bool:
    """Whether two stretches meet and bend by less than 30 degrees there."""
    shared = set(first) & set(second)
    if len(shared) != 1:
        return False
    corner = shared.pop()
    ends = [next(iter(set(stretch) - {corner})) for stretch in (first, second)]
    (ax, ay), (bx, by) = (
        (junctions_m[end][0] - junctions_m[corner][0], junctions_m[end][1] - junctions_m[corner][1])
        for end in ends
    )
    cosine = (ax * bx + ay * by) / math.hypot(ax, ay) / math.hypot(bx, by)
    return cosine < -math.cos(math.radians(30))
