"""The guide of each day, what was recommended, who thought of each stop: as plain data."""

from collections.abc import Mapping
from typing import Any

from gnomon_trips.export.checks import stop_label
from gnomon_trips.export.result import TripResult, spans_text
from gnomon_trips.export.words import length_text
from gnomon_trips.itinerary.hours import spans_in
from gnomon_trips.itinerary.plan import DayGuide, Recommendation, Visit

View = dict[str, Any]


def guide_view(result: TripResult) -> Mapping[str, View]:
    """By the day's number, what a page tells of it beside its times."""
    guides = {guide.day: guide for guide in result.plan.guide}
    views = {
        number: _day(result, number, guides.get(number)) for number in range(1, len(result.plan.days) + 1)
    }
    return {
        str(number): view
        for number, view in views.items()
        if any(value for name, value in view.items() if name != "language")
    }


def step_words(result: TripResult) -> list[str]:
    """How each step to the plan went, in one sentence each, with the denominators of its shares."""
    words = (step(result.steps) for step in (_film_words, _selection_words, _recommended_words, _guide_words))
    return [line for line in words if line]


Steps = Mapping[str, float]


def _film_words(steps: Steps) -> str:
    parts = []
    if "video_precision" in steps:
        parts.append(f"{100 * steps['video_precision']:.0f} % of those named are in it")
    if "video_recall" in steps:
        parts.append(f"{100 * steps['video_recall']:.0f} % of those in it are named")
    return f"Places of the film: {', '.join(parts)}." if parts else ""


def _selection_words(steps: Steps) -> str:
    if "selection_fame_kept" not in steps:
        return ""
    must = steps.get("selection_must_see_kept")
    must_words = "" if must is None else f", and {100 * must:.0f} % of what must be seen"
    share = f"{100 * steps['selection_fame_kept']:.0f} %"
    return f"Selection: it keeps {share} of the fame there is room for{must_words}."


def _recommended_words(steps: Steps) -> str:
    kinds = {
        "recommended_in_plan": "are in the plan",
        "recommended_within_reach": "within reach",
        "recommended_open": "of those with known hours open at the meal",
    }
    shares = [f"{100 * steps[name]:.0f} % {words}" for name, words in kinds.items() if name in steps]
    count = int(steps.get("recommended", 0))
    return f"Recommendations: {count}; {', '.join(shares)}." if count else ""


def _guide_words(steps: Steps) -> str:
    claims = int(steps.get("guide_claims", 0))
    if not claims:
        return ""
    true, false, unknown = (
        round(claims * steps.get(f"guide_{kind}", 0.0)) for kind in ("true", "false", "unknown")
    )
    return (
        f"Guide: {claims} of {int(steps['guide_sentences'])} sentences make a claim; {true} are true,"
        f" {false} false, {unknown} could not be checked."
        f" {int(steps.get('guide_cut', 0))} more were cut as false."
    )


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
    sightings = [origin for origin in visit.origins if origin.basis == "seen"]
    return ", ".join([*words, *(origin.words for origin in sightings)])


def _recommended(pick: Recommendation) -> View:
    who = "chosen by the planner" if pick.by == "planner" else "chosen by the model"
    parts = [
        who,
        f"{length_text(pick.distance_m)} from the stop before" if pick.distance_m is not None else "",
        _hours(pick.hours),
        f"price {pick.price}",
        pick.why,
    ]
    others = [
        f"{other.place.name} ({length_text(other.distance_m)}, {_hours(other.hours)})"
        for other in pick.alternatives
    ]
    words = ", ".join(part for part in parts if part)
    return {"purpose": pick.purpose, "name": pick.place.name, "words": words, "alternatives": others}


def _hours(words: str) -> str:
    """Opening hours for reading.

    >>> _hours("00:00-30:00"), _hours("11:00-25:00"), _hours("closed"), _hours("")
    ('open day and night', 'open 11:00–01:00', 'closed', 'hours not known')
    """
    if spans := spans_in(words):
        return f"open {spans_text(spans)}"
    return words if words == "closed" else "hours not known"
