"""Computes short ways to an answer, which leave out a step, and draws at a level whether they find it.

In *sure* questions every short way ends at the right option. In others it tells nothing: where options are
numbers it ends farther from the right one than any two lie apart, so beyond one end of them whatever is
right; where they are words it ends at one of them that is settled by lot.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from gnomon_tools.geometry.angles import signed_deg
from gnomon_worlds.difficulty import Difficulty

BEYOND = 1.5  # times as far as the farthest two lie apart: so far off are short ways that tell nothing
CLEAR = 0.5  # of how far any two options lie apart: so near are short ways that are sure
SAME = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortWay:
    """A short way: where it ends among the options, of which the first is right.

    `left`: the options that it leaves. Where options are numbers: how far it ends from the right one
    (`off`), how far from that the nearest wrong one lies (`nearest`), and how far apart any two lie at least
    and at most (`closest`, `spread`). What a level asks of options is the same whichever of them is right.
    """

    name: str
    left: tuple[int, ...]
    off: float | None = None
    nearest: float = 0.0
    closest: float = 0.0
    spread: float = 0.0

    @classmethod
    def to(cls, name: str, end: ArrayLike, points: ArrayLike) -> Self:
        """A short way that ends at a point (k): it leaves the nearest of the options' points (n × k)."""
        places = np.asarray(points, dtype=float)
        away = np.linalg.norm(places - np.asarray(end, dtype=float), axis=1)
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        return cls(
            name=name,
            left=tuple(np.nonzero(away <= away.min() + SAME)[0].tolist()),
            off=float(away[0]),
            nearest=float(apart[0, 1:].min()),
            closest=float(apart[np.triu_indices(len(places), 1)].min()),
            spread=float(apart.max()),
        )

    @classmethod
    def says(cls, name: str, words: str | None, options: Sequence[str]) -> Self:
        """A short way that ends at words; None: at no words, so it leaves no option."""
        return cls(name=name, left=tuple(i for i, option in enumerate(options) if option == words))

    @property
    def is_sure(self) -> bool:
        """Whether it clearly leaves the right option alone."""
        if self.off is not None and self.closest <= SAME:
            return False
        return self.left == (0,) and (self.off is None or self.off <= CLEAR * self.closest)


@dataclass(frozen=True, slots=True)
class Settled:
    """The lots of a question at a level: whether short ways find it, or else at which words they end."""

    is_sure: bool
    place: float  # in [0, 1): of the words at which a short way ends, counted on from the right ones

    @classmethod
    def of(cls, difficulty: Difficulty | None, lots: Random) -> "Settled | None":
        """Draw the lots; None where the question is to come as it comes."""
        if difficulty is None or difficulty.level is None:
            return None
        return cls(is_sure=difficulty.finds(lots, 0.0), place=lots.random())

    def admits(self, ways: Sequence[ShortWay], options: Sequence[str]) -> bool:
        """Whether all short ways are as the lots say."""
        return all(way.is_sure if self.is_sure else self._misleads(way, options) for way in ways)

    def _misleads(self, way: ShortWay, options: Sequence[str]) -> bool:
        """Whether it tells nothing; words are counted in alphabetical order, so each is as likely."""
        if way.off is not None:
            return len(way.left) == len(options) or way.off >= BEYOND * way.spread
        ordered = sorted(options)
        wanted = (ordered.index(options[0]) + int(self.place * len(options))) % len(options)
        return [options[index] for index in way.left] == [ordered[wanted]]


def rules_of(ways: Sequence[ShortWay]) -> Mapping[str, tuple[int, ...]]:
    """By name, the options that each short way leaves."""
    return {way.name: way.left for way in ways}


def closeness(ways: Sequence[ShortWay]) -> Mapping[str, float]:
    """How far a short way ends from the right option over how far the nearest wrong one is, at most.

    Below one half the right one is surely the nearest. Nothing is said where no short way is of that kind.
    """
    ratios = [way.off / way.nearest for way in ways if way.off is not None and way.nearest > SAME]
    return {"closeness": max(ratios)} if ratios else {}


def on_circle(right_deg: float, angles_deg: Sequence[float]) -> list[list[float]]:
    """Angles as numbers that can be compared: how far each is from the right one, in (−180, 180]."""
    return [[signed_deg(angle_deg - right_deg)] for angle_deg in angles_deg]


def at_bearing(turn_deg: float, away_m: float) -> tuple[float, float]:
    """Metres ahead and to the left of what is so far away in that direction, left positive."""
    return away_m * math.cos(math.radians(turn_deg)), away_m * math.sin(math.radians(turn_deg))
