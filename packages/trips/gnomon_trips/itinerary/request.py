"""What a traveller asks for, checked once at the boundary."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.hours import DAY_MIN, LATEST_MIN, clock_of, minutes_of
from gnomon_trips.itinerary.kinds import is_kind_word, kind_of
from gnomon_trips.itinerary.place import Mode

Clock = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="HH:MM, 24 hours")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="ISO 4217 code")]

DWELL_MIN: Mapping[str, int] = {
    "museum": 90, "gallery": 45, "attraction": 45, "place_of_worship": 30, "library": 30, "theatre": 60,
    "castle": 60, "zoo": 120, "park": 30, "garden": 30, "viewpoint": 20, "monument": 15, "memorial": 15,
    "artwork": 10, "mall": 45, "marketplace": 30, "cafe": 45, "restaurant": 60, "fast_food": 30, "pub": 45,
    "bar": 45, "shop": 20, "station": 10, "peak": 30, "ruins": 30,
}  # fmt: skip
"""How long a visit takes at least, by kind: a rule of the plan, not a fact about the place."""
USUAL_DWELL_MIN = 30
MOST_STARTS = 31
"""So many days the first day of a trip may be moved."""
KEPT_FREE = "kept_free"
"""The kind of time that is kept free to eat where no place to eat is known."""
MEALS = frozenset(("restaurant", "cafe", "fast_food", "pub", "food_court", "biergarten", KEPT_FREE))
"""Kinds of place to eat at."""
SLEEPERS = 2
"""How many sleep in a room, where the request says nothing."""
BEDS = ("hotel", "hostel", "guest_house", "apartment", "motel")
"""Kinds of place to sleep at that a plan chooses by itself."""


class Given(BaseModel):
    """Base: unknown names are refused, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Window(Given):
    """A time of day, from and until; an end up to 06:00 that is not after the start is on the next day.

    >>> Window(start="18:00", end="02:00").end_min
    1560
    """

    start: Clock = "09:00"
    end: Clock = "20:00"

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        if self.end_min > LATEST_MIN:
            raise ValueError(
                f"ends at {self.end}, not after its start at {self.start}; past midnight 06:00 is the latest"
            )
        return self

    @property
    def start_min(self) -> int:
        """Minutes from midnight."""
        return minutes_of(self.start)

    @property
    def end_min(self) -> int:
        """Minutes from the midnight before the start."""
        end_min = minutes_of(self.end)
        return end_min if end_min > self.start_min else end_min + DAY_MIN


class FixedTime(Given):
    """A place that is visited at a set time, on any day or on one, counted from 1."""

    place: Name
    start: Clock
    day: int | None = Field(default=None, ge=1, le=14)


class Money(Given):
    """An amount in one currency."""

    amount: float = Field(ge=0, le=1e9)
    currency: Currency


class Meal(Window):
    """A window in which each day needs a stop where one can eat."""

    name: Literal["breakfast", "lunch", "dinner"] = "lunch"
    start: Clock = "11:30"
    end: Clock = "14:30"
    minutes: int = Field(default=45, ge=5, le=300)

    def is_had(self, arrive_min: int, leave_min: int) -> bool:
        """Whether a stay, in minutes from midnight, is long enough within the hours of the meal."""
        shared = min(leave_min, self.end_min) - max(arrive_min, self.start_min)
        return shared >= self.minutes


class Rules(Given):
    """The rules of this plan where no source has facts: least stay and price a person, by kind of place."""

    dwell_min: dict[str, Annotated[int, Field(ge=1, le=1440)]] = {}
    price: dict[str, Annotated[float, Field(ge=0, le=1e6)]] = {}
    currency: Currency = "EUR"

    @field_validator("dwell_min", "price")
    @classmethod
    def _by_kinds_of_the_data(cls, rules: dict[str, Any]) -> dict[str, Any]:
        for word in rules:
            if is_kind_word(word) and kind_of(word) != word:
                raise ValueError(f"{word!r} is no kind of place in the data; it has {kind_of(word)!r}")
        return rules

    def stay_min(self, kind: str) -> int:
        """The least stay at a place of that kind, in minutes.

        >>> Rules(dwell_min={"museum": 60}).stay_min("museum"), Rules().stay_min("museum")
        (60, 90)
        """
        return self.dwell_min.get(kind, DWELL_MIN.get(kind, USUAL_DWELL_MIN))


class Preferences(Given):
    """What the traveller would rather have: weighed after everything that must hold.

    `must_see` are places of the request that are given up last where not all fit.
    """

    pace: Literal["relaxed", "normal", "packed"] = "normal"
    diet: list[Literal["vegetarian", "vegan", "halal", "kosher", "gluten_free"]] = []
    wheelchair: bool = False
    children: bool = False
    crowds: Literal["any", "avoid"] = "any"
    must_see: list[Name] = Field(default=[], max_length=60)


