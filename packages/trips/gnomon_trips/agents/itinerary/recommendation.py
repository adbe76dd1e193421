"""Recommends where to eat and sleep: candidates of `places_near`, the model's choice, and alternatives."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.agent import AgentContext
from gnomon_trips.agents.itinerary.draft_text import Drafted
from gnomon_trips.agents.itinerary.questions import asked
from gnomon_trips.itinerary.hours import clock_of, minutes_of, spans_in
from gnomon_trips.itinerary.kept_free import is_kept_free
from gnomon_trips.itinerary.request import BEDS, MEALS, Meal
from gnomon_trips.itinerary.trip import Trip

Ask = Callable[[str, dict[str, Any]], Awaitable[Mapping[str, Any]]]
"""Calls a tool by its name; a failed call is an answer with `error`."""

MEAL_M, BED_M = 1_200.0, 5_000.0
CANDIDATES, ALTERNATIVES = 8, 3
CALLS_KEPT = 12
"""That many tool calls are left for scheduling, verifying and repairs."""
RECOMMEND = "RECOMMEND:"
FORM = """\
For each of `choices` pick one of its candidates: somewhere to eat or to sleep, near, open then, of a kind
this traveller would like. Say why in a few words that the data bear out. Answer with one JSON object:
{"picks": [{"for": FOR, "place": ID, "why": WHY}, ...]}"""


@dataclass(slots=True, kw_only=True)
class _Choice:
    """A meal or night of a day (from 1): what is chosen already, and the candidates around `near`."""

    day: int
    purpose: str
    near: str
    chosen: str = ""
    candidates: list[dict[str, Any]] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{self.purpose}, day {self.day}"


async def recommend(
    context: AgentContext, draft: Drafted, trip: Trip, ask: Ask
) -> tuple[Drafted, list[dict[str, Any]], str]:
    """The draft with somewhere to eat and sleep wherever it lacked that, all choices, and a word on them.

    Raises:
        ProviderFault, ModelFault: as the model raises them.
    """
    if draft.plan is None or not draft.is_plan:
        return draft, [], "nothing to recommend"
    choices = await _choices(draft, trip, context, ask)
    open_choices = [choice for choice in choices if not choice.chosen and choice.candidates]
    picks: dict[str, dict[str, Any]] = {}
    if open_choices:
        data = {"choices": [_asked(choice, trip) for choice in open_choices]}
        reply = await asked(context, RECOMMEND, data, FORM, key="picks")
        picks = _picks(reply, open_choices)
    by = "planner" if "search" in draft.plan else "model"
    made = [_pick(choice, picks.get(choice.key), by) for choice in choices]
    recommended = [pick for pick in made if pick is not None]
    left = [choice.key for choice, pick in zip(choices, made, strict=True) if pick is None]
    added = [choice for choice in open_choices if choice.key in picks]
    word = f"{len(recommended)} recommended, {len(added)} of them added to the draft"
    word += f"; nothing known for {', '.join(left)}" if left else ""
    return with_picks(draft, [pick for pick in recommended if pick["is_added"]], trip), recommended, word


def with_picks(draft: Drafted, picks: Sequence[Mapping[str, Any]], trip: Trip) -> Drafted:
    """The draft with these places added to their days, where they are not in it."""
    if draft.plan is None or not picks:
        return draft
    days = [dict(day) for day in draft.plan.get("days", ())]
    for pick in picks:
        if pick["day"] > len(days):
            continue
        day = days[pick["day"] - 1]
        if pick["purpose"] == "night":
            day.setdefault("night", pick["place"])
            continue
        visits = list(day.get("visits", ()))
        if any(visit["place"] == pick["place"] for visit in visits):
            continue
        meal = next((meal for meal in trip.request.meals if meal.name == pick["purpose"]), Meal())
        start = meal.start_min
        at = sum(minutes_of(visit["arrive"].zfill(5)) < start for visit in visits)
        row = {"place": pick["place"], "arrive": meal.start, "leave": clock_of(start + meal.minutes)}
        visits.insert(at, {**row, "why": f"for {meal.name}"})
        day["visits"] = visits
    return Drafted(plan={**draft.plan, "days": days}, words=draft.words)


def placed(recommended: Sequence[Mapping[str, Any]], plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choices that are in the plan, each under the day where it is now."""
    rows = []
    for pick in recommended:
        for number, day in enumerate(plan.get("days", ()), 1):
            names = [day.get("night")] if pick["purpose"] == "night" else []
            names += [visit["place"] for visit in day.get("visits", ())] if not names else []
            if pick["place"] in names:
                rows.append(
                    {**{key: value for key, value in pick.items() if key != "is_added"}, "day": number}
                )
                break
    return rows


