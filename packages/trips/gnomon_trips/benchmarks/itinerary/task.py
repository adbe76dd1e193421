"""A generated trip with its hidden truth, and the number that identifies it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gnomon.core.errors import NotFound
from gnomon.core.sample import SampleRef
from gnomon_trips.itinerary.problem import Problem
from gnomon_trips.itinerary.trip import Trip

FAMILIES = ("city-day", "two-day", "rail-trip", "must-refuse", "graph", "change-request")
ON_FOOT = frozenset(("city-day", "two-day", "must-refuse", "change-request", "changed-mind"))
"""Families that need a city's streets; the others need Japan's railways and areas."""

TALKS = ("changed-mind",)
"""Families of several turns. They are asked for by name, and numbered apart."""

_ID = re.compile(r"(trip|talk)(\d+)-(\d{5,})-([a-z][\w-]*)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """Sample k of a seed in one area; families take turns, those of several turns among themselves.

    >>> Number(seed=7, k=3, area="helsinki").sample_id, Number(seed=7, k=3, area="helsinki").family
    ('trip7-00003-helsinki', 'must-refuse')
    >>> Number(seed=7, k=3, area="helsinki", stem="talk").sample_id
    'talk7-00003-helsinki'
    """

    seed: int
    k: int
    area: str
    stem: Literal["trip", "talk"] = "trip"

    @property
    def family(self) -> str:
        families = FAMILIES if self.stem == "trip" else TALKS
        return families[self.k % len(families)]

    @property
    def sample_id(self) -> str:
        return f"{self.stem}{self.seed}-{self.k:05d}-{self.area}"

    def ref(self) -> SampleRef:
        """The reference that planning works with; every sample is a cluster of its own."""
        return SampleRef(sample_id=self.sample_id, task=self.family, cell=self.family, cluster=self.sample_id)


def number_of(sample_id: str) -> Number:
    """The number behind a sample's id.

    >>> number_of("trip7-00003-helsinki").k
    3

    Raises:
        NotFound: no sample has this id.
    """
    match = _ID.fullmatch(sample_id)
    number = None
    if match:
        stem: Literal["trip", "talk"] = "trip" if match[1] == "trip" else "talk"
        number = Number(seed=int(match[2]), k=int(match[3]), area=match[4], stem=stem)
    if number is None or number.sample_id != sample_id:
        raise NotFound(f"no sample {sample_id!r}; ids look like 'trip7-00003-helsinki'")
    return number


def numbers(seed: int, families: Sequence[str], cities: Sequence[str], limit: int) -> list[Number]:
    """The first `limit` samples of a seed in these families; cities take turns.

    >>> [number.family for number in numbers(0, ("graph", "city-day"), ("helsinki",), 3)]
    ['city-day', 'graph', 'city-day']
    >>> [number.sample_id for number in numbers(0, ("changed-mind", "graph"), ("helsinki",), 3)]
    ['trip0-00004-japan', 'trip0-00010-japan', 'talk0-00000-helsinki']
    """
    talks = [family for family in families if family in TALKS]
    talk_count = limit * len(talks) // len(families)
    chosen: list[Number] = []
    k = 0
    while len(chosen) < limit - talk_count:
        family = FAMILIES[k % len(FAMILIES)]
        if family in families:
            area = cities[(k // len(FAMILIES)) % len(cities)] if family in ON_FOOT else "japan"
            chosen.append(Number(seed=seed, k=k, area=area))
        k += 1
    return chosen + [
        Number(seed=seed, k=k, area=cities[k % len(cities)], stem="talk") for k in range(talk_count)
    ]


Form = Literal["plan", "order", "graph"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One question about a trip.

    `witness` is an answer that scores 1, as a model would write it. `optimum_m` is the least there is to
    walk (None: no plan exists, or nothing is walked). `details` go into the prompt beside the request,
    `truth` is for the scorer alone. `turns` are what is said after the first plan. Without a problem and a
    witness it is a request of a user's own.
    """

    family: str
    form: Form
    trip: Trip
    problem: Problem | None = None
    witness: str = ""
    optimum_m: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    truth: Mapping[str, Any] = field(default_factory=dict)
    turns: "tuple[Turn, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the traveller says next, the whole task from then on, and the request's fields that it changes."""

    said: str
    task: Task
    fields: frozenset[str]
