"""Overpass as a source of what is around a point, and of the tags of one object, from OpenStreetMap."""

import re
from collections.abc import Sequence
from typing import Any

from tools.itinerary.errors import BadArgument, NoSuchPlace
from tools.itinerary.haversine import metres_between
from tools.itinerary.http.client import WRONG_SHAPE, HttpProvider, nonsense
from tools.itinerary.osm.city import OSM_NOTICE
from tools.itinerary.osm.extract import KEYS
from tools.itinerary.place import Answer, LatLon, Place, PlaceHit
from tools.itinerary.provider import check_radius

PREFIX = "osm/"
TYPES = {"N": "node", "W": "way", "R": "relation"}


class Overpass(HttpProvider):
    """Searches around a point and tells opening hours."""

    name = "overpass"
    attribution = OSM_NOTICE

    async def nearby(
        self, at: LatLon, *, radius_m: float, kinds: Sequence[str] = (), limit: int = 30
    ) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(radius_m)
        for kind in kinds:
            if not re.fullmatch(r"[a-z_]{1,40}", kind):
                raise BadArgument(f"no kind {kind!r}")
        wanted = f'~"^({"|".join(kinds)})$"' if kinds else '~"."'
        around = f"(around:{radius_m:.0f},{at.lat_deg:.6f},{at.lon_deg:.6f})"
        query = (
            f'[out:json][timeout:10];nwr{around}[name][~"^({"|".join(KEYS)})$"{wanted}];out center tags 200;'
        )
        found = await self.ask("POST", "/interpreter", data={"data": query})
        try:
            places = [_place(row) for row in found["elements"]]
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None
        hits = [PlaceHit(place=place, distance_m=_off_m(at, place.at)) for place in places]
        hits.sort(key=lambda hit: (hit.distance_m or 0.0, hit.place.id))
        return self.answer(tuple(hits[:limit]), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        match = re.fullmatch(r"osm/([NWR])(\d{1,18})", place_id)
        if not match:
            raise NoSuchPlace(f"no place {place_id!r}")
        query = f"[out:json][timeout:10];{TYPES[match[1]]}({match[2]});out center tags;"
        found = await self.ask("POST", "/interpreter", data={"data": query})
        try:
            if not found["elements"]:
                raise NoSuchPlace(f"no place {place_id!r}")
            return self.answer(_place(found["elements"][0]), "exact")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None


def _place(row: Any) -> Place:
    at, tags = row.get("center", row), row["tags"]
    mark = {kind: letter for letter, kind in TYPES.items()}[row["type"]]
    return Place(
        id=f"{PREFIX}{mark}{int(row['id'])}",
        name=str(tags["name"]),
        at=LatLon(lat_deg=float(at["lat"]), lon_deg=float(at["lon"])),
        kind=next((str(tags[key]) for key in KEYS if key in tags), ""),
        hours=tags.get("opening_hours"),
    )


def _off_m(at: LatLon, other: LatLon) -> float:
    return round(float(metres_between(at.lat_deg, at.lon_deg, other.lat_deg, other.lon_deg)), 1)
