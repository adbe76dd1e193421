"""Schedules a model's draft, day by day or over the whole trip, or refuses it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from gnomon_trips.agents.itinerary.draft_text import Drafted, with_times

Ask = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]
"""Calls `order_visits`; a failed call is an answer with `error`."""

PROOF = "kept together: "
"""In the scheduler's words: after it stand the constraints that rule out every plan."""
SEARCH_WORDS = {
    "is_proven": "is_proven",
    "spread_min": "spread_min",
    "holds_at_best": "holds_at_best",
    "seconds": "seconds",
    "gap": "cost_error_share",
    "is_cut": "is_cut",
}
"""What a plan says of its search, and what `plan_trip` calls it."""


def as_searched(draft: Drafted, results: Sequence[Mapping[str, Any]]) -> Drafted:
    """The draft, with what `plan_trip` said of its search if this is the plan that it returned.

    `results` are the answers of `plan_trip` in this trial: a model that writes a search of its own, or other
    places and times beside one, has searched nothing.
    """
    if draft.plan is None or not {"search", "left_out"} & set(draft.plan):
        return draft
    own = {key: value for key, value in draft.plan.items() if key not in ("search", "left_out")}
    result = next((result for result in results if _stops(result) == _stops(draft.plan)), None)
    if result is None:
        return Drafted(plan=own, words=draft.words)
    word = {name: result[key] for name, key in SEARCH_WORDS.items() if result.get(key) is not None}
    left_out = list(result.get("left_out") or ())
    return Drafted(
        plan={**own, "search": word, **({"left_out": left_out} if left_out else {})}, words=draft.words
    )


def _stops(plan: Mapping[str, Any]) -> object:
    """What makes two plans one: the stops with their times, or the constraints in conflict."""
    status = plan.get("status", "planned")
    if status == "refused":
        return status, frozenset(map(str, plan.get("conflict") or ()))
    days = plan.get("days") or ()
    keys = ("place", "arrive", "leave")
    return status, [
        [tuple(visit.get(key) for key in keys) for visit in day.get("visits") or ()] for day in days
    ]


async def scheduled_draft(
    draft: Drafted, must: Sequence[str], ask: Ask, plan: Ask | None = None
) -> tuple[Drafted, str]:
    """The draft with times, or a proven refusal, and a word on what was done.

    The model's choice of days stands if it can be kept. If not, the whole trip is asked for: first with
    all that was drafted, then with what must be visited alone. A model's own refusal is put to the same
    test, so that no plan is missed and no refusal stands without a proof where there can be one. `plan`
    calls `plan_trip`, where the arm has it: for what cannot be scheduled with the drafted places.
    """
    if draft.plan is not None and "search" in draft.plan:
        return draft, "as plan_trip planned it"
    drafted = list(dict.fromkeys(place for day in draft.places_by_day() for place in day))
    if draft.is_plan and drafted and (days := await _day_by_day(draft, ask)) is not None:
        return with_times(draft, days), "each day in its best order"
    for places in ([*must, *(place for place in drafted if place not in must)], list(must)):
        result = await ask({"places": places}) if places else {}
        if "days" in result:
            visits = [visit for day in result["days"] for visit in day["visits"]]
            handled = {*places, *(visit.get(key) for visit in visits for key in ("place", "name"))}
            left_out = [place for place in drafted if place not in handled]
            return with_times(_opened(draft, left_out), result["days"]), "the places shared out anew"
        if list(places) == list(must) and PROOF in str(result.get("error", "")):
            conflict = str(result["error"]).partition(PROOF)[2].split(", ")
            return Drafted(plan={"status": "refused", "conflict": conflict}), "proven that there is no plan"
    result = await plan({}) if plan is not None else {}
    if result.get("status") == "planned":
        return with_times(
            _opened(draft, []), result["days"]
        ), "planned anew, with other places to eat and see"
    if result.get("status") == "refused" and (result.get("holds_at_best") or result.get("is_proven")):
        conflict = list(result["conflict"])
        return Drafted(plan={"status": "refused", "conflict": conflict}), "proven that there is no plan"
    return draft, "the draft stays as it is"


async def _day_by_day(draft: Drafted, ask: Ask) -> list[Any] | None:
    days: list[Any] = []
    start: str | None = None
    for number, (places, night) in enumerate(zip(draft.places_by_day(), draft.nights(), strict=True)):
        question: dict[str, Any] = {"places": places, "day": number + 1}
        if start is not None:  # it counts where the request names neither a hotel nor a night
            question["start"] = start
        result = await ask(question) if places else {"days": [{"visits": []}]}
        if "days" not in result:
            return None
        days += result["days"]
        visits = result["days"][-1]["visits"]
        start = night or (visits[-1]["place"] if visits else start)
    return [
        {**day, "night": night} if night else day for day, night in zip(days, draft.nights(), strict=True)
    ]


def _opened(draft: Drafted, left_out: Sequence[str]) -> Drafted:
    """The draft as a plan, also where the model had decided to refuse."""
    plan = {key: value for key, value in (draft.plan or {}).items() if key not in ("status", "conflict")}
    return Drafted(plan={**plan, **({"skipped": list(left_out)} if left_out else {})}, words=draft.words)
