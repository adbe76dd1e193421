"""A plan as a model writes it, and how it becomes a plan with places, legs, costs and sums."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from gnomon_trips.itinerary.assumptions import OUT_OF_TIME, assumptions
from gnomon_trips.itinerary.errors import AmbiguousPlace, NoSuchPlace, Unreachable, Unsupported
from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.hours import open_on, told_hours
from gnomon_trips.itinerary.place import Mode, Place
from gnomon_trips.itinerary.plan import (
    Alternative,
    Day,
    DayGuide,
    ItineraryLeg,
    Night,
    Plan,
    Recommendation,
    Search,
    Skipped,
    Stop,
    StopText,
    Visit,
    stop_of,
    sums_of,
)
from gnomon_trips.itinerary.preference_words import preference_words
from gnomon_trips.itinerary.request import Money
from gnomon_trips.itinerary.track import NO_TRACK, track_of
from gnomon_trips.itinerary.trip import Trip, find
from gnomon_trips.itinerary.verify.grounding import AMBIGUOUS, UNKNOWN

MAX_DAYS, MAX_VISITS = 20, 40
ASCII_CLOCK = re.compile(r"[0-2]?[0-9]:[0-5][0-9]")


def _clock(text: str) -> str:
    if not ASCII_CLOCK.fullmatch(text):
        raise ValueError("must be HH:MM, in digits from 0 to 9")
    return text


# Jobs are frozen with this pattern, a part of the contracts of tools; what it lets pass is refused behind it.
Clock = Annotated[
    str, Field(pattern=r"^\d{1,2}:[0-5]\d$", description="HH:MM, 24 hours"), AfterValidator(_clock)
]
Text = Annotated[str, Field(min_length=1, max_length=300)]


class Drafted(BaseModel):
    """Base: what a model writes too much is ignored, what it writes wrong is refused."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class DraftVisit(Drafted):
    """A stay; `travel_min` is what the model says the way there takes, if it says so."""

    place: Text = Field(description="id or exact name of the place")
    arrive: Clock = Field(description="when the visit begins, HH:MM")
    leave: Clock = Field(description="when the visit ends, HH:MM")
    travel_min: Annotated[int, Field(ge=0, le=10_000, description="minutes from the stop before")] | None = (
        None
    )
    cost: Annotated[float, Field(ge=0, le=1e9, description="what it costs the whole party")] | None = None
    why: Annotated[str, Field(max_length=500, description="the reason, in a few words")] = ""


class DraftDay(Drafted):
    """One day's visits, in order."""

    visits: list[DraftVisit] = Field(default=[], max_length=MAX_VISITS, description="visits in order")
    night: Text | None = Field(
        None, description="where the night after it is spent; left out: the hotel, or near the last stop"
    )


class DraftPick(Drafted):
    """A place to eat or to sleep that was chosen among several, and the others."""

    day: int = Field(ge=1, le=MAX_DAYS)
    purpose: Text
    place: Text
    by: Literal["model", "planner"] = "model"
    why: Annotated[str, Field(max_length=500)] = ""
    instead: list[Text] = Field(default=[], max_length=10)


class DraftStopText(Drafted):
    """What a guide says of a stop."""

    place: Text
    text: Annotated[str, Field(max_length=2000)]


class DraftGuide(Drafted):
    """What a guide says of a day."""

    day: int = Field(ge=1, le=MAX_DAYS)
    language: Literal["en", "ja"] = "en"
    intro: Annotated[str, Field(max_length=2000)] = ""
    stops: list[DraftStopText] = Field(default=[], max_length=MAX_VISITS)
    notes: list[Annotated[str, Field(max_length=2000)]] = Field(default=[], max_length=20)
    cut: int = Field(default=0, ge=0)


class DraftPlan(Drafted):
    """A plan or a refusal, as small as it can be said."""

    status: Literal["planned", "refused"] = Field("planned", description="planned, or refused if impossible")
    days: list[DraftDay] = Field(default=[], max_length=MAX_DAYS, description="one entry a day")
    total_metres: Annotated[int, Field(ge=0, le=10**9, description="metres on foot, all days")] | None = None
    total_cost: Annotated[float, Field(ge=0, le=1e9, description="cost of all visits")] | None = None
    conflict: list[Text] = Field(default=[], max_length=60, description="ids of conflicting constraints")
    skipped: list[Text] = Field(default=[], max_length=60, description="places left out")
    left_out: SkipJsonSchema[list[Skipped]] = Field(
        default=[], max_length=80, description="what plan_trip left out, and why"
    )
    search: SkipJsonSchema[Search | None] = Field(None, description="how plan_trip searched")
    recommended: SkipJsonSchema[list[DraftPick]] = Field(
        default=[], max_length=80, description="where to eat and to sleep, and what else there is"
    )
    guide: SkipJsonSchema[list[DraftGuide]] = Field(
        default=[], max_length=MAX_DAYS, description="what a guide says of each day"
    )


