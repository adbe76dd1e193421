"""Cuts street plans out of OpenStreetMap extracts: one-way streets, limits, signals and turn bans."""

import hashlib
import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from gnomon.core.errors import DataError, SpecError
from gnomon_tools.scene.scene import Point
from gnomon_worlds.street_plans import StreetPlan, Stretch, turned

DRIVEN = frozenset(
    f"{kind}{link}" for kind in ("trunk", "primary", "secondary", "tertiary") for link in ("", "_link")
) | {"unclassified", "residential", "living_street", "road"}
ONE_WAY = frozenset(("yes", "true", "1", "-1"))
# in a direction: turning lanes beside a junction are counted where a street is tagged with them
MOST_LANES = 3
CLOSED = frozenset(("no", "private"))
LIMIT_KMH: Mapping[str, float] = {"living_street": 20.0, "residential": 30.0}  # where none is tagged
USUAL_KMH = 40.0
CUT_M = 620.0  # a cut's width
LEAST_M = 3_500.0  # of streets in a cut
LONG_M, LONG = 45.0, 24  # straight pieces long enough for a camera, and how many there must be
BEND_M = 2.0  # by which a straight piece may miss a street's middle
SIGNAL_M = 25.0  # from a signal's node to its junction, at most
CUTS = 60  # places tried
EARTH_M = 6_371_008.8
DIGITS = 8
ATTRIBUTION = "streets: OpenStreetMap contributors, ODbL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A street between two nodes where streets meet or end: its nodes, as it is driven."""

    id: int
    nodes: tuple[int, ...]
    name: str
    is_oneway: bool
    limit_mps: float
    lanes: tuple[int, int] = (1, 1)  # how many lead along its nodes, and against them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Streets:
    """The streets of an extract that may be driven. `bans`: from which way, at which node, into which."""

    at_deg: Mapping[int, Point]  # lon, lat of every node
    ways: tuple[Way, ...]
    signals: frozenset[int]
    bans: frozenset[tuple[int, int, int]]


def extract_of(name: str) -> tuple[Path, str]:
    """The extract of that name and the first digits of its content's SHA-256.

    Raises:
        SpecError: there is none.
    """
    from gnomon_trips.itinerary.osm.city import city_files

    files = city_files()
    if name not in files:
        raise SpecError(f"no extract {name!r}; there are: {', '.join(files)}", field="select.world.network")
    state = files[name].stat()
    return files[name], _digits(files[name], state.st_size, state.st_mtime_ns)


@lru_cache(8)
def _digits(file: Path, _size: int, _changed_ns: int) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:DIGITS]


def cut_plan(rng: Random, name: str, digits: str) -> StreetPlan:
    """Cut a part of some 600 m out of an extract, turned by any angle.

    Raises:
        SpecError: the extract is not there.
        DataError: it is not the one that the digits name, or holds no part with enough streets.
    """
    file, there = extract_of(name)
    if there != digits:
        message = f"the extract {name!r} has changed: {there} instead of {digits}"
        raise DataError(message, field="select.world.network")
    streets = read_streets(file)
    nodes = sorted({way.nodes[0] for way in streets.ways})
    for _ in range(CUTS):
        plan = _cut(streets, streets.at_deg[rng.choice(nodes)])
        if plan is not None:
            return turned(rng, plan)
    raise DataError(f"no part of {name!r} has enough streets", field="select.world.network")


