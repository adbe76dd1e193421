"""Questions about one room, from templates: each is kept only where no wrong box could change its answer.

Every centre may be wrong by SHIFT_M. Distances are between the closest points of boxes, directions between
centres seen from above.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

import numpy as np

from gnomon_rooms.named_boxes import turn_deg
from gnomon_rooms.reading import Room
from gnomon_tools.geometry.angles import signed_deg
from gnomon_tools.geometry.oriented_boxes import distances_m, width_upright_m

SHIFT_M = 0.10
GAP_M = 4 * SHIFT_M  # by which the runner-up is further: both distances may change by twice the shift
APART_M = 0.6  # a direction's points
MIN_DISTANCE_M, MIN_NEAREST_M = 0.5, 0.15
FOV_DEG, BEHIND_DEG = 90.0, 135.0
NUMBERS = ("1", "2", "3 or more")  # groups of answers: most are 1
RADII_M = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
TRIES = 400  # of pairs and triples of a room, and of choices
PAIRS = 40  # of a room, whose distances are looked at
CLOSE = 0.05  # a loose box that errs by less of a length scores fully: such questions come last


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question with its truth: a number in a unit, or the right option and the wrong ones.

    `said` are names and kinds in its words, `about` the kinds by which others are alike, `group` its answer
    among those that are asked for equally often.
    """

    room: Room
    text: str
    said: tuple[str, ...]
    about: tuple[str, ...]
    truth: float | None = None
    unit: str = ""
    right: str = ""
    wrong: tuple[str, ...] = ()
    group: str = ""


