"""A group sequential test: looks at planned points, each at a level so that all together err in 5 %.

Of the level α a share t² is spent by the look at which a share t of the plan has ended (an error spending
function: Lan and DeMets 1983; its power family: Kim and DeMets 1987). The level of each look follows by the
recursion of Armitage, McPherson and Rowe (1969): the sum of all errors so far is normal with a variance that
grows as t does; its density over the sums at which no look has decided is kept on a grid, look by look. A
test's p over a look's level by α is below α just where the look decides, so that intervals made of it hold
at all looks together (repeated confidence intervals: Jennison and Turnbull 1989).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import Floats
from gnomon.statistics.equivalence import Limits
from gnomon.statistics.paired import Comparison
from gnomon.statistics.power import POWER
from gnomon.statistics.reach import Part

ALPHA = 0.05  # of all looks together
LOOKS = 10  # after equal shares of the clusters, at most
SPENDING = 2.0  # the power of t: among 1, 1.5, 2 and 3 few trials at equal power, in a plan not much larger
LEAST_CLUSTERS = 6  # with fewer no sign test rejects at the level of the last look
HOPELESS = 0.2  # chance to be decided yet: with less a job stops
NODES = 64  # of the grid, on each side of zero
HIGHEST, HALVINGS = 9.0, 30  # normal quantile of the least level, and how finely one is sought
MOST_DRIFT = 12.0


@dataclass(frozen=True, slots=True)
class Repeated:
    """A part of a test at one look; `share` is the look's level by that of all looks together.

    Exact at the level that the looks were made for, and never too often at a higher one.
    """

    part: Part
    share: float

    def p(self, null: float = 0.0) -> float:
        """Two-sided p of the difference being `null`, for all looks together."""
        return min(1.0, self.part.p(null) / self.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """The looks of a plan: after how many clusters each comes, and which share of the plan's weight they are.

    `alpha` is the level of all together. Looks are counted from 1.
    """

    clusters: tuple[int, ...]
    ended: tuple[float, ...]
    alpha: float

    def repeated(self, comparison: Comparison, look: int) -> Comparison:
        """The comparison of that look's samples, with the p and the intervals that hold at all looks."""
        if comparison.reach is None:
            return comparison
        share, which = self._levels[look - 1], f"look {look} of {len(self.clusters)}"
        reach = replace(comparison.reach, parts=[Repeated(part, share) for part in comparison.reach.parts])
        return replace(
            comparison,
            p=reach.p(),
            test=f"{comparison.test}, {which}",
            interval_method=f"repeated interval at {which}",
            reach=reach,
        )

    def is_hopeless(self, comparison: Comparison, look: int, limits: Limits) -> bool:
        """Whether a comparison that is undecided at that look will hardly be decided by the last one.

        It is if the chance is below 0.2 even where the true difference is on the side seen so far, and as
        large as a fixed test of the whole plan finds in 8 of 10 cases (stochastic curtailment: Lan, Simon and
        Halperin 1982); and if the last interval will be too wide for the limits. Levels count on no such
        stop, so they hold whether or not anybody heeds it.
        """
        ended, last = self.ended[look - 1], self._levels[-1]
        if not comparison.se or ended >= 1.0:
            return False
        is_small = abs(comparison.diff) / comparison.se < hopeless_below(ended, last, self.alpha)
        half = -ndtri(ALPHA * last) * comparison.se * ended**0.5
        return bool(is_small and 2.0 * half > limits.high - limits.low)

    @property
    def _levels(self) -> tuple[float, ...]:
        return levels(self.ended, self.alpha)


