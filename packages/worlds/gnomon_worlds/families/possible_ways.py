"""Asks who can have been where, given sightings without names, a map and a highest speed.

One body can have made two sightings if the shortest way from where it left the first view to where it came
into the second takes no longer, at the highest speed, than the time between. Times are drawn before it is
settled which option is right, and the cameras after: so the times that a prompt shows tell nothing about
the answer. Sightings that no one can have gone between are near enough for a straight line.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from random import Random

import numpy as np
import shapely

from gnomon.core.clock import clock, clock_span
from gnomon.core.ids import stable_seed
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family import Family, FamilyQuestion, finds_surely, shuffled
from gnomon_worlds.question import box, rounded_s
from gnomon_worlds.trajectory import STARTS_S, Sighting, Trip, trips_of
from gnomon_worlds.world import World

TOP_MPS = {"outdoor": 14.0, "indoor": 2.0}  # above what anyone goes: 50 km/h, 1.8 m/s
KIND = {"outdoor": "vehicle", "indoor": "pedestrian"}
PEOPLE = {"outdoor": ("vehicle", "vehicles", "drives"), "indoor": ("person", "persons", "walks")}
GAP_S = {"outdoor": (14.0, 42.0), "indoor": (9.0, 32.0)}  # from one sighting to another
USUAL_DETOUR = 1.3  # of a way over the straight line
CLEAR = 1.12  # a way takes at least so much more or less than the time there is
ON_WALL_M, IN_DOOR_M = 0.1, 0.3  # from a wall, and from the middle of a door
SEEN_TWICE = 3  # sightings of each camera that questions are made of
ROUNDS = 20  # in which each sighting of a place is tried as the first
UNKNOWN = "it cannot be determined"
WORLDS_KEPT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """Sightings by the world's cameras, with the seconds and straight-line seconds between each two.

    Seconds are those of the shortest way at the highest speed; between two of one camera they are infinite.
    """

    seen: tuple[tuple[Trip, Sighting], ...]
    way_s: tuple[tuple[float, ...], ...]
    straight_s: tuple[tuple[float, ...], ...]

    def goes(self, start: int, end: int, gap_s: float) -> bool | None:
        """Whether one body can have made both, `gap_s` apart; None where that is too close to call."""
        if self.way_s[start][end] * CLEAR <= gap_s:
            return True
        return False if self.way_s[start][end] >= gap_s * CLEAR else None


@lru_cache(WORLDS_KEPT)
def possible_in(world: World) -> Possible:
    """The sightings of the world from which questions are made."""
    kind, top_mps = KIND[world.scene.kind], TOP_MPS[world.scene.kind]
    rng = Random(stable_seed("possible ways", world.scene.id))
    pool = [
        (trip, sighting)
        for trip in trips_of(world)
        for sighting in trip.sightings
        if trip.journey.body.kind == kind
    ]
    if world.scene.kind == "indoor":
        pool = list(compress(pool, are_in_one_room(world, [sighting for _, sighting in pool])))
    rng.shuffle(pool)
    taken: list[tuple[Trip, Sighting]] = []
    for trip, sighting in pool:
        if sum(other.camera == sighting.camera for _, other in taken) < SEEN_TWICE:
            taken.append((trip, sighting))
    way_s, straight_s = [], []
    for _, start in taken:
        ends = [(end.entry, end.camera == start.camera) for _, end in taken]
        way_s.append(
            tuple(math.inf if same else world.way_m(start.exit, entry) / top_mps for entry, same in ends)
        )
        straight_s.append(tuple(world.crow_m(start.exit, entry) / top_mps for entry, _ in ends))
    return Possible(seen=tuple(taken), way_s=tuple(way_s), straight_s=tuple(straight_s))


def are_in_one_room(world: World, sightings: Sequence[Sighting]) -> list[bool]:
    """Whether the ends of each sighting lie on no wall, but in a room or a doorway.

    Boxes are rounded: at a wall they may tell the room beyond it, from which ways are others.
    """
    if not sightings:
        return []
    zones = world.scene.zones
    ends = [end for sighting in sightings for end in (sighting.entry, sighting.exit)]
    points, floors = shapely.points([end.xy_m for end in ends]), np.array([end.floor for end in ends])
    is_apart = np.ones(len(ends), dtype=bool)
    for zone in zones.values():
        is_apart &= (floors != zone.floor) | (shapely.distance(zone.area.exterior, points) > ON_WALL_M)
    for portal in world.scene.portals.values():
        for zone_id, xy_m in zip(portal.zones, portal.ends_m, strict=True):
            is_near = shapely.distance(shapely.Point(xy_m), points) < IN_DOOR_M
            is_apart |= (floors == zones[zone_id].floor) & is_near
    return [bool(are_apart.all()) for are_apart in is_apart.reshape(-1, 2)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A sighting moved to its time in a question."""

    trip: Trip
    sighting: Sighting

    @classmethod
    def starting(cls, taken: tuple[Trip, Sighting], start_s: float) -> "Seen":
        """The sighting, moved in time so that it begins then."""
        trip, sighting = taken
        by_s = start_s - sighting.start_s
        return cls(trip=trip.later(by_s), sighting=sighting.later(by_s))


