"""Places, ways and answers: what a provider says of them, and how sure it is."""

import math
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Mode = Literal["walk", "rail", "bus", "car", "ferry", "air"]
MODES: tuple[Mode, ...] = ("walk", "rail", "bus", "car", "ferry", "air")

Exactness = Literal["exact", "network", "timetable", "estimate", "lower_bound"]
"""exact: a fact of the source; network: along mapped streets; timetable: of the operator;
estimate: a model of ours; lower_bound: it takes at least that."""

WALK_KMH = 4.8
WALK_M_PER_MIN = WALK_KMH * 1000 / 60
TOP_KMH: dict[Mode, float] = {
    "walk": 9.0,
    "rail": 320.0,
    "bus": 110.0,
    "car": 140.0,
    "ferry": 80.0,
    "air": 950.0,
}
"""Nobody moves faster: the straight line at this speed bounds every leg from below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatLon:
    """A point on the ground, WGS 84."""

    lat_deg: float
    lon_deg: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPath:
    """In which country, prefecture (state, canton, region), municipality and town a point lies.

    `evidence_m` is how far off the matched town point lies: beyond 2 km the answer is approximate.
    """

    country: str = ""
    prefecture: str = ""
    municipality: str = ""
    town: str = ""
    evidence_m: float = 0.0

    @property
    def is_approximate(self) -> bool:
        return self.evidence_m > 2000.0

    def __str__(self) -> str:
        return ", ".join(
            part for part in (self.town, self.municipality, self.prefecture, self.country) if part
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Somewhere to be. What the source does not say is None or empty, never guessed.

    `hours` is the text of OpenStreetMap's opening_hours; `also` holds other names of the same place,
    `found_as` those in further languages, which are never shown; `contacts` are its website and phone.
    """

    id: str
    name: str
    at: LatLon
    kind: str
    contacts: tuple[tuple[str, str], ...] = ()
    admin: AdminPath | None = None
    hours: str | None = None
    also: tuple[str, ...] = ()
    found_as: tuple[str, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceHit:
    """A place that answers a search: how well its name fits (0 to 1), or how far off it lies.

    `fame`, 0 to 1, says which of several places of a name is meant oftener; 0 where the data do not say.
    `is_misspelt`: the name is no name of the place, but nearly one.
    """

    place: Place
    score: float = 1.0
    distance_m: float | None = None
    fame: float = 0.0
    is_misspelt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """From one point to another: whole minutes (rounded up), whole metres, and how well that is known."""

    minutes: int
    metres: int
    mode: Mode
    exactness: Exactness
    changes: int | None = None

    @classmethod
    def of(cls, seconds: float, metres: float, mode: Mode, exactness: Exactness) -> "Way":
        """A way out of what a service measured, minutes rounded up.

        >>> Way.of(61.0, 80.4, "walk", "network").minutes
        2

        Raises:
            ValueError: a time or length is negative or not finite.
        """
        if not (math.isfinite(seconds) and math.isfinite(metres) and seconds >= 0 and metres >= 0):
            raise ValueError(f"{seconds} s and {metres} m are no way")
        return cls(
            minutes=max(1, math.ceil(seconds / 60)), metres=round(metres), mode=mode, exactness=exactness
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Minutes and metres between points, row to column; None where there is no way."""

    minutes: tuple[tuple[int | None, ...], ...]
    metres: tuple[tuple[int | None, ...], ...]

    def favourable(self, exactness: Exactness) -> "Table":
        """The same with every way as short as its spread allows."""
        return Table(
            minutes=tuple(
                tuple(way and max(1, way - spread_min(way, exactness)) for way in row) for row in self.minutes
            ),
            metres=tuple(tuple(way and int(FAVOURABLE_SHARE * way) for way in row) for row in self.metres),
        )

    def spread_min(self, exactness: Exactness) -> int:
        """By how many minutes the longest way may be off."""
        ways = [way for row in self.minutes for way in row if way]
        return max((spread_min(way, exactness) for way in ways), default=0)


PROVABLE: tuple[Exactness, ...] = ("exact", "network")
ESTIMATED: tuple[Exactness, ...] = ("estimate", "timetable")
"""Nothing that rests on an estimate or on the means of a timetable is proven."""
FAVOURABLE_SHARE = 0.75
"""Of estimated metres at their favourable end: a walk is no shorter than the straight line."""

T = TypeVar("T", covariant=True)
U = TypeVar("U")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """A value and where it comes from; `retrieved_at`, in ISO form, is of the data, or of the call."""

    value: T
    provider: str
    version: str
    attribution: str
    retrieved_at: str
    exactness: Exactness

    def of(self, value: U) -> "Answer[U]":
        return Answer(
            value=value,
            provider=self.provider,
            version=self.version,
            attribution=self.attribution,
            retrieved_at=self.retrieved_at,
            exactness=self.exactness,
        )

    @property
    def told_by(self) -> str:
        """The provider and the state of its data."""
        return f"{self.provider} {self.version}"

    @property
    def source(self) -> str:
        """The same, and whose data they are."""
        return f"{self.told_by}; {self.attribution}"


def walk_minutes(metres: float) -> int:
    """Whole minutes on foot at 4.8 km/h, rounded up; at least one.

    >>> walk_minutes(0), walk_minutes(80), walk_minutes(81)
    (1, 1, 2)
    """
    return max(1, math.ceil(round(metres) / WALK_M_PER_MIN))


def spread_min(minutes: float, exactness: Exactness) -> int:
    """By how many minutes a way may be off: 10, or a quarter of it; none where streets or bounds are known.

    Of 62 published journeys by rail in Japan 52 are within it: `python -m bench.rail_minutes`.

    >>> spread_min(100, "estimate"), spread_min(20, "timetable"), spread_min(20, "network")
    (25, 10, 0)
    """
    return max(10, round(minutes / 4)) if exactness in ESTIMATED else 0


def least_minutes(metres: float, mode: Mode) -> float:
    """What the straight line takes at the mode's top speed: no router can beat it."""
    return metres / (TOP_KMH[mode] * 1000 / 60)
