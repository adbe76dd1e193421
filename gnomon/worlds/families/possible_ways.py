"""Asks who can have been where, by sightings without names, a map and a highest speed.

One body can have made two sightings if the shortest way from where it left the first view to where it came
into the second takes no longer, at the highest speed, than the time between. Times are drawn before it is
settled which option is right, and the cameras after: so the times that a prompt shows tell nothing about
the answer. Sightings that no one can have gone between are near enough for a straight line.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from random import Random

from gnomon.benchmarks.gtr_bench.clock import clock, clock_span
from gnomon.core.ids import stable_seed
from gnomon.worlds.families.family import Family, FamilyQuestion, shuffled
from gnomon.worlds.question import box, rounded_s
from gnomon.worlds.trajectory import STARTS_S, Sighting, Trip, trips_of
from gnomon.worlds.world import World

TOP_MPS = {"outdoor": 14.0, "indoor": 2.0}  # above what anyone goes: 50 km/h, 1.8 m/s
KIND = {"outdoor": "vehicle", "indoor": "pedestrian"}
PEOPLE = {"outdoor": ("vehicle", "vehicles", "drives"), "indoor": ("person", "persons", "walks")}
GAP_S = {"outdoor": (14.0, 42.0), "indoor": (9.0, 32.0)}  # from one sighting to another
SHORT_GAP_S = {"outdoor": (8.0, 12.0), "indoor": (6.0, 9.0)}  # between neighbours of a row of sightings
USUAL_DETOUR = 1.3  # of a way over the straight line
CLEAR = 1.12  # a way takes at least so much more or less than the time there is
SEEN_TWICE = 3  # sightings of each camera that questions are made of
COUNTED = 4  # sightings in a row of which is asked how many made them
NODES = 20_000  # sightings that are tried in one place as the next of a row
MOST_TRIED = 50  # rows in which straight lines are to find the answer, or not
ROUNDS = 20  # in which each sighting of a place is tried as the first
UNKNOWN = "it cannot be determined"
WORLDS_KEPT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """Sightings by the world's cameras, and the seconds and straight seconds from each to each.

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
    """The sightings of the world that questions are made of."""
    kind, top_mps = KIND[world.scene.kind], TOP_MPS[world.scene.kind]
    rng = Random(stable_seed("possible ways", world.scene.id))
    pool = [
        (trip, sighting)
        for trip in trips_of(world)
        for sighting in trip.sightings
        if trip.journey.body.kind == kind
    ]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A sighting moved to its time in a question."""

    trip: Trip
    sighting: Sighting

    @classmethod
    def starting(cls, taken: tuple[Trip, Sighting], start_s: float) -> "Seen":
        """The sighting, moved so that it begins then."""
        trip, sighting = taken
        by_s = start_s - sighting.start_s
        return cls(trip=trip.later(by_s), sighting=sighting.later(by_s))


def told(world: World, number: int, seen: Seen) -> str:
    """A sighting as the prompt tells it: camera, times, and the boxes at its first and last moment."""
    start_s, end_s = rounded_s(seen.sighting.start_s, seen.sighting.end_s)
    mount = world.installation.mounts[seen.sighting.camera]
    noun = PEOPLE[world.scene.kind][0]
    lines = [f"Sighting {number}: camera {seen.sighting.camera}, a {noun}, {clock_span(start_s, end_s)}"]
    for time_s in (start_s, end_s):
        x, y, width, height = box(mount, seen.trip.journey, time_s)
        lines.append(f"  {clock(time_s)} box x={x:.1f} y={y:.1f} w={width:.1f} h={height:.1f}")
    return "\n".join(lines)


def _rules_of_place(kind: str) -> str:
    noun, _, goes = PEOPLE[kind]
    ways = (
        "keeps to the streets of the map and may turn round anywhere"
        if kind == "outdoor"
        else "goes through doors, stairs and lifts, whose lengths count as those of other ways do"
    )
    return f"Every {noun} {ways}, and none {goes} faster than {TOP_MPS[kind]:.1f} m/s."


def _ahead(world: World, seen: Sequence[Seen], pairs: Sequence[tuple[int, int]]) -> dict[str, float]:
    """How long the ways are for the time there is: features of the question."""
    shares = []
    detours = []
    for start, end in pairs:
        first, second = seen[start].sighting, seen[end].sighting
        way_m = world.way_m(first.exit, second.entry)
        shares.append(way_m / TOP_MPS[world.scene.kind] / (second.start_s - first.end_s))
        detours.append(way_m / max(world.crow_m(first.exit, second.entry), 1.0))
    return {
        "detour": max(detours),
        "closeness": min(abs(math.log(share)) for share in shares),  # of the nearest call: 0 is a tie
    }


def _asked(
    world: World, rng: Random, seen: Sequence[Seen], pairs: Sequence[tuple[int, int]], text: str,
    options: Sequence[str], right: int, rules: dict[str, list[int]],
) -> FamilyQuestion:  # fmt: skip
    listed, place, moved = shuffled(rng, options, right, rules)
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
        evidence=tuple(told(world, number, each) for number, each in enumerate(seen, start=1)),
        text=f"{_rules_of_place(world.scene.kind)} {text}",
        options=listed,
        right=place,
        features=_ahead(world, seen, pairs),
        rules=moved,
        ways=tuple(ways),
        facts=facts,
    )


def _second(possible: Possible, rng: Random, first: int, gap_s: float, *, goes: bool) -> Iterator[int]:
    """Sightings by lot that the first's body can have made, or cannot though straight lines allow it."""
    for second in rng.sample(range(len(possible.seen)), len(possible.seen)):
        if math.isinf(possible.way_s[first][second]) or possible.goes(first, second, gap_s) is not goes:
            continue
        if goes or possible.straight_s[first][second] <= gap_s:
            yield second