class GraphNode(Given):
    """A place of a visiting-order graph; `parent` is the id of the area that holds it."""

    id: Name
    name: Name
    kind: Literal["prefecture", "city", "poi"] = "poi"
    parent: Name | None = None
    from_s: float | None = Field(default=None, ge=0, description="second of the video where it is first seen")
    to_s: float | None = Field(default=None, ge=0, description="second of the video where it is last seen")


class VisitGraph(Given):
    """A visiting-order graph: places, what lies in what, and what comes after what."""

    nodes: list[GraphNode] = Field(min_length=1, max_length=200)
    transitions: list[tuple[Name, Name]] = []

    @model_validator(mode="after")
    def _edges_have_ends(self) -> Self:
        ids = {node.id for node in self.nodes}
        named = {end for edge in self.transitions for end in edge} | {
            n.parent for n in self.nodes if n.parent
        }
        if missing := sorted(named - ids):
            raise ValueError(f"an edge names {missing[0]!r}, which is no node")
        return self


class VideoStop(Given):
    """A place found in a video: by name, by position, or both; seconds of the video it was seen in."""

    name: Name | None = None
    lat: float | None = Field(default=None, ge=-90, le=90)
    lon: float | None = Field(default=None, ge=-180, le=180)
    from_s: float = Field(default=0.0, ge=0)
    to_s: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.name is None and (self.lat is None or self.lon is None):
            raise ValueError("needs a name, or lat and lon")
        return self


