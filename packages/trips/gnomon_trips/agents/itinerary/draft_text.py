"""Reads a draft: the model's own words, and the plan in them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gnomon_trips.itinerary.draft import read_draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A plan as plain data, or the problem that keeps the words from being one."""

    plan: dict[str, Any] | None
    problem: str = ""
    words: str = ""

    @property
    def is_plan(self) -> bool:
        """Whether there are days to schedule; a refusal has none."""
        return self.plan is not None and self.plan.get("status", "planned") == "planned"

    @property
    def text(self) -> str:
        return self.words if self.plan is None else json.dumps(self.plan, ensure_ascii=False)

    def places_by_day(self) -> list[list[str]]:
        days = (self.plan or {}).get("days", [])
        return [[visit["place"] for visit in day.get("visits", ())] for day in days]

    def nights(self) -> list[str | None]:
        """Where the night after each day is spent, where the draft says so."""
        return [day.get("night") for day in (self.plan or {}).get("days", [])]


def draft_in(words: str) -> Drafted:
    """The draft in a reply.

    >>> draft_in("no plan").problem
    'there is no JSON object in the answer'
    """
    read = read_draft(words)
    if isinstance(read, str):
        return Drafted(plan=None, problem=read, words=words)
    return Drafted(plan=read.model_dump(mode="json", exclude_defaults=True), words=words)


def with_times(draft: Drafted, days: Sequence[dict[str, Any]]) -> Drafted:
    """The same plan with the order and the times of the scheduler; reasons stay with their places."""
    plan = dict(draft.plan or {})
    reasons = {
        visit["place"]: visit["why"]
        for day in plan.get("days", ())
        for visit in day.get("visits", ())
        if "why" in visit
    }
    plan["days"] = [
        {
            "visits": [_timed(visit, reasons) for visit in day["visits"]],
            **({"night": day["night"]} if day.get("night") else {}),
        }
        for day in days
    ]
    plan.pop("total_metres", None)  # the sums were about the order before
    return Drafted(plan=plan, words=draft.words)


def _timed(visit: dict[str, Any], reasons: dict[str, str]) -> dict[str, Any]:
    kept = {key: visit[key] for key in ("place", "arrive", "leave")}
    why = reasons.get(visit["place"]) or reasons.get(visit.get("name", ""))
    return {**kept, "why": why} if why else kept
