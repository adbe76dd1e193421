"""Finds sightings before and after a time out of sight, and which can be of one body, as arrays.

Out of sight everybody takes the shortest way to where it is seen next, at a speed between two bounds that the
prompt tells. So a body can have gone from where one sighting ended to where another began if the time between
is no shorter than the way at the highest speed, and no longer than at the lowest.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from random import Random

import numpy as np
from numpy.typing import NDArray

from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family import finds_surely
from gnomon_worlds.families.possible_ways import CLEAR, TOP_MPS, USUAL_DETOUR, Possible, possible_in
from gnomon_worlds.world import Spot, World

SLOW_MPS = {"outdoor": 6.0, "indoor": 0.9}  # below what anyone goes on average who does not stop
ROWS, ROUNDS = 3_000, 8  # sightings that are drawn at a time in search of a question; how often
ROUNDS_AT_LEVEL = 30
DRAWN_AGAIN = 4  # lots of rules of thumb in one place
WORLDS_KEPT = 32

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Pairs = tuple[tuple[int, int], ...]
Answer = Callable[[Flags], Indices]
Guess = Callable[[Floats, Floats], Indices]  # from straight metres (n, ins, outs) and seconds (ins, outs)

NO_ANSWER = -1  # nothing can have been so


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The sightings of a world from which questions are made, with the ways between them.

    `way_m` and `straight_m` go from where sightings end to where sightings begin (n, n), infinite within one
    camera's; `to_place_m` and `from_place_m` to and from the world's named places (n, places), each as ways
    and as straight lines.
    """

    possible: Possible
    camera: Indices
    way_m: Floats
    straight_m: Floats
    places: tuple[str, ...]
    to_place_m: tuple[Floats, Floats]
    from_place_m: tuple[Floats, Floats]


@lru_cache(WORLDS_KEPT)
def pool_of(world: World) -> Pool:
    """The pool of a world."""
    possible, top_mps = possible_in(world), TOP_MPS[world.scene.kind]
    cameras = sorted(world.scene.cameras)
    places = sorted(world.scene.places.values(), key=lambda place: place.id)
    spots = [Spot(xy_m=place.xy_m, floor=place.floor) for place in places]
    exits = [sighting.exit for _, sighting in possible.seen]
    entries = [sighting.entry for _, sighting in possible.seen]
    shape = (len(exits), len(spots))

    def table(measure: Callable[[int, int], float]) -> Floats:
        return np.array([[measure(row, column) for column in range(shape[1])] for row in range(shape[0])])

    return Pool(
        possible=possible,
        camera=np.array([cameras.index(sighting.camera) for _, sighting in possible.seen]),
        way_m=np.array(possible.way_s) * top_mps,
        straight_m=np.array(possible.straight_s) * top_mps,
        places=tuple(place.name for place in places),
        to_place_m=(
            table(lambda row, column: world.way_m(exits[row], spots[column])),
            table(lambda row, column: world.crow_m(exits[row], spots[column])),
        ),
        from_place_m=(
            table(lambda row, column: world.way_m(spots[column], entries[row])),
            table(lambda row, column: world.crow_m(spots[column], entries[row])),
        ),
    )


def goes(way_m: Floats, gap_s: Floats, bounds_mps: tuple[float, float]) -> Flags:
    """Whether one body can have gone each way in the time there is, at a speed within the bounds."""
    slow_mps, fast_mps = bounds_mps
    is_possible: Flags = (way_m <= fast_mps * gap_s) & (way_m >= slow_mps * gap_s)
    return is_possible


def is_clear(way_m: Floats, gap_s: Floats, bounds_mps: tuple[float, float]) -> Flags:
    """Whether a way is far enough from the bounds, since boxes are rounded to 0.1 pixels."""
    off = [np.abs(np.log(np.maximum(way_m, 1.0) / (mps * gap_s))) for mps in bounds_mps]
    clear: Flags = np.minimum(*off) >= math.log(CLEAR)
    return clear & np.isfinite(way_m)


def shares(ins: int, outs: int) -> tuple[Pairs, ...]:
    """All ways to pair the sightings of the shorter side with those of the longer one, as (in, out) pairs.

    >>> shares(1, 2)
    (((0, 0),), ((0, 1),))
    """
    if ins <= outs:
        return tuple(tuple(enumerate(order)) for order in permutations(range(outs), ins))
    return tuple(
        tuple((before, after) for after, before in enumerate(order))
        for order in permutations(range(ins), outs)
    )


