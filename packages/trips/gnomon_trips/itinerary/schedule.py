"""Finds the shortest round through places with opening hours, exactly."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon_published.held_karp import MAX_POINTS, best_labels
from gnomon_trips.itinerary.hours import Interval

MAX_SPOTS = MAX_POINTS  # split more over days first

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
    `minute_m` says how many metres more one would walk to be back a minute earlier: 0 asks for the shortest.
    With `eats_anywhere` a meal can be had wherever one is, at no way: what is impossible then is so with any
    choice of places to eat.
    """

    spots: tuple[Spot, ...]
    minutes: Grid
    metres: Grid
    start_min: int
    end_min: int
    before: tuple[tuple[int, int], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    max_walk_m: int | None = None
    max_leg_min: int | None = None
    eating: tuple[Eating, ...] = ()
    minute_m: int = 0
    eats_anywhere: bool = False

    def cost_m(self, metres: int, back_min: int) -> int:
        """What a round is worth, in metres: the less, the better."""
        return metres + self.minute_m * (back_min - self.start_min)


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


_Label = tuple[int, int, int, int, int, Any]
"""A way to have seen a set of spots: metres, minute of leaving, of arriving, spot, meals had, label before.

Plain tuples, as a day of ten spots makes a hundred thousand of them.
"""
_Home = tuple[int, int, _Label]  # the metres and the minute of a day's end, the label before it


class _Search:
    """Labels by the set of spots seen and the last of them; only those that no other beats are kept."""

    def __init__(self, day: DayProblem, is_over: Callable[[], bool] | None = None) -> None:
        self.day, self.count = day, len(day.spots)
        self.is_over, self.asked = is_over, 0
        self.ways = [[self._way(a, b) for b in range(self.count + 2)] for a in range(self.count + 2)]
        # A spot may not come after one that waits for it; a spot left out here is some other day's.
        self.waiting = [0] * self.count
        for first, then in day.before:
            self.waiting[first] |= 1 << then
        for first, then in day.apart:  # either waits for the other: never both on one day
            self.waiting[first] |= 1 << then
            self.waiting[then] |= 1 << first
        self.all_fed = (1 << len(day.eating)) - 1

    def run(self) -> dict[int, Round]:
        """The best round for every subset of spots that has one, by bit mask."""
        start: _Label = (0, self.day.start_min, 0, self.count, 0, None)
        layers = best_labels(self.count, start, extend=self.steps, keep=_keep, waiting=self.waiting)
        best: dict[int, Round] = {}
        if (empty := self.empty()) is not None:
            best[0] = empty
        for visited in range(1, 1 << self.count):
            homes = [home for labels in layers[visited] for label in labels if (home := self.home(label))]
            if homes:
                best[visited] = _round(self.best(homes))
        return best

    def steps(self, label: _Label, visited: int, spot: int) -> list[_Label]:
        """The labels after a stay at `spot`, none where a rule forbids it.

        The earliest stay is enough, but where one eats it may also wait for a meal's window and last as
        long as the meal: that is a label of its own.

        Raises:
            Stopped: the time for the search is over.
        """
        if self.day.eats_anywhere and label[5] is None:
            return [new for fed in self.eaten(label) for new in self.onwards(fed, visited, spot)]
        return self.onwards(label, visited, spot)

    def onwards(self, label: _Label, visited: int, spot: int) -> list[_Label]:
        """The same, from a label that has had its meals so far."""
        self.asked += 1
        if self.is_over is not None and self.asked % 1024 == 0 and self.is_over():
            raise Stopped
        way = self.ways[label[3]][spot]
        if way is None or visited & self.waiting[spot]:
            return []
        at, metres, ready = self.day.spots[spot], label[0] + way[1], label[1] + way[0]
        if self.day.max_walk_m is not None and metres > self.day.max_walk_m:
            return []
        labels = [self._stay(label, at, spot, metres, ready, at.stay_min)]
        if at.feeds:
            for meal in self.day.eating:
                stay_min = max(at.stay_min, meal.minutes)
                labels.append(self._stay(label, at, spot, metres, max(ready, meal.start_min), stay_min))
        kept = [new for new in labels if new is not None]
        return [fed for new in kept for fed in self.eaten(new)] if self.day.eats_anywhere else kept

    def eaten(self, label: _Label) -> Iterator[_Label]:
        """The label, and those after the meals that can still be had where it is."""
        yield label
        for bit, meal in enumerate(self.day.eating):
            start_min = max(label[1], meal.start_min)
            end_min = start_min + meal.minutes
            if not label[4] >> bit & 1 and end_min <= min(meal.end_min, self.day.end_min):
                yield from self.eaten((label[0], end_min, label[2], label[3], label[4] | 1 << bit, label[5]))

    def _stay(
        self, label: _Label, at: Spot, spot: int, metres: int, ready: int, stay_min: int
    ) -> _Label | None:
        arrive = ready if at.open_min is None else first_fit(at, ready, stay_min)
        if arrive is None or arrive + stay_min > self.day.end_min:
            return None
        leave = arrive + stay_min
        fed = label[4] | _fed(self.day.eating, arrive, leave) if at.feeds else label[4]
        return metres, leave, arrive, spot, fed, label

    def home(self, label: _Label) -> _Home | None:
        """Metres and minute of the day's end after a label; None where a rule forbids it."""
        way, day = self.ways[label[3]][self.count + 1], self.day
        if way is None or label[4] != self.all_fed:
            return None
        metres, back_min = label[0] + way[1], label[1] + way[0]
        if back_min > day.end_min or (day.max_walk_m is not None and metres > day.max_walk_m):
            return None
        return metres, back_min, label

    def best(self, homes: Sequence[_Home]) -> _Home:
        """The one of least cost; exact, since no kept label is worse than another in both metres and time."""
        least = min((self.day.cost_m(metres, back_min), back_min) for metres, back_min, _ in homes)
        alike = [home for home in homes if (self.day.cost_m(home[0], home[1]), home[1]) == least]
        return min(alike, key=lambda home: [stay.spot for stay in _stays(home[2])]) if alike[1:] else alike[0]

    def empty(self) -> Round | None:
        """A day without stays: from its start to its end."""
        start: _Label = (0, self.day.start_min, 0, self.count, 0, None)
        labels = self.eaten(start) if self.day.eats_anywhere else (start,)
        homes = [home for label in labels if (home := self.home(label))]
        return _round(self.best(homes)) if homes else None

    def _way(self, start: int, end: int) -> tuple[int, int] | None:
        minutes, metres = self.day.minutes[start][end], self.day.metres[start][end]
        if minutes is None or metres is None:
            return None
        limit = self.day.max_leg_min
        return None if limit is not None and minutes > limit else (minutes, metres)


def _stays(label: _Label | None) -> tuple[Timed, ...]:
    stays: list[Timed] = []
    while label is not None and label[5] is not None:
        stays.append(Timed(spot=label[3], arrive_min=label[2], leave_min=label[1]))
        label = label[5]
    return tuple(reversed(stays))


def _round(home: _Home) -> Round:
    return Round(stays=_stays(home[2]), metres=home[0], back_min=home[1])


def first_fit(spot: Spot, from_min: int, stay_min: int | None = None) -> int | None:
    """The earliest arrival from `from_min` on at which the whole stay fits an opening; None: there is none.

    >>> museum = Spot(id="m", stay_min=60, open_min=((600, 700), (780, 1080)))
    >>> first_fit(museum, 540), first_fit(museum, 660), first_fit(museum, 1021)
    (600, 780, None)
    """
    if spot.open_min is None:
        return from_min
    stay = spot.stay_min if stay_min is None else stay_min
    fits = (max(from_min, start) for start, end in spot.open_min if max(from_min, start) + stay <= end)
    return next(fits, None)


class Stopped(Exception):
    """The time for a search is over before it has an answer."""


def rounds(problem: DayProblem, is_over: Callable[[], bool] | None = None) -> dict[int, Round]:
    """The best round for every subset of the spots that has one; exact, ties broken by the earlier end.

    Raises:
        ValueError: there are more than MAX_SPOTS spots.
        Stopped: `is_over` says so.
    """
    if len(problem.spots) > MAX_SPOTS:
        raise ValueError(f"{len(problem.spots)} spots; allowed: up to {MAX_SPOTS}")
    return _Search(problem, is_over).run()


def _fed(eating: Sequence[Eating], arrive_min: int, leave_min: int) -> int:
    fed = 0
    for bit, meal in enumerate(eating):
        if min(leave_min, meal.end_min) - max(arrive_min, meal.start_min) >= meal.minutes:
            fed |= 1 << bit
    return fed


def _keep(labels: list[_Label], new: _Label) -> None:
    """Keep the label unless an old one is as good in every respect; drop labels that it makes needless."""
    metres, leave, fed = new[0], new[1], new[4]
    for old in labels:
        if old[0] <= metres and old[1] <= leave and old[4] | fed == old[4]:
            return
    labels[:] = [old for old in labels if not (metres <= old[0] and leave <= old[1] and old[4] | fed == fed)]
    labels.append(new)
