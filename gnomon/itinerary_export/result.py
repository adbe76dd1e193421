"""A plan with its verification, as a finished trial holds it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.errors import DataError
from tools.itinerary.plan import Plan, Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class TripResult:
    """A plan, its faults, the request it answers, and opening hours as `open[place id][ISO date]`."""

    plan: Plan
    violations: tuple[Mapping[str, str], ...]
    request: Mapping[str, Any] = field(default_factory=dict)
    open: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    verified_by: str = ""

    @property
    def errors(self) -> list[Mapping[str, str]]:
        """What is wrong."""
        return [violation for violation in self.violations if violation["severity"] == "error"]

    @property
    def title(self) -> str:
        area = str(self.request.get("area", "") or "the trip").title()
        days = len(self.plan.days)
        return f"{area}, {days} day{'s' * (days != 1)}" if days else f"No plan for {area}"

    @property
    def refusal(self) -> str:
        """Why there is no plan, in words before the list of constraints."""
        if all(entry.startswith("place:") for entry in self.plan.conflict or ("",)):
            return "These places are not known here, or mean several:"
        return "No plan keeps all constraints. These cannot be kept together:"

    def open_on(self, visit: Visit, date: str) -> str:
        """The opening hours of a visit's place on that date; "not known" if unknown."""
        return self.open.get(visit.place.id, {}).get(date, "not known")

    def as_json(self) -> dict[str, Any]:
        """Plan and verification as plain data, the plan first."""
        return {
            "plan": self.plan.model_dump(mode="json"),
            "verification": {
                "passes": not self.errors,
                "violations": [dict(violation) for violation in self.violations],
                "verified_by": self.verified_by,
            },
            "request": dict(self.request),
            "open": {place: dict(days) for place, days in self.open.items()},
        }


def result_of(answer: str | None) -> TripResult:
    """The result in a row's answer.

    Raises:
        DataError: the row holds none: nothing was planned.
    """
    try:
        fields = json.loads(answer or "")
        return TripResult(
            plan=Plan.model_validate(fields["plan"]),
            violations=tuple(fields["violations"]),
            request=fields.get("request", {}),
            open=fields.get("open", {}),
            verified_by=fields.get("verified_by", ""),
        )
    except (ValueError, KeyError, TypeError):
        raise DataError("no plan was made; the trace says why") from None
