"""A plan with its verification, as a finished trial holds it."""

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import UnionType
from typing import Any

from gnomon.core.errors import DataError
from gnomon_trips.export.words import listed
from gnomon_trips.itinerary.hours import (
    DAY_MIN,
    Interval,
    clock_of,
    open_intervals,
    spans_in,
    told_hours,
)
from gnomon_trips.itinerary.plan import Plan, Visit
from gnomon_trips.itinerary.request import Window

NUMBER = int | float
MEASURE: Mapping[str, type | UnionType] = {
    "name": str, "value": NUMBER | None, "counts": str, "numerator": NUMBER, "denominator": NUMBER,
}  # fmt: skip
"""The fields of a measure that every reader needs."""
MOST_CITIES = 3
"""So many cities stand in a title."""
HOURS_OF = "opening_hours="
"""What the evidence of a visit begins with where it cites the source's opening hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TripResult:
    """A plan, its faults, the request it answers, and opening hours as `open[place id][ISO date]`.

    `asked`: the request with the names that mean no place, where there are any.
    `contacts`: websites and phones as `contacts[place id][name]`.
    `is_proven`: an exact search holds a refusal's constraints to rule out every plan; None: it was not made.
    `unchecked`: the checks that no source could answer, each with its path and what is missing.
    `steps`: the measures of the steps to the plan, such as how many sentences of its guide are true.
    `alternatives`: of a refusal, what was tried instead, as `itinerary/alternatives.py` writes it.
    `quality` holds the measures of the plan as plain data; empty in results of older versions.
    `regret`: how much further than the shortest plan one walks, as a share; None: that is not known.
    """

    plan: Plan
    violations: tuple[Mapping[str, str], ...]
    unchecked: tuple[Mapping[str, str], ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    open: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    contacts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    verified_by: str = ""
    steps: Mapping[str, float] = field(default_factory=dict)
    alternatives: Mapping[str, Any] = field(default_factory=dict)
    quality: tuple[Mapping[str, Any], ...] = ()
    is_proven: bool | None = None
    regret: float | None = None

    @property
    def errors(self) -> list[Mapping[str, str]]:
        return [violation for violation in self.violations if violation["severity"] == "error"]

    @property
    def area(self) -> str:
        """Where the trip is: its cities, as far as the stops name them, else the area."""
        names = Counter(name for day in self.plan.days for visit in day.visits if (name := _city_name(visit)))
        if not names:
            return str(self.request.get("area", "") or "the trip").title()
        cities = [name for name, _ in names.most_common()]
        more = len(cities) - MOST_CITIES
        return listed(cities if more <= 0 else [*cities[:MOST_CITIES], f"{more} more"])

    @property
    def title(self) -> str:
        days = len(self.plan.days)
        return f"{self.area}, {days} day{'s' * (days != 1)}" if days else f"No plan for {self.area}"

    @property
    def refusal(self) -> str:
        """Why there is no plan, in words before the list of constraints."""
        if all(entry.startswith("place:") for entry in self.plan.conflict or ("",)):
            return "These places are not known here, or mean several:"
        if self.is_proven is False and not self.holds:
            return "No plan was found that keeps all constraints. These stand in the way:"
        return "No plan keeps all constraints. These cannot be kept together:"

    def hours(self, number: int) -> tuple[int, int]:
        """From when to when a day, counted from 1, lasts by the request, in minutes from midnight."""
        windows = self.request.get("windows") or ()
        own = windows[number - 1] if number <= len(windows) else None
        window = Window.model_validate(own or self.request.get("window") or {})
        return window.start_min, window.end_min

    def open_on(self, visit: Visit, date: str) -> str:
        """The opening hours of a visit's place on that date; "not known" if unknown."""
        words = self.open.get(visit.place.id, {}).get(date)
        return words if words is not None else told_hours(_cited_hours(visit, dt.date.fromisoformat(date)))

    def open_minutes(self, visit: Visit, date: dt.date) -> tuple[Interval, ...] | None:
        """The same as minutes from midnight; empty: closed all day, None: not known."""
        words = self.open_on(visit, date.isoformat())
        if words == "closed":
            return ()
        return spans_in(words) or None

    def hours_words(self, visit: Visit, date: dt.date) -> str:
        """The opening hours for reading: `open 11:30–01:00`, `closed that day` or `hours not known`."""
        hours = self.open_minutes(visit, date)
        if not hours:
            return "hours not known" if hours is None else "closed that day"
        return f"open {spans_text(hours)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "plan": self.plan.model_dump(mode="json"),
            "verification": {
                "passes": not self.errors,
                "violations": [dict(violation) for violation in self.violations],
                "unchecked": [dict(entry) for entry in self.unchecked],
                "verified_by": self.verified_by,
            },
            "request": dict(self.asked or self.request),
            "open": {place: dict(days) for place, days in self.open.items()},
            **({"contacts": {key: dict(own) for key, own in self.contacts.items()}} if self.contacts else {}),
            **({"steps": dict(self.steps)} if self.steps else {}),
            **({"alternatives": dict(self.alternatives)} if self.alternatives else {}),
            "quality": [dict(measure) for measure in self.quality],
        }

    @property
    def by_estimates(self) -> str:
        """By which estimates a plan or a refusal is what it is; empty where it rests on none."""
        search = self.plan.search
        return f"by estimates of ± {search.spread_min} min a way" if search and search.spread_min else ""

    @property
    def holds(self) -> bool:
        """Whether a refusal is proven, or holds with every way as short as its estimate allows."""
        search = self.plan.search
        return bool(self.is_proven or (search is not None and search.holds_at_best))

    @property
    def part(self) -> "TripResult | None":
        """The best plan for a part of a refused request, unverified; None: there is none."""
        if self.plan.status != "refused" or "part" not in self.alternatives:
            return None
        return replace(
            self,
            plan=Plan.model_validate(self.alternatives["part"]),
            violations=(),
            unchecked=(),
            alternatives={},
            is_proven=None,
        )


