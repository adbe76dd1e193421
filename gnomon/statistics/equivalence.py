"""Margins of equivalence: how large a difference from a baseline counts as none."""

from dataclasses import dataclass
from typing import Literal

NEARER_END = 0.5  # an absolute margin is at most this share of the baseline's distance to 0 or 1
LEAST = 0.2  # … and at least this share of itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The differences between which there is none, and how each moves with the baseline's mean."""

    low: float
    high: float
    low_slope: float = 0.0
    high_slope: float = 0.0
    why: str = ""  # they are not the margin's own size

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """A margin in points, relative to the baseline's mean, or as a ratio of odds.

    >>> Margin(kind="absolute", size=0.05).around(0.4).ends
    (-0.05, 0.05)
    >>> [round(end, 4) for end in Margin(kind="absolute", size=0.05).around(0.02).ends]
    [-0.01, 0.01]
    >>> [round(end, 3) for end in Margin(kind="odds", size=1.2).around(0.5).ends]
    [-0.045, 0.045]
    """

    kind: Literal["absolute", "relative", "odds"]
    size: float

    def around(self, baseline: float) -> Limits:
        """The limits for a baseline with this mean.

        An absolute margin is narrower near the ends of the scale, where 3 points may be more than all that is
        right: not wider than half of the baseline's distance to the nearer end, down to a fifth of itself.
        """
        if self.kind == "relative":
            reach = self.size * baseline
            why = f"{100 * self.size:.3g} % of the baseline's score"
            return Limits(low=-reach, high=reach, low_slope=-self.size, high_slope=self.size, why=why)
        if self.kind == "odds":
            up, down = 1 - baseline + self.size * baseline, self.size * (1 - baseline) + baseline
            return Limits(
                low=baseline / down - baseline,
                high=self.size * baseline / up - baseline,
                low_slope=self.size / down**2 - 1,
                high_slope=self.size / up**2 - 1,
                why=f"odds {self.size:.3g} times as high or low",
            )
        nearer, slope = (baseline, NEARER_END) if baseline <= 0.5 else (1 - baseline, -NEARER_END)
        reach = NEARER_END * nearer
        if reach >= self.size:
            return Limits(low=-self.size, high=self.size)
        end = "0" if baseline <= 0.5 else "100"
        narrowed = f"{100 * self.size:.3g}, narrowed to"
        why = f"{narrowed} half of the baseline's distance to {end} %"
        least = LEAST * self.size
        if reach <= least:
            return Limits(low=-least, high=least, why=f"{narrowed} a fifth near {end} %")
        return Limits(low=-reach, high=reach, low_slope=-slope, high_slope=slope, why=why)
