"""Form: whether a plan is one at all, has the days that were asked for, and speaks in the right units."""

import itertools
from collections.abc import Iterator

from pydantic import ValidationError

from tools.itinerary.plan import Plan
from tools.itinerary.request import TripRequest
from tools.itinerary.verify.violation import Violation

MEASURED = frozenset(
    ("minutes", "metres", "date", "currency", "amount", "arrive", "leave", "lat", "lon", "mode", "cost")
)
"""Fields whose value has a unit or a standard form: faults in them are UNITS, all others SCHEMA."""


def read_plan(given: object) -> Plan | tuple[Violation, ...]:
    """The plan in plain data, or everything that keeps it from being one."""
    try:
        return Plan.model_validate(given)
    except ValidationError as error:
        return tuple(
            Violation(
                code="UNITS" if MEASURED & set(map(str, item["loc"][-2:])) else "SCHEMA",
                path=".".join(map(str, item["loc"])) or "plan",
                expected=item["msg"].removeprefix("Value error, "),
                found=repr(item.get("input"))[:80],
            )
            for item in error.errors()
        )


def form(plan: Plan, request: TripRequest) -> Iterator[Violation]:
    """Faults of days, dates and the chain of legs."""
    dates = request.dates()
    if len(plan.days) != len(dates):
        yield Violation(
            code="DAY_COUNT", path="days", expected=f"{len(dates)} days", found=f"{len(plan.days)}"
        )
    for number, (day, date) in enumerate(zip(plan.days, dates, strict=False)):
        if day.date != date:
            yield Violation(
                code="DATE", path=f"days.{number}.date", expected=date.isoformat(), found=day.date.isoformat()
            )
    for number, day in enumerate(plan.days):
        chain = [day.start.id, *(visit.place.id for visit in day.visits), day.end.id]
        wanted = list(itertools.pairwise(chain))
        told = [(leg.from_id, leg.to_id) for leg in day.legs]
        if wanted != told:
            yield Violation(
                code="SCHEMA",
                path=f"days.{number}.legs",
                expected=" → ".join(chain),
                found=", ".join(f"{start} → {end}" for start, end in told) or "no legs",
            )
