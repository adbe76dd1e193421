"""Requests of a user's own: in fields, in free words or by a film; a model puts words into fields first."""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Part
from gnomon.media import MediaStore
from gnomon_trips.benchmarks.itinerary.film import film_parts, is_published, names_shown, plain_graph
from gnomon_trips.benchmarks.itinerary.task import Task
from gnomon_trips.itinerary.draft import read_object
from gnomon_trips.itinerary.errors import BadArgument, NoSuchPlace, PlaceError
from gnomon_trips.itinerary.later_visits import own_id
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import areas, provider_for
from gnomon_trips.itinerary.request import TripRequest, read_request
from gnomon_trips.itinerary.terrain import may_be_open
from gnomon_trips.itinerary.trip import Trip, open_trip

REQUEST_ID = "request"


def checked_request(record: Mapping[str, Any]) -> TripRequest:
    """The request in plain data, in an area that can be planned for.

    Raises:
        SpecError: the record is not a request; the message names the field and what is allowed.
        DataError: the area's extract cannot be read.
    """
    fields = dict(record)
    if is_published(fields.get("graph")):
        fields["graph"] = plain_graph(fields["graph"])
    try:
        request = read_request(fields)
        provider_for(request.area)
    except (BadArgument, NoSuchPlace) as error:
        raise SpecError(str(error), field="request") from None
    except PlaceError as error:
        raise DataError(str(error), field="request.area") from None
    return request


def request_task(record: Mapping[str, Any]) -> Task:
    """The task; places that are not found are left out, if others are.

    Raises:
        SpecError: the record is not a request.
        DataError: the provider failed.
    """
    request = checked_request(record)
    provider = provider_for(request.area)
    try:
        trip = with_first_day(answered(open_trip(request, provider), is_local=provider.is_local))
    except BadArgument as error:
        raise SpecError(str(error), field="request") from None
    except PlaceError as error:
        raise DataError(f"{error.code}: {error}", field="request") from None
    details: dict[str, Any] = {}
    if trip.left_out:
        details["left_out"] = dict(trip.left_out)
    elif trip.lost:
        details["not_found"] = dict(trip.lost)
    return Task(family="request", form="plan", trip=trip, details=details)


BRIEF, TEXT = "BRIEF:", "text"
MAX_TEXT = 4000
TRUTH = "truth"
"""The field of a film that names the places it shows: for the scorer alone."""
LEAST: Mapping[str, Any] = {"area": "world", "start_date": "2000-01-01", "places": ["somewhere"]}
"""What a request needs at least: put in for checking what a brief does give."""

FORM = """\
Put this into a planning request. Fields: area (one of {areas}; or a city a configured service knows),
start_date (ISO), latest_start (if the first day may move), days, party, rooms, hotel, ends_at,
places [NAME, twice for two visits], wishes [kind of place, such as museum], avoid [NAME],
order [[BEFORE, AFTER]], window {{"start": "HH:MM", "end": "HH:MM"}} (an end to 06:00 is past midnight),
windows [a window or null for each day], fixed [{{"place": NAME, "start": "HH:MM", "day": N}}],
meals [{{"name": "lunch", "start": "HH:MM", "end": "HH:MM", "minutes": N}}],
budget {{"amount": N, "currency": "EUR"}}, max_walk_m (a day), max_leg_min, mode (walk or rail),
video [{{"name": NAME, "from_s": N, "to_s": N}}] for places seen in the film, with the seconds of the film.
Leave out what nobody said; invent no place. The fields of BRIEF hold and need not be repeated.
Answer with one JSON object: {{"request": {{...}}}}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What the traveller said: `fields` that hold whatever a model makes of the words and the film.

    `shown` are the places that the film is known to show: the scorer's alone.
    """

    fields: Mapping[str, Any]
    text: str = ""
    film: Path | None = None
    shown: tuple[str, ...] = ()

    def understood(self, response: str) -> dict[str, Any]:
        """The request that an answer says it understood; fields of the brief hold.

        Raises:
            SpecError: the answer names no request.
        """
        reply = read_object(response, ("request",))
        request = reply.get("request") if reply else None
        if not isinstance(request, dict):
            raise SpecError("the answer names no request", field="request")
        return {**request, **self.fields}

    def task(self, response: str) -> Task:
        """The task of that request.

        Raises:
            SpecError: the answer names no request, or an invalid one.
            DataError: the provider failed.
        """
        return request_task(self.understood(response))

    def parts(self, media: MediaStore) -> tuple[Part, ...]:
        """The prompt that asks for the fields; the film, or its frames, comes before the form.

        Raises:
            DataError: the film cannot be read.
        """
        words = f"{BRIEF}\n{json.dumps(dict(self.fields), ensure_ascii=False)}"
        if self.text:
            words += f"\n\nThe traveller says:\n{self.text}"
        frames = film_parts(self.film, media) if self.film else ()
        form = FORM.format(areas=", ".join(areas()))
        return (Part(content=f"{words}\n\n"), *frames, Part(content=f"\n\n{form}"))


def brief_of(record: Mapping[str, Any], film: Path | None) -> Brief | None:
    """The brief in a request; None where the request is complete in itself.

    Raises:
        SpecError: the text is too long or missing, or a field is wrong.
    """
    if TEXT not in record and film is None:
        return None
    text = record.get(TEXT, "")
    if not isinstance(text, str) or len(text) > MAX_TEXT or not (text.strip() or film):
        raise SpecError(f"must be words, at most {MAX_TEXT} characters", field=f"request.{TEXT}")
    shown = names_shown(record[TRUTH]) if TRUTH in record else ()
    fields = {name: value for name, value in record.items() if name not in (TEXT, TRUTH)}
    checked_request({**LEAST, **fields})
    return Brief(fields=fields, text=text, film=film, shown=shown)


def with_first_day(trip: Trip) -> Trip:
    """The trip from the first day on which the most of its places can be visited; told in `assumed`.

    By opening hours alone: whether all of it fits is for the search.
    """
    request, latest = trip.request, trip.request.latest_start
    if latest is None:
        return trip
    dates = [
        request.start_date + dt.timedelta(days=day) for day in range((latest - request.start_date).days + 1)
    ]
    starts = [replace(trip, request=request.model_copy(update={"start_date": date})) for date in dates]
    counts = [_visitable(start) for start in starts]
    best = counts.index(max(counts))
    words = (
        f"The first day is {dates[best]:%A %-d %B}: {counts[best]} of {len(trip.places())} places can be"
        f" visited, and with no later one until {latest:%-d %B} more."
    )
    return replace(starts[best], assumed={**trip.assumed, "start_date": words})


def _visitable(trip: Trip) -> int:
    """How many visits can be made by the hours; visits to one place without a set time take a day each."""
    open_days = defaultdict[str, list[set[int]]](list)
    for place in trip.places():
        has_set_time = trip.fixed_hours(place, 0) is not None
        stay_min = trip.request.rules.stay_min(place.kind)
        days = {
            day
            for day in range(trip.request.days)
            if may_be_open(place, trip, day, *trip.request.hours(day), stay_min)
        }
        open_days[place.id if has_set_time else own_id(place.id)].append(days)
    return sum(min(sum(map(bool, visits)), len(set().union(*visits))) for visits in open_days.values())
