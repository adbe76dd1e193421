"""Draws a town's traffic signals and tells when each of its streets has green."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from random import Random

from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.scene.scene import Point, Scene

CYCLES_S = (60.0, 70.0, 80.0, 90.0)  # fixed-time plans of small towns; all signals of a town share one
YELLOW_S = 3.0
CLEARING_S = 2.0  # all streets have red
SIGNALLED = 0.5  # share of the junctions of three streets or more
MOST_GREEN = (0.4, 0.6)  # share of the cycle, yellow and clearing included, of the first pair of streets


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Two pairs of streets take turns; the first pair goes along `axis_deg`, roughly."""

    axis_deg: float
    first_s: float  # when, in each cycle, the first pair gets green
    share: float  # of the cycle, up to the other pair's green


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The signals by their junctions. They repeat after `cycle_s`, counted from second 0."""

    cycle_s: float
    at: Mapping[Point, Signal]

    def green_s(self, junction_m: Point, heading_deg: float) -> tuple[float, float] | None:
        """When green begins in each cycle for a street, and how long it lasts; None: no signal."""
        signal = self.at.get(junction_m)
        if signal is None:
            return None
        is_first = abs(math.cos(math.radians(heading_deg - signal.axis_deg))) > math.sqrt(0.5)
        lost_s = YELLOW_S + CLEARING_S
        first_s = signal.share * self.cycle_s
        if is_first:
            return signal.first_s, first_s - lost_s
        return (signal.first_s + first_s) % self.cycle_s, self.cycle_s - first_s - lost_s


def draw_signals(rng: Random, scene: Scene, at_m: Collection[Point] | None = None) -> Signals:
    """Signals at those junctions, else at some of three streets or more, drawn by lot."""
    arms: dict[Point, list[float]] = {}
    for road in scene.roads.values():
        ends = [(float(x), float(y)) for x, y in road.line.coords]
        for end, inner in ((ends[0], ends[1]), (ends[-1], ends[-2])):
            arms.setdefault(end, []).append(bearing_deg(end, inner))
    cycle_s = rng.choice(CYCLES_S)
    at = {
        junction: Signal(
            axis_deg=_axis(headings),
            first_s=round(rng.uniform(0, cycle_s), 1),
            share=rng.uniform(*MOST_GREEN),
        )
        for junction, headings in sorted(arms.items())
        if len(headings) > 2 and (rng.random() < SIGNALLED if at_m is None else junction in at_m)
    }
    return Signals(cycle_s=cycle_s, at=at)


def _axis(headings: list[float]) -> float:
    """The direction of the two arms that are most nearly one street."""
    pairs = [(a, b) for place, a in enumerate(headings) for b in headings[place + 1 :]]
    return max(pairs, key=lambda pair: abs(turn_deg(*pair)))[0]