class TripRequest(Given):
    """What a traveller asks for. Names may be ids of the provider; `area` is a city or `japan`."""

    id: str = Field(default="trip", pattern=r"^[A-Za-z0-9_.:-]{1,80}$")
    area: Name
    start_date: dt.date = Field(ge=dt.date(1900, 1, 1), le=dt.date(2199, 12, 31))
    latest_start: dt.date | None = Field(
        default=None, description="the trip may begin on any day from start_date to this one"
    )
    days: int = Field(default=1, ge=1, le=14)
    party: int = Field(default=1, ge=1, le=50)
    rooms: int | None = Field(default=None, ge=1, le=50)
    hotel: Name | None = None
    ends_at: Name | None = None
    nights: list[Name | None] = Field(
        default=[], max_length=13, description="where each night is spent; null: to be chosen"
    )
    places: list[Name] = Field(
        default=[], max_length=60, description="a place named twice is visited twice, on different days"
    )
    wishes: list[Name] = Field(default=[], max_length=10, description="kinds of place to add if time allows")
    avoid: list[Name] = Field(default=[], max_length=60)
    order: list[tuple[Name, Name]] = Field(default=[], max_length=60, description="[before, after]")
    window: Window = Window()
    windows: list[Window | None] = Field(
        default=[], max_length=14, description="the hours of each day where they differ; null: `window`"
    )
    fixed: list[FixedTime] = Field(default=[], max_length=60, description="places at a set time")
    meals: list[Meal] = Field(default=[], max_length=3)
    budget: Money | None = None
    max_walk_m: int | None = Field(default=None, ge=0, le=200_000, description="metres a day on foot")
    max_leg_min: int | None = Field(default=None, ge=1, le=1440)
    mode: Mode = "walk"
    prefer: Literal["early_end", "short_walk"] | None = Field(
        default=None,
        description="of plans that keep all constraints, which is best; null: comfortable days, by the pace",
    )
    preferences: Preferences = Preferences()
    max_places: int | None = Field(
        default=None, ge=1, le=60, description="no more of `places` are visited; the most important are kept"
    )
    places_a_day: int | None = Field(
        default=None, ge=1, le=20, description="the same, for each day of the trip"
    )
    recommend: bool = Field(default=False, description="whether meals and nights come with alternatives")
    guide: Literal[False, True, "en", "ja"] = Field(
        default=False, description="whether a guide is written; true: in the language of the names"
    )
    rules: Rules = Rules()
    graph: VisitGraph | None = None
    video: list[VideoStop] = Field(default=[], max_length=200)

    @field_validator("avoid")
    @classmethod
    def _once_each(cls, names: list[str]) -> list[str]:
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{twice[0]!r} stands twice")
        return names

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not (self.places or self.wishes or self.graph or self.video):
            raise ValueError("places: none is named; give places, wishes, a graph or stops of a video")
        if self.budget and self.budget.currency != self.rules.currency:
            raise ValueError(f"budget: in {self.budget.currency}, but prices are in {self.rules.currency}")
        if self.nights and self.hotel:
            raise ValueError("nights: give them or a hotel for all of them, not both")
        if self.nights and len(self.nights) != self.days - 1:
            raise ValueError(f"nights: {len(self.nights)} for {self.days} days; allowed: {self.days - 1}")
        if self.windows and len(self.windows) != self.days:
            raise ValueError(f"windows: {len(self.windows)} for {self.days} days; allowed: {self.days}")
        if self.rooms is not None and self.rooms > self.party:
            raise ValueError(f"rooms: {self.rooms} for a party of {self.party}")
        return self

    @model_validator(mode="after")
    def _visits_have_days(self) -> Self:
        for fixed in self.fixed:
            if fixed.place not in self.places:
                raise ValueError(f"fixed: {fixed.place!r} is none of the places")
            if fixed.day is not None and fixed.day > self.days:
                raise ValueError(f"fixed: day is {fixed.day}; the trip has {self.days}")
        set_times = Counter(fixed.place for fixed in self.fixed)
        for place, visits in Counter(self.places).items():
            if set_times[place] > visits:
                raise ValueError(
                    f"fixed: {place!r} has {set_times[place]} times; places must name it once for each"
                )
            if visits > self.days and set_times[place] < visits:
                raise ValueError(
                    f"places: {place!r} stands {visits} times in {self.days} days; allowed: once a day, or"
                    " more often with a time for each visit in fixed"
                )
        return self

    @model_validator(mode="after")
    def _days_follow(self) -> Self:
        if self.latest_start is not None:
            apart = (self.latest_start - self.start_date).days
            if not 0 <= apart <= MOST_STARTS:
                raise ValueError(f"latest_start: {apart} days after start_date; allowed: 0 to {MOST_STARTS}")
        for day in range(1, self.days):
            if self.hours(day - 1)[1] - DAY_MIN > self.hours(day)[0]:
                raise ValueError(f"windows: day {day} ends after day {day + 1} starts")
        return self

    @property
    def lacks_rooms(self) -> bool:
        return self.rooms is not None and self.rooms * SLEEPERS < self.party

    def dates(self) -> tuple[dt.date, ...]:
        return tuple(self.start_date + dt.timedelta(days=day) for day in range(self.days))

    def hours(self, day: int) -> tuple[int, int]:
        """From when to when a day lasts, in minutes from midnight; days are counted from 0."""
        window = (self.windows[day] if day < len(self.windows) else None) or self.window
        return window.start_min, window.end_min

    def meals_on(self, day: int) -> list[Meal]:
        """The meals of a day, counted from 0: one that its hours cannot hold is had on days that can.

        >>> asked = {"area": "Oslo", "start_date": "2026-06-10", "days": 2, "places": ["Opera"]}
        >>> asked |= {"meals": [{"name": "lunch"}], "windows": [{"start": "15:00"}, None]}
        >>> [len(read_request(asked).meals_on(day)) for day in range(2)]
        [0, 1]
        """
        fitting = [
            {on for on in range(self.days) if meal.is_had(*self.hours(on))} or {day} for meal in self.meals
        ]
        return [meal for meal, days in zip(self.meals, fitting, strict=True) if day in days]

    def minute_of(self, clock: str, day: int) -> int:
        """A time of day in minutes from midnight; past midnight it counts on, where the day lasts so long."""
        start, end = self.hours(day)
        minute = minutes_of(clock)
        return minute + DAY_MIN if minute < start and minute + DAY_MIN <= end else minute

    def hours_words(self) -> str:
        """From when to when the days last; days of other hours are told apart.

        >>> asked = {"area": "Oslo", "start_date": "2026-06-10", "days": 3, "places": ["Opera"]}
        >>> read_request(asked).hours_words()
        '09:00 to 20:00'
        >>> read_request({**asked, "windows": [{"start": "14:00"}, None, None]}).hours_words()
        '14:00 to 20:00 on day 1 and 09:00 to 20:00 on days 2, 3'
        """
        days = dict[str, list[str]]()
        for day in range(self.days):
            start, end = (clock_of(at % DAY_MIN) for at in self.hours(day))
            days.setdefault(f"{start} to {end}", []).append(str(day + 1))
        if len(days) == 1:
            return next(iter(days))
        return " and ".join(
            f"{span} on day{'s' * (len(numbers) > 1)} {', '.join(numbers)}" for span, numbers in days.items()
        )

    def total_min(self) -> int:
        return sum(end - start for start, end in map(self.hours, range(self.days)))

    def price(self, kind: str) -> float | None:
        """What a visit costs the whole party by the rules; None where they say nothing."""
        each = self.rules.price.get(kind)
        return None if each is None else round(each * self.party, 2)

    def nights_cost(self) -> float:
        """What all nights cost the whole party by the rules, each the price of a hotel; 0 without one."""
        return (self.days - 1) * (self.price("hotel") or 0.0)


def read_request(value: object) -> TripRequest:
    """A request out of plain data.

    Raises:
        BadArgument: the value is not a request; the message names the field and what is allowed.
    """
    try:
        return TripRequest.model_validate(value)
    except ValidationError as error:
        raise BadArgument(told_fault(error)) from None


def told_fault(error: ValidationError) -> str:
    """The first thing that is wrong, as `field: what`."""
    first: Any = error.errors()[0]
    message = str(first["msg"]).removeprefix("Value error, ")
    path = ".".join(map(str, first["loc"]))
    return f"{path}: {message}" if path else message
