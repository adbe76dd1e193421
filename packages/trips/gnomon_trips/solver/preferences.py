"""Chooses the places of a trip: the named ones first, then near ones of the preferred kinds."""

from collections.abc import Mapping
from typing import Any

from gnomon_agents.models.reference.tool_results import Call, Need
from gnomon_trips.solver.trip_reading import TripReading

A_DAY, AT_MOST = 4, 11
RADIUS_M = 1500
FEEDING = ("restaurant", "cafe")


def chosen_places(reading: TripReading) -> list[str]:
    """Names or ids, in the order of their worth: the last may be left out first.

    Raises:
        Need: what is around the hotel must be asked first.
    """
    request = reading.request
    places = list(dict.fromkeys(request.get("places", ())))
    wishes = list(request.get("wishes", ()))
    meals = list(request.get("meals", ()))
    if not (wishes or meals) or not {"places_near", "place_details"} <= reading.offered:
        return places
    # Without a hotel one looks around the first place, and without any around the middle of the area.
    centre = request.get("hotel") or next(iter(places), None)
    home = _centre(reading, centre)
    if home is None:
        return places
    kinds = [*wishes, *(FEEDING if meals else ())]
    if reading.called("places_near") < len(kinds):
        at = {"lat": home["lat_deg"], "lon": home["lon_deg"], "radius_m": RADIUS_M}
        calls = [Call(tool="places_near", arguments={**at, "kinds": [kind], "limit": 12}) for kind in kinds]
        raise Need(calls, "What is around?")
    answers = (result for name, _, result in reading.results if name == "places_near")
    hits = [list(result.get("hits", ())) for result in answers]  # empty for a search that failed
    by_kind = dict(zip(kinds, hits, strict=False))
    return _picked(reading, places, by_kind, wishes, len(meals))


def _centre(reading: TripReading, name: str | None) -> Mapping[str, Any] | None:
    """Where to look around; None where nobody knows.

    Raises:
        Need: the place, or the area, must be asked for first.
    """
    if name is not None:
        home = next((row for row in reading.all("place_details") if _is(row, name)), None)
        if home is None and not reading.called("place_details"):
            raise Need([Call(tool="place_details", arguments={"place": name})], "Where does the day start?")
        return home
    if "find_place" not in reading.offered:
        return None
    if not reading.called("find_place"):
        area = {"name": str(reading.request.get("area", "")).title(), "kinds": ["city"]}
        raise Need([Call(tool="find_place", arguments=area)], "Where is the middle of it?")
    hits = (reading.last("find_place") or {}).get("hits", [])
    return hits[0] if hits else None


def _picked(
    reading: TripReading,
    places: list[str],
    by_kind: Mapping[str, list[Mapping[str, Any]]],
    wishes: list[str],
    meals: int,
) -> list[str]:
    """Picks meals for every day, then places for each wish in turn, nearest first, while days have room."""
    request = reading.request
    days = int(request.get("days", 1))
    barred = {*places, *request.get("avoid", ()), request.get("hotel")}
    eating = [hit for kind in FEEDING for hit in by_kind.get(kind, ())] if meals else []
    eating = [hit for hit in eating if not {hit["id"], hit["name"]} & barred]
    _need_hours(reading, [hit["id"] for hit in eating[: 4 * days]])
    open_daily = [hit["id"] for hit in eating if _is_open(reading, hit["id"])]
    chosen = [*places, *open_daily[: meals * days]]
    rows = [
        [hit["id"] for hit in by_kind.get(kind, ()) if not {hit["id"], hit["name"]} & barred]
        for kind in wishes
    ]
    turn = 0
    while any(rows) and len(chosen) < min(AT_MOST, A_DAY * days + meals):
        row = rows[turn % len(rows)]
        if row and (place := row.pop(0)) not in chosen:
            chosen.append(place)
        turn += 1
    return chosen


def _need_hours(reading: TripReading, ids: list[str]) -> None:
    looked_up = {args.get("place") for name, args, _ in reading.results if name == "place_details"}
    calls = [
        Call(tool="place_details", arguments={"place": place_id})
        for place_id in ids
        if place_id not in looked_up
    ]
    if calls:
        raise Need(calls, "When is it open?")


def _is_open(reading: TripReading, place_id: str) -> bool:
    """Whether its hours are known and it opens on every day of the trip."""
    row = next((place for place in reading.all("place_details") if place["id"] == place_id), None)
    days = row.get("days", []) if row else []
    return bool(days) and all(day["open"] not in ("closed", "not known") for day in days)


def _is(row: Mapping[str, Any], name: str | None) -> bool:
    return name is not None and name in (row.get("id"), row.get("name"))