def _city_name(visit: Visit) -> str:
    """The city of a stop; empty where its source does not say. Wards of Tokyo are one city."""
    area = visit.place.admin
    if area is None:
        return ""
    if area.prefecture == "Tokyo" and area.municipality.endswith("-ku"):
        return "Tokyo"
    return re.sub(r"-(?:shi|ku|cho|machi|mura|son)$", "", area.municipality)


def spans_text(spans: Sequence[Interval]) -> str:
    """Hours for reading.

    >>> spans_text([(0, 1800)]), spans_text([(690, 840), (1020, 1500)])
    ('day and night', '11:30–14:00, 17:00–01:00')
    """
    if spans and spans[0][0] == 0 and spans[0][1] >= DAY_MIN:
        return "day and night"
    return ", ".join(_span_text(start, end) for start, end in spans)


def _span_text(start: int, end: int) -> str:
    """A span of opening hours as people write it.

    >>> _span_text(540, 1440), _span_text(0, 300), _span_text(720, 1740)
    ('09:00–midnight', 'until 05:00', '12:00–05:00')
    """
    close = "midnight" if end == DAY_MIN else clock_of(end % DAY_MIN)
    return f"until {close}" if start == 0 else f"{clock_of(start)}–{close}"


def _cited_hours(visit: Visit, date: dt.date) -> tuple[Interval, ...] | None:
    """The hours that a visit's evidence cites; holidays are not known here."""
    cited = [line.removeprefix(HOURS_OF) for line in visit.evidence if line.startswith(HOURS_OF)]
    return open_intervals(cited[0], date) if cited else None


def result_of(answer: str | None) -> TripResult:
    """The result in a row's answer.

    Raises:
        DataError: the row holds none: nothing was planned.
    """
    try:
        fields = json.loads(answer or "")
        return TripResult(
            plan=Plan.model_validate(fields["plan"]),
            violations=_rows(fields["violations"], {"code": str, "severity": str, "path": str}),
            unchecked=_rows(fields.get("unchecked", ()), {"code": str, "path": str}),
            request=_mapping(fields.get("request", {})),
            asked=_mapping(fields.get("asked", {})),
            open={place: _mapping(days) for place, days in _mapping(fields.get("open", {})).items()},
            contacts={key: _mapping(own) for key, own in _mapping(fields.get("contacts", {})).items()},
            verified_by=fields.get("verified_by", ""),
            steps=_mapping(fields.get("steps", {})),
            alternatives=_mapping(fields.get("alternatives", {})),
            quality=_rows(fields.get("quality", ()), MEASURE),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError("no plan was made; the trace says why") from None


def _rows(value: object, needed: Mapping[str, type | UnionType]) -> tuple[Mapping[str, Any], ...]:
    """A list of objects that have the needed fields.

    Raises:
        KeyError, TypeError: it is another thing, such as a file that somebody else wrote.
    """
    if not isinstance(value, list | tuple):
        raise TypeError("must be a list")
    for row in value:
        if not all(isinstance(_mapping(row)[name], kind) for name, kind in needed.items()):
            raise TypeError("a field has another type")
    return tuple(value)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError("must be an object")
    return value
