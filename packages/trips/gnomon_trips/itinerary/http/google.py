"""Google Places (New) and Routes as a provider: places with hours, and ways; needs a key."""

from collections.abc import Sequence
from typing import Any

from gnomon_trips.itinerary.errors import NoSuchPlace, Unreachable, Unsupported
from gnomon_trips.itinerary.haversine import nearest_first
from gnomon_trips.itinerary.http.client import TIMEOUT_S, HttpProvider
from gnomon_trips.itinerary.place import (
    AdminPath,
    Answer,
    Exactness,
    LatLon,
    Mode,
    Place,
    PlaceHit,
    Table,
    Way,
)
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery, check_radius

PREFIX = "google/"
FIELDS = ("id", "displayName", "location", "primaryType", "regularOpeningHours", "addressComponents")
WEEKDAYS = ("Su", "Mo", "Tu", "We", "Th", "Fr", "Sa")
TRAVEL: dict[Mode, str] = {"walk": "WALK", "car": "DRIVE", "rail": "TRANSIT", "bus": "TRANSIT"}


class _Google(HttpProvider):
    """Base: a service that takes its key in a header."""

    def __init__(self, url: str, key: str, *, timeout_s: float = TIMEOUT_S, area: str = "") -> None:
        super().__init__(url, timeout_s=timeout_s, headers={"X-Goog-Api-Key": key}, area=area)


class GooglePlaces(_Google):
    """Text search, nearby search and details; all types of places, not sights only."""

    name = "google-places"
    attribution = "Places: Google"

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        name, area = query.name, query.within or self.area
        body: dict[str, Any] = {
            "textQuery": f"{name}, {area}" if area else name,
            "pageSize": min(query.limit, 20),
        }
        if query.bias is not None:
            body["locationBias"] = {"circle": {"center": _at(query.bias), "radius": 20_000.0}}
        places = await self._search("/v1/places:searchText", body)
        hits = self.best_first(places, query)
        if not hits:
            raise NoSuchPlace(f"no {name!r}")
        return self.answer(tuple(hits), "exact")

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(query.radius_m)
        circle = {"circle": {"center": _at(query.at), "radius": query.radius_m}}
        body: dict[str, Any] = {"locationRestriction": circle, "maxResultCount": min(query.limit, 20)}
        body |= {"includedTypes": list(query.kinds)} if query.kinds else {}
        places = await self._search("/v1/places:searchNearby", body)
        return self.answer(tuple(nearest_first(places, query.at)), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        own = place_id.removeprefix(PREFIX)
        if own == place_id or not own.replace("-", "").replace("_", "").isalnum():
            raise NoSuchPlace(f"no place {place_id!r}")
        row = await self.ask("GET", f"/v1/places/{own}", headers={"X-Goog-FieldMask": ",".join(FIELDS)})
        with self.reading():
            return self.answer(_place(row), "exact")

    async def _search(self, path: str, body: dict[str, Any]) -> list[Place]:
        mask = {"X-Goog-FieldMask": ",".join(f"places.{field}" for field in FIELDS)}
        reply = await self.ask("POST", path, json=body, headers=mask)
        with self.reading():
            return [_place(row) for row in reply.get("places", [])]


class GoogleRoutes(_Google):
    """Ways on foot, by car and by public transport; the latter follow timetables."""

    name = "google-routes"
    attribution = "Ways: Google"

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        if mode not in TRAVEL:
            raise Unsupported(f"no ways by {mode}; there are: {', '.join(TRAVEL)}")
        body: dict[str, Any] = {
            "origin": {"location": {"latLng": _at(start)}},
            "destination": {"location": {"latLng": _at(end)}},
            "travelMode": TRAVEL[mode],
        }
        mask = {"X-Goog-FieldMask": "routes.duration,routes.distanceMeters"}
        reply = await self.ask("POST", "/directions/v2:computeRoutes", json=body, headers=mask)
        with self.reading():
            if not reply.get("routes"):
                raise Unreachable(f"{self.name} finds no way by {mode}")
            route = reply["routes"][0]
            seconds = float(str(route["duration"]).removesuffix("s"))
            exactness: Exactness = "timetable" if TRAVEL[mode] == "TRANSIT" else "network"
            way = Way.of(seconds, float(route.get("distanceMeters", 0)), mode, exactness)
        return self.answer(way, way.exactness)

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        """One question per pair: the matrix call bills each pair as well."""
        minutes: list[tuple[int | None, ...]] = []
        metres: list[tuple[int | None, ...]] = []
        for start in points:
            row = [None if start == end else await self._maybe(start, end, mode) for end in points]
            same = [start == end for end in points]
            minutes.append(
                tuple(0 if s else w.minutes if w else None for s, w in zip(same, row, strict=True))
            )
            metres.append(tuple(0 if s else w.metres if w else None for s, w in zip(same, row, strict=True)))
        return self.answer(Table(minutes=tuple(minutes), metres=tuple(metres)), "network")

    async def _maybe(self, start: LatLon, end: LatLon, mode: Mode) -> Way | None:
        try:
            return (await self.route(start, end, mode=mode)).value
        except Unreachable:
            return None


def _place(row: Any) -> Place:
    parts = {kind: part for part in row.get("addressComponents", ()) for kind in part["types"]}
    country = parts.get("country", {}).get("shortText", "")
    return Place(
        id=f"{PREFIX}{row['id']}",
        name=str(row["displayName"]["text"]),
        at=LatLon(lat_deg=float(row["location"]["latitude"]), lon_deg=float(row["location"]["longitude"])),
        kind=str(row.get("primaryType", "")),
        hours=_hours(row["regularOpeningHours"]["periods"]) if "regularOpeningHours" in row else None,
        admin=AdminPath(
            country=str(country),
            prefecture=str(parts.get("administrative_area_level_1", {}).get("longText", "")),
            municipality=str(parts.get("locality", {}).get("longText", "")),
        ),
    )


def _hours(periods: Any) -> str:
    """Weekly periods in OpenStreetMap's grammar.

    >>> _hours([{"open": {"day": 1, "hour": 9, "minute": 0}, "close": {"day": 1, "hour": 17, "minute": 30}}])
    'Mo 09:00-17:30'
    """
    if len(periods) == 1 and "close" not in periods[0]:
        return "24/7"
    parts = []
    for period in periods:
        start, end = period["open"], period["close"]
        late = 24 if end["day"] != start["day"] else 0
        parts.append(
            f"{WEEKDAYS[start['day']]} {start['hour']:02d}:{start['minute']:02d}"
            f"-{end['hour'] + late:02d}:{end['minute']:02d}"
        )
    return ", ".join(parts)


def _at(point: LatLon) -> dict[str, float]:
    return {"latitude": point.lat_deg, "longitude": point.lon_deg}