@lru_cache(2)
def read_streets(file: Path) -> Streets:
    """Read all streets that may be driven, cut where they meet.

    Raises:
        DataError: the file cannot be read.
    """
    import osmium

    raw: list[tuple[int, tuple[int, ...], Mapping[str, str]]] = []
    at_deg: dict[int, Point] = {}
    signals: set[int] = set()
    rules: list[tuple[str, int, int, int]] = []
    try:
        for entity in osmium.FileProcessor(str(file)).with_locations():
            if isinstance(entity, osmium.osm.Node):
                if entity.tags.get("highway") == "traffic_signals":
                    signals.add(entity.id)
            elif isinstance(entity, osmium.osm.Way) and _is_driven(entity.tags):
                placed = [node for node in entity.nodes if node.location.valid()]
                at_deg |= {node.ref: (node.lon, node.lat) for node in placed}
                if len(placed) > 1:
                    raw.append((entity.id, tuple(node.ref for node in placed), dict(entity.tags)))
            elif isinstance(entity, osmium.osm.Relation) and "restriction" in entity.tags:
                rules += _rule(entity)
    except (RuntimeError, OSError) as error:
        message = f"{file.name} is no readable OpenStreetMap extract: {error}"
        raise DataError(message, field="select.world.network") from None
    meets: defaultdict[int, int] = defaultdict(int)
    for _, nodes, _ in raw:
        for place, node in enumerate(nodes):
            meets[node] += 1 if 0 < place < len(nodes) - 1 else 2
    ways = tuple(way for way_id, nodes, tags in raw for way in _ways(way_id, nodes, tags, meets))
    return Streets(at_deg=at_deg, ways=ways, signals=frozenset(signals), bans=_bans(rules, ways))


def _is_driven(tags: Any) -> bool:
    if tags.get("highway") not in DRIVEN or tags.get("area") == "yes":
        return False
    access = tags.get("motor_vehicle", tags.get("vehicle", tags.get("access", "")))
    return access not in CLOSED


def _ways(
    way_id: int, nodes: Sequence[int], tags: Mapping[str, str], meets: Mapping[int, int]
) -> Iterator[Way]:
    oneway = tags.get("oneway", "yes" if tags.get("junction") == "roundabout" else "no")
    ordered = tuple(reversed(nodes)) if oneway == "-1" else tuple(nodes)
    begun = 0
    for place in range(1, len(ordered)):
        if meets[ordered[place]] > 1 or place == len(ordered) - 1:
            yield Way(
                id=way_id,
                nodes=ordered[begun : place + 1],
                name=_plain(tags.get("name", "")),
                is_oneway=oneway in ONE_WAY,
                limit_mps=_limit_kmh(tags) / 3.6,
                lanes=_lanes(tags, is_oneway=oneway in ONE_WAY, is_reversed=oneway == "-1"),
            )
            begun = place


