"""Checks the reasons of a plan: what they claim of hours, ways, prices, names and the request."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gnomon_tools.core.name_match import GOOD_NAME
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.hours import DAY_MIN, clock_of, minutes_of, told_hours
from gnomon_trips.itinerary.kinds import serves, singular
from gnomon_trips.itinerary.place import WALK_M_PER_MIN, Place
from gnomon_trips.itinerary.plan import Day, Plan, Visit
from gnomon_trips.itinerary.reasons import WEEKDAYS, Claim, claims_in, unread_words
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.same_place import likeness_to
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.violation import Unchecked, Violation

SHARE, SPARE_M, SPARE_MIN = 0.3, 120.0, 2.0
"""How far off a length or a time in words may be."""
DETOUR = 1.3
ON_FOOT = re.compile(
    r"\b(?:on foot|walk|stroll|away)\b(?!.*\b(?:stay|visit|enough|needs?|allow)\b)", re.IGNORECASE
)
"""Words by which minutes are those of a way, and not of a stay."""
SAME_KIND = {
    "gallery": {"gallery", "museum", "artwork"},
    "museum": {"museum", "gallery"},
    "garden": {"garden", "park"},
    "park": {"park", "garden"},
    "café": {"cafe"},
    "cafe": {"cafe"},
    "bar": {"bar", "pub"},
    "pub": {"pub", "bar"},
    "restaurant": {"restaurant", "fast_food", "food_court", "biergarten", "pub"},
    "market": {"marketplace", "mall", "shop"},
    "theater": {"theatre"},
    **{word: {"place_of_worship"} for word in ("church", "chapel", "temple", "shrine", "cathedral")},
    "monument": {"monument", "memorial", "artwork", "attraction"},
    "memorial": {"monument", "memorial", "artwork", "attraction"},
}
GENERAL = frozenset(("attraction", "", "place", "yes"))
"""Kinds so general that any word may fit."""
EATING_HOURS = {"breakfast": (300, 690), "lunch": (630, 930), "dinner": (960, 1380)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A visit with its reason, and what is known of it."""

    visit: Visit
    index: int
    day: Day
    path: str
    trip: Trip
    facts: Facts

    @property
    def place(self) -> Place | None:
        return self.facts.places.get(self.visit.place.id)


def reasons(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation | Unchecked]:
    """Claims that facts contradict, and claims without facts."""
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            path = f"days.{number}.visits.{index}.why"
            said = Said(visit=visit, index=index, day=day, path=path, trip=trip, facts=facts)
            if said.place is None:
                continue
            claims = [claim for claim in claims_in(visit.why) if claim.sort != "unread"]
            for claim in claims:
                yield from _judged(claim, said)
            wishes = [singular(wish) for wish in trip.request.wishes if serves(said.place, wish)]
            names = (said.place.name, *said.place.also, visit.place.name, *(claim.name for claim in claims))
            names += tuple(wishes)
            if words := unread_words(visit.why, filter(None, names)):
                yield Unchecked(code="WHY", path=path, why=f"nothing here reads “{words}”")


def _judged(claim: Claim, said: Said) -> Iterator[Violation | Unchecked]:
    truth = truth_of(claim, said)
    if truth is None:
        yield Unchecked(code="WHY", path=said.path, why=f"no source knows whether “{claim.words}” is so")
    elif truth:
        yield Violation(
            code="WHY",
            path=said.path,
            expected=truth,
            found=claim.words,
            evidence=f"{said.facts.provider} {said.facts.version}",
        )


def truth_of(claim: Claim, said: Said) -> str | None:
    """The true value; empty: the claim is right; None: not known."""
    match claim.sort:
        case "opens" | "closes" | "open" | "always":
            return _hours(claim, said)
        case "closed_on":
            return _weekday(claim, said)
        case "metres" | "minutes":
            return _length(claim, said)
        case "price" | "free":
            return _price(claim, said)
        case "near":
            return _near(claim, said)
        case "subject":
            return _subject(claim, said)
        case "kind":
            return _kind(claim, said)
        case "requested":
            return _requested(claim, said)
        case "meal":
            return _meal(claim, said)
        case "number":
            return "" if claim.words in (said.visit.arrive, said.visit.leave) else None
        case "unread" | "arrives" | "leaves" | "next" | "after":
            return None  # of the last four guides alone speak


def _hours(claim: Claim, said: Said) -> str | None:
    opening = said.facts.opening(said.visit.place.id, said.day.date)
    if opening is None or opening.is_unknown:
        return None
    hours, at = opening.possible, claim.value
    if claim.sort == "always":
        is_right = any(start == 0 and end >= DAY_MIN for start, end in hours)
    elif claim.sort == "open":
        until = claim.until if claim.until > at else claim.until + DAY_MIN
        is_stay = (clock_of(int(at)), clock_of(int(claim.until))) == (said.visit.arrive, said.visit.leave)
        is_right = is_stay or any(start <= at and until <= end for start, end in hours)
    elif claim.sort == "opens":
        is_right = any(start == at for start, _ in hours)
    else:
        is_right = any(at in (end, end - DAY_MIN) or at + 720 == end for _, end in hours)
        is_right = is_right or clock_of(int(at)) == said.visit.leave
    if is_right and opening.perhaps and not opening.sure:
        return None
    return "" if is_right else f"open {told_hours(hours)} on {said.day.date:%a %d %b %Y}"