def sighting_text(world: World, number: int, seen: Seen) -> str:
    """A sighting as the prompt tells it: camera, times, and the boxes at its first and last moment."""
    start_s, end_s = rounded_s(seen.sighting.start_s, seen.sighting.end_s)
    mount = world.installation.mounts[seen.sighting.camera]
    noun = PEOPLE[world.scene.kind][0]
    lines = [f"Sighting {number}: camera {seen.sighting.camera}, a {noun}, {clock_span(start_s, end_s)}"]
    for time_s in (start_s, end_s):
        x, y, width, height = box(mount, seen.trip.journey, time_s)
        lines.append(f"  {clock(time_s)} box x={x:.1f} y={y:.1f} w={width:.1f} h={height:.1f}")
    return "\n".join(lines)


def _has_one_way(world: World) -> bool:
    return any(road.oneway for road in world.scene.roads.values())


def on_streets(world: World) -> str:
    """The prompt's sentence on how vehicles keep to the streets."""
    if _has_one_way(world):
        return "keeps to the streets of the map and goes the way that the arrows of one-way streets point"
    return "keeps to the streets of the map"


def _rules_of_place(world: World) -> str:
    kind = world.scene.kind
    noun, _, goes = PEOPLE[kind]
    turns = ", but may turn round anywhere else" if _has_one_way(world) else " and may turn round anywhere"
    ways = (
        f"{on_streets(world)}{turns}"
        if kind == "outdoor"
        else "goes through doors, stairs and lifts, whose lengths count as those of other ways do"
    )
    return f"Every {noun} {ways}, and none {goes} faster than {TOP_MPS[kind]:.1f} m/s."


def _ahead(world: World, seen: Sequence[Seen], pairs: Sequence[tuple[int, int]]) -> dict[str, float]:
    """How long the ways are compared with the time there is, as features of the question."""
    shares, detours, gaps_s = [], [], []
    for start, end in pairs:
        first, second = seen[start].sighting, seen[end].sighting
        way_m, gap_s = world.way_m(first.exit, second.entry), second.start_s - first.end_s
        shares.append(way_m / TOP_MPS[world.scene.kind] / gap_s)
        detours.append(way_m / max(world.crow_m(first.exit, second.entry), 1.0))
        gaps_s.append(gap_s)
    return {
        "gap_s": math.fsum(gaps_s) / len(gaps_s),
        "detour": max(detours),
        "closeness": min(abs(math.log(share)) for share in shares),  # of the nearest call: 0 is a tie
    }


def question_of(
    world: World, rng: Random, seen: Sequence[Seen], pairs: Sequence[tuple[int, int]], text: str,
    options: Sequence[str], right: int, rules: dict[str, list[int]],
    halves: Mapping[str, list[int]] | None = None,
) -> FamilyQuestion:  # fmt: skip
    """Make the question about these sightings; the given pairs decide it. Options are shuffled."""
    halves = halves or {}
    listed, place, moved = shuffled(rng, options, right, {**rules, **halves})
    top_mps = TOP_MPS[world.scene.kind]
    ways = []
    facts = {}
    for start, end in pairs:
        first, second = seen[start].sighting, seen[end].sighting
        way_m, gap_s = world.way_m(first.exit, second.entry), second.start_s - first.end_s
        name = f"{start + 1} to {end + 1}"
        label = f"{way_m:.0f} m, at least {way_m / top_mps:.1f} s; {gap_s:.1f} s between"
        ways.append((first.exit, second.entry, f"{name}: {label}"))
        facts[f"From sighting {name}"] = label
    return FamilyQuestion(
        evidence=tuple(sighting_text(world, number, each) for number, each in enumerate(seen, start=1)),
        text=f"{_rules_of_place(world)} {text}",
        options=listed,
        right=place,
        features=_ahead(world, seen, pairs),
        rules={rule: left for rule, left in moved.items() if rule in rules},
        halves={half: left for half, left in moved.items() if half in halves},
        ways=tuple(ways),
        facts=facts,
    )


def _second(
    possible: Possible, rng: Random, first: int, gap_s: float, *, goes: bool, misleads: bool = True
) -> Iterator[int]:
    """Draw sightings that the first's body can have made; or cannot, though straight lines allow it.

    Where it is not to mislead, straight lines don't allow it.
    """
    for second in rng.sample(range(len(possible.seen)), len(possible.seen)):
        if math.isinf(possible.way_s[first][second]) or possible.goes(first, second, gap_s) is not goes:
            continue
        if goes or (possible.straight_s[first][second] <= gap_s) is misleads:
            yield second


