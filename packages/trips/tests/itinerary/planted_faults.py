"""Faults that a plan may hide, each planted into a plan that works; and what no source can answer."""

from collections.abc import Callable, Mapping
from typing import Any

from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.provider import Provider, answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, open_trip
from gnomon_trips.itinerary.verify.verify import verify_plan
from gnomon_trips.itinerary.verify.violation import Verification

Json = dict[str, Any]
Change = Callable[[Json, Json], None]
"""Plants a fault into a plan, the first, or into its request."""

CITY: Json = {
    "id": "city",
    "area": "helsinki",
    "start_date": "2026-06-10",
    "days": 2,
    "party": 2,
    "hotel": "Hotelli Torni",
    "places": ["Kampin kappeli", "Kiasma", "Amos Rex", "Vanha Kauppahalli", "Ateneum", "Ravintola Kosmos"],
    "window": {"start": "09:00", "end": "18:00"},
    "budget": {"amount": 120, "currency": "EUR"},
    "rules": {"price": {"museum": 15.0, "restaurant": 15.0, "place_of_worship": 0.0, "attraction": 0.0}},
}
CITY_DAYS = [
    [("Kampin kappeli", "09:05", "09:35"), ("Kiasma", "10:00", "11:30"), ("Amos Rex", "11:34", "13:04")],
    [
        ("Vanha Kauppahalli", "09:13", "09:58"),
        ("Ateneum", "10:11", "11:41"),
        ("Ravintola Kosmos", "11:49", "12:49"),
    ],
]
HONEST: Mapping[tuple[int, int], str] = {
    (0, 0): "Asked for, 5 min from the hotel, free",
    (0, 1): "Open until 20:30 on Wednesdays, €15 each, a museum of today's art",
    (0, 2): "Next to Kiasma; open 11:00-20:00",
    (1, 0): "Opens at 8 and is the oldest market hall",
    (1, 1): "The Ateneum's classics, a 13 minute walk",
    (1, 2): "For lunch near Ateneum",
}
"""Reasons that are all true."""
ROAMING: Json = {
    "id": "roaming",
    "area": "helsinki",
    "start_date": "2026-06-10",
    "days": 2,
    "places": ["Kiasma", "Ateneum"],
    "window": {"start": "09:00", "end": "18:00"},
}


def draft(days: list[list[tuple[str, str, str]]], **fields: Any) -> DraftPlan:
    visits = [
        {"visits": [{"place": name, "arrive": arrive, "leave": leave} for name, arrive, leave in day]}
        for day in days
    ]
    return DraftPlan.model_validate({"days": visits, **fields})


def made(request: Json, days: list[list[tuple[str, str, str]]], provider: Provider | None = None) -> Json:
    """The plan of some visits, as plain data."""
    trip = opened(request, provider)
    plan: Plan = answered(plan_of(draft(days), trip), is_local=True)
    return plan.model_dump(mode="json")


def opened(request: Json, provider: Provider | None = None) -> Trip:
    return answered(open_trip(read_request(request), provider or embedded(request["area"])), is_local=True)


def judged(plan: Json, request: Json, provider: Provider | None = None) -> Verification:
    return answered(verify_plan(plan, opened(request, provider)), is_local=True)[1]


def city() -> tuple[Json, Json]:
    """Two days in Helsinki with true reasons, and their request."""
    plan = made(CITY, CITY_DAYS)
    for (day, index), why in HONEST.items():
        plan["days"][day]["visits"][index]["why"] = why
    return plan, dict(CITY)


def roaming() -> tuple[Json, Json]:
    """Two days without a hotel: the night is assumed near the last stop of the first."""
    plan = made(ROAMING, [[("Kiasma", "10:00", "11:30")], [("Ateneum", "10:10", "11:40")]])
    here, there = plan["days"][0]["end"], plan["days"][1]["visits"][0]["place"]
    way = made({**ROAMING, "days": 1}, [[("Kiasma", "10:00", "11:30"), ("Ateneum", "12:00", "13:30")]])
    source = plan["days"][0]["visits"][0]["evidence"][0]
    plan["days"][0]["night"] = {"place": here, "basis": "assumed", "evidence": [source]}
    plan["days"][1]["start"] = here
    plan["days"][1]["legs"] = [way["days"][0]["legs"][1], plan["days"][1]["legs"][-1]]
    assert plan["days"][1]["legs"][0]["to_id"] == there["id"]
    sum_up(plan)
    told = f"Night 1 is spent near {here['name']}: no place to sleep is named."
    if told not in plan["assumptions"]:
        plan["assumptions"].append(told)
    return plan, dict(ROAMING)


def sum_up(plan: Json) -> None:
    legs = [leg for day in plan["days"] for leg in day["legs"]]
    plan["totals"]["metres"] = sum(leg["metres"] for leg in legs)
    plan["totals"]["minutes"] = sum(leg["minutes"] for leg in legs)