def look_points(clusters: int) -> tuple[int, ...]:
    """After how many clusters of so many a look comes; none where no sign test could reject at its level.

    >>> look_points(100), look_points(10)
    ((20, 30, 40, 50, 60, 70, 80, 90, 100), (7, 8, 9, 10))
    """
    points = {-(-look * clusters // LOOKS) for look in range(1, LOOKS + 1)}
    can_reject = {point for point in points if 2.0 ** (1 - point) <= ALPHA * (point / clusters) ** SPENDING}
    return tuple(sorted(can_reject | {clusters}))


def hopeless_below(ended: float, last: float, alpha: float) -> float:
    """The z below which a test after that share of a plan has a chance below 0.2 to reject by its end.

    `last` is the last look's level by `alpha`. The true difference is as large as a fixed test of the whole
    plan at `alpha` finds in 8 of 10 cases.

    >>> round(hopeless_below(0.5, 0.6, 0.05), 2), hopeless_below(0.2, 0.6, 0.05)
    (0.25, 0.0)
    """
    left = 1.0 - ended
    drift = float(ndtri(1.0 - alpha / 2.0) + ndtri(POWER))
    limit = float(-ndtri(alpha * last / 2.0))
    z: float = (float(ndtri(HOPELESS)) * left**0.5 + limit - drift * left) / ended**0.5
    return max(0.0, z)


@lru_cache(maxsize=256)
def levels(ended: tuple[float, ...], alpha: float = ALPHA) -> tuple[float, ...]:
    """Each look's level by `alpha`, the two-sided level of all; `ended` are shares of the plan, up to 1.

    >>> [round(level, 3) for level in levels((0.2, 0.4, 0.6, 0.8, 1.0))]
    [0.04, 0.133, 0.268, 0.452, 0.69]
    """
    found: list[float] = []
    path = _Path()
    spent = 0.0
    for share in ended:
        limit = _limit(path, share, alpha * share**SPENDING - spent)
        path, spent = path.after(limit, share), alpha * share**SPENDING
        found.append(float(2.0 * ndtr(-limit)) / alpha)
    return tuple(found)


def chances(ended: Sequence[float], at: Sequence[float], drift: float = 0.0) -> list[float]:
    """The chance of each look to be the first that decides, at these two-sided levels.

    `drift` is the true difference by the standard error of the whole plan.

    >>> [round(chance, 4) for chance in chances([0.5, 1.0], [0.05, 0.05])]
    [0.05, 0.0331]
    """
    return [decides for decides, _ in _walk(ended, at, drift, [0.0] * len(ended))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What looks do to a plan whose fixed test finds an effect in 8 of 10 cases."""

    larger: float  # the effect that the looks find as often, by that one
    share: float  # of the plan, that ends on average until that effect is found, or to its end


@lru_cache(maxsize=64)
def expected(clusters: int, comparisons: int = 1) -> Expected:
    """What looks cost and save with so many equal clusters, if a job stops once all comparisons may.

    Each of the `comparisons` has the same effect, and does not depend on the others.

    >>> expected(100)
    Expected(larger=1.068, share=0.648)
    """
    alpha = ALPHA / comparisons
    ended = tuple(point / clusters for point in look_points(clusters))
    of_alpha = levels(ended, alpha)
    at = [alpha * level for level in of_alpha]
    hopeless = [*(hopeless_below(share, of_alpha[-1], alpha) for share in ended[:-1]), 0.0]

    def walk(drift: float) -> list[tuple[float, float]]:
        return list(_walk(ended, at, drift, hopeless))

    def finds(drift: float) -> bool:
        return sum(decides for decides, _ in walk(drift)) >= POWER

    _, drift = bisect(finds, 0.0, MOST_DRIFT, halvings=HALVINGS)
    fixed = float(ndtri(1.0 - alpha / 2.0) + ndtri(POWER))
    stopped = np.array([0.0, *(1.0 - left for _, left in walk(drift)[:-1])])
    share = float(np.diff(ended, prepend=0.0) @ (1.0 - stopped**comparisons))
    return Expected(larger=round(drift / fixed, 3), share=round(share, 3))


def _walk(
    ended: Sequence[float], at: Sequence[float], drift: float, hopeless: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """Of each look the chance to be the first that decides, and that the job goes on after it.

    It does not where |z| is below the look's `hopeless`.
    """
    path = _Path(drift=drift)
    for share, level, low in zip(ended, at, hopeless, strict=True):
        limit = float(-ndtri(level / 2.0))
        decides = path.beyond(limit, share)
        path = path.after(limit, share, min(low, limit))
        yield decides, float(path.masses.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Path:
    """The density of the sum of errors where no look has decided, as masses on a grid; it starts at 0."""

    drift: float = 0.0
    ended: float = 0.0
    sums: Floats = field(default_factory=lambda: np.zeros(1))
    masses: Floats = field(default_factory=lambda: np.ones(1))

    def beyond(self, limit: float, ended: float) -> float:
        """The chance that the next look, after the share `ended`, is the first with a z beyond the limit."""
        start, spread, end = self._start(ended), (ended - self.ended) ** 0.5, limit * ended**0.5
        return float(self.masses @ (ndtr((start - end) / spread) + ndtr((-end - start) / spread)))

    def after(self, limit: float, ended: float, low: float = 0.0) -> "_Path":
        """The density after that look, where |z| is from `low` to the limit."""
        start, spread, scale = self._start(ended), (ended - self.ended) ** 0.5, ended**0.5
        nodes, weights = _grid()
        half = (limit - low) * scale / 2.0
        above = low * scale + half * (1.0 + nodes)
        sums, widths = np.concatenate([above, -above]), half * np.concatenate([weights, weights])
        kernel = np.exp(-(((sums[:, None] - start) / spread) ** 2) / 2.0) / (spread * (2.0 * np.pi) ** 0.5)
        return _Path(drift=self.drift, ended=ended, sums=sums, masses=widths * (kernel @ self.masses))

    def _start(self, ended: float) -> Floats:
        """The expected sums after the share `ended`, by those so far."""
        return self.sums + self.drift * (ended - self.ended)


def _limit(path: _Path, share: float, spend: float) -> float:
    """The z beyond which a look after that share is the first to decide with the chance `spend`."""
    return bisect(lambda z: path.beyond(z, share) <= spend, 0.0, HIGHEST, halvings=HALVINGS)[1]


@lru_cache(maxsize=1)
def _grid() -> tuple[Floats, Floats]:
    """Nodes from −1 to 1 with their weights (Gauss and Legendre)."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights
