"""Nominatim as a source of names and areas from OpenStreetMap."""

from collections.abc import Sequence
from typing import Any

from tools.itinerary.errors import NoSuchPlace, Unsupported
from tools.itinerary.http.client import WRONG_SHAPE, HttpProvider, nonsense
from tools.itinerary.name_match import likeness
from tools.itinerary.osm.city import OSM_NOTICE
from tools.itinerary.place import AdminPath, Answer, LatLon, Place, PlaceHit

PREFIX = "osm/"
MARKS = {"node": "N", "way": "W", "relation": "R"}


class Nominatim(HttpProvider):
    """Finds names, tells areas, and looks up what it found."""

    name = "nominatim"
    attribution = OSM_NOTICE

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
        query: dict[str, Any] = {"q": f"{name}, {area}" if area else name, "limit": min(limit * 2, 40)}
        query |= {"format": "jsonv2", "addressdetails": 1, "extratags": 1}
        if bias is not None:
            west, south = bias.lon_deg - 0.2, bias.lat_deg - 0.2
            query["viewbox"] = f"{west},{south},{west + 0.4},{south + 0.4}"
        rows = await self.ask("GET", "/search", params=query)
        try:
            places = [_place(row) for row in rows]
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None
        hits = [
            PlaceHit(place=place, score=round(likeness(name, place.name), 3))
            for place in places
            if not kinds or place.kind in kinds
        ]
        if not hits:
            raise NoSuchPlace(f"no {name!r}" + (f" in {within}" if within else ""))
        hits.sort(key=lambda hit: -hit.score)
        return self.answer(tuple(hits[:limit]), "exact")

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        query = {"lat": at.lat_deg, "lon": at.lon_deg, "format": "jsonv2", "addressdetails": 1}
        row = await self.ask("GET", "/reverse", params=query)
        try:
            if "error" in row:
                raise Unsupported(f"nothing is known at {at.lat_deg:.4f}, {at.lon_deg:.4f}")
            return self.answer(_admin(row["address"]), "exact")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None

    async def details(self, place_id: str) -> Answer[Place]:
        if not place_id.startswith(PREFIX):
            raise NoSuchPlace(f"no place {place_id!r}")
        query: dict[str, Any] = {"osm_ids": place_id.removeprefix(PREFIX), "format": "jsonv2"}
        rows = await self.ask("GET", "/lookup", params={**query, "addressdetails": 1, "extratags": 1})
        try:
            if not rows:
                raise NoSuchPlace(f"no place {place_id!r}")
            return self.answer(_place(rows[0]), "exact")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None


def _place(row: Any) -> Place:
    return Place(
        id=f"{PREFIX}{MARKS[row['osm_type']]}{int(row['osm_id'])}",
        name=str(row.get("name") or row["display_name"].split(",")[0]),
        at=LatLon(lat_deg=float(row["lat"]), lon_deg=float(row["lon"])),
        kind=str(row.get("type", "")),
        admin=_admin(row.get("address") or {}),
        hours=(row.get("extratags") or {}).get("opening_hours"),
    )


def _admin(address: Any) -> AdminPath:
    city = next((address[key] for key in ("city", "town", "village", "municipality") if key in address), "")
    state = next((address[key] for key in ("province", "state", "region", "county") if key in address), "")
    return AdminPath(
        country=str(address.get("country_code", "")).upper(),
        prefecture=str(state),
        municipality=str(city),
        town=str(address.get("suburb", "")),
    )
