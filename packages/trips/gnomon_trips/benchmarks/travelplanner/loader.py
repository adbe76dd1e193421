"""Reads the published `train.jsonl`: queries, their reference information and people's plans."""

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import DataFault, Sample
from gnomon.core.shared_clusters import clusters_by_shared
from gnomon_published.unique_rows import unique_rows
from gnomon_tools.core.json_text import json_object
from gnomon_tools.core.regular_file import open_regular
from gnomon_trips.benchmarks.travelplanner.query import level_of, read_query
from gnomon_trips.sandbox.plan import Days
from gnomon_trips.sandbox.record import (
    Attraction,
    Flight,
    Lodging,
    Restaurant,
    Ride,
    RideMode,
    TravelSandbox,
    TripNeeds,
    plain_words,
)

FILE = "train.jsonl"
LEVELS: tuple[str, ...] = ("easy", "medium", "hard")

_PLACES = re.compile(r"(Attractions|Restaurants|Accommodations) in (.+)")
_WAY = re.compile(r"(Flight|Self-driving|Taxi) from (.+?) to (.+?)(?: on (\d{4}-\d\d-\d\d))?")
_RIDE = re.compile(
    r"(?:self-driving|taxi), from .+ to .+, duration: (.+?), distance: (.+? km), cost: (\d[\d,]*)"
)
Reference = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class TravelTask:
    """A query with its reference information as published; `people_plan` is a person's, if there is one."""

    sample_id: str
    query: str
    needs: TripNeeds
    reference: Reference
    people_plan: Days | None = None

    @property
    def level(self) -> str:
        """Easy, medium or hard, by the number of constraints."""
        return level_of(self.needs)

    @cached_property
    def sandbox(self) -> TravelSandbox:
        return sandbox_of(self.reference, self.needs)