def _usually(possible: Possible, first: int, second: int, gap_s: float) -> bool:
    """Whether one body made both if ways are USUAL_DETOUR times as long as straight lines."""
    return USUAL_DETOUR * possible.straight_s[first][second] <= gap_s


def same_target(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """Could one body have made both sightings? Yes and no are equally likely at any time between.

    A lot settles whether the straight line with a usual detour finds the answer; in easy questions it does,
    and so does the straight line, which says yes to all others.
    """
    kind = world.scene.kind
    gap_s, goes, start_s = lots.uniform(*GAP_S[kind]), lots.random() < 0.5, lots.uniform(*STARTS_S)
    usual = lots.random() < 0.5
    is_plain = finds_surely(lots, difficulty)
    usual = usual or is_plain
    possible = possible_in(world)
    for first in rng.sample(range(len(possible.seen)), len(possible.seen)):
        for second in _second(possible, rng, first, gap_s, goes=goes, misleads=not is_plain):
            if (_usually(possible, first, second, gap_s) is goes) is not usual:
                continue
            before = Seen.starting(possible.seen[first], start_s)
            after = Seen.starting(possible.seen[second], before.sighting.end_s + gap_s)
            noun = PEOPLE[kind][0]
            options = (
                f"yes, one {noun} could have made both",
                f"no, two different {PEOPLE[kind][1]} made them",
            )
            rules = {
                "straight line": [int(is_plain and not goes)],
                "straight line with a usual detour": [int(not _usually(possible, first, second, gap_s))],
                "long gap": [int(gap_s < sum(GAP_S[kind]) / 2)],
            }
            text = f"Could one {noun} have made both sightings?"
            return question_of(world, lots, (before, after), [(0, 1)], text, options, int(not goes), rules)
    return None


def which_sighting(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """Which of three later sightings is of the first's body? Each is as likely as that none can be told.

    Where one can be told, it has the slowest straight line in one of three. At a level it then is the nearest
    too, as who has longest, and is nearest, is slowest; in easy questions straight lines allow no other.
    """
    kind = world.scene.kind
    gaps_s = [lots.uniform(*GAP_S[kind]) for _ in range(3)]
    right, start_s = lots.randrange(4), lots.uniform(*STARTS_S)
    going = {right} if right < 3 else set(lots.sample(range(3), lots.choice((2, 2, 3))))
    slowest = lots.random() < 1 / 3  # whether the slowest straight line is the right one, where one is
    is_plain = finds_surely(lots, difficulty)
    slowest = slowest or is_plain
    is_nearest = slowest if difficulty and difficulty.level else None
    possible = possible_in(world)
    for first in rng.choices(range(len(possible.seen)), k=ROUNDS * len(possible.seen)):
        taken: list[int] = []
        cameras: set[str] = set()
        for index, gap_s in enumerate(gaps_s):
            candidates = _second(possible, rng, first, gap_s, goes=index in going, misleads=not is_plain)
            new = next((later for later in candidates if possible.seen[later][1].camera not in cameras), None)
            if new is None:
                break
            taken.append(new)
            cameras.add(possible.seen[new][1].camera)
        if len(taken) < len(gaps_s):
            continue
        straight = [possible.straight_s[first][index] / gap for index, gap in zip(taken, gaps_s, strict=True)]
        crow_s = [possible.straight_s[first][index] for index in taken]
        if right < 3 and (straight.index(min(straight)) == right) is not slowest:
            continue
        if right < 3 and is_nearest is not None and (crow_s.index(min(crow_s)) == right) is not is_nearest:
            continue
        before = Seen.starting(possible.seen[first], start_s)
        after = [
            Seen.starting(possible.seen[index], before.sighting.end_s + gap_s)
            for index, gap_s in zip(taken, gaps_s, strict=True)
        ]
        noun = PEOPLE[kind][0]
        text = (
            f"The {noun} of sighting 1 was seen again: exactly one of the sightings 2, 3 and 4 is of the same"
            f" {noun}. Which, or can that not be determined?"
        )
        rules = {
            "straight line": [right if is_plain else 3],
            "earliest": [gaps_s.index(min(gaps_s))],
            "latest": [gaps_s.index(max(gaps_s))],
            "nearest camera": [crow_s.index(min(crow_s))],
            "slowest straight line": [straight.index(min(straight))],
        }
        options = ("sighting 2", "sighting 3", "sighting 4", UNKNOWN)
        return question_of(
            world, lots, (before, *after), [(0, 1), (0, 2), (0, 3)], text, options, right, rules
        )
    return None


SCENES = ("outdoor", "indoor")
SAME = Family(
    task="SameTarget", short="same", version=2, scenes=SCENES, draw=same_target,
    text="could one body have made two sightings",
)  # fmt: skip
WHICH = Family(
    task="WhichSighting", short="which", version=2, scenes=SCENES, draw=which_sighting,
    text="which later sighting is of the same body, or can that not be determined",
)  # fmt: skip
