"""Asks how many bodies, at least, made a row of sightings.

As in `possible_ways.py` times are drawn first, then the right option, and the sightings after.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from random import Random

import numpy as np
from numpy.typing import NDArray

from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family import Family, FamilyQuestion, finds_surely
from gnomon_worlds.families.possible_ways import (
    CLEAR,
    PEOPLE,
    SCENES,
    USUAL_DETOUR,
    Possible,
    Seen,
    possible_in,
    question_of,
)
from gnomon_worlds.trajectory import STARTS_S
from gnomon_worlds.world import World

SHORT_GAP_S = {"outdoor": (8.0, 12.0), "indoor": (6.0, 9.0)}  # between neighbours of a row of sightings
COUNTED = 4  # sightings in a row of which is asked how many made them
NODES = 20_000  # sightings that are tried in one place as the next of a row
MOST_TRIED = 50  # rows in which straight lines are to find the answer, or not
LEAST = 2  # bodies, at a level: of one, straight lines and neighbours alone always find that it is one
SHORT_S = 0.1  # a way that takes less is taken for that long
PAIRS = tuple(combinations(range(COUNTED), 2))
PAIRS_AT = np.array(PAIRS)
ARE_NEIGHBOURS = PAIRS_AT[:, 1] - PAIRS_AT[:, 0] == 1
DRAWN, ROUNDS = 6_000, 10  # rows that are drawn at a time at a level; how often
STAYS = 2  # equal shares of a place's sightings, from short to long

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]


def fewest(count: int, goes: Sequence[tuple[int, int]]) -> int:
    """The fewest bodies that can have made `count` sightings, given which pairs one body can have made.

    All ways to share the sightings out are tried. A body can have made several if it can have gone from
    each to the next.
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


