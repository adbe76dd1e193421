"""Reads an OpenStreetMap file (.osm.pbf) once into named places and walkable ways."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import osmium

from gnomon_tools.core.regular_file import check_regular
from gnomon_trips.itinerary.errors import Unavailable
from gnomon_trips.itinerary.place import LatLon, Place

KEYS = ("tourism", "historic", "amenity", "leisure", "shop", "railway", "natural")
"""The tags that make a named thing a place, in the order in which they name its kind, after `place`."""
SETTLED = frozenset(
    ("square", "city", "borough", "town", "village", "hamlet", "suburb", "quarter", "neighbourhood", "island")
)
"""Values of `place` that are somewhere to go: areas, by the point that stands for them, and squares."""
AREA_RELATIONS = frozenset(("multipolygon", "boundary", "site"))

NO_PLACES = frozenset(
    (
        *("parking", "parking_space", "bicycle_parking", "bench", "waste_basket", "recycling", "grit_bin"),
        *(
            "vending_machine",
            "telephone",
            "atm",
            "post_box",
            "information",
            "hunting_stand",
            "pitch",
            "track",
        ),
        *("rail", "tram", "subway", "level_crossing", "crossing", "switch", "buffer_stop", "signal"),
        *("platform", "stop", "subway_entrance", "abandoned", "construction"),
    )
)
"""Values that name street furniture or track, not somewhere to go."""

BARRED_WAYS = frozenset(
    ("motorway", "motorway_link", "construction", "proposed", "raceway", "bus_guideway", "abandoned")
)
YES = frozenset(("yes", "designated", "permissive", "destination"))
NO = frozenset(("no", "private", "use_sidepath"))
OTHER_NAMES = (
    "name:en",
    "name:ja",
    "name:ja-Latn",
    "name:ja_rm",
    "name:sv",
    "name:de",
    "alt_name",
    "official_name",
)
"""Of alternative names several may stand in one tag, parted by semicolons."""
FURTHER_NAME = re.compile(r"name:[a-z]{2,3}(?:[-_]\w+)?|(?:int|loc|short|old)_name")
KEPT_TAGS = (
    "cuisine",
    "religion",
    "denomination",
    "website",
    "wheelchair",
    "diet:vegetarian",
    "diet:vegan",
    "diet:halal",
    "diet:kosher",
    "diet:gluten_free",
    "kids_area",
    "highchair",
    "min_age",
    "museum",
    "fee",
    "addr:street",
    "addr:housenumber",
    "wikidata",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Street:
    """A way one may walk: its nodes with their positions, in order."""

    nodes: tuple[int, ...]
    points: tuple[tuple[float, float], ...]  # lat, lon
    name: str = ""  # empty: the map has none


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """What a file holds: places by id (sorted), streets, and the moment it was taken (ISO, or empty)."""

    name: str
    places: Mapping[str, Place]
    streets: tuple[Street, ...]
    taken_at: str


def read_extract(file: Path) -> Extract:
    """Read a file; its stem is the name of the city and the first part of every place id.

    Raises:
        Unavailable: the extract cannot be read, or holds no street.
    """
    name = file.name.removesuffix(".pbf").removesuffix(".osm").lower()
    places: dict[str, Place] = {}
    streets: list[Street] = []
    newest = dt.datetime.min.replace(tzinfo=dt.UTC)
    try:
        check_regular(file)
        outlines = _outlines(file)
        for entity in osmium.FileProcessor(str(file)).with_locations():
            if isinstance(entity, osmium.osm.Changeset):
                continue
            newest = max(newest, entity.timestamp)
            tags = entity.tags
            if isinstance(entity, osmium.osm.Way) and entity.id in outlines:
                outlines[entity.id] = [(node.lat, node.lon) for node in entity.nodes if node.location.valid()]
            if "name" in tags and (kind := _kind(tags)):
                place = _place(name, kind, entity, outlines)
                if place is not None:
                    places[place.id] = place
            if isinstance(entity, osmium.osm.Way) and _is_walkable(tags):
                streets.append(_street(entity))
    except (RuntimeError, OSError) as error:
        raise Unavailable(f"{file.name} is no readable OpenStreetMap extract: {error}") from None
    streets = [street for street in streets if len(street.nodes) > 1]
    if not streets:
        raise Unavailable(f"{file.name} holds no street")
    taken_at = newest.isoformat() if newest.year > 2000 else ""
    ordered = {key: places[key] for key in sorted(places)}
    return Extract(name=name, places=ordered, streets=tuple(streets), taken_at=taken_at)


def _outlines(file: Path) -> dict[int, list[tuple[float, float]]]:
    """The ways that outline places drawn as relations, such as squares or a temple's grounds; still empty."""
    return {
        member.ref: []
        for relation in osmium.FileProcessor(str(file), osmium.osm.RELATION)
        if isinstance(relation, osmium.osm.Relation) and _is_area_place(relation.tags)
        for member in relation.members
        if member.type == "w" and member.role != "inner"
    }


