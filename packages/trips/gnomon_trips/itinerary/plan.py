"""The itinerary itself, day by day, in one strict form for every output and every check."""

import datetime as dt
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from gnomon_trips.itinerary.place import Exactness, Mode, Place
from gnomon_trips.itinerary.request import Given, Money
from gnomon_trips.itinerary.track import MAX_POINTS

PlanClock = Annotated[
    str, Field(pattern=r"^[0-2][0-9]:[0-5][0-9]$", description="HH:MM; 24:10 is after midnight")
]
Point = tuple[Annotated[float, Field(ge=-90, le=90)], Annotated[float, Field(ge=-180, le=180)]]


class Area(Given):
    """Where a place lies, as the plan states it."""

    country: str = ""
    prefecture: str = ""
    municipality: str = ""


class Stop(Given):
    """A place as the plan names it: id and name of the provider, degrees of WGS 84.

    `other_script`: its name in the script of the country, or in Latin letters, where `name` is in the other.
    """

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=200)
    lat: float = Field(ge=-90, le=90)
    lon: float = Field(ge=-180, le=180)
    kind: str = ""
    admin: Area | None = None
    other_script: str = Field(default="", max_length=200)


class ItineraryLeg(Given):
    """From one stop to the next: whole minutes, whole metres, and how well that is known.

    `via`: the streets on foot in the order walked, or the parts of a ride; `path`: a line in degrees (lat,
    lon), simplified to a few metres. Both are for people, empty where no source says; no check trusts them.
    """

    from_id: str
    to_id: str
    mode: Mode
    minutes: int = Field(gt=0)
    metres: int = Field(ge=0)
    exactness: Exactness
    evidence: tuple[str, ...] = ()
    via: tuple[Annotated[str, Field(max_length=300)], ...] = Field(default=(), max_length=200)
    path: tuple[Point, ...] = Field(default=(), max_length=MAX_POINTS)


class Origin(Given):
    """Why a place is in the request: the traveller named it, or a video shows it in those seconds."""

    basis: Literal["asked", "seen"]
    from_s: float | None = Field(default=None, ge=0)
    to_s: float | None = Field(default=None, ge=0)

    @property
    def words(self) -> str:
        """In words.

        >>> Origin(basis="asked").words, Origin(basis="seen", from_s=41.3).words
        ('asked for', 'seen at 0:41')
        """
        if self.basis == "asked":
            return "asked for"
        seconds = int(self.from_s or 0.0)
        return f"seen at {seconds // 60}:{seconds % 60:02d}"


class Visit(Given):
    """A stay at a place; `cost` is for the whole party, None where nothing says what it costs.

    `origins` of a place that was added, to eat at or as a wish, are none.
    """

    place: Stop
    arrive: PlanClock
    leave: PlanClock
    cost: Money | None = None
    evidence: tuple[str, ...] = ()
    why: str = Field(default="", max_length=200)
    origins: tuple[Origin, ...] = ()


class Night(Given):
    """Where one sleeps after a day: named by the request, chosen from what is known, or assumed."""

    place: Stop
    basis: Literal["given", "chosen", "assumed"]
    cost: Money | None = None
    evidence: tuple[str, ...] = ()


SECONDS = 20.0
"""How long a search for a plan may take on one core; most end far earlier."""


class Search(Given):
    """How a plan or a refusal was searched for.

    `is_proven`: no better plan exists, or none at all. `seconds` are whole ones, rounded up: by the clock, so
    they alone may differ where a request is planned again. `gap` is by what share of the least possible cost
    the plan's may be above it; None: no bound is known. `is_cut`: the time was over before the search was,
    which then may end elsewhere on another machine. `spread_min`: by how many minutes a way that the plan or
    the refusal rests on may be off; nothing is proven then. `holds_at_best`: there is none either with every
    way as short as its spread allows.
    """

    is_proven: bool
    spread_min: int = Field(default=0, ge=0)
    holds_at_best: bool = False
    seconds: float = Field(ge=0)
    gap: float | None = Field(default=None, ge=0)
    is_cut: bool = False


class Day(Given):
    """One day: from `start` over the visits to `end`, a leg between each two."""

    date: dt.date
    start: Stop
    end: Stop
    visits: tuple[Visit, ...] = ()
    legs: tuple[ItineraryLeg, ...] = ()
    night: Night | None = None