def read_tasks(file: Path) -> tuple[list[TravelTask], list[DataFault]]:
    """Every task that can be asked, in the order of the file, and what is wrong with rows.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        with open_regular(file) as stream:
            lines = stream.read().decode("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}", field="data") from None
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    return unique_rows(
        numbered,
        lambda row: task_of(json.loads(row[1])),
        name_of=lambda _, row: str(json_object(row[1]).get("idx", f"line {row[0]}")),
        repeats="the idx",
        place_of=lambda _, row: f"line {row[0]}",
    )


def task_in(sample: Sample) -> TravelTask:
    """The task that a sample asks."""
    task: TravelTask = sample.target["task"]
    return task


def task_of(row: object) -> TravelTask:
    """Read one published row.

    Raises:
        SpecError: names the field that is absent, of another type or cannot be read.
    """
    if not isinstance(row, Mapping):
        raise SpecError("is no object", field="row")
    query, reference = row.get("query"), row.get("reference_information")
    if not isinstance(query, str) or not query.strip():
        raise SpecError("is missing or empty", field="query")
    if not isinstance(reference, Mapping):
        raise SpecError("is missing or no object", field="reference_information")
    idx = row.get("idx")
    if not isinstance(idx, int | str) or isinstance(idx, bool):
        raise SpecError("is missing", field="idx")
    plan = row.get("annotated_plan")
    is_plan = isinstance(plan, list) and all(isinstance(day, Mapping) for day in plan)
    task = TravelTask(
        sample_id=str(idx),
        query=query,
        needs=read_query(query),
        reference=reference,
        people_plan=plan if is_plan else None,
    )
    _check_ends(task.needs, task.sandbox)
    return task


def sandbox_of(reference: Reference, needs: TripNeeds) -> TravelSandbox:
    """The reference information as a sandbox.

    Raises:
        SpecError: a heading or a row of it cannot be read.
    """
    cities: dict[str, None] = {}
    rows: list[Lodging | Restaurant | Attraction | Flight | Ride] = []
    for heading, value in reference.items():
        places, way = _PLACES.fullmatch(heading), _WAY.fullmatch(heading)
        try:
            if places:
                cities[places[2]] = None
                rows += [READERS[places[1]](row, places[2]) for row in _rows(value)]
            elif way and way[1] == "Flight":
                rows += [_flight(row) for row in _rows(value)]
            elif way:
                rows += _rides(way, value)
            else:
                raise ValueError("an unknown heading")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            detail = f"{heading[:80]!r}: {type(error).__name__} {error}"
            raise SpecError(detail, field="reference_information") from None
    return TravelSandbox.of(needs, cities, rows)


def clusters_of(tasks: Sequence[TravelTask]) -> dict[str, str]:
    """The cluster of each task: those that visit a common city are kin, also by way of others."""
    return clusters_by_shared({task.sample_id: task.sandbox.cities for task in tasks}, "cities")


def _check_ends(needs: TripNeeds, sandbox: TravelSandbox) -> None:
    """Check that the query's ends are those of the ways; else one of them was misread.

    Raises:
        SpecError: they are not.
    """
    places = {plain_words(city) for city in sandbox.cities}
    if len(places) < needs.cities:
        raise SpecError(f"{len(places)} known cities, {needs.cities} to visit", field="cities")
    if needs.cities == 1 and plain_words(needs.destination) not in places:
        raise SpecError(f"nothing is known of {needs.destination}", field="destination")
    starts = {plain_words(flight.origin) for flight in sandbox.flights}
    starts |= {plain_words(ride.origin) for ride in sandbox.rides}
    if starts and plain_words(needs.origin) not in starts:
        raise SpecError(f"no way leaves {needs.origin}", field="origin")


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    """The rows of a table; a text says that there are none."""
    if isinstance(value, str):
        return
    if not isinstance(value, list):
        raise TypeError("neither rows nor a text")
    yield from value


def _lodging(row: Mapping[str, Any], city: str) -> Lodging:
    return Lodging(
        name=str(row["NAME"]),
        city=city,
        price_usd=_whole(row["price"]),
        room_type=str(row["room type"]),
        house_rules=str(row["house_rules"]),
        min_nights=_whole(row["minimum nights"]),
        max_occupancy=max(1, _whole(row["maximum occupancy"])),
        rating=_rating(row.get("review rate number")),
    )


def _restaurant(row: Mapping[str, Any], city: str) -> Restaurant:
    cuisines = tuple(dict.fromkeys(cuisine.strip() for cuisine in row["Cuisines"].split(",")))
    return Restaurant(
        name=str(row["Name"]),
        city=city,
        cost_usd=_whole(row["Average Cost"]),
        cuisines=cuisines,
        rating=_rating(row.get("Aggregate Rating")),
    )


def _attraction(row: Mapping[str, Any], city: str) -> Attraction:
    return Attraction(name=str(row["Name"]), city=city, address=str(row.get("Address", "")))


READERS: Mapping[str, Callable[[Mapping[str, Any], str], Lodging | Restaurant | Attraction]] = {
    "Accommodations": _lodging,
    "Restaurants": _restaurant,
    "Attractions": _attraction,
}


def _flight(row: Mapping[str, Any]) -> Flight:
    return Flight(
        number=str(row["Flight Number"]),
        origin=str(row["OriginCityName"]),
        destination=str(row["DestCityName"]),
        date=dt.date.fromisoformat(row["FlightDate"]),
        departs=str(row["DepTime"]),
        arrives=str(row["ArrTime"]),
        price_usd=_whole(row["Price"]),
    )


def _rides(way: re.Match[str], value: object) -> Iterator[Ride]:
    """The ride of a heading; none where the text says that nothing is known."""
    match = _RIDE.fullmatch(value) if isinstance(value, str) else None
    if match:
        mode: RideMode = "taxi" if way[1] == "Taxi" else "self-driving"
        yield Ride(
            mode=mode,
            origin=way[2],
            destination=way[3],
            duration=match[1],
            distance=match[2],
            price_usd=int(match[3].replace(",", "")),
        )
    elif value != "No valid information.":
        raise ValueError("neither a ride nor word that there is none")


def _whole(value: object) -> int:
    """A count or a price in whole dollars.

    Raises:
        ValueError: it is no finite number that is not negative.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ValueError(f"{value!r} is no amount")
    return round(value)


def _rating(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value == value else None