Item = TypeVar("Item")
Ask = Callable[[Room, Sequence[int], Random], Iterator[Draft]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A type of question; `answers` are its options where they are the same for all.

    `groups` of answers are asked for equally often. `is_numbered`: it can also name objects by a number.
    """

    name: str
    ask: Ask
    answers: tuple[str, ...] = ()
    groups: tuple[str, ...] = ("",)
    is_numbered: bool = True


def _count(room: Room, _: Sequence[int], chance: Random) -> Iterator[Draft]:
    for kind in _shuffled(room.kinds, chance):
        number = len(room.kinds[kind])
        if number >= 2 and room.counts.get(kind) == number and not room.is_nested(kind):
            text = f'How many objects of the kind "{kind}" are there in the room?'
            yield _draft(room, text, also=(kind,), about=(kind,), truth=number)


def _abs_distance(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    pairs = [pair for pair in _some(pool, 2, chance) if pair[0] < pair[1]][:PAIRS]
    if not pairs:
        return
    first, second = (room.array.take(np.array(these)) for these in zip(*pairs, strict=True))
    exact_m = distances_m(first, second)
    corners_m, other_corners_m = first.corners_m(), second.corners_m()
    between_m = np.maximum(
        corners_m.min(axis=1) - other_corners_m.max(axis=1),
        other_corners_m.min(axis=1) - corners_m.max(axis=1),
    )
    loose_m = np.sqrt((np.maximum(between_m, 0.0) ** 2).sum(axis=1))
    is_easy = np.abs(loose_m - exact_m) <= CLOSE * exact_m
    for at in np.argsort(is_easy, kind="stable"):
        (a, b), distance_m = pairs[at], round(float(exact_m[at]), 2)
        if distance_m >= MIN_DISTANCE_M:
            text = (
                f"How many metres apart are {_names(room, a, b)}, measured between the closest points of"
                " their boxes?"
            )
            yield _draft(room, text, a, b, truth=distance_m, unit="m")


def _object_size(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    corners_m = room.array.corners_m()
    loose_m = (corners_m.max(axis=1) - corners_m.min(axis=1)).max(axis=1)

    def is_easy(at: int) -> bool:
        longest_m = max(room.boxes[at].lengths_m)
        return bool(abs(loose_m[at] - longest_m) <= CLOSE * longest_m)

    for at in sorted(_shuffled(pool, chance), key=is_easy):
        text = f"How many centimetres long is the longest edge of the box around {_names(room, at)}?"
        longest_cm = round(100 * max(room.boxes[at].lengths_m), 1)
        yield _draft(room, text, at, truth=longest_cm, unit="cm")


def _room_size(room: Room, _: Sequence[int], __: Random) -> Iterator[Draft]:
    text = "How many square metres of floor does the room have?"
    yield _draft(room, text, truth=room.floor_m2, unit="m²")


def _rel_distance(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    for a, *near in _drawn(pool, 5, chance):
        options = {room.boxes[at].name: float(room.distances_m(a)[at]) for at in near}
        text = f"Which of these objects is closest to {_names(room, a)}, measured between closest points?"
        yield from _closest(room, (a,), text, options, MIN_NEAREST_M)


def _rel_distance_any(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    for a, start in itertools.product(_shuffled(pool, chance), range(4)):
        kinds = [kind for kind in room.kinds if kind != room.boxes[a].kind]
        if len(kinds) < 4:
            return
        chosen = Random(f"{chance.random()} {start}").sample(kinds, 4)
        options = {kind: float(room.distances_m(a)[room.kinds[kind]].min()) for kind in chosen}
        text = (
            f"Of which of these kinds is the object that is closest to {_names(room, a)}, measured between"
            " closest points?"
        )
        yield from _closest(room, (a,), text, options, MIN_NEAREST_M)


def _midpoint_nearest(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    centres_m = room.array.centres_m
    for a, b, *near in _drawn(pool, 6, chance):
        if np.linalg.norm(centres_m[a] - centres_m[b]) < 1.0:
            continue
        middle_m = (centres_m[a] + centres_m[b]) / 2
        options = {room.boxes[at].name: float(np.linalg.norm(centres_m[at] - middle_m)) for at in near}
        text = (
            "Which of these objects has its centre closest to the point halfway between the centres of"
            f" {_names(room, a, b)}, heights included?"
        )
        yield from _closest(room, (a, b), text, options, 0.0)


def _closest(
    room: Room, at: Sequence[int], text: str, options: dict[str, float], least_m: float
) -> Iterator[Draft]:
    """The question which option is closest, where the gap is wide enough."""
    first, second, *rest = sorted(options, key=options.__getitem__)
    if options[second] - options[first] > GAP_M and options[first] >= least_m:
        yield _draft(room, text, *at, also=options, right=first, wrong=(second, *rest))


def _directions(asked: str, edges_deg: Sequence[float], answer: Callable[[float], str]) -> Ask:
    """Questions on which side an object lies; `edges_deg` are where answers change."""

    def ask(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
        for a, b, c in _some(pool, 3, chance):
            if _plan_m(room, b, c) < 0.3 or min(_plan_m(room, a, b), _plan_m(room, a, c)) < APART_M:
                continue
            turned_deg = _turn_deg(room, a, b, c)
            if _is_sure(room, a, b, c, turned_deg, edges_deg):
                text = f"Someone stands at {_names(room, a)} and faces {_names(room, b)}. " + asked.format(
                    c=_names(room, c)
                )
                about = (room.boxes[c].kind,)
                right = answer(turned_deg)
                yield _draft(room, text, a, b, c, about=about, right=right, group=right)

    return ask


def _view(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    for a, b in _some(pool, 2, chance):
        others = [c for c in pool if c not in (a, b) and _plan_m(room, a, c) >= APART_M]
        if _plan_m(room, a, b) < APART_M or len(others) < 4:
            continue
        turns = {c: _turn_deg(room, a, b, c) for c in others}
        half = FOV_DEG / 2
        sure = [c for c in others if _is_sure(room, a, b, c, turns[c], (half, -half))]
        seen = [c for c in sure if abs(turns[c]) < half]
        hidden = [c for c in sure if abs(turns[c]) > half]
        if seen and len(hidden) >= 3:
            right, wrong = chance.choice(seen), chance.sample(hidden, 3)
            names = [room.boxes[c].name for c in (right, *wrong)]
            text = (
                f"Someone stands at the centre of {_names(room, a)} and looks towards the centre of"
                f" {_names(room, b)}, with a field of view of {FOV_DEG:g} degrees. Seen from above, and where"
                " nothing hides anything, which one of these objects has its centre in view?"
            )
            yield _draft(room, text, a, b, also=names, right=names[0], wrong=tuple(names[1:]))


def _fit_between(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    for x, a, b in _some(pool, 3, chance):
        width_m = width_upright_m(room.boxes[x])
        if a > b or width_m is None:
            continue
        wide_m = room.footprints[a].distance(room.footprints[b])
        if 2 * SHIFT_M <= wide_m <= 3.0 and abs(wide_m - width_m) > 2 * SHIFT_M:
            text = (
                f"Seen from above, would the box around {_names(room, x)}, upright and turned about the"
                f" vertical at will, pass between the boxes around {_names(room, a, b)}? Nothing else is in"
                " its way."
            )
            about, right = (room.boxes[x].kind,), "yes" if width_m < wide_m else "no"
            yield _draft(room, text, x, a, b, about=about, right=right, group=right)


def _count_within(room: Room, pool: Sequence[int], chance: Random) -> Iterator[Draft]:
    kinds = [kind for kind, these in room.kinds.items() if len(these) >= 2 and not room.is_nested(kind)]
    for a, kind, radius_m in _shuffled(itertools.product(pool, kinds, RADII_M), chance)[:TRIES]:
        if room.boxes[a].kind == kind:
            continue
        far_m = np.array([_plan_m(room, a, at) for at in room.kinds[kind]])
        within = int((far_m <= radius_m).sum())
        if 1 <= within < len(far_m) and np.abs(far_m - radius_m).min() > 2 * SHIFT_M:
            text = (
                f'How many objects of the kind "{kind}" have their centre within {radius_m:g} m of the centre'
                f" of {_names(room, a)}, seen from above?"
            )
            group = NUMBERS[min(within, len(NUMBERS)) - 1]
            yield _draft(room, text, a, also=(kind,), about=(kind,), truth=within, group=group)


def _draft(
    room: Room,
    text: str,
    *at: int,
    also: Iterable[str] = (),
    about: tuple[str, ...] | None = None,
    truth: float | None = None,
    unit: str = "",
    right: str = "",
    wrong: tuple[str, ...] = (),
    group: str = "",
) -> Draft:
    """A question that names these boxes and `also`; it is about their kinds unless it says other ones."""
    return Draft(
        room=room,
        text=text,
        said=(*(room.boxes[number].name for number in at), *also),
        about=tuple(sorted(room.boxes[number].kind for number in at)) if about is None else about,
        truth=truth,
        unit=unit,
        right=right,
        wrong=wrong,
        group=group,
    )


def _names(room: Room, *at: int) -> str:
    return " and ".join(f'"{room.boxes[number].name}"' for number in at)


def _shuffled(items: Iterable[Item], chance: Random) -> list[Item]:
    listed = list(items)
    chance.shuffle(listed)
    return listed


def _some(pool: Sequence[int], size: int, chance: Random) -> list[tuple[int, ...]]:
    """Ordered pairs or triples of the pool by chance, each once, at most TRIES."""
    if len(pool) ** size <= 8 * TRIES:
        return _shuffled(itertools.permutations(pool, size), chance)[:TRIES]
    return list(dict.fromkeys(tuple(chance.sample(pool, size)) for _ in range(TRIES)))


def _drawn(pool: Sequence[int], size: int, chance: Random) -> list[tuple[int, ...]]:
    """So many boxes of the pool by chance, of which the order of the last four says nothing."""
    if len(pool) < size:
        return []
    draws = (tuple(chance.sample(pool, size)) for _ in range(TRIES // 4))
    return list({(draw[: size - 4], frozenset(draw[size - 4 :])): draw for draw in draws}.values())


def _plan_m(room: Room, a: int, b: int) -> float:
    return math.dist(room.boxes[a].centre_m[:2], room.boxes[b].centre_m[:2])


def _turn_deg(room: Room, a: int, b: int, c: int) -> float:
    return turn_deg(*(room.boxes[at].centre_m for at in (a, b, c)))


def _is_sure(room: Room, a: int, b: int, c: int, turned_deg: float, edges_deg: Sequence[float]) -> bool:
    """Whether no shift of the three centres takes the direction over an edge."""
    reach = sum(math.asin(2 * SHIFT_M / _plan_m(room, a, other)) for other in (b, c))
    return all(abs(signed_deg(turned_deg - edge)) > math.degrees(reach) for edge in edges_deg)


def _quarter(turned_deg: float) -> str:
    ahead = "front" if abs(turned_deg) < 90 else "back"
    return f"{ahead}-{'left' if turned_deg > 0 else 'right'}"


def _side(turned_deg: float) -> str:
    return "left" if turned_deg > 0 else "right"


TASKS = (
    Task(name="count", ask=_count, is_numbered=False),
    Task(name="abs_distance", ask=_abs_distance),
    Task(name="object_size", ask=_object_size),
    Task(name="room_size", ask=_room_size, is_numbered=False),
    Task(name="rel_distance", ask=_rel_distance),
    Task(name="rel_distance_any", ask=_rel_distance_any, is_numbered=False),
    Task(
        name="direction_easy",
        ask=_directions("Is {c} to the left or to the right of the line of sight?", (0.0, 180.0), _side),
        answers=("left", "right"),
        groups=("left", "right"),
    ),
    Task(
        name="direction_medium",
        ask=_directions(
            "Is {c} to the left, to the right, or behind? It is behind where it takes a turn of 135 degrees"
            " or more to face it.",
            (0.0, BEHIND_DEG, -BEHIND_DEG),
            lambda turned_deg: "behind" if abs(turned_deg) >= BEHIND_DEG else _side(turned_deg),
        ),
        answers=("left", "right", "behind"),
        groups=("left", "right", "behind"),
    ),
    Task(
        name="direction_hard",
        ask=_directions("In which quarter around that person is {c}?", (0.0, 90.0, -90.0, 180.0), _quarter),
        answers=("front-left", "front-right", "back-left", "back-right"),
        groups=("front-left", "front-right", "back-left", "back-right"),
    ),
    Task(name="midpoint_nearest", ask=_midpoint_nearest),
    Task(name="view", ask=_view),
    Task(name="fit_between", ask=_fit_between, answers=("yes", "no"), groups=("yes", "no")),
    Task(name="count_within", ask=_count_within, groups=NUMBERS, is_numbered=False),
)
