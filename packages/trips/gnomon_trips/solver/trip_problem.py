"""Builds a trip's problem for the exact scheduler, from given facts or from tool results."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon_trips.itinerary.city_level import World
from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.place import LatLon, Place, Table
from gnomon_trips.itinerary.problem import Problem
from gnomon_trips.itinerary.request import TripRequest, read_request
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.solver.trip_reading import TripReading


def problem_from(reading: TripReading, places: Sequence[str]) -> Problem | None:
    """The problem; None where hours or ways are not known, or the request is none."""
    facts = _from_facts(reading) if reading.facts else _from_tools(reading, places)
    if facts is None:
        return None
    rows, names, minutes, metres = facts
    try:
        request = read_request({**reading.request, "rules": _rules(reading, rows)})
    except BadArgument:
        return None
    hotel = request.hotel
    index = {name: number for number, name in enumerate(names)}
    if any(row["name"] not in index for row in rows) or (hotel and hotel not in index):
        return None
    spots = tuple(_place(row, request) for row in rows)
    named = {row["name"]: spot for row, spot in zip(rows, spots, strict=True)}
    if hotel:
        named[hotel] = Place(id="home", name=hotel, at=LatLon(lat_deg=0.0, lon_deg=0.0), kind="hotel")
    order = [index[row["name"]] for row in rows] + ([index[hotel]] if hotel else [])
    table = Table(minutes=_grid(minutes, order), metres=_grid(metres, order))
    trip = Trip(request=request, provider=World(), named=named)
    return Problem(trip=trip, places=spots, table=table, homes={"home": len(rows)} if hotel else {})


Known = tuple[Sequence[Mapping[str, Any]], Sequence[str], Any, Any]


def _from_facts(reading: TripReading) -> Known | None:
    facts = reading.facts
    try:
        return facts["places"], facts["table_of"], facts["walking_minutes"], facts["walking_metres"]
    except KeyError:
        return None


def _from_tools(reading: TripReading, places: Sequence[str]) -> Known | None:
    table = reading.last("travel_table")
    details = {args.get("place"): result for name, args, result in reading.results if name == "place_details"}
    if table is None or any(place not in details or "error" in details[place] for place in places):
        return None
    arguments = next(
        args for name, args, result in reversed(reading.results) if name == "travel_table" and result is table
    )
    rows = [
        {
            "name": place,
            "kind": details[place]["kind"],
            "stay_minutes": details[place]["stay_minutes"],
            "cost_party": float(str(details[place].get("cost", "0")).split()[0]),
            "open": {day["date"]: day["open"] for day in details[place].get("days", ())} or "not known",
        }
        for place in places
    ]
    return rows, arguments["places"], table["minutes"], table["metres"]


def _rules(reading: TripReading, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Stays and prices by kind as the facts have them; a price is for the party, so it is shared out."""
    party = int(reading.request.get("party", 1))
    stays = {row["kind"]: int(row["stay_minutes"]) for row in rows}
    prices = {row["kind"]: float(row["cost_party"] or 0) / party for row in rows}
    currency = (reading.request.get("budget") or {}).get("currency", "EUR")
    return {"dwell_min": stays, "price": prices, "currency": currency}


def _place(row: Mapping[str, Any], request: TripRequest) -> Place:
    """Hours by date become a text in OpenStreetMap's grammar that says the same."""
    hours = None
    if isinstance(row["open"], dict):
        by_date = (row["open"].get(date.isoformat(), "not known") for date in request.dates())
        parts = [_dated(date, text) for date, text in zip(request.dates(), by_date, strict=True)]
        hours = "; ".join(parts) if all(parts) else None
    return Place(
        id=str(row["name"]),
        name=str(row["name"]),
        at=LatLon(lat_deg=0.0, lon_deg=0.0),
        kind=str(row["kind"]),
        hours=hours,
    )


def _dated(date: dt.date, text: str) -> str:
    """One day's hours.

    >>> _dated(dt.date(2026, 6, 9), "10:00-12:00, 13:00-25:00"), _dated(dt.date(2026, 6, 9), "closed")
    ('2026 Jun 09 10:00-12:00,13:00-25:00', '2026 Jun 09 off')
    """
    if text == "not known":
        return ""
    day = f"{date:%Y %b %d}"
    return f"{day} off" if text == "closed" else f"{day} {text.replace(', ', ',')}"


def _grid(rows: Any, order: Sequence[int]) -> tuple[tuple[int | None, ...], ...]:
    return tuple(
        tuple(None if (value := rows[a][b]) is None or value < 0 else int(value) for b in order)
        for a in order
    )