def _usually(possible: Possible, first: int, second: int, gap_s: float) -> bool:
    """Whether one body made both if ways are USUAL_DETOUR times as long as straight lines."""
    return USUAL_DETOUR * possible.straight_s[first][second] <= gap_s


def same_target(lots: Random, world: World, rng: Random) -> FamilyQuestion | None:
    """Could one body have made both sightings? Yes and no are equally likely at any time between.

    A lot settles whether the straight line with a usual detour finds the answer.
    """
    kind = world.scene.kind
    gap_s, goes, start_s = lots.uniform(*GAP_S[kind]), lots.random() < 0.5, lots.uniform(*STARTS_S)
    usual = lots.random() < 0.5
    possible = possible_in(world)
    for first in rng.sample(range(len(possible.seen)), len(possible.seen)):
        for second in _second(possible, rng, first, gap_s, goes=goes):
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
                "straight line": [0],
                "straight line with a usual detour": [int(not _usually(possible, first, second, gap_s))],
                "long gap": [int(gap_s < sum(GAP_S[kind]) / 2)],
            }
            text = f"Could one {noun} have made both sightings?"
            return _asked(world, lots, (before, after), [(0, 1)], text, options, int(not goes), rules)
    return None


def which_sighting(lots: Random, world: World, rng: Random) -> FamilyQuestion | None:
    """Which of three later sightings is of the first's body? Each is as likely, and that none can be told.

    Where one can be told, it has the slowest straight line in one of three.
    """
    kind = world.scene.kind
    gaps_s = [lots.uniform(*GAP_S[kind]) for _ in range(3)]
    right, start_s = lots.randrange(4), lots.uniform(*STARTS_S)
    going = {right} if right < 3 else set(lots.sample(range(3), lots.choice((2, 2, 3))))
    slowest = lots.random() < 1 / 3  # whether the slowest straight line is the right one, where one is
    possible = possible_in(world)
    for first in rng.choices(range(len(possible.seen)), k=ROUNDS * len(possible.seen)):
        taken: list[int] = []
        cameras: set[str] = set()
        for index, gap_s in enumerate(gaps_s):
            candidates = _second(possible, rng, first, gap_s, goes=index in going)
            new = next((later for later in candidates if possible.seen[later][1].camera not in cameras), None)
            if new is None:
                break
            taken.append(new)
            cameras.add(possible.seen[new][1].camera)
        if len(taken) < len(gaps_s):
            continue
        straight = [possible.straight_s[first][index] / gap for index, gap in zip(taken, gaps_s, strict=True)]
        if right < 3 and (straight.index(min(straight)) == right) is not slowest:
            continue
        before = Seen.starting(possible.seen[first], start_s)
        after = [
            Seen.starting(possible.seen[index], before.sighting.end_s + gap_s)
            for index, gap_s in zip(taken, gaps_s, strict=True)
        ]
        crow_s = [possible.straight_s[first][index] for index in taken]
        noun = PEOPLE[kind][0]
        text = (
            f"The {noun} of sighting 1 was seen again: exactly one of the sightings 2, 3 and 4 is of the same"
            f" {noun}. Which, or can that not be determined?"
        )
        rules = {
            "straight line": [3],
            "earliest": [gaps_s.index(min(gaps_s))],
            "latest": [gaps_s.index(max(gaps_s))],
            "nearest camera": [crow_s.index(min(crow_s))],
            "slowest straight line": [straight.index(min(straight))],
        }
        options = ("sighting 2", "sighting 3", "sighting 4", UNKNOWN)
        return _asked(world, lots, (before, *after), [(0, 1), (0, 2), (0, 3)], text, options, right, rules)
    return None


