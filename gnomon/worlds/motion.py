"""Motion in words: the straight runs of a target, and what they look like turned, mirrored or backwards."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

from gnomon.worlds.movement import BEND_DEG, Journey
from tools.geometry.angles import bearing_deg, compass, turn_deg
from tools.scene.scene import Point

MAX_RUNS = 3
MIN_RUN_M = 4.0
ALIKE = 1.35  # lengths within this factor read the same

EIGHTHS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
_SHORT = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A way without a turn: its compass direction as an index into EIGHTHS, and its length."""

    direction: int
    length_m: float


Runs = tuple[Run, ...]


def between(journey: Journey, start_s: float, end_s: float) -> Runs | None:
    """The runs from one moment to another; None across floors, or where they are too many or too short."""
    for stretch in journey.stretches:
        if stretch.times_s[0] <= start_s and end_s <= stretch.times_s[-1]:
            break
    else:
        return None
    inner = [
        point
        for point, time_s in zip(stretch.points_m, stretch.times_s, strict=True)
        if start_s < time_s < end_s
    ]
    runs = tuple(_runs([journey.at(start_s).xy_m, *inner, journey.at(end_s).xy_m]))
    if len(runs) > MAX_RUNS or min(run.length_m for run in runs) < MIN_RUN_M:
        return None
    return runs


def _runs(points_m: Sequence[Point]) -> Iterator[Run]:
    pieces = [piece for piece in pairwise(points_m) if piece[0] != piece[1]]
    straight = [pieces[0]]
    for before, piece in pairwise(pieces):
        if abs(turn_deg(bearing_deg(*before), bearing_deg(*piece))) > BEND_DEG:
            yield _run(straight)
            straight = []
        straight.append(piece)
    yield _run(straight)


def _run(pieces: Sequence[tuple[Point, Point]]) -> Run:
    direction = _SHORT.index(compass(bearing_deg(pieces[0][0], pieces[-1][1])))
    return Run(direction=direction, length_m=math.fsum(math.dist(*piece) for piece in pieces))


def variants(rng: Random, runs: Runs, count: int) -> list[Runs] | None:
    """Draw `count` of the images of `runs` that read differently from it and from one another.

    The images are those under the 16 symmetries of an oriented walk on a grid: 4 turns, each also
    mirrored, each also walked backwards. None where fewer than `count` differ.
    """
    drawn: list[Runs] = []
    images = list(_images(runs))
    for image in rng.sample(images, len(images)):
        if not any(_alike(image, other) for other in (runs, *drawn)):
            drawn.append(image)
        if len(drawn) == count:
            return drawn
    return None


def _images(runs: Runs) -> Iterator[Runs]:
    back = tuple(replace(run, direction=(run.direction + 4) % 8) for run in reversed(runs))
    for walk in (runs, back):
        for quarter in range(0, 8, 2):
            yield tuple(replace(run, direction=(run.direction + quarter) % 8) for run in walk)
            yield tuple(replace(run, direction=(quarter - run.direction) % 8) for run in walk)


def _alike(one: Runs, other: Runs) -> bool:
    return all(
        a.direction == b.direction and max(a.length_m, b.length_m) < ALIKE * min(a.length_m, b.length_m)
        for a, b in zip(one, other, strict=True)
    )


def phrase(runs: Runs, speed_mps: float) -> str:
    """The runs as an option's text.

    >>> phrase((Run(direction=2, length_m=118.24), Run(direction=0, length_m=75.0)), 8.9)
    'The target moves at 8.9 m/s on average: 118.2 meters east, then 75.0 meters north.'
    """
    ways = ", then ".join(f"{run.length_m:.1f} meters {EIGHTHS[run.direction]}" for run in runs)
    return f"The target moves at {speed_mps:.1f} m/s on average: {ways}."
