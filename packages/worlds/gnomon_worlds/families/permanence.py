"""Asks about bodies out of sight: where one was, whether it is still hidden, who comes out, in what order.

A body that is hidden goes on: it keeps to its ways, at a speed within bounds, and comes into sight where that
lets it. Times are drawn first; then a lot settles which option is right, and which rules of thumb find it;
only then are sightings looked for.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

import numpy as np

from gnomon.core.clock import clock
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family import Family, FamilyQuestion, shuffled
from gnomon_worlds.families.out_of_sight import (
    NO_ANSWER,
    SLOW_MPS,
    Asked,
    Flags,
    Floats,
    Indices,
    Row,
    decided,
    features_of,
    find,
    pool_of,
    possible_shares,
    shares,
)
from gnomon_worlds.families.possible_ways import (
    PEOPLE,
    SCENES,
    TOP_MPS,
    UNKNOWN,
    USUAL_DETOUR,
    Seen,
    on_streets,
    sighting_text,
)
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.trajectory import STARTS_S, Sighting, Trip
from gnomon_worlds.world import Spot, World

# Seconds from the last that goes out of sight to the first that comes, and from one that goes or comes to the
# next; from a sighting to a place, or from there to the next.
HIDDEN_S = {"outdoor": (10.0, 26.0), "indoor": (8.0, 20.0)}
NEXT_S = {"outdoor": (5.0, 15.0), "indoor": (4.0, 11.0)}
LEG_S = {"outdoor": (26.0, 48.0), "indoor": (22.0, 46.0)}
AFTER_S = 4.0  # from the last sighting's end to the moment that is asked about
WALLED = WorldOptions(sight="occluded")
USUAL_MPS = {kind: (SLOW_MPS[kind] * TOP_MPS[kind]) ** 0.5 for kind in TOP_MPS}

Texts = tuple[str, Sequence[str]]  # the question and its options


def _rules_of_hiding(world: World) -> str:
    kind = world.scene.kind
    noun = PEOPLE[kind][0]
    ground = on_streets(world) if kind == "outdoor" else "goes through doors, stairs and lifts"
    return (
        f"Walls hide what lies between the views of cameras. Out of sight every {noun} {ground} and takes the"
        f" shortest way to where it is seen next, at {SLOW_MPS[kind]:.1f} to {TOP_MPS[kind]:.1f} m/s on"
        " average. Only these sightings are at hand."
    )


def _listed(numbers: Sequence[int]) -> str:
    """The sightings of these numbers, in words.

    >>> _listed([3, 4, 5])
    'sightings 3, 4 and 5'
    """
    return f"sightings {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _times_s(lots: Random, asked: Asked, kind: str) -> tuple[list[float], list[float]]:
    """Draw when bodies go out of sight and when they come into sight, in order."""
    ends_s = [lots.uniform(*STARTS_S)]
    for _ in range(asked.ins - 1):
        ends_s.append(ends_s[-1] + lots.uniform(*NEXT_S[kind]))
    starts_s = [ends_s[-1] + lots.uniform(*HIDDEN_S[kind])]
    for _ in range(asked.outs - 1):
        starts_s.append(starts_s[-1] + lots.uniform(*NEXT_S[kind]))
    return ends_s, starts_s


def _question(
    lots: Random, world: World, rng: Random, asked: Asked, words: Callable[[float], Texts],
    rules: Mapping[str, int], difficulty: Difficulty | None,
) -> FamilyQuestion | None:  # fmt: skip
    """The question about bodies that went out of and came into sight; `words` gets its last moment."""
    kind, pool = world.scene.kind, pool_of(world)
    ends_s, starts_s = _times_s(lots, asked, kind)
    gap_s = np.array(starts_s)[None, :] - np.array(ends_s)[:, None]
    drawn = find(lots, world, rng, asked, gap_s, difficulty)
    if drawn is None:
        return None
    row, right = drawn
    sightings = [
        _ending(pool.possible.seen[index], at_s) for index, at_s in zip(row.ins, ends_s, strict=True)
    ]
    sightings += [
        Seen.starting(pool.possible.seen[index], at_s) for index, at_s in zip(row.outs, starts_s, strict=True)
    ]
    pairs = [(before, after) for before in range(asked.ins) for after in range(asked.outs)]
    ways = [
        (
            sightings[before].sighting.exit,
            sightings[asked.ins + after].sighting.entry,
            f"{before + 1} to {asked.ins + after + 1}",
            (before, after),
        )
        for before, after in pairs
    ]
    text, options = words(sightings[-1].sighting.end_s)
    return _made(lots, world, row, gap_s, sightings, ways, text, options, right, rules)


def _made(
    lots: Random, world: World, row: Row, gap_s: Floats, sightings: Sequence[Seen],
    ways: Sequence[tuple[Spot, Spot, str, tuple[int, int]]], text: str, options: Sequence[str], right: int,
    rules: Mapping[str, int],
) -> FamilyQuestion:  # fmt: skip
    kind = world.scene.kind
    guesses = {**row.guesses, **rules}
    left = {name: [option] for name, option in {**guesses, **row.halves}.items()}
    listed, place, moved = shuffled(lots, options, right, left)
    labels = {}
    for *_, name, at in ways:
        way_m = row.way_m[at]
        labels[name] = (
            f"{way_m:.0f} m, {way_m / TOP_MPS[kind]:.1f} to {way_m / SLOW_MPS[kind]:.1f} s;"
            f" {gap_s[at]:.1f} s between"
        )
    return FamilyQuestion(
        evidence=tuple(
            sighting_text(world, number, sighting) for number, sighting in enumerate(sightings, start=1)
        ),
        text=f"{_rules_of_hiding(world)} {text}",
        options=listed,
        right=place,
        features={**features_of(row, right, gap_s, kind), "hidden": float(len(row.ins))},
        rules={name: moved[name] for name in guesses},
        halves={name: moved[name] for name in row.halves},
        ways=tuple((start, end, f"{name}: {labels[name]}") for start, end, name, _ in ways),
        facts={f"From {name}": label for name, label in labels.items()},
    )


def _ending(taken: tuple[Trip, Sighting], end_s: float) -> Seen:
    """The sighting, moved in time so that it ends then."""
    return Seen.starting(taken, end_s - taken[1].stay_s)


def _by_nearest(straight_m: Floats, option_of_share: Indices) -> Indices:
    """For each row, the option of the share whose straight lines are shortest in sum."""
    sums = [
        sum(straight_m[:, before, after] for before, after in pairs)
        for pairs in shares(*straight_m.shape[1:])
    ]
    can_be = option_of_share != NO_ANSWER
    nearest: Indices = option_of_share[can_be][np.stack(sums, axis=1)[:, can_be].argmin(axis=1)]
    return nearest


def _by_share(ins: int, outs: int, option: Callable[[Mapping[int, int]], int]) -> Indices:
    """The option of each share; a share is told as the sighting of each body that came out."""
    return np.array([option(dict(pairs)) for pairs in shares(ins, outs)])


def _held(going: Flags, option_of_share: Indices, options: int) -> Flags:
    """Which options can hold, given which shares are possible."""
    can = possible_shares(going)
    return np.stack([can[:, option_of_share == option].any(axis=1) for option in range(options)], axis=1)


# Which of those that come into sight is it?

OUTS = 3


def _comes_out(body: int, kind: str) -> Asked:
    of_share = _by_share(2, OUTS, lambda share: share[body])

    def likely_speed(straight_m: Floats, gap_s: Floats) -> Indices:
        speeds = USUAL_DETOUR * np.maximum(straight_m[:, body], 1.0) / gap_s[body]
        likely: Indices = np.abs(np.log(speeds / USUAL_MPS[kind])).argmin(axis=1)
        return likely

    return Asked(
        ins=2,
        outs=OUTS,
        straight=[1 / 4] * 4,
        answer=lambda going: decided(_held(going, of_share, OUTS), OUTS),
        undetermined=OUTS,
        guesses={
            "nearest camera": lambda straight_m, _: straight_m[:, body].argmin(axis=1),
            "usual speed": likely_speed,
        },
        lots=("nearest camera", "usual speed"),
        guessed=range(OUTS),
        halves={"the body alone": lambda going: decided(going[:, body], OUTS)},
    )


def comes_out(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """Ask which of three that come into sight is the body of one sighting, if that can be determined."""
    kind, body = world.scene.kind, lots.randrange(2)
    noun, nouns, _ = PEOPLE[kind]
    text = (
        f"After sightings 1 and 2 two {nouns} went out of sight. {_listed((3, 4, 5)).capitalize()} are of"
        f" three {nouns} that came into sight, the two among them. Which sighting is of the {noun} of"
        f" sighting {body + 1}, or can that not be determined?"
    )
    options = (*(f"sighting {number}" for number in (3, 4, 5)), UNKNOWN)
    rules = {"first to come": 0, "last to come": 2, "same order": body}
    return _question(lots, world, rng, _comes_out(body, kind), lambda _: (text, options), rules, difficulty)


# Who came into sight first?


def _order_hidden() -> Asked:
    of_share = _by_share(2, OUTS, lambda share: int(share[0] > share[1]))

    def half(going: Flags) -> Indices:
        """Each body by itself: the first and the last that can be it."""
        numbers = np.arange(OUTS)
        first = np.where(going, numbers, OUTS).min(axis=2)
        last = np.where(going, numbers, -1).max(axis=2)
        surely: Indices = np.where(last[:, 0] < first[:, 1], 0, np.where(last[:, 1] < first[:, 0], 1, 2))
        return surely

    return Asked(
        ins=2,
        outs=OUTS,
        straight=[1 / 3] * 3,
        answer=lambda going: decided(_held(going, of_share, 2), 2),
        undetermined=2,
        guesses={"nearest cameras": lambda straight_m, _: _by_nearest(straight_m, of_share)},
        lots=("nearest cameras",),
        guessed=range(2),
        halves={"each body alone": half},
    )


def order_hidden(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """Ask which of two came into sight first, if that can be determined."""
    nouns = PEOPLE[world.scene.kind][1]
    text = (
        f"After sightings 1 and 2 two {nouns} went out of sight. {_listed((3, 4, 5)).capitalize()} are of"
        f" three {nouns} that came into sight, the two among them. Which of the two came into sight first,"
        " or can that not be determined?"
    )
    options = ("that of sighting 1", "that of sighting 2", UNKNOWN)
    rules = {"first in, first out": 0, "last in, first out": 1}
    return _question(lots, world, rng, _order_hidden(), lambda _: (text, options), rules, difficulty)


# Is it still out of sight?

INS = 3
STILL, OUT, OPEN = range(3)


def _still_hidden(body: int, out: int | None) -> Asked:
    """Make the question; `out` is another body that has come into sight, as the prompt tells."""
    came = [{before for before, _ in pairs} for pairs in shares(INS, 2)]
    of_share = np.array(
        [NO_ANSWER if out not in {None, *who} else OUT if body in who else STILL for who in came]
    )
    return Asked(
        ins=INS,
        outs=2,
        straight=[1 / 3] * 3,
        answer=lambda going: decided(_held(going, of_share, 2), OPEN),
        undetermined=OPEN,
        guesses={"nearest cameras": lambda straight_m, _: _by_nearest(straight_m, of_share)},
        lots=("nearest cameras",),
        guessed=(STILL, OUT),
        halves={"the body alone": lambda going: np.where(going[:, body].any(axis=1), OPEN, STILL)},
    )


def still_hidden(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """Ask whether one of three is still hidden after two of them came into sight again.

    At a level it is told of one of the others that it came. Else who can't have come is still hidden, and who
    can have come may be: the other bodies would hardly matter.
    """
    kind, body = world.scene.kind, lots.randrange(INS)
    noun, nouns, _ = PEOPLE[kind]
    out = None
    if difficulty and difficulty.level:
        out = lots.choice([other for other in range(INS) if other != body])

    who_came = "" if out is None else f"; one of the two was the {noun} of sighting {out + 1}"

    def words(end_s: float) -> Texts:
        text = (
            f"After {_listed((1, 2, 3))} three {nouns} went out of sight. Two of the three came into sight"
            f" again, in sightings 4 and 5{who_came}. At {clock(round(end_s + AFTER_S, 1))} nothing more has"
            f" been seen of them. Is the {noun} of sighting {body + 1} still out of sight then, or can that"
            " not be determined?"
        )
        return text, ("yes, it is still out of sight", "no, it has come into sight", UNKNOWN)

    rules = {"most have come out": OUT, "first in, first out": OUT if body < 2 else STILL}
    return _question(lots, world, rng, _still_hidden(body, out), words, rules, difficulty)


# How many are still out of sight?


def _fewest_hidden(options: int) -> Asked:
    """The question; an option is one less than the number of bodies. No level asks if all are hidden."""

    def answer(going: Flags) -> Indices:
        """The answer: one of three came out in each sighting where that is possible."""
        pairs = [sum(going[:, before, after].astype(int) for before, after in way) for way in shares(INS, 2)]
        fewest: Indices = 2 - np.stack(pairs, axis=1).max(axis=1)
        return fewest

    def half(going: Flags) -> Indices:
        """Each sighting by itself may be of any body that can have made it, even if two are of the same."""
        came: Indices = 2 - going.any(axis=1).sum(axis=1)
        return came

    is_plain = options == INS
    return Asked(
        ins=INS,
        outs=2,
        # Straight lines hardly ever find that nobody can have come.
        straight=(1 / 2, 1 / 2, 0) if is_plain else (1 / 2, 1 / 2),
        answer=answer,
        undetermined=2 if is_plain else 0,
        halves={"each sighting alone": half},
    )


def fewest_hidden(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """Ask how many of three that went out of sight have not come back, at least, while others come and go.

    At a level it is one or two: that all are hidden is found by who looks at each sighting alone.
    """
    is_at_level = difficulty is not None and difficulty.level is not None
    nouns = PEOPLE[world.scene.kind][1]
    text = (
        f"After {_listed((1, 2, 3))} three {nouns} went out of sight. Sightings 4 and 5 are of two {nouns}"
        " that came into sight, of the three or others. How many of the three, at least, have not come into"
        " sight again by the time sighting 5 begins?"
    )
    options = [str(number) for number in range(1, (INS if is_at_level else INS + 1))]
    rules = {"one less for each that came": 0}
    asked = _fewest_hidden(len(options))
    return _question(lots, world, rng, asked, lambda _: (text, options), rules, difficulty)


# Where was it while out of sight?


def _where_hidden(share: float) -> Asked:
    """Make the question; `share` is the part of the time until the body passed the place."""

    def on_time(straight_m: Floats, _: Floats) -> Indices:
        gone = straight_m[:, 0] / np.maximum(straight_m.sum(axis=1), 1.0)
        nearest: Indices = np.abs(gone - share).argmin(axis=1)
        return nearest

    return Asked(
        ins=2,
        outs=OUTS,
        straight=[1 / 4] * 4,
        answer=lambda going: decided(going[:, 0] & going[:, 1], OUTS),
        undetermined=OUTS,
        guesses={
            "smallest detour": lambda straight_m, _: straight_m.sum(axis=1).argmin(axis=1),
            "straight-line timing": on_time,
        },
        lots=("smallest detour", "straight-line timing"),
        guessed=range(OUTS),
        halves={
            "way to the place alone": lambda going: decided(going[:, 0], OUTS),
            "way on alone": lambda going: decided(going[:, 1], OUTS),
        },
        has_places=True,
    )


def where_hidden(
    lots: Random, world: World, rng: Random, difficulty: Difficulty | None = None
) -> FamilyQuestion | None:
    """Ask which of three places a body passed between two sightings, if that can be determined."""
    kind, pool = world.scene.kind, pool_of(world)
    end_s, there_s, on_s = lots.uniform(*STARTS_S), lots.uniform(*LEG_S[kind]), lots.uniform(*LEG_S[kind])
    asked = _where_hidden(there_s / (there_s + on_s))
    there_s = round(end_s + there_s, 1) - end_s
    gap_s = np.array([[there_s] * OUTS, [on_s] * OUTS])
    drawn = find(lots, world, rng, asked, gap_s, difficulty)
    if drawn is None:
        return None
    row, right = drawn
    first, last = (pool.possible.seen[index] for index in row.ins)
    sightings = [_ending(first, end_s), Seen.starting(last, end_s + there_s + on_s)]
    names = [pool.places[place] for place in row.outs]
    noun = PEOPLE[kind][0]
    beside = "on the street beside" if kind == "outdoor" else "beside"
    text = (
        f"The {noun} of sighting 1 went out of sight and was next seen in sighting 2. At"
        f" {clock(end_s + there_s)} it was {beside} one of three places: {', '.join(names[:-1])} or"
        f" {names[-1]}. It went to that place, and on from there, by the shortest ways, at such speeds."
        " Which place was it, or can that not be determined?"
    )
    by_name = {place.name: Spot(xy_m=place.xy_m, floor=place.floor) for place in world.scene.places.values()}
    ways = [
        (
            sightings[0].sighting.exit if leg == 0 else by_name[name],
            by_name[name] if leg == 0 else sightings[1].sighting.entry,
            f"1 to {name}" if leg == 0 else f"{name} to 2",
            (leg, place),
        )
        for leg in range(2)
        for place, name in enumerate(names)
    ]
    to_m, from_m = row.straight_m.tolist()
    rules = {
        "nearest to where it was last seen": to_m.index(min(to_m)),
        "nearest to where it is seen next": from_m.index(min(from_m)),
    }
    return _made(lots, world, row, gap_s, sightings, ways, text, (*names, UNKNOWN), right, rules)


def _family(task: str, short: str, draw: Callable[..., FamilyQuestion | None], text: str) -> Family:
    return Family(task=task, short=short, version=2, scenes=SCENES, draw=draw, text=text, options=WALLED)


WHERE_HIDDEN = _family(
    "WhereHidden", "where", where_hidden,
    "which of three places a hidden body passed, or can that not be determined",
)  # fmt: skip
STILL_HIDDEN = _family(
    "StillHidden", "still", still_hidden,
    "whether one of three bodies is still hidden after two came out, or can that not be determined",
)  # fmt: skip
COMES_OUT = _family(
    "ComesOut", "out", comes_out,
    "which of three bodies that come into sight went out of sight before, or can that not be determined",
)  # fmt: skip
ORDER_HIDDEN = _family(
    "OrderHidden", "order", order_hidden,
    "which of two hidden bodies came out first, or can that not be determined",
)  # fmt: skip
FEWEST_HIDDEN = _family(
    "FewestHidden", "hidden", fewest_hidden,
    "how many of three bodies, at least, have not come into sight again while others come and go",
)  # fmt: skip