class Totals(Given):
    """The plan's own sums: minutes and metres of all legs, money of all visits (None: no price is known)."""

    minutes: int = Field(ge=0)
    metres: int = Field(ge=0)
    cost: Money | None = None


NO_ROOM = ("does not fit beside the rest", "no room was found for it")
"""Why a refusal leaves a known place out of its plan for a part: proven, and not."""


class Skipped(Given):
    """A place that was asked for, or thought of, and left out."""

    place: str
    reason: str


GuideText = Annotated[str, Field(max_length=2000)]


class StopText(Given):
    """What a guide says of one stop."""

    place: str = Field(min_length=1, max_length=200, description="id of the place")
    text: GuideText


class DayGuide(Given):
    """What a guide says of one day, counted from 1; `cut` are the false sentences that were taken out."""

    day: int = Field(ge=1, le=14)
    language: Literal["en", "ja"] = "en"
    intro: GuideText = ""
    stops: tuple[StopText, ...] = ()
    notes: tuple[GuideText, ...] = ()
    cut: int = Field(default=0, ge=0)


class Alternative(Given):
    """Another place that was recommended: how far it lies, and when it is open that day, in words."""

    place: Stop
    distance_m: int = Field(ge=0)
    hours: str = ""


class Recommendation(Given):
    """Where to eat or to sleep, chosen from what is known around, and what else there is.

    `price` in words: what the rules of the request say, else that it is not known.
    """

    day: int = Field(ge=1, le=14)
    purpose: str = Field(max_length=20, description="breakfast, lunch, dinner or night")
    place: Stop
    by: Literal["model", "planner"]
    distance_m: int | None = Field(
        default=None, ge=0, description="metres from the stop before, as the crow flies"
    )
    hours: str = ""
    price: str = ""
    why: str = Field(default="", max_length=300)
    alternatives: tuple[Alternative, ...] = ()


class Plan(Given):
    """An itinerary, or a refusal that names the constraints that cannot be kept together."""

    schema_version: Literal["1"] = "1"
    request_id: str
    status: Literal["planned", "refused"]
    days: tuple[Day, ...] = ()
    totals: Totals = Totals(minutes=0, metres=0)
    skipped: tuple[Skipped, ...] = ()
    assumptions: tuple[str, ...] = ()
    conflict: tuple[str, ...] | None = None
    search: Search | None = None
    recommendations: tuple[Recommendation, ...] = ()
    guide: tuple[DayGuide, ...] = ()
    attributions: tuple[str, ...] = ()


def stop_of(place: Place) -> Stop:
    """A provider's place as a stop of a plan."""
    admin = place.admin
    area = None
    if admin is not None:
        area = Area(country=admin.country, prefecture=admin.prefecture, municipality=admin.municipality)
    return Stop(
        id=place.id,
        name=place.name,
        lat=place.at.lat_deg,
        lon=place.at.lon_deg,
        kind=place.kind,
        admin=area,
        other_script=_other_script(place),
    )


def _other_script(place: Place) -> str:
    """A Japanese place's own name beside a Latin one; a Latin name beside one in other letters."""
    is_latin = _is_latin(place.name)
    if is_latin and not (place.admin and place.admin.country == "JP"):
        return ""
    return next((name for name in place.also if name and _is_latin(name) != is_latin), "")


def _is_latin(name: str) -> bool:
    return not any(
        letter.isalpha() and not unicodedata.name(letter, "").startswith("LATIN") for letter in name
    )


def sums_of(days: Sequence[Day]) -> Totals:
    """Minutes, metres and money over all days; money only of what has prices, in one currency."""
    legs = [leg for day in days for leg in day.legs]
    costs = [visit.cost for day in days for visit in day.visits if visit.cost]
    costs += [day.night.cost for day in days if day.night and day.night.cost]
    money = None
    if costs and len({cost.currency for cost in costs}) == 1:
        money = Money(amount=round(sum(cost.amount for cost in costs), 2), currency=costs[0].currency)
    return Totals(
        minutes=sum(leg.minutes for leg in legs), metres=sum(leg.metres for leg in legs), cost=money
    )


def sources_of(plan: Plan) -> tuple[str, ...]:
    """The sources of the places and ways of a plan, each once."""
    cited = [visit.evidence for day in plan.days for visit in day.visits]
    cited += [leg.evidence for day in plan.days for leg in day.legs]
    return tuple(dict.fromkeys(source for evidence in cited for source in evidence[:1]))
