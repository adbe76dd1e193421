"""Overpass as a source of what is around a point, and of the tags of one object, from OpenStreetMap."""

import re
from typing import Any

from gnomon_trips.itinerary.errors import BadArgument, NoSuchPlace
from gnomon_trips.itinerary.haversine import nearest_first
from gnomon_trips.itinerary.http.client import HttpProvider
from gnomon_trips.itinerary.osm.city import OSM_NOTICE
from gnomon_trips.itinerary.osm.extract import KEPT_TAGS, KEYS
from gnomon_trips.itinerary.place import Answer, LatLon, Place, PlaceHit
from gnomon_trips.itinerary.provider import NearbyQuery, check_radius

PREFIX = "osm/"
TYPES = {"N": "node", "W": "way", "R": "relation"}


class Overpass(HttpProvider):
    """Searches around a point and gives opening hours."""

    name = "overpass"
    attribution = OSM_NOTICE

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(query.radius_m)
        at, kinds = query.at, query.kinds
        for kind in kinds:
            if not re.fullmatch(r"[a-z_]{1,40}", kind):
                raise BadArgument(f"no kind {kind!r}")
        values = f'~"^({"|".join(kinds)})$"' if kinds else '~"."'
        around = f"(around:{query.radius_m:.0f},{at.lat_deg:.6f},{at.lon_deg:.6f})"
        script = (
            f'[out:json][timeout:10];nwr{around}[name][~"^({"|".join(KEYS)})$"{values}];out center tags 200;'
        )
        reply = await self.ask("POST", "/interpreter", data={"data": script})
        with self.reading():
            places = [_place(row) for row in reply["elements"]]
        return self.answer(tuple(nearest_first(places, at)[: query.limit]), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        match = re.fullmatch(r"osm/([NWR])(\d{1,18})", place_id)
        if not match:
            raise NoSuchPlace(f"no place {place_id!r}")
        script = f"[out:json][timeout:10];{TYPES[match[1]]}({match[2]});out center tags;"
        reply = await self.ask("POST", "/interpreter", data={"data": script})
        with self.reading():
            if not reply["elements"]:
                raise NoSuchPlace(f"no place {place_id!r}")
            return self.answer(_place(reply["elements"][0]), "exact")


def _place(row: Any) -> Place:
    at, tags = row.get("center", row), row["tags"]
    mark = {kind: letter for letter, kind in TYPES.items()}[row["type"]]
    return Place(
        id=f"{PREFIX}{mark}{int(row['id'])}",
        name=str(tags["name"]),
        at=LatLon(lat_deg=float(at["lat"]), lon_deg=float(at["lon"])),
        kind=next((str(tags[key]) for key in KEYS if key in tags), ""),
        hours=tags.get("opening_hours"),
        tags=tuple((key, str(tags[key])) for key in KEPT_TAGS if key in tags),
    )
