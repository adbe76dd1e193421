"""Google Places (New) and Routes as a provider: places with hours, and ways; needs a key."""

from collections.abc import Sequence
from typing import Any

from tools.itinerary.errors import NoSuchPlace, Unreachable, Unsupported
from tools.itinerary.haversine import metres_between
from tools.itinerary.http.client import TIMEOUT_S, WRONG_SHAPE, HttpProvider, nonsense
from tools.itinerary.name_match import likeness
from tools.itinerary.place import AdminPath, Answer, Exactness, LatLon, Mode, Place, PlaceHit, Table, Way
from tools.itinerary.provider import check_radius

PREFIX = "google/"
FIELDS = ("id", "displayName", "location", "primaryType", "regularOpeningHours", "addressComponents")
WEEKDAYS = ("Su", "Mo", "Tu", "We", "Th", "Fr", "Sa")
TRAVEL: dict[Mode, str] = {"walk": "WALK", "car": "DRIVE", "rail": "TRANSIT", "bus": "TRANSIT"}


class GooglePlaces(HttpProvider):
    """Text search, nearby search and details; all types of places, not sights only."""

    name = "google-places"
    attribution = "Places: Google"

    def __init__(self, url: str, key: str, *, timeout_s: float = TIMEOUT_S, area: str = "") -> None:
        super().__init__(url, timeout_s=timeout_s, headers={"X-Goog-Api-Key": key}, area=area)

    async def resolve(
        self,
        name: str,
        *,
        within: str | None = None,
        bias: LatLon | None = None,
        kinds: Sequence[str] = (),
        limit: int = 5,
    ) -> Answer[tuple[PlaceHit, ...]]:
        area = within or self.area
        body: dict[str, Any] = {
            "textQuery": f"{name}, {area}" if area else name,
            "pageSize": min(limit, 20),
        }
        if bias is not None:
            body["locationBias"] = {"circle": {"center": _at(bias), "radius": 20_000.0}}
        places = await self._search("/v1/places:searchText", body)
        hits = [
            PlaceHit(place=place, score=round(likeness(name, place.name), 3))
            for place in places
            if not kinds or place.kind in kinds
        ]
        if not hits:
            raise NoSuchPlace(f"no {name!r}")
        hits.sort(key=lambda hit: -hit.score)
        return self.answer(tuple(hits), "exact")

    async def nearby(
        self, at: LatLon, *, radius_m: float, kinds: Sequence[str] = (), limit: int = 30
    ) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(radius_m)
        circle = {"circle": {"center": _at(at), "radius": radius_m}}
        body: dict[str, Any] = {"locationRestriction": circle, "maxResultCount": min(limit, 20)}
        body |= {"includedTypes": list(kinds)} if kinds else {}
        places = await self._search("/v1/places:searchNearby", body)
        hits = [PlaceHit(place=place, distance_m=_off_m(at, place.at)) for place in places]
        hits.sort(key=lambda hit: (hit.distance_m or 0.0, hit.place.id))
        return self.answer(tuple(hits), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        own = place_id.removeprefix(PREFIX)
        if own == place_id or not own.replace("-", "").replace("_", "").isalnum():
            raise NoSuchPlace(f"no place {place_id!r}")
        row = await self.ask("GET", f"/v1/places/{own}", headers={"X-Goog-FieldMask": ",".join(FIELDS)})
        try:
            return self.answer(_place(row), "exact")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None

    async def _search(self, path: str, body: dict[str, Any]) -> list[Place]:
        mask = {"X-Goog-FieldMask": ",".join(f"places.{field}" for field in FIELDS)}
        found = await self.ask("POST", path, json=body, headers=mask)
        try:
            return [_place(row) for row in found.get("places", [])]
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None


class GoogleRoutes(HttpProvider):
    """Ways on foot, by car and by public transport; the latter follow timetables."""

    name = "google-routes"
    attribution = "Ways: Google"

    def __init__(self, url: str, key: str, *, timeout_s: float = TIMEOUT_S, area: str = "") -> None:
        super().__init__(url, timeout_s=timeout_s, headers={"X-Goog-Api-Key": key}, area=area)

    async def route(
        self, start: LatLon, end: LatLon, *, mode: Mode = "walk", depart: str | None = None
    ) -> Answer[Way]:
        if mode not in TRAVEL:
            raise Unsupported(f"no ways by {mode}; there are: {', '.join(TRAVEL)}")
        body: dict[str, Any] = {
            "origin": {"location": {"latLng": _at(start)}},
            "destination": {"location": {"latLng": _at(end)}},
            "travelMode": TRAVEL[mode],
        }
        body |= {"departureTime": depart} if depart else {}
        mask = {"X-Goog-FieldMask": "routes.duration,routes.distanceMeters"}
        found = await self.ask("POST", "/directions/v2:computeRoutes", json=body, headers=mask)
        try:
            if not found.get("routes"):
                raise Unreachable(f"{self.name} finds no way by {mode}")
            told = found["routes"][0]
            seconds = float(str(told["duration"]).removesuffix("s"))
            exactness: Exactness = "timetable" if TRAVEL[mode] == "TRANSIT" else "network"
            way = Way.of(seconds, float(told.get("distanceMeters", 0)), mode, exactness)
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None
        return self.answer(way, way.exactness)

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        """One question a pair: the matrix call bills each pair as well."""
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


def _off_m(at: LatLon, other: LatLon) -> float:
    return round(float(metres_between(at.lat_deg, at.lon_deg, other.lat_deg, other.lon_deg)), 1)