def _weekday(claim: Claim, said: Said) -> str | None:
    later = dt.timedelta(days=(int(claim.value) - said.day.date.weekday()) % 7)
    asked = [date for date in said.trip.request.dates() if date.weekday() == int(claim.value)]
    hours = said.facts.hours(said.visit.place.id, asked[0] if asked else said.day.date + later)
    if hours is None:
        return None
    is_right = bool(hours) == bool(claim.until)
    return "" if is_right else f"{WEEKDAYS[int(claim.value)].title()}: {told_hours(hours)}"


def _length(claim: Claim, said: Said) -> str | None:
    legs = said.day.legs[said.index : said.index + 2]
    place = said.place
    if claim.name:
        other = said.facts.mentioned.get(claim.name)
        if other is None or place is None:
            return None
        straight_m = apart_m(place.at, other.at)
        metres = claim.value if claim.sort == "metres" else claim.value * WALK_M_PER_MIN
        is_right = straight_m * (1 - SHARE) - SPARE_M <= metres <= 2 * straight_m + 4 * SPARE_M
        return "" if is_right else f"{other.name} is {straight_m:.0f} m away in a straight line"
    if claim.sort == "metres":
        measures = [float(leg.metres) for leg in legs]
        if place is not None and (home := said.facts.places.get(said.day.start.id)):
            measures.append(apart_m(place.at, home.at))
        spare = SPARE_M
    else:
        stay = minutes_of(said.visit.leave) - minutes_of(said.visit.arrive)
        need = said.trip.request.rules.stay_min(said.visit.place.kind)
        measures = [*(float(leg.minutes) for leg in legs)]
        home = said.facts.places.get(said.day.start.id) if "hotel" in said.visit.why.lower() else None
        if place is not None and home is not None:
            measures.append(DETOUR * apart_m(place.at, home.at) / WALK_M_PER_MIN)
        measures += [] if ON_FOOT.search(said.visit.why) else [float(stay), float(need)]
        spare = SPARE_MIN
    if any(abs(claim.value - measure) <= SHARE * measure + spare for measure in measures):
        return ""
    is_way = any(word in said.visit.why.lower() for word in ("walk", "away", "from", "way", "foot", "stroll"))
    if not is_way or not legs:
        return None
    return " and ".join(f"{leg.minutes} min, {leg.metres} m" for leg in legs) + " to and from it"


def _price(claim: Claim, said: Said) -> str | None:
    request = said.trip.request
    price = request.price(said.place.kind if said.place else said.visit.place.kind)
    if price is None:
        return None
    each, value = price / request.party, 0.0 if claim.sort == "free" else claim.value
    return "" if min(abs(value - price), abs(value - each)) < 0.01 else f"{each:.2f} a person by the rules"


def _near(claim: Claim, said: Said) -> str | None:
    other, place = said.facts.mentioned.get(claim.name), said.place
    if other is None or place is None:
        return None
    straight_m = apart_m(place.at, other.at)
    return "" if straight_m <= claim.value else f"{other.name} is {straight_m:.0f} m away"


def _subject(claim: Claim, said: Said) -> str | None:
    """The fault of a reason that speaks of another place as if it were this one."""
    place, other = said.place, said.facts.mentioned.get(claim.name)
    if place is None or likeness_to(place, claim.name) >= GOOD_NAME:
        return ""
    if other is not None and other.id != place.id:
        return f"this is {place.name}"
    return ""


def _kind(claim: Claim, said: Said) -> str | None:
    place = said.place
    if place is None or place.kind in GENERAL:
        return None
    fitting = SAME_KIND.get(claim.words, {claim.words})
    if place.kind in fitting or claim.words in place.name.lower():
        return ""
    return f"{place.name} is a {place.kind.replace('_', ' ')}"


def _requested(claim: Claim, said: Said) -> str | None:
    request, place = said.trip.request, said.place
    asked = {known.id for name, known in said.trip.named.items() if name in request.places}
    is_wished = place is not None and any(serves(place, wish) for wish in request.wishes)
    is_meal = place is not None and bool(request.meals) and place.kind in MEALS
    if claim.name and singular(claim.name) not in {singular(wish) for wish in request.wishes}:
        return f"the request wishes for no {claim.name}"
    if place is None or place.id in asked or is_wished or is_meal:
        return ""
    return f"the request names neither {place.name} nor its kind"


def _meal(claim: Claim, said: Said) -> str | None:
    place = said.place
    if place is not None and place.kind not in MEALS:
        return f"{place.name} is a {place.kind.replace('_', ' ')}"
    start, end = EATING_HOURS[claim.words]
    for meal in said.trip.request.meals:
        if meal.name == claim.words:
            start, end = meal.start_min, meal.end_min
    arrive, leave = minutes_of(said.visit.arrive), minutes_of(said.visit.leave)
    return "" if arrive < end and leave > start else f"{claim.words}: {clock_of(start)}-{clock_of(end)}"
