"""Nominatim as a source of names and areas from OpenStreetMap."""

from typing import Any

from gnomon_trips.itinerary.errors import NoSuchPlace, Unsupported
from gnomon_trips.itinerary.http.client import HttpProvider
from gnomon_trips.itinerary.osm.city import OSM_NOTICE
from gnomon_trips.itinerary.osm.extract import KEPT_TAGS, contacts_of
from gnomon_trips.itinerary.place import AdminPath, Answer, LatLon, Place, PlaceHit
from gnomon_trips.itinerary.provider import NameQuery

PREFIX = "osm/"
MARKS = {"node": "N", "way": "W", "relation": "R"}


class Nominatim(HttpProvider):
    """Finds names, says in which areas a point lies, and looks up a place by its id."""

    name = "nominatim"
    attribution = OSM_NOTICE

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        name, area = query.name, query.within or self.area
        params: dict[str, Any] = {
            "q": f"{name}, {area}" if area else name,
            "limit": min(query.limit * 2, 40),
        }
        params |= {"format": "jsonv2", "addressdetails": 1, "extratags": 1}
        if query.bias is not None:
            west, south = query.bias.lon_deg - 0.2, query.bias.lat_deg - 0.2
            params["viewbox"] = f"{west},{south},{west + 0.4},{south + 0.4}"
        rows = await self.ask("GET", "/search", params=params)
        with self.reading():
            places = [_place(row) for row in rows]
        hits = self.best_first(places, query)
        if not hits:
            raise NoSuchPlace(f"no {name!r}" + (f" in {query.within}" if query.within else ""))
        return self.answer(tuple(hits[: query.limit]), "exact")

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        query = {"lat": at.lat_deg, "lon": at.lon_deg, "format": "jsonv2", "addressdetails": 1}
        row = await self.ask("GET", "/reverse", params=query)
        with self.reading():
            if "error" in row:
                raise Unsupported(f"nothing is known at {at.lat_deg:.4f}, {at.lon_deg:.4f}")
            return self.answer(_admin(row["address"]), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        if not place_id.startswith(PREFIX):
            raise NoSuchPlace(f"no place {place_id!r}")
        query: dict[str, Any] = {"osm_ids": place_id.removeprefix(PREFIX), "format": "jsonv2"}
        rows = await self.ask("GET", "/lookup", params={**query, "addressdetails": 1, "extratags": 1})
        with self.reading():
            if not rows:
                raise NoSuchPlace(f"no place {place_id!r}")
            return self.answer(_place(rows[0]), "exact")


def _place(row: Any) -> Place:
    extra = row.get("extratags") or {}
    return Place(
        id=f"{PREFIX}{MARKS[row['osm_type']]}{int(row['osm_id'])}",
        name=str(row.get("name") or row["display_name"].split(",")[0]),
        at=LatLon(lat_deg=float(row["lat"]), lon_deg=float(row["lon"])),
        kind=str(row.get("type", "")),
        admin=_admin(row.get("address") or {}),
        hours=extra.get("opening_hours"),
        tags=tuple((key, str(extra[key])) for key in KEPT_TAGS if key in extra),
        contacts=contacts_of(extra),
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