def why(day: int, index: int, text: str) -> Change:
    def change(plan: Json, _: Json) -> None:
        plan["days"][day]["visits"][index]["why"] = text

    return change


def at(path: str, value: Any) -> Change:
    """Puts a value at a dotted path of the plan."""

    def change(plan: Json, _: Json) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        inner: Any = plan
        for step in steps:
            inner = inner[step]
        inner[last] = value

    return change


def asked(**fields: Any) -> Change:
    """Changes the request, which the plan then does not answer."""

    def change(_: Json, request: Json) -> None:
        request.update(fields)

    return change


def both(*changes: Change) -> Change:
    def change(plan: Json, request: Json) -> None:
        for one in changes:
            one(plan, request)

    return change


def without(path: str, index: int = 0) -> Change:
    """Takes one entry out of a list."""

    def change(plan: Json, _: Json) -> None:
        inner: Any = plan
        for step in path.split("."):
            inner = inner[int(step) if step.isdigit() else step]
        inner.pop(index)

    return change


def shorter_walks(plan: Json, request: Json) -> None:
    """Every leg told at half its length, the sums made to fit, below a limit that the truth breaks."""
    request["max_walk_m"] = 1500
    for day in plan["days"]:
        for leg in day["legs"]:
            leg["metres"], leg["minutes"] = leg["metres"] // 2, max(1, leg["minutes"] // 2)
    sum_up(plan)


def hidden_costs(plan: Json, request: Json) -> None:
    request["budget"] = {"amount": 60, "currency": "EUR"}
    for day in plan["days"]:
        for visit in day["visits"]:
            visit["cost"] = None
    plan["totals"]["cost"] = None


def rush(plan: Json, _: Json) -> None:
    """A way of 13 minutes is left 6, and told as 6."""
    plan["days"][1]["legs"][1]["minutes"] = 6
    plan["days"][1]["visits"][0]["leave"] = "10:05"
    sum_up(plan)


def refused(plan: Json, _: Json) -> None:
    plan.update(status="refused", conflict=["window"])


def refusal(conflict: list[str]) -> Change:
    def change(plan: Json, _: Json) -> None:
        plan.update(status="refused", conflict=conflict, days=[], totals={"minutes": 0, "metres": 0})

    return change


def elsewhere(plan: Json, _: Json) -> None:
    """The second day begins at its own first stop, as if one woke up there."""
    day = plan["days"][1]
    day["start"] = day["visits"][0]["place"]
    day["legs"][0]["from_id"] = day["start"]["id"]


def twice_under_another_id(plan: Json, request: Json) -> None:
    """One statue, which the map has twice, is two visits."""
    places = ["helsinki/n2116538313", "helsinki/n2116538316"]
    request.update(days=1, places=places[:1], budget=None)
    plan.update(made(request, [[(places[0], "10:00", "10:15"), (places[1], "10:20", "10:35")]]))


def no_night(plan: Json, _: Json) -> None:
    plan["days"][0]["night"] = None


