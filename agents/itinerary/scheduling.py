"""Scheduling: what the scheduler makes of a model's draft, day by day, over the whole trip, or a refusal."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agents.itinerary.draft_text import Drafted, with_times

Ask = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]
"""Calls `order_visits`; a failed call is an answer with `error`."""

PROOF = "kept together: "
"""In the scheduler's words: after it stand the constraints that rule out every plan."""


async def scheduled_draft(draft: Drafted, must: Sequence[str], ask: Ask) -> tuple[Drafted, str]:
    """The draft with times, or a proven refusal, and a word on what was done.

    The model's choice of days stands if it can be kept. If not, the whole trip is asked for: first with
    all that was drafted, then with what must be visited alone. A model's own refusal is put to the same
    test, so that no plan is missed and no refusal stands without a proof where there can be one.
    """
    drafted = list(dict.fromkeys(place for day in draft.places_by_day() for place in day))
    if draft.is_plan and drafted and (days := await _day_by_day(draft, ask)) is not None:
        return with_times(draft, days), "each day in its best order"
    for places in ([*must, *(place for place in drafted if place not in must)], list(must)):
        told = await ask({"places": places}) if places else {}
        if "days" in told:
            visits = [visit for day in told["days"] for visit in day["visits"]]
            seen = {*places, *(visit.get(key) for visit in visits for key in ("place", "name"))}
            left_out = [place for place in drafted if place not in seen]
            return with_times(_opened(draft, left_out), told["days"]), "the places shared out anew"
        if list(places) == list(must) and PROOF in str(told.get("error", "")):
            conflict = str(told["error"]).partition(PROOF)[2].split(", ")
            return Drafted(plan={"status": "refused", "conflict": conflict}), "proven that there is no plan"
    return draft, "the draft stays as it is"


async def _day_by_day(draft: Drafted, ask: Ask) -> list[Any] | None:
    days: list[Any] = []
    for number, places in enumerate(draft.places_by_day()):
        told = await ask({"places": places, "day": number + 1}) if places else {"days": [{"visits": []}]}
        if "days" not in told:
            return None
        days += told["days"]
    return days


def _opened(draft: Drafted, left_out: Sequence[str]) -> Drafted:
    """The draft as one that is planned, whatever the model had decided."""
    plan = {key: value for key, value in (draft.plan or {}).items() if key not in ("status", "conflict")}
    return Drafted(plan={**plan, **({"skipped": list(left_out)} if left_out else {})}, words=draft.words)