def _is_area_place(tags: Any) -> bool:
    return "name" in tags and tags.get("type") in AREA_RELATIONS and _kind(tags) is not None


def _kind(tags: Any) -> str | None:
    if tags.get("place") in SETTLED:
        return str(tags["place"])
    for key in KEYS:
        value = tags.get(key)
        if value is None or value in NO_PLACES or (key == "natural" and value not in ("beach", "peak")):
            continue
        if key == "shop":
            return "shop" if value != "mall" else "mall"
        if key == "railway":
            return (
                "station" if value in ("station", "halt") else "tram_stop" if value == "tram_stop" else None
            )
        if value == "yes":
            return "historic" if key == "historic" else None
        return str(value)
    return None


def _place(
    city: str, kind: str, entity: Any, outlines: Mapping[int, Sequence[tuple[float, float]]]
) -> Place | None:
    """Nodes lie where they lie, ways and relations at the middle of their bounding box."""
    if entity.is_node():
        mark, points = "n", [(entity.lat, entity.lon)]
    elif entity.is_way():
        mark, points = "w", [(node.lat, node.lon) for node in entity.nodes if node.location.valid()]
    elif entity.is_relation() and _is_area_place(entity.tags):
        mark = "r"
        points = [
            point for member in entity.members if member.type == "w" for point in outlines.get(member.ref, ())
        ]
    else:
        return None
    if not points:
        return None
    lats, lons = zip(*points, strict=True)
    at = LatLon(lat_deg=round((min(lats) + max(lats)) / 2, 7), lon_deg=round((min(lons) + max(lons)) / 2, 7))
    tags = entity.tags
    also = {name.strip() for key in OTHER_NAMES if key in tags for name in tags[key].split(";")} - {""}
    return Place(
        id=f"{city}/{mark}{entity.id}",
        name=tags["name"],
        at=at,
        kind=kind,
        hours=tags.get("opening_hours"),
        also=tuple(sorted(also - {tags["name"]})),
        found_as=tuple(tag.v for tag in tags if FURTHER_NAME.fullmatch(tag.k) and tag.k not in OTHER_NAMES),
        tags=tuple((key, tags[key]) for key in KEPT_TAGS if key in tags),
        contacts=contacts_of(tags),
    )


def contacts_of(tags: Any) -> tuple[tuple[str, str], ...]:
    """The website and the phone of an object, by its tags or those of its `contact:` form."""
    own = {name: tags.get(name) or tags.get(f"contact:{name}") for name in ("website", "phone")}
    return tuple((name, value) for name, value in own.items() if value)


def _is_walkable(tags: Any) -> bool:
    """By OpenStreetMap's access tags: the general `access` holds unless `foot` says otherwise."""
    highway, foot = tags.get("highway"), tags.get("foot")
    if highway is None or highway in BARRED_WAYS or tags.get("area") == "yes":
        return False
    if foot in NO or tags.get("motorroad") == "yes":
        return False
    if tags.get("access") in NO and foot not in YES:
        return False
    return highway not in ("trunk", "trunk_link") or foot in YES or tags.get("sidewalk") not in (None, "no")


def _street(way: Any) -> Street:
    placed = [node for node in way.nodes if node.location.valid()]
    return Street(
        nodes=tuple(node.ref for node in placed),
        points=tuple((node.lat, node.lon) for node in placed),
        name=way.tags.get("name", ""),
    )