def read_draft(response: str) -> DraftPlan | str:
    """The last JSON object in a response that is a draft; else what is wrong, in words for the model.

    >>> read_draft('Here: {"status": "refused", "conflict": ["budget"]}').status
    'refused'
    >>> read_draft("no idea")
    'there is no JSON object in the answer'
    """
    problem = "there is no JSON object in the answer" if response.strip() else "the answer is empty"
    for value in _objects(response):
        if not {"status", "days", "conflict"} & set(value):
            problem = "the JSON object has neither status nor days"
            continue
        try:
            return DraftPlan.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return problem


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text, last first."""
    decoder, objects, at = json.JSONDecoder(), [], 0
    while (start := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        if isinstance(value, dict):
            objects.append(value)
    return reversed(objects)


def read_object(response: str, keys: Sequence[str]) -> dict[str, Any] | None:
    """The last JSON object in a response that has one of these keys.

    >>> read_object('{"order": ["A"]} or {"order": ["B"]}', ["order"])
    {'order': ['B']}
    """
    return next((value for value in _objects(response) if set(keys) & set(value)), None)


async def plan_of(draft: DraftPlan, trip: Trip) -> Plan:
    """The whole plan that a draft stands for: places found, legs asked of the provider, sums made.

    Nothing is corrected: a name that means nothing keeps an id that begins with `unknown:`, one that means
    too much `ambiguous:`, and claimed minutes, costs and totals stay as the model made them.

    Raises:
        PlaceError: the provider failed.
    """
    request = trip.request
    if draft.status == "refused":
        named = {left.place for left in draft.left_out}
        lost = [Skipped(place=name, reason=why) for name, why in trip.left_out.items() if name not in named]
        return Plan(
            request_id=request.id,
            status="refused",
            conflict=tuple(draft.conflict),
            skipped=(*draft.left_out, *lost),
            search=draft.search,
            assumptions=tuple(_reasons(draft.conflict, trip)),
            attributions=attributions(trip),
        )
    dates = request.dates()
    mentions = Counter[str]()
    stops_by_day: list[list[Resolved]] = []
    for draft_day in draft.days:
        stops_by_day.append([])
        for visit in draft_day.visits:
            mentions[visit.place] += 1
            later = f"{visit.place} ({mentions[visit.place]})"
            stops_by_day[-1].append(await _stop(later if later in trip.named else visit.place, trip))
    nights = await _nights(draft, stops_by_day, trip)
    days: list[Day] = []
    for number, (draft_day, stops) in enumerate(zip(draft.days, stops_by_day, strict=True)):
        start, end = _ends(number, stops, nights, trip)
        if start is None or end is None:
            continue
        visits = tuple(_visit(visit, stop, trip) for visit, stop in zip(draft_day.visits, stops, strict=True))
        chain = [start, *stops, end]
        claims = [*(visit.travel_min for visit in draft_day.visits), None]
        legs = [await _leg(chain[index], chain[index + 1], claim, trip) for index, claim in enumerate(claims)]
        spent = nights[number] if number < len(nights) else None
        days.append(
            Day(
                date=dates[min(number, len(dates) - 1)],
                start=start[0],
                end=end[0],
                visits=visits,
                legs=tuple(legs),
                night=spent.night if spent else None,
            )
        )
    beds = [night.at for night in nights if night is not None]
    resolved = [*(stop for stops in stops_by_day for stop in stops), *beds]
    places = {place.id: place for _, place, _ in resolved if place is not None}
    totals = sums_of(days)
    changes: dict[str, Any] = {}
    if draft.total_metres is not None:
        changes["metres"] = draft.total_metres
    if draft.total_cost is not None:
        changes["cost"] = Money(amount=draft.total_cost, currency=request.rules.currency)
    return Plan(
        request_id=request.id,
        status="planned",
        days=tuple(days),
        totals=totals.model_copy(update=changes),
        skipped=(
            *(Skipped(place=name, reason=reason) for name, reason in trip.left_out.items()),
            *(Skipped(place=name, reason="left out") for name in draft.skipped),
            *draft.left_out,
        ),
        assumptions=(
            *assumptions(trip, days),
            *preference_words(request.preferences, days, places),
            *([OUT_OF_TIME] if draft.search and draft.search.is_cut else ()),
        ),
        search=draft.search,
        recommendations=tuple([await _recommended(pick, days, trip) for pick in draft.recommended]),
        guide=tuple(guided(guide, days) for guide in draft.guide),
        attributions=attributions(trip),
    )


async def _recommended(pick: DraftPick, days: Sequence[Day], trip: Trip) -> Recommendation:
    """A choice with its facts: the distance from the stop before, the hours, the price."""
    stop, place, _ = await _stop(pick.place, trip)
    day = days[pick.day - 1] if pick.day <= len(days) else None
    start = stop_before(day, stop, pick.purpose) if day else None
    others = []
    for name in pick.instead:
        other, other_place, _ = await _stop(name, trip)
        if other_place is not None:
            hours = hours_on(other_place, day, trip)
            others.append(Alternative(place=other, distance_m=apart_m(start or stop, other), hours=hours))
    price = trip.request.price(stop.kind)
    money = (
        "not known"
        if price is None
        else f"{price:.2f} {trip.request.rules.currency} by the rules of the request"
    )
    return Recommendation(
        day=min(pick.day, 14),
        purpose=pick.purpose[:20],
        place=stop,
        by=pick.by,
        distance_m=None if start is None or place is None else apart_m(start, stop),
        hours=hours_on(place, day, trip) if place else "",
        price=money,
        why=pick.why[:300],
        alternatives=tuple(others),
    )


def _reasons(conflict: Sequence[str], trip: Trip) -> Iterator[str]:
    """The facts behind the constraints that a refusal names: hours by date, places not found."""
    for name in conflict:
        kind, _, about = name.partition(":")
        place = trip.named.get(about)
        if kind == "place" and about in trip.lost:
            yield trip.lost[about]
        if kind == "hours" and place is not None and place.hours:
            for date in trip.request.dates():
                hours = told_hours(open_on(place, date, trip.country))
                yield f"{place.name}, {date:%A %d %B %Y}: {hours} ({place.hours})"


def attributions(trip: Trip) -> tuple[str, ...]:
    """Whose data the plan rests on."""
    return tuple(line for line in trip.provider.attribution.split("\n") if line)


Resolved = tuple[Stop, Place | None, str]
"""A stop, its place where there is one, and who says so."""


async def _stop(name: str, trip: Trip) -> Resolved:
    place = trip.named.get(name)
    if place is not None:
        return stop_of(place), place, trip.source_of(place)
    try:
        answer = await find(trip.provider, name, bias=trip.hotel.at if trip.hotel else None)
    except AmbiguousPlace:
        return _nowhere(AMBIGUOUS, name), None, ""
    except NoSuchPlace:
        return _nowhere(UNKNOWN, name), None, ""
    return stop_of(answer.value), answer.value, answer.told_by


def _nowhere(mark: str, name: str) -> Stop:
    bare = re.sub(r"\s+", "_", name.strip())[:150] or "nothing"
    return Stop(id=f"{mark}{bare}", name=name[:200], lat=0.0, lon=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overnight:
    """A night of a plan, and where it is spent."""

    night: Night
    at: Resolved


async def _nights(
    draft: DraftPlan, stops_by_day: Sequence[Sequence[Resolved]], trip: Trip
) -> list[Overnight | None]:
    """Where each night is spent: as requested, as drafted, else near where the day ends.

    A day without visits ends where it began; before the first visit of all one waits near it.
    """
    visited = [stop for stops in stops_by_day for stop in stops]
    nights: list[Overnight | None] = []
    before = visited[0] if visited else None
    for number, (day, stops) in enumerate(zip(draft.days[:-1], stops_by_day, strict=False)):
        basis: Literal["given", "chosen", "assumed"] = "given"
        at = _home(trip, number, at_end=True)
        if at is None:
            basis = "assumed" if day.night is None else "chosen"
            at = (stops[-1] if stops else before) if day.night is None else await _stop(day.night, trip)
        if at is None:
            nights.append(None)
            continue
        evidence = (at[2],) if at[2] else ()
        price = trip.request.price("hotel")
        cost = None if price is None else Money(amount=price, currency=trip.request.rules.currency)
        nights.append(Overnight(night=Night(place=at[0], basis=basis, cost=cost, evidence=evidence), at=at))
        before = at
    return nights


def _ends(
    number: int, stops: Sequence[Resolved], nights: Sequence[Overnight | None], trip: Trip
) -> tuple[Resolved | None, Resolved | None]:
    """Where a day starts and ends: at its nights, the homes of the request, else its first and last stop."""
    before = nights[number - 1] if 0 < number <= len(nights) else None
    after = nights[number] if number < len(nights) else None
    start, end = (before.at if before else None), (after.at if after else None)
    if start is None:
        start = _home(trip, number, at_end=False) or (stops[0] if stops else end)
    if end is None:
        end = _home(trip, number, at_end=True) or (stops[-1] if stops else start)
    return start, end


def _home(trip: Trip, number: int, *, at_end: bool) -> Resolved | None:
    home = trip.home(number, at_end=at_end)
    return None if home is None else (stop_of(home), home, trip.source_of(home))


def _visit(drafted: DraftVisit, resolved: Resolved, trip: Trip) -> Visit:
    stop, place, told_by = resolved
    hours = f"opening_hours={place.hours}" if place and place.hours else ""
    rules = trip.request.rules
    price = trip.request.price(stop.kind) if drafted.cost is None else drafted.cost
    return Visit(
        place=stop,
        arrive=drafted.arrive.zfill(5),
        leave=drafted.leave.zfill(5),
        cost=None if price is None else Money(amount=price, currency=rules.currency),
        evidence=tuple(filter(None, (told_by, hours))),
        why=drafted.why[:200],
        origins=trip.origins.get(stop.id, ()),
    )


async def _leg(start: Resolved, end: Resolved, claim_min: int | None, trip: Trip) -> ItineraryLeg:
    mode: Mode = trip.request.mode
    minutes, metres, exactness = max(1, claim_min or 1), 0, "lower_bound"
    evidence: tuple[str, ...] = ()
    track = NO_TRACK
    if start[1] is not None and end[1] is not None:
        try:
            answer = await trip.provider.route(start[1].at, end[1].at, mode=mode)
        except (Unreachable, Unsupported):
            pass
        else:
            way = answer.value
            minutes, metres, exactness = claim_min or way.minutes, way.metres, way.exactness
            evidence = (answer.told_by,)
            track = await track_of(trip.provider, start[1].at, end[1].at, mode=mode)
    return ItineraryLeg.model_validate(
        {
            "from_id": start[0].id,
            "to_id": end[0].id,
            "mode": mode,
            "minutes": max(1, minutes),
            "metres": metres,
            "exactness": exactness,
            "evidence": evidence,
            "via": track.via,
            "path": track.path,
        }
    )


def stop_before(day: Day, stop: Stop, purpose: str) -> Stop | None:
    """The stop of a day from which one comes to a place."""
    chain = [day.start, *(visit.place for visit in day.visits)]
    if purpose == "night":
        return chain[-1]
    at = next((at for at, visit in enumerate(day.visits) if visit.place.id == stop.id), None)
    return None if at is None else chain[at]


def apart_m(start: Stop, end: Stop) -> int:
    """Metres between two stops in a straight line."""
    return round(float(metres_between(start.lat, start.lon, end.lat, end.lon)))


def hours_on(place: Place, day: Day | None, trip: Trip) -> str:
    """When a place is open on a day of a plan, in words."""
    return told_hours(open_on(place, day.date, trip.country)) if day else ""


def guided(guide: "DraftGuide", days: Sequence[Day]) -> DayGuide:
    """The guide of a day with the ids of its stops, which may be written by their names."""
    visits = days[guide.day - 1].visits if guide.day <= len(days) else ()
    ids = {visit.place.name: visit.place.id for visit in visits}
    return DayGuide(
        day=min(guide.day, 14),
        language=guide.language,
        intro=guide.intro,
        stops=tuple(StopText(place=ids.get(stop.place, stop.place), text=stop.text) for stop in guide.stops),
        notes=tuple(guide.notes),
        cut=guide.cut,
    )