async def _choices(draft: Drafted, trip: Trip, context: AgentContext, ask: Ask) -> list[_Choice]:
    days = (draft.plan or {}).get("days", [])
    choices = []
    for number, day in enumerate(days, 1):
        stops = [(visit, await _known(visit["place"], trip, context, ask)) for visit in day.get("visits", ())]
        eats = [visit["place"] for visit, place in stops if place.get("kind") in MEALS]
        sights = [place for _, place in stops if place.get("kind") not in MEALS and "lat" in place]
        for meal in trip.request.meals:
            near = sights[len(sights) // 2] if sights else None
            if near is not None:
                choice = _Choice(
                    day=number, purpose=meal.name, near=near["name"], chosen=eats.pop(0) if eats else ""
                )
                await _look(choice, near, sorted(MEALS), MEAL_M, context, ask)
                _keep_open(choice, meal)
                choices.append(choice)
        is_open = number < len(days) and trip.home(number - 1, at_end=True) is None
        if is_open and stops and "lat" in stops[-1][1]:
            last = stops[-1][1]
            choice = _Choice(day=number, purpose="night", near=last["name"], chosen=day.get("night") or "")
            await _look(choice, last, BEDS, BED_M, context, ask)
            choices.append(choice)
    return choices


def _keep_open(choice: _Choice, meal: Meal) -> None:
    """Leave out what is known to be closed at that meal, and put those whose hours are known first."""

    def serves(hours: str) -> bool:
        return any(meal.is_had(start, end) for start, end in spans_in(hours))

    rows = [row for row in choice.candidates if row["hours"] == "not known" or serves(row["hours"])]
    choice.candidates = sorted(rows, key=lambda row: (row["hours"] == "not known", row["distance_m"]))


async def _known(name: str, trip: Trip, context: AgentContext, ask: Ask) -> dict[str, Any]:
    """Name, kind and position of a place; nothing where that is not known."""
    place = trip.named.get(name) or next((place for place in trip.named.values() if place.id == name), None)
    if place is not None:
        return {"name": place.name, "kind": place.kind, "lat": place.at.lat_deg, "lon": place.at.lon_deg}
    if context.tool_calls_left <= CALLS_KEPT:
        return {}
    row = await ask("place_details", {"place": name})
    if "error" in row:
        return {}
    return {"name": row["name"], "kind": row["kind"], "lat": row["lat_deg"], "lon": row["lon_deg"]}


async def _look(
    choice: _Choice,
    near: Mapping[str, Any],
    kinds: Sequence[str],
    radius_m: float,
    context: AgentContext,
    ask: Ask,
) -> None:
    """Put the nearest candidates into the choice, each with its hours."""
    if context.tool_calls_left <= CALLS_KEPT:
        return
    arguments = {"lat": near["lat"], "lon": near["lon"], "radius_m": radius_m, "kinds": list(kinds)[:10]}
    answer = await ask("places_near", {**arguments, "limit": CANDIDATES + 1})
    for hit in answer.get("hits", ()):
        if hit["id"] == choice.chosen or len(choice.candidates) == CANDIDATES:
            continue
        details: Mapping[str, Any] = {}
        if context.tool_calls_left > CALLS_KEPT:
            details = await ask("place_details", {"place": hit["id"]})
        days = details.get("days") or []
        opened = days[choice.day - 1]["open"] if choice.day <= len(days) else "not known"
        choice.candidates.append(
            {
                "id": hit["id"],
                "name": hit["name"],
                "kind": hit["kind"],
                "distance_m": round(hit.get("distance_m") or 0.0),
                "hours": opened,
                "price": details.get("cost") or "not known",
                "tags": details.get("tags") or [],
            }
        )


def _asked(choice: _Choice, trip: Trip) -> dict[str, Any]:
    meal = next((meal for meal in trip.request.meals if meal.name == choice.purpose), None)
    row: dict[str, Any] = {"for": choice.key, "near": choice.near, "candidates": choice.candidates}
    preferences = trip.request.preferences.model_dump(exclude_defaults=True)
    if meal is not None:
        row["between"] = f"{meal.start}-{meal.end}"
    return {**row, "preferences": preferences} if preferences else row


def _picks(reply: Mapping[str, Any] | None, choices: Sequence[_Choice]) -> dict[str, dict[str, Any]]:
    """The picks that name a candidate of theirs, by what they are for."""
    rows = reply.get("picks") if reply else None
    picks: dict[str, dict[str, Any]] = {}
    for choice in choices:
        ids = {name: row["id"] for row in choice.candidates for name in (row["id"], row["name"])}
        for row in rows if isinstance(rows, list) else ():
            if not isinstance(row, dict) or not isinstance(row.get("place"), str):
                continue
            if row.get("for") == choice.key and row["place"] in ids:
                picks[choice.key] = {"place": ids[row["place"]], "why": str(row.get("why") or "")[:300]}
    return picks


def _pick(choice: _Choice, pick: Mapping[str, Any] | None, by: str) -> dict[str, Any] | None:
    place = choice.chosen or (pick["place"] if pick else "")
    if not place or is_kept_free(place):
        return None
    others = [row["id"] for row in choice.candidates if row["id"] != place]
    return {
        "day": choice.day,
        "purpose": choice.purpose,
        "place": place,
        "by": by if choice.chosen else "model",
        "why": pick["why"] if pick and not choice.chosen else "",
        "instead": others[:ALTERNATIVES],
        "is_added": not choice.chosen,
    }
