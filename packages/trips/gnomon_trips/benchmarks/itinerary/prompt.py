"""Writes the prompt: the request as JSON, the rules of the task, and how to answer; alike for every arm."""

import json
from collections.abc import Mapping
from typing import Any

from gnomon.core.sample import Part
from gnomon_trips.benchmarks.itinerary.task import Task
from gnomon_trips.itinerary.barred import overruled
from gnomon_trips.itinerary.later_visits import later_visits
from gnomon_trips.itinerary.place import WALK_KMH
from gnomon_trips.itinerary.request import USUAL_DWELL_MIN
from gnomon_trips.itinerary.selection import room_of
from gnomon_trips.itinerary.trip import Trip

REQUEST, FACTS, DETAILS = "REQUEST:", "FACTS:", "ALSO:"
"""The words before each JSON object of a prompt, each on a line of its own."""

PLAN_FORM = """\
Answer with one JSON object:
{"status": "planned", "days": [{"visits": [{"place": NAME, "arrive": "HH:MM", "leave": "HH:MM"}, ...]}, ...]}
with one entry of "days" for each day and its visits in order. Use names of the request or ids of the tools.
If no plan can keep all constraints, answer {"status": "refused", "conflict": [CONSTRAINT, ...]} with the
fewest constraints that cannot be kept together, out of: budget, rooms, window, max_walk_m, max_leg_min,
meal:NAME, avoid:PLACE, hours:PLACE, order:PLACE>PLACE."""
ORDER_FORM = """\
Begin at `hotel`, end at `ends_at`, see every other place once, each hop from one place to the next within
max_leg_min minutes by rail. Answer with one JSON object: {"order": [NAME, ...]}, first and last included."""
GRAPH_FORM = """\
The nodes are places of one trip, shuffled, each with the time it was seen, and the areas they lie in.
Give the visiting-order graph: inclusions [outer, inner] (prefecture to city, city to place), and transitions
[earlier, later] between neighbours in time that lie in the same area: place to place within a city, city to
city within a prefecture, prefecture to prefecture. Answer with one JSON object, names as given:
{"inclusions": [[A, B], ...], "transitions": [[A, B], ...]}"""


def parts_of(task: Task) -> tuple[Part, ...]:
    """The prompt in parts; `facts` are shown to the arms that plan on given facts."""
    request = task.details.get("asked") or asked(task.trip)
    always = [f"{REQUEST}\n{_json(request)}", rules(task)]
    details = {key: value for key, value in task.details.items() if key != "asked"}
    if details:
        always.append(f"{DETAILS}\n{_json(details)}")
    form = {"plan": PLAN_FORM, "order": ORDER_FORM, "graph": GRAPH_FORM}[task.form]
    parts = [Part(content="\n\n".join(always))]
    if task.facts:
        parts.append(Part(content=f"\n\n{FACTS}\n{facts_in_words(task)}", shown="facts"))
    return (*parts, Part(content=f"\n\n{form}"))


def facts_in_words(task: Task) -> str:
    """The answers that tools would give, as JSON with their source."""
    provider = task.trip.provider
    source = f"{provider.name} {provider.version}; {provider.attribution}"
    return _json({**task.facts, "source": source})


def asked(trip: Trip) -> dict[str, Any]:
    """A request as the prompt shows it: without the price and stay rules, which follow in words."""
    request: dict[str, Any] = trip.request.model_dump(mode="json", exclude_defaults=True, exclude={"rules"})
    if trip.request.mode == "walk":
        request["window"] = trip.request.window.model_dump()
    return request


def rules(task: Task) -> str:
    """The rules of the trip in words."""
    request = task.trip.request
    if task.form != "plan":
        return "Times by rail are those of the tools or the facts; a plan may trust them within 10 %."
    days = ", ".join(f"{date:%a %d %b %Y}" for date in request.dates())
    kinds = {place.kind for place in task.trip.named.values()}
    stays = ", ".join(f"{kind} {request.rules.stay_min(kind)}" for kind in sorted(kinds))
    other_min = request.rules.dwell_min.get("other", USUAL_DWELL_MIN)
    lines = [
        f"Days: {days}. Every day starts and ends at the hotel and lies within the window.",
        "Each place is visited once, wholly within its opening hours.",
        f"Walking is at {WALK_KMH:g} km/h along streets, in whole minutes, rounded up. Waiting is allowed.",
        f"Least stay in minutes by kind: {stays or 'none given'}, all others {other_min}.",
    ]
    prices = {kind: price for kind, price in sorted(request.rules.price.items()) if kind in kinds}
    if prices:
        price_list = ", ".join(f"{kind} {price:g}" for kind, price in prices.items())
        lines.append(f"Price in {request.rules.currency} a person by kind: {price_list}; all else is free.")
    if later_visits(request):
        lines.append("NAME (2) is a second visit, on a day of its own unless it has a set time.")
    if request.fixed:
        lines.append("A visit to a place of `fixed` begins at its time; in a conflict that is fixed:PLACE.")
    if any(overruled(task.trip, place) for place in task.trip.places()):
        lines.append("What `places` names is visited, though its kind or chain is to be avoided.")
    if room_of(task.trip) is not None:
        lines.append("There is room for fewer places than there are (max_places, or places_a_day each day):")
        lines.append("visit the most important ones, must_see first, and list the others in `skipped`.")
    if request.max_walk_m is not None or "change" in task.details:
        lines.append("max_walk_m is the walking of each day, all legs together, in metres.")
    if "change" in task.details:
        lines.append("There is `current_plan`, and now the traveller asks for `change`: its fields replace")
        lines.append("those of the request. Answer with the whole new plan.")
    return "\n".join(lines)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
