"""Schedule: the exact shortest round through places with hours, by dynamic programming over subsets."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.trips.hours import Interval

MAX_SPOTS = 12
"""Beyond it the subsets are too many to look at all; split over days first."""

Grid = tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place to stay at for `stay_min`, within one of `open_min` (None: at any time of the day)."""

    id: str
    stay_min: int
    open_min: tuple[Interval, ...] | None = None
    feeds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Eating:
    """A window in which a feeding stay of at least `minutes` must fall."""

    start_min: int
    end_min: int
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DayProblem:
    """One day: spots, ways among them, and what must hold.

    In `minutes` and `metres` row n is the day's start and column n + 1 its end; None: there is no way.
    """

    spots: tuple[Spot, ...]
    minutes: Grid
    metres: Grid
    start_min: int
    end_min: int
    before: tuple[tuple[int, int], ...] = ()
    max_walk_m: int | None = None
    max_leg_min: int | None = None
    eating: tuple[Eating, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A stay with its times, in minutes from midnight."""

    spot: int
    arrive_min: int
    leave_min: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A day that works: the stays in order, the metres walked, when it is over."""

    stays: tuple[Timed, ...]
    metres: int
    back_min: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Label:
    """A way to have seen a set of spots; kept while no other is both shorter and earlier."""

    metres: int
    leave_min: int
    arrive_min: int
    spot: int
    fed: int
    earlier: "_Label | None"


@dataclass(slots=True, kw_only=True)
class _Search:
    problem: DayProblem
    needed: list[int] = field(default_factory=list)

    def run(self) -> dict[int, Round]:
        """The best round for every subset of spots that has one, by bit mask."""
        count = len(self.problem.spots)
        self.needed = [0] * count
        for first, then in self.problem.before:
            self.needed[then] |= 1 << first
        layers: dict[tuple[int, int], list[_Label]] = {}
        for spot in range(count):
            self._extend(layers, None, 0, count, spot)
        for seen in range(1, 1 << count):
            for last in range(count):
                for label in layers.get((seen, last), ()):
                    for spot in range(count):
                        if not seen >> spot & 1:
                            self._extend(layers, label, seen, last, spot)
        best: dict[int, Round] = {}
        if (empty := self._empty()) is not None:
            best[0] = empty
        for (seen, last), labels in layers.items():
            for label in labels:
                done = self._home(label, last)
                if done and (seen not in best or _rank(done) < _rank(best[seen])):
                    best[seen] = done
        return best

    def _extend(
        self,
        layers: dict[tuple[int, int], list[_Label]],
        label: _Label | None,
        seen: int,
        last: int,
        spot: int,
    ) -> None:
        day = self.problem
        # Only what this day holds can bind its order; a spot left out here is somebody else's.
        if any(seen >> other & 1 and self.needed[other] >> spot & 1 for other in range(len(day.spots))):
            return
        way = self._way(last, spot)
        if way is None:
            return
        metres = way[1] + (label.metres if label else 0)
        at = day.spots[spot]
        arrive = first_fit(at, (label.leave_min if label else day.start_min) + way[0])
        if arrive is None or arrive + at.stay_min > day.end_min:
            return
        if day.max_walk_m is not None and metres > day.max_walk_m:
            return
        fed = label.fed if label else 0
        if at.feeds:
            fed |= _fed(day.eating, arrive, arrive + at.stay_min)
        new = _Label(
            metres=metres,
            leave_min=arrive + at.stay_min,
            arrive_min=arrive,
            spot=spot,
            fed=fed,
            earlier=label,
        )
        _keep(layers.setdefault((seen | 1 << spot, spot), []), new)

    def _way(self, start: int, end: int) -> tuple[int, int] | None:
        minutes, metres = self.problem.minutes[start][end], self.problem.metres[start][end]
        if minutes is None or metres is None:
            return None
        limit = self.problem.max_leg_min
        return None if limit is not None and minutes > limit else (minutes, metres)

    def _empty(self) -> Round | None:
        """A day without stays: from its start to its end."""
        day = self.problem
        way = self._way(len(day.spots), len(day.spots) + 1)
        if way is None or day.eating or (day.max_walk_m is not None and way[1] > day.max_walk_m):
            return None
        return Round(stays=(), metres=way[1], back_min=day.start_min + way[0])

    def _home(self, label: _Label, last: int) -> Round | None:
        day = self.problem
        way = self._way(last, len(day.spots) + 1)
        if way is None or label.fed != (1 << len(day.eating)) - 1:
            return None
        metres, back_min = label.metres + way[1], label.leave_min + way[0]
        if back_min > day.end_min or (day.max_walk_m is not None and metres > day.max_walk_m):
            return None
        stays: list[Timed] = []
        at: _Label | None = label
        while at is not None:
            stays.append(Timed(spot=at.spot, arrive_min=at.arrive_min, leave_min=at.leave_min))
            at = at.earlier
        return Round(stays=tuple(reversed(stays)), metres=metres, back_min=back_min)


def first_fit(spot: Spot, from_min: int) -> int | None:
    """The earliest arrival from `from_min` on at which the whole stay fits an opening; None: there is none.

    >>> museum = Spot(id="m", stay_min=60, open_min=((600, 700), (780, 1080)))
    >>> first_fit(museum, 540), first_fit(museum, 660), first_fit(museum, 1021)
    (600, 780, None)
    """
    if spot.open_min is None:
        return from_min
    fits = (
        max(from_min, start) for start, end in spot.open_min if max(from_min, start) + spot.stay_min <= end
    )
    return next(fits, None)


def rounds(problem: DayProblem) -> dict[int, Round]:
    """The shortest round for every subset of the spots that has one; exact, ties broken by the earlier end.

    Raises:
        ValueError: there are more than MAX_SPOTS spots.
    """
    if len(problem.spots) > MAX_SPOTS:
        raise ValueError(f"{len(problem.spots)} spots; allowed: up to {MAX_SPOTS}")
    return _Search(problem=problem).run()


def shortest_round(problem: DayProblem) -> Round | None:
    """The shortest round through all spots; None proves that there is none.

    Raises:
        ValueError: there are more than MAX_SPOTS spots.
    """
    return rounds(problem).get((1 << len(problem.spots)) - 1)


def walk_through(problem: DayProblem, order: Sequence[int]) -> Round | None:
    """The round in a given order, each stay as early as it goes; None where it breaks a rule."""
    search = _Search(problem=problem)
    search.needed = [0] * len(problem.spots)
    for first, then in problem.before:
        search.needed[then] |= 1 << first
    label, seen, last = None, 0, len(problem.spots)
    for spot in order:
        layers: dict[tuple[int, int], list[_Label]] = {}
        search._extend(layers, label, seen, last, spot)  # noqa: SLF001 (same module)
        if not layers:
            return None
        label, seen, last = next(iter(layers.values()))[0], seen | 1 << spot, spot
    return search._home(label, last) if label else search._empty()  # noqa: SLF001 (same module)


def _rank(done: Round) -> tuple[int, int, tuple[int, ...]]:
    return done.metres, done.back_min, tuple(stay.spot for stay in done.stays)


def _fed(eating: Sequence[Eating], arrive_min: int, leave_min: int) -> int:
    fed = 0
    for bit, meal in enumerate(eating):
        if min(leave_min, meal.end_min) - max(arrive_min, meal.start_min) >= meal.minutes:
            fed |= 1 << bit
    return fed


def _keep(labels: list[_Label], new: _Label) -> None:
    """Keep the label unless an old one is as good in every respect; drop those that it makes needless."""
    for old in labels:
        if old.metres <= new.metres and old.leave_min <= new.leave_min and old.fed | new.fed == old.fed:
            return
    labels[:] = [
        old
        for old in labels
        if not (new.metres <= old.metres and new.leave_min <= old.leave_min and old.fed | new.fed == new.fed)
    ]
    labels.append(new)