def fewest_targets(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """How many bodies at least made four sightings? One, two, three and four are equally likely.

    A lot settles whether straight lines find the answer; it is kept where the place has such sightings. At a
    level two, three and four are equally likely; see `_at_level`.
    """
    if difficulty and difficulty.level:
        return _at_level(lots, world, rng, difficulty)
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
    return question_of(
        world,
        lots,
        [Seen.starting(possible.seen[index], at_s) for index, at_s in zip(row, starts_s, strict=True)],
        PAIRS,
        _text(kind),
        [str(number) for number in range(1, COUNTED + 1)],
        right,
        {"straight line": [by_straight - 1], "long gaps": [_by_time(kind, gaps_s, COUNTED)]},
    )


def _at_level(lots: Random, world: World, rng: Random, difficulty: Difficulty) -> FamilyQuestion | None:
    """The question at a level: two, three or four bodies.

    In easy questions straight lines find how many, and so does who only asks who can go from a sighting to
    the very next. In hard ones nobody can, so these always say four, and straight lines say two.

    In hard ones it is drawn as well how long the middle sightings are: long ones leave more time between the
    others, and the fewer bodies are needed, so that who only adds up times would be right more often than by
    chance. In easy ones, which straight lines find anyway, too few rows would be left.
    """
    kind = world.scene.kind
    gaps_s = np.array([lots.uniform(*SHORT_GAP_S[kind]) for _ in range(COUNTED - 1)])
    right, start_s = lots.randrange(COUNTED - LEAST + 1), lots.uniform(*STARTS_S)
    shares = [lots.randrange(STAYS) for _ in range(COUNTED - 2)]  # in which the middle ones lie
    is_sure = finds_surely(lots, difficulty)
    finds_usual = is_sure or lots.random() < 1 / (COUNTED - LEAST + 1)
    possible = possible_in(world)
    stay_s = np.array([sighting.stay_s for _, sighting in possible.seen])
    everything = range(len(stay_s))
    by_stay = np.array_split(np.argsort(stay_s, kind="stable"), STAYS)
    middle = [everything if is_sure else by_stay[share].tolist() for share in shares]
    columns = [everything, *middle, everything]
    for _ in range(ROUNDS):
        rows = np.column_stack([rng.choices(column, k=DRAWN) for column in columns])
        starts_s = np.cumsum(
            np.column_stack([np.full(DRAWN, start_s), gaps_s + stay_s[rows[:, :-1]]]), axis=1
        )
        first, later = rows[:, PAIRS_AT[:, 0]], rows[:, PAIRS_AT[:, 1]]
        gap_s = starts_s[:, PAIRS_AT[:, 1]] - starts_s[:, PAIRS_AT[:, 0]] - stay_s[first]
        way_s = np.array(possible.way_s)[first, later]
        straight_s = np.array(possible.straight_s)[first, later]
        counts = {
            "all": _counted(way_s <= gap_s),
            "neighbours": _counted((way_s <= gap_s) & ARE_NEIGHBOURS),
            "straight": np.maximum(_counted(straight_s <= gap_s), LEAST),
            "usual": np.maximum(_counted(USUAL_DETOUR * straight_s <= gap_s), LEAST),
        }
        is_clear = np.isfinite(way_s) & (
            np.abs(np.log(np.maximum(way_s, SHORT_S) / gap_s)) >= math.log(CLEAR)
        )
        is_right = counts["all"] == right + LEAST
        holds = is_clear.all(axis=1) & is_right & ((counts["usual"] == right + LEAST) == finds_usual)
        holds &= counts["neighbours"] == (right + LEAST if is_sure else COUNTED)
        holds &= counts["straight"] == (right + LEAST if is_sure else LEAST)
        if holds.any():
            at = int(np.flatnonzero(holds)[0])
            return question_of(
                world,
                lots,
                [
                    Seen.starting(possible.seen[index], time_s)
                    for index, time_s in zip(rows[at].tolist(), starts_s[at].tolist(), strict=True)
                ],
                PAIRS,
                _text(kind),
                [str(number) for number in range(LEAST, COUNTED + 1)],
                right,
                {
                    "straight line": [int(counts["straight"][at]) - LEAST],
                    "straight line with a usual detour": [int(counts["usual"][at]) - LEAST],
                    "long gaps": [_by_time(kind, gaps_s.tolist(), COUNTED - LEAST + 1)],
                },
                {"neighbours alone": [int(counts["neighbours"][at]) - LEAST]},
            )
    return None


def _counted(goes: Flags) -> Indices:
    """The fewest bodies of each row, given which pairs one body can have made (rows, pairs)."""
    codes: Indices = goes @ (1 << np.arange(len(PAIRS_AT)))
    return _fewest_of_codes()[codes]


@lru_cache(1)
def _fewest_of_codes() -> Indices:
    """The fewest bodies for every set (a bit mask) of pairs of sightings that one body can have made."""
    return np.array(
        [
            fewest(COUNTED, [pair for place, pair in enumerate(PAIRS) if code >> place & 1])
            for code in range(1 << len(PAIRS))
        ]
    )


def _text(kind: str) -> str:
    return f"How many different {PEOPLE[kind][1]}, at least, made these {COUNTED} sightings?"


def _by_time(kind: str, gaps_s: Sequence[float], options: int) -> int:
    """Guess by times alone: the longer the gaps, the fewer bodies."""
    low_s, high_s = SHORT_GAP_S[kind]
    share = (sum(gaps_s) / len(gaps_s) - low_s) / (high_s - low_s)
    return min(options - 1, int((1 - share) * options))


def _rows(
    possible: Possible, rng: Random, gaps_s: Sequence[float], start_s: float, bodies: int
) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
    """Search in depth for sightings in a row that took at least so many bodies, with their starts."""
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
    """The fewest bodies if all could move in straight lines."""
    going = [
        (first, later)
        for first, later in combinations(range(len(row)), 2)
        if possible.straight_s[row[first]][row[later]]
        <= starts_s[later] - starts_s[first] - possible.seen[row[first]][1].stay_s
    ]
    return fewest(len(row), going)


FEWEST = Family(
    task="FewestTargets", short="fewest", version=2, scenes=SCENES, draw=fewest_targets,
    text="how many bodies, at least, made four sightings",
)  # fmt: skip
