"""Asks those tasks of UrbanVideo-Bench whose truth follows from a drone's poses and the town's map.

What is right is settled by lot before a place or a moment is looked for that makes it so, wherever options
are always the same. Other wrong options are links of a chain of small steps, of which any could be right.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from random import Random
from typing import TypeVar

import numpy as np

from gnomon_tools.geometry.angles import signed_deg
from gnomon_tools.scene.scene import ScenePlace
from gnomon_worlds.camera_model import SIDE_MARGIN_DEG
from gnomon_worlds.families.family import FamilyQuestion, shuffled
from gnomon_worlds.motion.features import features_of_flight
from gnomon_worlds.motion.flying import (
    CHOICE_WORDS,
    MANOEUVRES,
    OPPOSITE,
    SECONDS,
    Flight,
    Manoeuvre,
    may_be_drawn,
    sums_of,
    usual_s,
)
from gnomon_worlds.motion.logs import flight_log
from gnomon_worlds.motion.short_ways import (
    Settled,
    ShortWay,
    at_bearing,
    closeness,
    on_circle,
    rules_of,
)
from gnomon_worlds.motion.tour import FOV_DEG
from gnomon_worlds.recordings.wrong_options import NoDistractors, wrong_options

T = TypeVar("T")

ACROSS_DEG = FOV_DEG + 2 * SIDE_MARGIN_DEG  # of the picture
DIFFERENCES: Mapping[str, tuple[int, int]] = {  # of wrong amounts, at least and at most
    "forward": (8, 20), "turn": (15, 40), "climb": (4, 10), "tilt": (4, 10)
}  # fmt: skip
SHARED: Mapping[str, tuple[int, int]] = {  # of amounts that are shared out otherwise
    "forward": (4, 12), "turn": (6, 20), "climb": (2, 5), "tilt": (1, 4)
}  # fmt: skip
CHANGE_M = 4.0  # of a distance, at least, or none at all
CLEAR_DEG = 12.0  # from the border of a quarter
AWAY_M = 20.0  # from what is asked about, at least, on the ground
INSIDE = 0.03  # of the picture's width, from the border of a third or of the picture
ENDS_M, WIDEST_DEG = (AWAY_M, 70.0), 80.0  # others would be known to be wrong
NEAR_ENDS_M = (AWAY_M, 50.0)  # at a level: as far as one leg alone may lead
AIMS_M = (80.0, 240.0)  # places are not nearer in many a town


@dataclass(frozen=True, slots=True)
class Apart:
    """The least and the greatest difference between wrong aims and wrong ends, in degrees and in metres."""

    aims_deg: tuple[float, float]
    aims_m: tuple[float, float]
    ends_deg: tuple[float, float]
    ends_m: tuple[float, float]


# By whether short ways find the answer; None: as it comes. Where they don't, wrong aims are as far away.
_AIMS: Mapping[bool | None, Apart] = {
    None: Apart((12.0, 45.0), (10.0, 60.0), (12.0, 45.0), (8.0, 20.0)),
    True: Apart((30.0, 60.0), (20.0, 60.0), (20.0, 45.0), (8.0, 20.0)),
    False: Apart((6.0, 20.0), (0.0, 0.0), (5.0, 12.0), (2.0, 6.0)),
}
NEAR_M, NEAR_AIM_M = 4.0, 8.0  # to the distance that is settled by lot: all are as likely

INNER = range(1, MANOEUVRES - 1)  # the manoeuvres with one before and one after
ALIKE_S = 0.4  # two manoeuvres that usually differ by less take as long
AROUND_S = SECONDS[1]  # of a moment within one of these, from which on both neighbours show

VIEWS = (
    "it is not in the picture", "in the left third of the picture",
    "in the middle third of the picture", "in the right third of the picture",
)  # fmt: skip
QUARTERS = (
    "ahead and to the left",
    "ahead and to the right",
    "behind and to the left",
    "behind and to the right",
)
CHANGES = ("it shrinks", "it grows", "it stays the same")


def trajectory(
    flight: Flight, _lots: Random, tries: Random, settled: Settled | None
) -> FamilyQuestion | None:
    """Ask which sequence of manoeuvres it is."""

    def step(rng: np.random.Generator, route: tuple[Manoeuvre, ...]) -> tuple[Manoeuvre, ...]:
        index = int(rng.integers(len(route)))
        each, flipped = route[index], OPPOSITE.get(route[index].kind)
        if flipped and rng.random() < 0.5:
            changed = Manoeuvre(flipped, each.amount, each.seconds)
        else:
            by = int(rng.integers(*DIFFERENCES[each.kind.quantity], endpoint=True)) * _either_way(rng)
            changed = Manoeuvre(each.kind, each.amount + by, each.seconds)
        return (*route[:index], changed, *route[index + 1 :])

    def is_sound(routes: Sequence[tuple[Manoeuvre, ...]]) -> bool:
        return all(map(may_be_drawn, routes)) and len({in_words(route) for route in routes}) == len(routes)

    is_close = settled is not None and not settled.is_sure
    wrong = _chain(tries, flight.manoeuvres, _shared_out if is_close else step, is_sound)
    if wrong is None:
        return None
    text = "Which option sums up the drone's flight best?"
    routes = (flight.manoeuvres, *wrong)
    sums = [sums_of(route) for route in routes]
    ways = [ShortWay.to("sums alone", sums[0], sums)]
    return _asked(flight, tries, text, [in_words(route) for route in routes], settled, ways)


def _shared_out(rng: np.random.Generator, route: tuple[Manoeuvre, ...]) -> tuple[Manoeuvre, ...]:
    """The route with a part of one manoeuvre moved to another of the same quantity, so that sums stay."""
    pairs = [
        (a, b)
        for a, b in combinations(range(len(route)), 2)
        if route[a].kind.quantity == route[b].kind.quantity
    ]
    first, second = pairs[int(rng.integers(len(pairs)))]
    by = int(rng.integers(*SHARED[route[first].kind.quantity], endpoint=True)) * _either_way(rng)
    changed = list(route)
    for index, signed in ((first, by), (second, -by)):
        step = route[index]
        changed[index] = Manoeuvre(step.kind, step.amount + step.kind.sign * signed, step.seconds)
    return tuple(changed)


def in_words(route: Sequence[Manoeuvre]) -> str:
    """Put manoeuvres into words, such as `flies forward 30 m, then climbs 8 m`."""
    return ", then ".join(step.words for step in route)


def sequence(flight: Flight, _lots: Random, tries: Random, settled: Settled | None) -> FamilyQuestion | None:
    """Ask what comes after a manoeuvre; each of the five others is as likely."""
    number = tries.randrange(1, len(flight.manoeuvres))
    before, after = flight.manoeuvres[number - 1 : number + 1]
    words = [CHOICE_WORDS[after.choice]]
    words += [text for choice, text in enumerate(CHOICE_WORDS) if choice not in (before.choice, after.choice)]
    text = f"Until {flight.marks_s[number]} s, {CHOICE_WORDS[before.choice]}. What does the drone do next?"
    again = [
        CHOICE_WORDS[following.choice]
        for index, (each, following) in enumerate(pairwise(flight.manoeuvres), start=1)
        if each.choice == before.choice and index != number
    ]
    alone = words[0] if settled else None  # at a level: nothing misleads where it comes once
    says = again[0] if again else alone
    ways = [ShortWay.says("as after the same elsewhere", says, words)]
    if settled and settled.is_sure == bool(again):
        return None
    return _asked(flight, tries, text, words, settled, ways, [number - 1])


Aim = tuple[float, float]  # a turn in degrees, left positive, and metres on the ground


def ends(flight: Flight, lots: Random, tries: Random, settled: Settled | None) -> FamilyQuestion | None:
    """Ask where the flight ends, as seen from where it starts."""
    ahead_m, left_m = seen_from(flight, 0, flight.poses[-1, :2].tolist())
    aim = (math.degrees(math.atan2(left_m, ahead_m)), math.hypot(ahead_m, left_m))
    bounds_m = ENDS_M if settled is None else NEAR_ENDS_M
    if abs(aim[1] - lots.uniform(*bounds_m)) > NEAR_M:
        return None
    apart = _AIMS[None if settled is None else settled.is_sure]
    wrong = _other_aims(tries, aim, apart.ends_m, bounds_m, apart.ends_deg, WIDEST_DEG)
    if wrong is None:
        return None
    text = (
        "Where does the drone's flight end, as seen from where it starts, against the direction in which the"
        " drone is headed there? Heights don't count."
    )
    points = [at_bearing(*option) for option in (aim, *wrong)]
    ways = [ShortWay.to("first leg carried on", _carried_on(flight), points)]
    return _asked(flight, tries, text, [end_in_words(*option) for option in (aim, *wrong)], settled, ways)


def _carried_on(flight: Flight) -> tuple[float, float]:
    """Where the flight would end, ahead and to the left, if it kept its first direction."""
    turned_deg = 0.0
    for step in flight.manoeuvres:
        if step.kind.quantity == "forward":
            break
        turned_deg += step.kind.sign * step.amount * (step.kind.quantity == "turn")
    return at_bearing(turned_deg, sums_of(flight.manoeuvres)[0])


def _other_aims(
    tries: Random,
    aim: Aim,
    metres: tuple[float, float],
    bounds_m: tuple[float, float],
    degrees: tuple[float, float],
    widest_deg: float = 175.0,
) -> list[Aim] | None:
    """Wrong aims; None where the right one is too near, too far or too wide, or hardly turns.

    What would be out of bounds is mirrored at them.
    """
    nearest_m, farthest_m = bounds_m

    def step(rng: np.random.Generator, link: Aim) -> Aim:
        turn_deg = signed_deg(link[0] + _either_way(rng) * rng.uniform(*degrees))
        if abs(turn_deg) > widest_deg:
            turn_deg = math.copysign(2 * widest_deg - abs(turn_deg), turn_deg)
        away_m = link[1] + _either_way(rng) * rng.uniform(*metres)
        away_m = 2 * nearest_m - away_m if away_m < nearest_m else away_m
        return turn_deg, 2 * farthest_m - away_m if away_m > farthest_m else away_m

    def is_sound(links: Sequence[Aim]) -> bool:
        return all(
            nearest_m <= link[1] <= farthest_m and 5 < abs(link[0]) <= widest_deg for link in links
        ) and all(
            abs(signed_deg(a[0] - b[0])) >= degrees[0] / 2
            or (metres[0] and abs(a[1] - b[1]) >= metres[0] / 2)
            for a, b in combinations(links, 2)
        )

    return _chain(tries, aim, step, is_sound) if is_sound([aim]) else None


def end_in_words(turn_deg: float, away_m: float) -> str:
    """Put an end into words, such as `62 m away, 35° to the left`."""
    side = f"{abs(turn_deg):.0f}° to the {'left' if turn_deg > 0 else 'right'}"
    return f"{away_m:.0f} m away, {side}"


def proximity(flight: Flight, lots: Random, tries: Random, settled: Settled | None) -> FamilyQuestion | None:
    """Ask how the distance to a place changes during a manoeuvre of which only the times are told."""
    wanted = lots.randrange(3)
    numbers = tries.sample(range(len(flight.manoeuvres)), len(flight.manoeuvres))
    for number in numbers:
        start_s, end_s = flight.marks_s[number : number + 2]
        for place in _places(flight, tries):
            before_m, after_m = (distance_m(flight, second, place) for second in (start_s, end_s))
            change_m = after_m - before_m
            is_still = bool(np.allclose(flight.poses[start_s, :3], flight.poses[end_s, :3]))
            if wanted == 2 if is_still else abs(change_m) >= CHANGE_M and wanted == int(change_m > 0):
                text = (
                    f"How does the drone's distance from {place.name} change from {start_s} s to {end_s} s?"
                )
                first_m, last_m = (distance_m(flight, frame, place) for frame in (0, -1))
                over_all_m = last_m - first_m
                says = CHANGES[2] if abs(over_all_m) < CHANGE_M else CHANGES[int(over_all_m > 0)]
                options = _first(CHANGES, wanted)
                ways = [ShortWay.says("over the whole flight", says, options)]
                if question := _asked(flight, tries, text, options, settled, ways, [number]):
                    return question
    return None


def distance_m(flight: Flight, frame: int, place: ScenePlace) -> float:
    """The distance from the drone to a place on the ground."""
    return math.dist(flight.poses[frame, :3].tolist(), (*place.xy_m, 0.0))


def duration(flight: Flight, lots: Random, tries: Random, settled: Settled | None) -> FamilyQuestion | None:
    """Ask which of two manoeuvres takes longer; their kinds tell nothing about that."""
    wanted = lots.randrange(3)
    numbers = range(len(flight.manoeuvres))
    pairs = [(a, b) for a in numbers for b in numbers if a != b]
    for first, second in tries.sample(pairs, len(pairs)):
        a, b = flight.manoeuvres[first], flight.manoeuvres[second]
        if wanted == (2 if a.seconds == b.seconds else int(b.seconds > a.seconds)):
            names = [_ordinal(flight, number) for number in (first, second)]
            text = f"Which takes the drone longer: {names[0]}, or {names[1]}?"
            options = ("the first of the two", "the second of the two", "both take as long")
            more_s = usual_s(b) - usual_s(a)
            says = options[2] if abs(more_s) < ALIKE_S else options[int(more_s > 0)]
            listed = _first(options, wanted)
            ways = [ShortWay.says("at the usual pace", says, listed)]
            if question := _asked(flight, tries, text, listed, settled, ways, [first, second]):
                return question
    return None


def _ordinal(flight: Flight, number: int) -> str:
    words = {
        "flies forward": "flight forward", "turns left": "turn to the left",
        "turns right": "turn to the right",
        "climbs": "climb", "descends": "descent", "tilts the camera up": "tilt of the camera up",
        "tilts the camera down": "tilt of the camera down",
    }  # fmt: skip
    kind = flight.manoeuvres[number].kind
    before = sum(step.kind == kind for step in flight.manoeuvres[:number])
    return f"its {('first', 'second', 'third')[before]} {words[kind.does]}"


def landmark(flight: Flight, lots: Random, tries: Random, settled: Settled | None) -> FamilyQuestion | None:
    """Ask in which quarter about the drone a place is at the end."""
    wanted = lots.randrange(4)
    for place in _places(flight, tries):
        ahead_m, left_m = seen_from(flight, -1, place.xy_m)
        turn_deg = math.degrees(math.atan2(left_m, ahead_m))
        quarter = _quarter(ahead_m, left_m)
        is_clear = all(
            abs(signed_deg(turn_deg - border)) >= CLEAR_DEG for border in (0.0, 90.0, 180.0, -90.0)
        )
        if quarter == wanted and is_clear and math.hypot(ahead_m, left_m) >= AWAY_M:
            text = f"Where is {place.name}, seen from the drone at {flight.marks_s[-1]} s?"
            listed = _first(QUARTERS, wanted)
            says = QUARTERS[_quarter(*seen_from(flight, 0, place.xy_m))]
            ways = [ShortWay.says("as at the start", says, listed)]
            if question := _asked(flight, tries, text, listed, settled, ways):
                return question
    return None


def _quarter(ahead_m: float, left_m: float) -> int:
    """The one of QUARTERS in which a place lies."""
    return 2 * int(ahead_m < 0) + int(left_m < 0)


def goal(flight: Flight, lots: Random, tries: Random, settled: Settled | None) -> FamilyQuestion | None:
    """Ask whether a place is in the picture, and in which third; walls before it do not count."""
    wanted = lots.randrange(4)
    frames = tries.sample(range(len(flight.times_s)), len(flight.times_s))
    for frame in frames:
        for place in _places(flight, tries):
            if view_of(flight, frame, place) == wanted:
                text = (
                    f"The drone looks for {place.name}. Is that place in the picture at {frame} s, whatever"
                    f" stands before it, and where? The picture spans {ACROSS_DEG:g}° from side to side, is"
                    " 16 wide and 9 high, and its middle is where the camera looks."
                )
                first = view_of(flight, 0, place)
                listed = _first(VIEWS, wanted)
                ways = [ShortWay.says("as at the start", None if first is None else VIEWS[first], listed)]
                if question := _asked(flight, tries, text, listed, settled, ways):
                    return question
    return None


def view_of(flight: Flight, frame: int, place: ScenePlace) -> int | None:
    """The one of VIEWS that fits; None where the place is too near a border to tell."""
    mount = flight.mount(frame)
    column, row, depth_m = mount.pixel(place.xy_m)
    if abs(depth_m) < AWAY_M / 2:
        return None
    if depth_m < 0:
        return 0
    across, down = column / mount.image_size[0], row / mount.image_size[1]
    if min(across, down) < -INSIDE or max(across, down) > 1 + INSIDE:
        return 0
    is_inside = INSIDE < across < 1 - INSIDE and INSIDE < down < 1 - INSIDE
    is_clear = all(abs(across - border) > INSIDE for border in (1 / 3, 2 / 3))
    return 1 + int(across * 3) if is_inside and is_clear else None


def progress(
    flight: Flight, lots: Random, tries: Random, settled: Settled | None
) -> tuple[Flight, FamilyQuestion] | None:
    """Ask which step of a route is under way in the middle of a part of the flight; each is as likely.

    The part always shows something of the steps before and after, and times count from its own start: how
    long the steps before it usually take tells nothing. No two pairs of neighbours do the same things in the
    same order, so what is to be seen settles the step.
    """
    pairs = {(before.choice, after.choice) for before, after in pairwise(flight.manoeuvres)}
    moments_s = [_moments_s(flight, number) for number in INNER]
    if len(pairs) < len(flight.manoeuvres) - 1 or not all(moments_s):
        return None
    which = lots.randrange(len(INNER))
    kinds = {flight.manoeuvres[number].choice for number in INNER}
    if settled and settled.is_sure != (len(kinds) == len(INNER)):
        return None  # whichever is right: else options alike would tell
    moment_s = tries.choice(moments_s[which])
    shown = flight.part(moment_s - AROUND_S, moment_s + AROUND_S)
    steps = [f"step {index}: {step.words}" for index, step in enumerate(flight.manoeuvres, start=1)]
    text = (
        f"The drone flies this route: {'; '.join(steps)}. The clip shows a part of it. Which of these steps"
        f" is the drone at, {AROUND_S} s after the clip's start?"
    )
    listed = _first([steps[number] for number in INNER], which)
    question = _asked(shown, tries, text, listed, settled, (), [INNER[which]])
    return (shown, question) if question else None


def _moments_s(flight: Flight, number: int) -> list[int]:
    """The seconds within a manoeuvre that have enough of the flight before and after them."""
    start_s, end_s = flight.marks_s[number : number + 2]
    latest_s = flight.marks_s[-1] - AROUND_S
    return list(range(max(start_s + 1, AROUND_S), min(end_s - 1, latest_s) + 1))


def action(flight: Flight, lots: Random, tries: Random, settled: Settled | None) -> FamilyQuestion | None:
    """Ask by which turn, and how far, it gets above a place from where it is at the end."""
    wanted_m = lots.uniform(*AIMS_M)
    for place in _places(flight, tries):
        ahead_m, left_m = seen_from(flight, -1, place.xy_m)
        aim = (math.degrees(math.atan2(left_m, ahead_m)), math.hypot(ahead_m, left_m))
        if abs(aim[1] - wanted_m) > NEAR_AIM_M:
            continue
        apart = _AIMS[None if settled is None else settled.is_sure]
        wrong = _other_aims(tries, aim, apart.aims_m, AIMS_M, apart.aims_deg)
        if wrong is not None:
            text = (
                f"From where the drone is at {flight.marks_s[-1]} s it shall fly straight until it is above"
                f" {place.name}. What must it do next?"
            )
            aims = (aim, *wrong)
            start_m = seen_from(flight, 0, place.xy_m)
            turns = on_circle(
                aim[0], [math.degrees(math.atan2(start_m[1], start_m[0])), *(a for a, _ in aims)]
            )
            ways = [
                ShortWay.to("as at the start", turns[0], turns[1:]),
                ShortWay.to("distance alone", [aim[1]], [[away_m] for _, away_m in aims]),
            ]
            listed = [aim_in_words(*option) for option in aims]
            if question := _asked(flight, tries, text, listed, settled, ways):
                return question
    return None


def aim_in_words(turn_deg: float, away_m: float) -> str:
    """Put an aim into words, such as `turn left 75°, then fly forward 120 m`."""
    side = "left" if turn_deg > 0 else "right"
    return f"turn {side} {abs(turn_deg):.0f}°, then fly forward {away_m:.0f} m"


def seen_from(flight: Flight, frame: int, xy_m: Sequence[float]) -> tuple[float, float]:
    """How far a place is ahead and to the left, in the axes of a level drone."""
    x_m, y_m, _, heading_deg, _ = flight.poses[frame].tolist()
    turn = math.radians(heading_deg)
    east_m, north_m = xy_m[0] - x_m, xy_m[1] - y_m
    ahead_m = east_m * math.sin(turn) + north_m * math.cos(turn)
    return ahead_m, north_m * math.sin(turn) - east_m * math.cos(turn)


def _either_way(rng: np.random.Generator) -> int:
    return -1 if rng.random() < 0.5 else 1


def _places(flight: Flight, lots: Random) -> list[ScenePlace]:
    places = list(flight.world.scene.places.values())
    return lots.sample(places, len(places))


def _first(options: Sequence[str], right: int) -> list[str]:
    return [options[right], *(text for index, text in enumerate(options) if index != right)]


def _chain(
    tries: Random,
    right: T,
    step: Callable[[np.random.Generator, T], T],
    is_sound: Callable[[Sequence[T]], bool],
) -> list[T] | None:
    rng = np.random.default_rng(tries.randrange(2**31))
    try:
        return wrong_options(rng, right, step, is_sound)
    except NoDistractors:
        return None


def _asked(
    flight: Flight,
    tries: Random,
    text: str,
    options: Sequence[str],
    settled: Settled | None,
    ways: Sequence[ShortWay],
    numbers: Sequence[int] = (),
) -> FamilyQuestion | None:
    """Make the question from options of which the first is right; None where its short ways break the lots.

    `numbers`: of the manoeuvres that it asks about.
    """
    if settled and not settled.admits(ways, options):
        return None
    listed, right, rules = shuffled(tries, options, 0, rules_of(ways))
    return FamilyQuestion(
        evidence=(flight_log(flight),),
        text=text,
        options=listed,
        right=right,
        rules=rules,
        features={**features_of_flight(flight, numbers), **closeness(ways)},
    )