MICHELIN = "michelin guide 2026"
IN_THE_CITY: dict[str, tuple[str, Change]] = {
    "a reason with a later closing": ("WHY", why(0, 1, "Open until 23:00, so there is no hurry")),
    "a reason with an earlier opening": ("WHY", why(0, 2, "Opens at 08:00, before the crowds")),
    "a reason with hours day and night": ("WHY", why(1, 1, "Open 24 hours")),
    "a reason with a day off that is none": ("WHY", why(0, 1, "Closed on Thursdays, hence today")),
    "a reason with other hours": ("WHY", why(1, 2, "Open 10:00-02:00")),
    "a reason with too short a distance": ("WHY", why(1, 0, "Just 200 m from Kiasma")),
    "a reason with too short a walk": ("WHY", why(1, 0, "Only 2 min on foot from Kiasma")),
    "a reason with too short a walk in words": ("WHY", why(1, 0, "Just two minutes from Kiasma")),
    "a reason with a price in words": ("WHY", why(0, 2, "Entry is five euros")),
    "a reason with too short a way from before": ("WHY", why(1, 1, "A 3 minute walk away")),
    "a reason with a neighbour that is far": ("WHY", why(1, 0, "Next to Kiasma")),
    "a reason with a place made near": ("WHY", why(1, 0, "Steps from Kiasma")),
    "a reason with free entry to what costs": ("WHY", why(0, 1, "Free entry")),
    "a reason with a lower price": ("WHY", why(0, 2, "Tickets are only €5")),
    "a reason about another place": ("WHY", why(1, 1, "Kiasma is the best house for art of today")),
    "a reason with another kind": ("WHY", why(0, 2, "A quiet park for a rest")),
    "a dinner at noon": ("WHY", why(1, 2, "For dinner")),
    "a meal at a museum": ("WHY", why(0, 1, "For lunch")),
    "a wish that nobody had": (
        "WHY",
        both(why(1, 0, "You asked for it"), asked(places=[n for n in CITY["places"] if n[0] != "V"])),
    ),
    "evidence of a visit taken away": ("EVIDENCE", at("days.0.visits.1.evidence", [])),
    "evidence of hours taken away": ("EVIDENCE", without("days.0.visits.1.evidence", 1)),
    "evidence of hours changed": (
        "EVIDENCE",
        at("days.0.visits.1.evidence", ["helsinki osm 2019-04-21", "opening_hours=24/7"]),
    ),
    "evidence of a source that was never asked": ("EVIDENCE", at("days.1.visits.1.evidence", [MICHELIN])),
    "evidence of another source beside": (
        "EVIDENCE",
        lambda plan, _: plan["days"][1]["visits"][1]["evidence"].append(MICHELIN),
    ),
    "evidence of a leg taken away": ("EVIDENCE", at("days.0.legs.1.evidence", [])),
    "evidence of a leg by another router": ("EVIDENCE", at("days.0.legs.1.evidence", ["google_routes v2"])),
    "an attribution taken away": ("ATTRIBUTION", without("attributions")),
    "an attribution made up": (
        "ATTRIBUTION",
        lambda plan, _: plan["attributions"].append("© Visit Helsinki, by permission"),
    ),
    "a leg known better than it is": ("LEG_CLAIM", at("days.0.legs.1.exactness", "exact")),
    "an assumption taken away": ("ASSUMED", at("assumptions", [])),
    "the plan of another request": ("SCHEMA", at("request_id", "somebody-else")),
    "a conflict in a plan": ("SCHEMA", at("conflict", ["budget"])),
    "a place of another kind": ("KIND", at("days.0.visits.1.place.kind", "restaurant")),
    "a place in another country": ("HIERARCHY", at("days.0.visits.1.place.admin", {"country": "SE"})),
    "degrees the wrong way round": (
        "COORD",
        both(at("days.0.visits.1.place.lat", 24.9366), at("days.0.visits.1.place.lon", 60.172)),
    ),
    "left out and visited": (
        "SKIPPED",
        at("skipped", [{"place": "Kiasma", "reason": "no time"}]),
    ),
    "left out as closed though open": (
        "SKIPPED",
        both(
            asked(places=[*CITY["places"], "Rikhardinkadun kirjasto"]),
            at("skipped", [{"place": "Rikhardinkadun kirjasto", "reason": "closed on Wednesday"}]),
        ),
    ),
    "a hotel that nobody knows, in silence": ("SKIPPED", asked(hotel="Zanzibar Palace")),
    "a place that nobody knows, in silence": (
        "SKIPPED",
        asked(places=[*CITY["places"], "Zanzibar Palace"]),
    ),
    "a proof that leaves a gap": (
        "SCHEMA",
        at("search", {"is_proven": True, "seconds": 0.1, "gap": 0.3}),
    ),
    "a wish passed over in silence": ("WISH", asked(wishes=["zoo"])),
    "a leg by a means not asked for": ("MODE", at("days.0.legs.1.mode", "car")),
    "half the way told, to keep a limit": ("MAX_WALK", shorter_walks),
    "half the way told": ("LEG_CLAIM", shorter_walks),
    "costs left out, to keep a budget": ("BUDGET", hidden_costs),
    "costs of fewer people": ("COST_CLAIM", asked(party=4, budget={"amount": 900, "currency": "EUR"})),
    "a total without its cost": ("SUM", at("totals.cost", None)),
    "a total in another currency": ("SUM", at("totals.cost", {"amount": 120.0, "currency": "USD"})),
    "a walk at a run": ("TRAVEL_TIME", rush),
    "a way told shorter than one can run": ("IMPOSSIBLE", at("days.1.legs.0.minutes", 1)),
    "a museum seen twice": ("DUPLICATE", twice_under_another_id),
    "a refusal that still has days": ("SCHEMA", refused),
    "a refusal over a limit that nobody set": ("SCHEMA", refusal(["max_walk_m"])),
    "a refusal over a meal that nobody wants": ("SCHEMA", refusal(["meal:dinner"])),
    "a refusal without its sources": ("ATTRIBUTION", both(refusal(["window"]), at("attributions", []))),
    "a visit to what is barred": ("FORBIDDEN", asked(avoid=["Kiasma"])),
    "a visit to one of the places of a barred name": (
        "FORBIDDEN",
        both(twice_under_another_id, asked(avoid=["Lyhdynkantajat"])),
    ),
    "a day that begins elsewhere": ("NIGHT_CONTINUITY", elsewhere),
    "a reason with opening hours in words": ("WHY", why(1, 1, "Doors open at eight in the morning")),
    "a reason with closing hours in words": ("WHY", why(0, 1, "Open till half past nine in the evening")),
    "a reason with weekends only": ("WHY", why(0, 1, "Open on weekends only")),
    "a reason with a day off denied": ("WHY", why(1, 1, "Never shut on Mondays")),
    "a reason with a stone's throw": ("WHY", why(1, 0, "A stone's throw from Kiasma")),
    "a reason with a doorstep": ("WHY", why(1, 0, "On the doorstep of Kiasma")),
    "a reason with half an hour on foot": ("WHY", why(0, 0, "Half an hour on foot from the hotel")),
    "a reason with no charge": ("WHY", why(0, 1, "No charge for admission")),
    "a reason with gratis": ("WHY", why(0, 1, "Gratis for all")),
    "a reason with a kind behind a superlative": ("WHY", why(0, 1, "Finest aquarium in town")),
    "a breakfast after noon": ("WHY", why(1, 2, "breakfast")),
    "one cost of several left out": ("COST_CLAIM", at("days.0.visits.1.cost", None)),
    "left out without a reason": ("SKIPPED", at("skipped", [{"place": "Zanzibar Palace", "reason": "-"}])),
    "left out under another of its names": (
        "SKIPPED",
        at("skipped", [{"place": "Museum of Modern Art Kiasma", "reason": "no time"}]),
    ),
    "left out as shut though open": (
        "SKIPPED",
        at("skipped", [{"place": "Rikhardinkadun kirjasto", "reason": "shut on all days"}]),
    ),
    "a wish denied though one is near": (
        "WISH",
        both(
            asked(wishes=["library"]),
            at("skipped", [{"place": "library", "reason": "no library is known around the trip"}]),
        ),
    ),
    "a wish served by a part of a name": ("WISH", asked(wishes=["mos"])),
    "a refusal over the hours of what nobody named": ("SCHEMA", refusal(["hours:Zanzibar Palace"])),
}
ROAMING_FAULTS: dict[str, tuple[str, Change]] = {
    "a night nowhere": ("NIGHT", no_night),
    "a flight through the night": ("NIGHT_CONTINUITY", elsewhere),
    "a night in a museum, as if chosen": ("NIGHT", at("days.0.night.basis", "chosen")),
    "a night as if it had been asked for": ("NIGHT", at("days.0.night.basis", "given")),
    "a night other than asked for": ("NIGHT", asked(nights=["Hotelli Torni"])),
    "a night assumed in silence": ("ASSUMED", at("assumptions", ["Walking is at 4.8 km/h."])),
    "a night without its source": ("EVIDENCE", at("days.0.night.evidence", [])),
    "a night at a made-up place": ("KNOWN_PLACE", at("days.0.night.place.id", "helsinki/n0")),
    "a night elsewhere than it says": ("COORD", at("days.0.night.place.lat", 60.3)),
}
UNKNOWN: dict[str, tuple[str, Change]] = {
    "a budget without any price": ("BUDGET", asked(rules={})),
    "a reason with stars": ("WHY", why(0, 1, "Rated 4.8 by thousands")),
    "a reason with a year": ("WHY", why(0, 1, "Built in 1998")),
    "a reason near what nobody knows": ("WHY", why(0, 1, "Next to Zanzibar Palace")),
    "an order with what is not visited": ("ORDER", asked(order=[["Hotel Kämp", "Kiasma"]])),
    "a name to avoid that nobody knows": ("FORBIDDEN", asked(avoid=["Zanzibar Palace"])),
    "another state of the data": (
        "EVIDENCE",
        at("days.0.legs.1.evidence", ["helsinki osm 2031-01-01"]),
    ),
    "a sentence among the assumptions": (
        "ASSUMED",
        lambda plan, _: plan["assumptions"].append("All hours were confirmed by telephone."),
    ),
    "another speed among the assumptions": (
        "ASSUMED",
        lambda plan, _: plan["assumptions"].append("Walking is at 12 km/h along mapped streets."),
    ),
    "a reason with a guide's star": ("WHY", why(1, 2, "Michelin-starred and vegan")),
    "a reason with a step-free way, which is no price": ("WHY", why(0, 1, "Step-free for wheelchairs")),
    "a reason in another script": ("WHY", why(0, 1, "営業時間は九時から")),
    "a name that is nearly the place's": (
        "NAME_MISMATCH",
        at("days.1.visits.2.place.name", "Ravintola Kosta"),
    ),
    "left out under a name that nobody knows": (
        "SKIPPED",
        at("skipped", [{"place": "Zanzibar Palace", "reason": "too far"}]),
    ),
    "a refusal over what nothing here knows": ("SCHEMA", refusal(["weather"])),
    "a refusal without a proof": ("REFUSED_BUT_FEASIBLE", refusal(["window"])),
}