def _lanes(tags: Mapping[str, str], *, is_oneway: bool, is_reversed: bool) -> tuple[int, int]:
    """Lanes along the street as it is driven, and against it; untagged, one in each direction."""
    total = _count(tags.get("lanes", ""))
    if is_oneway:
        return min(MOST_LANES, total or 1), 0
    along, against = (_count(tags.get(f"lanes:{way}", "")) for way in ("forward", "backward"))
    if is_reversed:
        along, against = against, along
    along = along or (total - against if against else total // 2)
    against = against or total - along
    return min(MOST_LANES, max(1, along)), min(MOST_LANES, max(1, against))


def _count(tagged: str) -> int:
    return int(tagged) if tagged.isdecimal() and len(tagged) < 3 else 0


def _plain(name: str) -> str:
    """The name in letters that maps are lettered with: without marks on them; empty in another script."""
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().strip()


def _limit_kmh(tags: Mapping[str, str]) -> float:
    tagged = tags.get("maxspeed", "")
    return float(tagged) if tagged.isdigit() and int(tagged) else LIMIT_KMH.get(tags["highway"], USUAL_KMH)


def _rule(relation: Any) -> list[tuple[str, int, int, int]]:
    members = {member.role: member for member in relation.members}
    if not {"from", "via", "to"} <= members.keys() or members["via"].type != "n":
        return []  # by way of another way: rare, and left out
    return [(relation.tags["restriction"], members["from"].ref, members["via"].ref, members["to"].ref)]


def _bans(rules: Sequence[tuple[str, int, int, int]], ways: Sequence[Way]) -> frozenset[tuple[int, int, int]]:
    """`no_…` bans one turn, `only_…` all others."""
    ends: defaultdict[int, set[int]] = defaultdict(set)
    for way in ways:
        for node in (way.nodes[0], way.nodes[-1]):
            ends[node].add(way.id)
    bans: set[tuple[int, int, int]] = set()
    for kind, come, node, onto in rules:
        if kind.startswith("no_"):
            bans.add((come, node, onto))
        elif kind.startswith("only_"):
            bans |= {(come, node, way) for way in ends[node] - {onto, come}}
    return frozenset(bans)


def _cut(streets: Streets, middle_deg: Point) -> StreetPlan | None:
    """The streets round a point from each of which all others can be reached; None where they are too few."""
    import networkx as nx

    east = EARTH_M * math.radians(1) * math.cos(math.radians(middle_deg[1]))
    north = EARTH_M * math.radians(1)

    def metres(node: int) -> Point:
        lon, lat = streets.at_deg[node]
        return ((lon - middle_deg[0]) * east, (lat - middle_deg[1]) * north)

    pieces: dict[Stretch, Way] = {}
    for way in streets.ways:
        line = [(node, metres(node)) for node in way.nodes]
        if all(max(abs(x_m), abs(y_m)) <= CUT_M / 2 for _, (x_m, y_m) in line):
            for a, b in pairwise(_straightened(line)):
                if a != b and (a, b) not in pieces and (b, a) not in pieces:
                    pieces[a, b] = way
    graph: nx.DiGraph[int] = nx.DiGraph()
    for (a, b), way in pieces.items():
        graph.add_edge(a, b)
        if not way.is_oneway:
            graph.add_edge(b, a)
    if not graph:
        return None
    reached = max(nx.strongly_connected_components(graph), key=lambda part: (len(part), min(part)))
    kept = {piece: way for piece, way in pieces.items() if piece[0] in reached and piece[1] in reached}
    at_m = {node: metres(node) for node in sorted(reached)}
    lengths_m = [math.dist(at_m[a], at_m[b]) for a, b in kept]
    if math.fsum(lengths_m) < LEAST_M or sum(length_m >= LONG_M for length_m in lengths_m) < LONG:
        return None
    return StreetPlan(
        junctions_m=at_m,
        streets={piece: way.name for piece, way in kept.items()},
        one_way=frozenset(piece for piece, way in kept.items() if way.is_oneway),
        limits_mps={piece: way.limit_mps for piece, way in kept.items()},
        lanes={piece: way.lanes for piece, way in kept.items()},
        signals=_signalled(streets, at_m, kept, metres),
        bans=frozenset(_banned(streets, kept)),
        attribution=ATTRIBUTION,
    )


def _straightened(line: Sequence[tuple[int, Point]]) -> list[int]:
    """The nodes that a street needs to stay within BEND_M of its course: Douglas and Peucker (1973)."""
    (first, a), (last, b) = line[0], line[-1]
    length_m = math.dist(a, b)
    off_m = [
        abs((x - a[0]) * (b[1] - a[1]) - (y - a[1]) * (b[0] - a[0])) / length_m
        if length_m
        else math.dist(a, (x, y))
        for _, (x, y) in line[1:-1]
    ]
    if not off_m or max(off_m) <= BEND_M:
        return [first, last]
    corner = 1 + off_m.index(max(off_m))
    return [*_straightened(line[: corner + 1])[:-1], *_straightened(line[corner:])]


def _signalled(
    streets: Streets, at_m: Mapping[int, Point], kept: Mapping[Stretch, Way], metres: Any
) -> frozenset[int]:
    """Junctions of three streets or more near a signal's node: signals stand before the junction, too."""
    arms: defaultdict[int, int] = defaultdict(int)
    for piece in kept:
        for node in piece:
            arms[node] += 1
    crossings = {node: at for node, at in at_m.items() if arms[node] > 2}
    stands = [metres(node) for node in sorted(streets.signals & streets.at_deg.keys())]
    inside = [at for at in stands if max(map(abs, at)) <= CUT_M / 2]
    nearest = (min(crossings, key=lambda node: math.dist(crossings[node], at)) for at in inside if crossings)
    return frozenset(
        node for node, at in zip(nearest, inside, strict=False) if math.dist(crossings[node], at) <= SIGNAL_M
    )


def _banned(streets: Streets, kept: Mapping[Stretch, Way]) -> Iterator[tuple[Stretch, Stretch]]:
    by_node: defaultdict[int, list[Stretch]] = defaultdict(list)
    for piece in kept:
        for node in piece:
            by_node[node].append(piece)
    for come, node, onto in sorted(streets.bans):
        for first in by_node.get(node, ()):
            for second in by_node[node]:
                if first != second and (kept[first].id, kept[second].id) == (come, onto):
                    yield first, second
