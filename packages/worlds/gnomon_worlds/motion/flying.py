"""Draws the flight of a camera over a town: manoeuvres by lot, one after the other, each at an even rate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

import numpy as np

from gnomon.core.ids import stable_hash
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.world import World

MANOEUVRES = 6
SECONDS = (2, 4)  # of each, whatever its kind
AMOUNTS: Mapping[str, tuple[float, float]] = {  # a second, at least and at most
    "forward": (6.0, 14.0), "turn": (12.0, 25.0), "climb": (2.0, 5.0), "tilt": (2.0, 4.0),
}  # fmt: skip
LOWEST_M, START_M = 26.0, 25.0  # above roofs; how much higher the lowest point may be
PITCHES_DEG = (-58.0, -8.0)  # of the camera, ever
AROUND_M = 140.0  # of the town's middle, east and north, within which a flight's middle is


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of manoeuvre: which quantity it changes and in which direction, its words and its unit."""

    quantity: str
    sign: int
    does: str
    unit: str


FORWARD = Kind("forward", 1, "flies forward", " m")
LEFT, RIGHT = Kind("turn", 1, "turns left", "°"), Kind("turn", -1, "turns right", "°")
CLIMB, DESCEND = Kind("climb", 1, "climbs", " m"), Kind("climb", -1, "descends", " m")
TILT_UP = Kind("tilt", 1, "tilts the camera up", "°")
TILT_DOWN = Kind("tilt", -1, "tilts the camera down", "°")
OPPOSITE = {LEFT: RIGHT, RIGHT: LEFT, CLIMB: DESCEND, DESCEND: CLIMB, TILT_UP: TILT_DOWN, TILT_DOWN: TILT_UP}
CHOICES: tuple[tuple[Kind, ...], ...] = (
    (FORWARD,), (LEFT,), (RIGHT,), (CLIMB,), (DESCEND,), (TILT_UP, TILT_DOWN)
)  # fmt: skip
CHOICE_WORDS = (
    "it flies forward", "it turns left", "it turns right", "it climbs", "it descends", "it tilts the camera"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Manoeuvre:
    """One thing that the drone does: metres or degrees in whole seconds."""

    kind: Kind
    amount: int
    seconds: int

    @property
    def words(self) -> str:
        """Put it into words, such as `turns left 60°`."""
        return f"{self.kind.does} {self.amount}{self.kind.unit}"

    @property
    def choice(self) -> int:
        """The one of CHOICES to which it belongs."""
        return next(number for number, kinds in enumerate(CHOICES) if self.kind in kinds)


@dataclass(frozen=True, kw_only=True, eq=False)
class Flight(Tour):
    """A tour of a drone, a frame a second, with its manoeuvres; a part keeps those of the whole."""

    manoeuvres: tuple[Manoeuvre, ...]

    @property
    def marks_s(self) -> tuple[int, ...]:
        """When the first manoeuvre begins and each ends, in the whole flight's time, also of a part of it."""
        return tuple(np.cumsum([0, *(each.seconds for each in self.manoeuvres)]).tolist())

    def part(self, start_s: int, end_s: int) -> "Flight":
        """What it does from one second to another, timed from there, with an id that does not tell which."""
        return replace(
            self,
            id=f"{self.id}-{stable_hash('part of a flight', start_s, end_s, size=8)}",
            times_s=self.times_s[: end_s - start_s + 1],
            poses=self.poses[start_s : end_s + 1],
            clock_s=self.clock_s + start_s,
        )


def fly(world: World, rng: Random, tour_id: str) -> Flight:
    """Draw a flight: what it does first, then where."""
    manoeuvres = drawn_manoeuvres(rng)
    steps = moved(manoeuvres)  # x, y, z, heading left, pitch, from 0
    turn = np.radians(rng.uniform(0, 360))
    xy_m = steps[:, :2] @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    middle_m = (xy_m.max(axis=0) + xy_m.min(axis=0)) / 2
    centre_m = np.mean([end.xy_m for end in world.ends], axis=0)
    off_m = np.array([rng.uniform(-AROUND_M, AROUND_M), rng.uniform(-AROUND_M, AROUND_M)])
    xy_m += centre_m + off_m - middle_m
    z_m = steps[:, 2] - steps[:, 2].min() + LOWEST_M + rng.uniform(0, START_M)
    pitch_deg = rng.uniform(PITCHES_DEG[0] - steps[:, 4].min(), PITCHES_DEG[1] - steps[:, 4].max())
    heading_deg = 90 - np.degrees(turn) - steps[:, 3]
    poses = np.column_stack([xy_m, z_m, heading_deg, pitch_deg + steps[:, 4]])
    times_s = tuple(float(second) for second in range(len(steps)))
    return Flight(id=tour_id, world=world, times_s=times_s, poses=poses, manoeuvres=manoeuvres)


def drawn_manoeuvres(rng: Random) -> tuple[Manoeuvre, ...]:
    """Draw manoeuvres: each is any kind but that of the one before, evenly."""
    drawn: list[Manoeuvre] = []
    for _ in range(MANOEUVRES):
        last = drawn[-1].choice if drawn else None
        choice = rng.choice([number for number in range(len(CHOICES)) if number != last])
        kind, seconds = rng.choice(CHOICES[choice]), rng.randint(*SECONDS)
        amount = round(seconds * rng.uniform(*AMOUNTS[kind.quantity]))
        drawn.append(Manoeuvre(kind=kind, amount=amount, seconds=seconds))
    return tuple(drawn)


def may_be_drawn(manoeuvres: Sequence[Manoeuvre]) -> bool:
    """Whether `drawn_manoeuvres` could have drawn these kinds and amounts."""
    if any(before.choice == after.choice for before, after in pairwise(manoeuvres)):
        return False
    bounds = ((AMOUNTS[each.kind.quantity], each.amount) for each in manoeuvres)
    return all(
        round(SECONDS[0] * low) <= amount <= round(SECONDS[1] * high) for (low, high), amount in bounds
    )


def moved(manoeuvres: Sequence[Manoeuvre]) -> np.ndarray:
    """The poses to which they lead from the origin, at first along x: x, y, z, heading, pitch (n × 5)."""
    here = np.zeros(5)
    rows = [here]
    for each in manoeuvres:
        step = np.zeros(5)
        amount = each.kind.sign * each.amount
        if each.kind.quantity == "forward":
            step[:2] = amount * np.array([np.cos(np.radians(here[3])), np.sin(np.radians(here[3]))])
        else:
            step[{"climb": 2, "turn": 3, "tilt": 4}[each.kind.quantity]] = amount
        rows += [here + step * second / each.seconds for second in range(1, each.seconds + 1)]
        here = here + step
    return np.array(rows)


def sums_of(route: Sequence[Manoeuvre]) -> list[float]:
    """What manoeuvres add up to, quantity by quantity: metres or degrees."""
    return [
        float(sum(each.kind.sign * each.amount for each in route if each.kind.quantity == quantity))
        for quantity in AMOUNTS
    ]


def usual_s(manoeuvre: Manoeuvre) -> float:
    """How long so much of a manoeuvre usually takes."""
    return manoeuvre.amount / (sum(AMOUNTS[manoeuvre.kind.quantity]) / 2)
