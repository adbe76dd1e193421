"""Reads names of places of Japan in calls, and describes places in results."""

import re
from collections.abc import Collection, Iterable

from pydantic import Field

from gnomon_published.gazetteer.areas import extent_m
from gnomon_published.gazetteer.place import KINDS, GazetteerPlace, Hit, Kind
from gnomon_published.gazetteer.search import areas_of, resolve
from gnomon_tools.core.tool import ToolArgs, ToolError, ToolResult

SURE = 0.9  # of a hit's score: the name itself, with or without the word that says what it is
LISTED = 6

_CATEGORY = re.compile(r"\s*\([^()]*\)\s*$")
_WORDS = re.compile(r"[\s,・/&-]+")


class NamedPlace(ToolArgs):
    """A place by its name."""

    name: str = Field(min_length=1, max_length=200, description="name in English or Japanese letters")
    within: str | None = Field(
        default=None,
        max_length=200,
        description="prefecture or municipality it lies in, where several places share the name",
    )


class FoundPlace(ToolResult):
    """A place of the gazetteer and the areas it lies in, in both scripts."""

    name: str
    name_ja: str
    kind: str = Field(description="prefecture, municipality, station or town")
    prefecture: str
    municipality: str | None = Field(description="left out for a prefecture")
    ward: str | None = Field(description="ward of a big city")
    lat_deg: float
    lon_deg: float
    position_error_m: float = Field(description="how far from the point the place may reach")


def found_place(place: GazetteerPlace) -> FoundPlace:
    """A place as results tell it."""
    path = [*areas_of(place), *([place] if place.kind in {"prefecture", "municipality"} else [])]
    names = [f"{area.name_en} ({area.name_ja})" for area in path]
    return FoundPlace(
        name=place.name_en or place.name_ja,
        name_ja=place.name_ja,
        kind=place.kind,
        prefecture=names[0],
        municipality=names[1] if len(names) > 1 else None,
        ward=names[2] if len(names) > 2 else None,
        lat_deg=place.lat_deg,
        lon_deg=place.lon_deg,
        position_error_m=extent_m(place),
    )


def hits_of(query: NamedPlace, kinds: Collection[Kind] = KINDS) -> list[Hit]:
    """What a name may mean, the likeliest first; a category in brackets at its end is left out.

    Raises:
        ToolError: `within` is not an area, or no place has the name.
    """
    name = _CATEGORY.sub("", query.name) or query.name
    area = place_of(NamedPlace(name=query.within), ("prefecture", "municipality")) if query.within else None
    hits = resolve(name, within=area.id if area else None, kinds=kinds, limit=LISTED)
    if not hits:
        raise ToolError(_unknown(name, query.within, area.id if area else None))
    return hits


def place_of(query: NamedPlace, kinds: Collection[Kind] = KINDS) -> GazetteerPlace:
    """The one place that a name means. A name of a prefecture and of a city in it means the prefecture,
    unless a word says which.

    Raises:
        ToolError: no place has the name, or only nearly, or several of one kind; lists candidates.
    """
    hits = hits_of(query, kinds)
    best = hits[0]
    alike = [hit for hit in hits if (hit.score, hit.place.kind) == (best.score, best.place.kind)]
    if best.score < SURE:
        raise ToolError(f"There is no place {query.name!r}. Nearly so called: {_told(hits)}.")
    if len(alike) > 1:
        raise ToolError(f"Several places are called {query.name!r}; say within which: {_told(alike)}.")
    return best.place


def _unknown(name: str, within: str | None, area_id: str | None) -> str:
    """Why nothing was found, and which words of the name are places: sights and shops are not known."""
    where = f" in {within}" if within else ""
    inside = [
        hit
        for word in _WORDS.split(name)
        if len(word) > 3 or not word.isascii()
        for hit in resolve(word, within=area_id, limit=2)
        if hit.score >= SURE
    ]
    clue = f" Words of it that are places: {_told(inside[:LISTED])}." if inside else ""
    return (
        f"No prefecture, municipality, town or station{where} is called {name!r}; sights and shops are not"
        f" in the gazetteer.{clue}"
    )


def _told(hits: Iterable[Hit]) -> str:
    return "; ".join(
        f"{hit.place.name_en or hit.place.name_ja} ({hit.place.name_ja}, {hit.place.kind}"
        + "".join(f", {area.name_en}" for area in reversed(areas_of(hit.place)))
        + ")"
        for hit in hits
    )
