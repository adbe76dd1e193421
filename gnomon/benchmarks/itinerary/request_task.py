"""A request of a user's own as a task: verified like any other, its optimum not known beforehand."""

from collections.abc import Mapping
from typing import Any

from gnomon.benchmarks.itinerary.task import Task
from gnomon.core.errors import DataError, SpecError
from tools.itinerary.errors import BadArgument, NoSuchPlace, PlaceError
from tools.itinerary.provider import answered
from tools.itinerary.registry import provider_for
from tools.itinerary.request import TripRequest, read_request
from tools.itinerary.trip import open_trip

REQUEST_ID = "request"


def checked_request(given: Mapping[str, Any]) -> TripRequest:
    """The request in plain data, in an area that can be planned for.

    Raises:
        SpecError: it is none; the message names the field and what is allowed.
        DataError: the area's extract cannot be read.
    """
    try:
        request = read_request(dict(given))
        provider_for(request.area)
    except (BadArgument, NoSuchPlace) as error:
        raise SpecError(str(error), field="request") from None
    except PlaceError as error:
        raise DataError(str(error), field="request.area") from None
    return request


def request_task(given: Mapping[str, Any]) -> Task:
    """The task; names that are not found stay lost, and every plan then misses them.

    Raises:
        SpecError: it is no request.
        DataError: the provider failed.
    """
    request = checked_request(given)
    provider = provider_for(request.area)
    try:
        trip = answered(open_trip(request, provider), is_local=provider.is_local)
    except PlaceError as error:
        raise DataError(f"{error.code}: {error}", field="request") from None
    told: dict[str, Any] = {}
    if trip.lost:
        told["not_found"] = dict(trip.lost)
    return Task(family="request", form="plan", trip=trip, told=told)