def possible_shares(going: Flags) -> Flags:
    """Which of the `shares` are possible: (rows, ins, outs) to (rows, shares)."""
    ways = [
        np.logical_and.reduce([going[:, before, after] for before, after in pairs])
        for pairs in shares(*going.shape[1:])
    ]
    return np.stack(ways, axis=1)


def decided(held: Flags, undetermined: int) -> Indices:
    """The one option that can hold in each row; `undetermined` where several can, NO_ANSWER where none."""
    count = held.sum(axis=1)
    chosen: Indices = np.where(count == 1, held.argmax(axis=1), undetermined)
    return np.where(count == 0, NO_ANSWER, chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a family asks about rows of sightings, and the rules of thumb by which one might guess.

    `answer` goes from what can have been so (rows, ins, outs) to the right option of each row. `straight` is,
    by right option, how often straight lines are to find it. `guesses` go from straight lines and times to an
    option; those in `lots` find the right option, if it is one of `guessed`, as often as any other of these.
    `halves` know the ways, but leave out a step, each another one; what they find is right, but often they
    only find `undetermined`.
    """

    ins: int
    outs: int
    answer: Answer
    straight: Sequence[float]
    undetermined: int  # the option of who finds nothing that decides
    halves: Mapping[str, Answer]
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    lots: Collection[str] = ()
    guessed: Sequence[int] = ()
    has_places: bool = False  # its "outs" are places that are passed between two sightings


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The sightings of a question, by index in the pool, with the ways and the options of the rules."""

    ins: tuple[int, ...]
    outs: tuple[int, ...]  # sightings, or places
    way_m: Floats  # (ins, outs)
    straight_m: Floats
    guesses: Mapping[str, int]
    halves: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lots:
    """Drawn before sightings are looked for: which option is right, and which rules of thumb find it.

    At a level one lot, `is_sure`, settles whether straight lines find the right option, or neither they nor
    halves find anything that decides. So in hard questions all of these say the same whatever is right, and
    not even that they are wrong is a hint; guesses there share a lot, as they agree with one another. Without
    a level `is_sure` is None.
    """

    right: int
    by_straight: bool
    by_guess: Mapping[str, bool]
    is_sure: bool | None = None

    @classmethod
    def drawn(cls, rng: Random, asked: Asked, right: int, difficulty: Difficulty | None) -> "Lots":
        """Draw lots so that every rule finds the right option as often as a guess, or as the level says."""
        if difficulty and difficulty.level:
            is_sure = finds_surely(rng, difficulty)
            finds = bool(asked.guessed) and rng.random() < 1 / len(asked.guessed)
            by_guess = dict.fromkeys(asked.lots if right in asked.guessed and not is_sure else (), finds)
            return cls(right=right, by_straight=is_sure, by_guess=by_guess, is_sure=is_sure)
        return cls(
            right=right,
            by_straight=rng.random() < asked.straight[right],
            by_guess={
                name: rng.random() < 1 / len(asked.guessed) for name in asked.lots if right in asked.guessed
            },
        )


def find(
    lots: Random, world: World, rng: Random, asked: Asked, gap_s: Floats, difficulty: Difficulty | None
) -> tuple[Row, int] | None:
    """Find sightings for a question with these seconds between (ins, outs), and its right option.

    Every option is as likely, whatever the place holds. If it holds none in which the rules of thumb find the
    answer or miss it as the lots say, they are drawn again; at a level they are kept, and another place has
    to be tried. None: none was found.
    """
    right = lots.randrange(len(asked.straight))
    is_kept = difficulty is not None and difficulty.level is not None
    again, rounds = (1, ROUNDS_AT_LEVEL) if is_kept else (DRAWN_AGAIN, ROUNDS)
    for settled in [Lots.drawn(lots, asked, right, difficulty) for _ in range(again)]:
        row = _find_row(world, rng, asked, gap_s, settled, rounds)
        if row is not None:
            return row, right
    return None


def _find_row(world: World, rng: Random, asked: Asked, gap_s: Floats, lots: Lots, rounds: int) -> Row | None:
    pool, kind = pool_of(world), world.scene.kind
    bounds_mps = (SLOW_MPS[kind], TOP_MPS[kind])
    if asked.has_places and len(pool.places) < asked.outs:
        return None
    for _ in range(rounds):
        ins, outs = _drawn(pool, rng, asked)
        way_m, straight_m = _lengths(pool, asked, ins, outs)
        fits = is_clear(way_m, gap_s, bounds_mps).all(axis=(1, 2))
        ins, outs, way_m, straight_m = ins[fits], outs[fits], way_m[fits], straight_m[fits]
        going = goes(way_m, gap_s, bounds_mps)
        straight = _by_straight(asked, straight_m, gap_s, bounds_mps)
        guesses = {name: guess(straight_m, gap_s) for name, guess in asked.guesses.items()}
        halves = {name: _settled(half(going), asked) for name, half in asked.halves.items()}
        for name, bound_mps in _half_bounds(bounds_mps).items():
            halves[name] = _settled(asked.answer(goes(way_m, gap_s, bound_mps)), asked)
        holds = [
            asked.answer(going) == lots.right,
            *((guesses[name] == lots.right) == is_found for name, is_found in lots.by_guess.items()),
        ]
        if lots.is_sure is None:
            holds += [(option == lots.right) == lots.by_straight for option in straight.values()]
        else:
            said = lots.right if lots.is_sure else asked.undetermined
            holds += [option == said for option in straight.values()]
            if not lots.is_sure:
                holds += [option == said for option in halves.values()]
        obeying = np.flatnonzero(np.logical_and.reduce(holds))
        if len(obeying):
            first = int(obeying[0])
            rules = {**straight, **guesses}
            return Row(
                ins=tuple(ins[first].tolist()),
                outs=tuple(outs[first].tolist()),
                way_m=way_m[first],
                straight_m=straight_m[first],
                guesses={name: int(option[first]) for name, option in rules.items()},
                halves={name: int(option[first]) for name, option in halves.items()},
            )
    return None


def _half_bounds(bounds_mps: tuple[float, float]) -> Mapping[str, tuple[float, float]]:
    """The bounds that remain for someone who heeds only one of them."""
    return {"highest speed alone": (0.0, bounds_mps[1]), "lowest speed alone": (bounds_mps[0], math.inf)}


def _drawn(pool: Pool, rng: Random, asked: Asked) -> tuple[Indices, Indices]:
    """Draw rows of sightings, each by another camera; or of two sightings with places."""
    count = len(pool.possible.seen)
    if asked.has_places:
        ends = np.array(rng.choices(range(count), k=2 * ROWS)).reshape(ROWS, 2)
        drawn = rng.choices(range(len(pool.places)), k=asked.outs * ROWS)
        places = np.array(drawn).reshape(ROWS, asked.outs)
        apart = np.flatnonzero(_are_different(pool.camera[ends]) & _are_different(places))
        return ends[apart], places[apart]
    size = asked.ins + asked.outs
    rows = np.array(rng.choices(range(count), k=size * ROWS)).reshape(ROWS, size)
    rows = rows[_are_different(pool.camera[rows])]
    return rows[:, : asked.ins], rows[:, asked.ins :]


def _are_different(rows: Indices) -> Flags:
    """Whether no number occurs twice in a row."""
    steps = np.diff(np.sort(rows, axis=1), axis=1)
    different: Flags = np.all(steps > 0, axis=1)
    return different


def _lengths(pool: Pool, asked: Asked, ins: Indices, outs: Indices) -> tuple[Floats, Floats]:
    if asked.has_places:  # its two rows are the ways to each place and on from it
        ways, lines = (
            np.stack([there[ins[:, :1], outs], on[ins[:, 1:], outs]], axis=1)
            for there, on in zip(pool.to_place_m, pool.from_place_m, strict=True)
        )
        return ways, lines
    before, after = ins[:, :, None], outs[:, None, :]
    return pool.way_m[before, after], pool.straight_m[before, after]


def _by_straight(
    asked: Asked, straight_m: Floats, gap_s: Floats, bounds_mps: tuple[float, float]
) -> dict[str, Indices]:
    """The options that follow from straight lines, or from ways that are longer by a usual detour."""
    lines = {"straight line": straight_m, "straight line with a usual detour": USUAL_DETOUR * straight_m}
    return {
        name: _settled(asked.answer(goes(line_m, gap_s, bounds_mps)), asked) for name, line_m in lines.items()
    }


def _settled(options: Indices, asked: Asked) -> Indices:
    return np.where(options == NO_ANSWER, asked.undetermined, options)


def features_of(row: Row, right: int, gap_s: Floats, kind: str) -> Mapping[str, float]:
    """Features of a question: its largest detour, how far its closest call is from a tie, and whether the
    first of its halves finds the answer, which ignores the other bodies, or the way on.
    """
    off = [
        np.abs(np.log(np.maximum(row.way_m, 1.0) / (mps * gap_s))) for mps in (SLOW_MPS[kind], TOP_MPS[kind])
    ]
    return {
        "detour": float((row.way_m / np.maximum(row.straight_m, 1.0)).max()),
        "closeness": float(np.minimum(*off).min()),
        "gap_s": float(gap_s.mean()),
        "half_suffices": float(next(iter(row.halves.values())) == right),
    }
