"""The guide of each day, what was recommended, who thought of each stop: as plain data and as Markdown."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gnomon.itinerary_export.checks import stop_label
from gnomon.itinerary_export.result import TripResult
from gnomon.itinerary_export.words import length_text
from tools.itinerary.plan import DayGuide, Recommendation, Visit

View = dict[str, Any]


def guide_view(result: TripResult) -> Mapping[int, View]:
    """What is told of each day beside its times, by the day's number."""
    guides = {guide.day: guide for guide in result.plan.guide}
    views = {
        number: _day(result, number, guides.get(number)) for number in range(1, len(result.plan.days) + 1)
    }
    return {number: view for number, view in views.items() if any(view.values())}


def guide_lines(result: TripResult, number: int, plain: Callable[[str], str]) -> Iterator[str]:
    """The same of one day in Markdown; `plain` escapes what comes from outside."""
    view = guide_view(result).get(number)
    if view is None:
        return
    if view["intro"]:
        yield from ("", plain(view["intro"]))
    if view["stops"]:
        yield ""
    for stop in view["stops"]:
        origin = f" ({plain(stop['origin'])})" if stop["origin"] else ""
        yield f"- **{plain(stop['name'])}**{origin}" + (f": {plain(stop['text'])}" if stop["text"] else "")
    yield from (f"- {plain(note)}" for note in view["notes"])
    if view["recommended"]:
        yield ""
    for row in view["recommended"]:
        yield f"- {row['purpose'].capitalize()}: **{plain(row['name'])}**, {plain(row['words'])}"
        yield from (f"  - or {plain(words)}" for words in row["alternatives"])
    if view["cut"]:
        yield from ("", view["cut"])


def _day(result: TripResult, number: int, guide: DayGuide | None) -> View:
    day = result.plan.days[number - 1]
    texts = {stop.place: stop.text for stop in guide.stops} if guide else {}
    stops = [
        {
            "label": stop_label(result, number, index),
            "anchor": f"stop-{number}-{index}",
            "name": visit.place.name,
            "origin": origin_words(visit),
            "text": texts.get(visit.place.id, ""),
        }
        for index, visit in enumerate(day.visits, 1)
    ]
    cut = guide.cut if guide else 0
    return {
        "language": guide.language if guide else "en",
        "intro": guide.intro if guide else "",
        "stops": [stop for stop in stops if stop["text"] or "seen" in stop["origin"]],
        "notes": list(guide.notes) if guide else [],
        "recommended": [_recommended(pick) for pick in result.plan.recommendations if pick.day == number],
        "cut": f"{cut} false sentence{'s were' if cut > 1 else ' was'} taken out of this guide."
        if cut
        else "",
    }


def origin_words(visit: Visit) -> str:
    """Who thought of a stop: the traveller, a video with the first time it shows it, or nobody."""
    words = ["asked for"] if any(origin.basis == "asked" for origin in visit.origins) else []
    seen = [origin for origin in visit.origins if origin.basis == "seen"]
    return ", ".join([*words, *(origin.words for origin in seen)])


def _recommended(pick: Recommendation) -> View:
    who = "chosen by the planner" if pick.by == "planner" else "chosen by the model"
    parts = [
        who,
        f"{length_text(pick.distance_m)} from the stop before" if pick.distance_m is not None else "",
        f"open {pick.hours}"
        if pick.hours and pick.hours[0].isdigit()
        else f"hours {pick.hours or 'not known'}",
        f"price {pick.price}",
        pick.why,
    ]
    others = [
        f"{other.place.name} ({length_text(other.distance_m)}, hours {other.hours or 'not known'})"
        for other in pick.alternatives
    ]
    words = ", ".join(part for part in parts if part)
    return {"purpose": pick.purpose, "name": pick.place.name, "words": words, "alternatives": others}