def fewest(count: int, goes: Sequence[tuple[int, int]]) -> int:
    """The fewest bodies that can have made `count` sightings, of which one can have made each pair.

    All ways to share the sightings out are tried. A body can have made several if it can have gone from
    each to the next.

    >>> fewest(3, [(0, 1), (1, 2)]), fewest(3, [(0, 1), (0, 2)]), fewest(2, [])
    (1, 2, 2)
    """
    linked = set(goes)

    def least(index: int, last: tuple[int, ...]) -> int:
        if index == count:
            return len(last)
        shares = [
            least(index + 1, (*last[:place], index, *last[place + 1 :]))
            for place, before in enumerate(last)
            if (before, index) in linked
        ]
        return min([*shares, least(index + 1, (*last, index))])

    return least(0, ())


def fewest_targets(lots: Random, world: World, rng: Random) -> FamilyQuestion | None:
    """How many bodies at least made four sightings? One, two, three and four are equally likely.

    A lot settles whether straight lines find the answer; it is kept where the place has such sightings.
    """
    kind = world.scene.kind
    gaps_s = [lots.uniform(*SHORT_GAP_S[kind]) for _ in range(COUNTED - 1)]
    right, start_s = lots.randrange(COUNTED), lots.uniform(*STARTS_S)
    is_usual = lots.random() < 1 / 3 or right == 0  # of one body straight lines always find it
    possible = possible_in(world)
    best: tuple[Sequence[int], Sequence[float], int] | None = None
    for tried, (row, starts_s) in enumerate(_rows(possible, rng, gaps_s, start_s, right + 1)):
        by_straight = _fewest_straight(possible, row, starts_s)
        best = (row, starts_s, by_straight)
        if (by_straight == right + 1) is is_usual or tried == MOST_TRIED:
            break
    if best is None:
        return None
    row, starts_s, by_straight = best
    return _asked(
        world,
        lots,
        [Seen.starting(possible.seen[index], at_s) for index, at_s in zip(row, starts_s, strict=True)],
        list(combinations(range(COUNTED), 2)),
        f"How many different {PEOPLE[kind][1]}, at least, made these {COUNTED} sightings?",
        [str(number) for number in range(1, COUNTED + 1)],
        right,
        {"straight line": [by_straight - 1], "long gaps": [_by_time(kind, gaps_s)]},
    )


def _by_time(kind: str, gaps_s: Sequence[float]) -> int:
    """A guess by times alone: the longer the gaps, the fewer bodies."""
    low_s, high_s = SHORT_GAP_S[kind]
    share = (sum(gaps_s) / len(gaps_s) - low_s) / (high_s - low_s)
    return min(COUNTED - 1, int((1 - share) * COUNTED))


def _rows(
    possible: Possible, rng: Random, gaps_s: Sequence[float], start_s: float, bodies: int
) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
    """Sightings in a row that so many bodies made, at least, with their starts; looked for in depth."""
    count, left = len(gaps_s) + 1, NODES

    def longer(
        row: tuple[int, ...], starts_s: tuple[float, ...], going: tuple[tuple[int, int], ...]
    ) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
        nonlocal left
        needed = fewest(len(row), going)
        if needed > bodies or needed + count - len(row) < bodies:
            return
        if len(row) == count:
            yield row, starts_s
            return
        begin_s = starts_s[-1] + possible.seen[row[-1]][1].stay_s + gaps_s[len(row) - 1] if row else start_s
        for index in rng.sample(range(len(possible.seen)), len(possible.seen)):
            left -= 1
            if left < 0:
                return
            if any(math.isinf(possible.way_s[before][index]) for before in row):
                continue
            calls = [
                possible.goes(before, index, begin_s - at_s - possible.seen[before][1].stay_s)
                for before, at_s in zip(row, starts_s, strict=True)
            ]
            if None not in calls:
                links = tuple((place, len(row)) for place, goes in enumerate(calls) if goes)
                yield from longer((*row, index), (*starts_s, begin_s), (*going, *links))

    yield from longer((), (), ())


def _fewest_straight(possible: Possible, row: Sequence[int], starts_s: Sequence[float]) -> int:
    """The fewest bodies if all could go in straight lines."""
    going = [
        (first, later)
        for first, later in combinations(range(len(row)), 2)
        if possible.straight_s[row[first]][row[later]]
        <= starts_s[later] - starts_s[first] - possible.seen[row[first]][1].stay_s
    ]
    return fewest(len(row), going)


SCENES = ("outdoor", "indoor")
SAME = Family(
    task="SameTarget", short="same", version=1, scenes=SCENES, draw=same_target,
    text="could one body have made two sightings",
)  # fmt: skip
WHICH = Family(
    task="WhichSighting", short="which", version=1, scenes=SCENES, draw=which_sighting,
    text="which later sighting is of the same body, or can that not be determined",
)  # fmt: skip
FEWEST = Family(
    task="FewestTargets", short="fewest", version=1, scenes=SCENES, draw=fewest_targets,
    text="how many bodies, at least, made four sightings",
)  # fmt: skip
