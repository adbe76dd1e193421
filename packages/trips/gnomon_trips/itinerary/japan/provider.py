"""Japan as a Provider: sights, prefectures, municipalities, towns and stations, and ways by rail."""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from gnomon_published.gazetteer import search as gazetteer
from gnomon_published.gazetteer.landmarks import ATTRIBUTION as SIGHTS_NOTICE
from gnomon_published.gazetteer.landmarks import landmarks, unplaced_landmark
from gnomon_published.gazetteer.place import KINDS
from gnomon_trips.itinerary.embedded import Embedded
from gnomon_trips.itinerary.errors import AmbiguousPlace, BadArgument, NoSuchPlace, Unreachable, Unsupported
from gnomon_trips.itinerary.haversine import apart_m, off_m
from gnomon_trips.itinerary.japan.names import area_place, meanings, sight_kind, sight_place, similar
from gnomon_trips.itinerary.japan.rail import DETOUR, REACH_M, rail
from gnomon_trips.itinerary.japan.rides import NOTICE as KANTO_NOTICE
from gnomon_trips.itinerary.japan.rides import Journey
from gnomon_trips.itinerary.place import (
    AdminPath,
    Answer,
    Exactness,
    LatLon,
    Mode,
    Place,
    PlaceHit,
    Way,
    walk_minutes,
)
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery, check_radius
from gnomon_trips.itinerary.track import ALL_ON_FOOT, NO_TRACK, Track

STATION_POINT_M = 30.0
KEPT_POINTS = 20_000
MAX_WALK_M = 10_000.0
"""Streets are not in the data: a walk is the straight line, a third longer."""


class Japan(Embedded):
    """Sights of the travelled cities, the gazetteer's areas and stations. It knows no hours and no fares."""

    name = "japan"
    version = "gazetteer 2022, landmarks and timetables 2026, rail 3"
    attribution = f"{gazetteer.ATTRIBUTION}\n{SIGHTS_NOTICE}\n{KANTO_NOTICE}"
    retrieved_at = "2022"
    exactness: Exactness = "estimate"

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        name, within = query.name.strip(), query.within
        if not name:
            raise BadArgument("a place needs a name")
        if sight := unplaced_landmark(name):
            raise NoSuchPlace(f"{sight} is known, but no source here says where it is")
        area = _area(within) if within else None
        hits = self._hits(name, area, query.kinds)
        if not hits and area is None:
            head, tail = _name_and_area(name)
            if tail and (area := _area_or_none(tail)):
                hits = self._hits(head, area, query.kinds)
        if not hits:
            near = ", ".join(similar(name))
            where = f"no {name!r} in Japan" + (f", within {within}" if within else "")
            raise NoSuchPlace(where + (f"; similar: {near}" if near else ""))
        hits.sort(key=lambda hit: (-hit.score, -hit.fame, hit.place.id))
        first = (replace(hit, distance_m=off_m(hit.place.at, query.bias)) for hit in hits[: query.limit])
        return self.answer(tuple(first), "exact")

    def _hits(self, name: str, area: str | None, kinds: Sequence[str]) -> list[PlaceHit]:
        """What a name may mean, of some kinds of area or sight, or of all."""
        own_kinds = tuple(kind for kind in KINDS if kind in kinds)
        hits = meanings(name, within=area, kinds=(own_kinds if kinds else KINDS), with_sights=not own_kinds)
        kept = [hit for hit in hits if not kinds or hit.place.kind in kinds]
        if kinds and not own_kinds and not set(kinds) & sight_kinds():
            raise Unsupported(
                f"no kind {kinds[0]!r} in Japan; there are: {', '.join((*KINDS, *sorted(sight_kinds())))}"
            )
        return kept

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        whereabouts = gazetteer.reverse(at.lat_deg, at.lon_deg)
        if whereabouts is None:
            raise Unsupported(f"{at.lat_deg:.4f}, {at.lon_deg:.4f} is not in Japan")
        path = AdminPath(
            country="JP",
            prefecture=whereabouts.prefecture.name_en,
            municipality=whereabouts.municipality.name_en,
            town=whereabouts.town.name_en,
            evidence_m=round(whereabouts.distance_m, 1),
        )
        return self.answer(path, "estimate")

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(query.radius_m)
        kinds = set(query.kinds)
        if kinds and not kinds & {"station", *sight_kinds()}:
            raise Unsupported(
                f"no {', '.join(query.kinds)} can be searched around a point here, only sights and stations"
            )
        hits: list[PlaceHit] = []
        if not kinds or "station" in kinds:
            stations = gazetteer.stations_near(
                query.at.lat_deg, query.at.lon_deg, radius_m=query.radius_m, limit=query.limit
            )
            hits += (
                PlaceHit(place=area_place(near.place), distance_m=round(near.distance_m, 1))
                for near in stations
            )
        hits += (hit for hit in self._sights_near(query) if not kinds or hit.place.kind in kinds)
        hits.sort(key=lambda hit: (hit.distance_m or 0.0, hit.place.id))
        return self.answer(tuple(hits[: query.limit]), "exact")

    def _sights_near(self, query: NearbyQuery) -> Sequence[PlaceHit]:
        near = []
        for entry in landmarks().by_id.values():
            far_m = off_m(LatLon(lat_deg=entry.lat_deg, lon_deg=entry.lon_deg), query.at)
            if far_m is not None and far_m <= query.radius_m:
                near.append((far_m, entry))
        return [PlaceHit(place=sight_place(entry), distance_m=far_m) for far_m, entry in near]

    async def details(self, place_id: str) -> Answer[Place]:
        entry = landmarks().by_id.get(place_id)
        if entry is not None:
            return self.answer(sight_place(entry), "exact")
        try:
            return self.answer(area_place(gazetteer.place(place_id)), "exact")
        except gazetteer.NoSuchPlace as error:
            raise NoSuchPlace(str(error)) from None

    def way(self, start: LatLon, end: LatLon, mode: Mode) -> Way:
        """By rail from station to station, or a short walk."""
        return _by_rail(start, end)[0] if mode == "rail" else _on_foot(start, end, mode)

    async def track(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Track:
        """The rides of a way by rail; of a walk nothing is known."""
        if mode != "rail" or start == end:
            return NO_TRACK
        journey = _by_rail(start, end)[1]
        return Track(via=(ALL_ON_FOOT,)) if journey is None else journey.track(start, end)

    def covers(self, at: LatLon) -> bool:
        """Whether a point lies within 60 km of a town of Japan."""
        return gazetteer.reverse(at.lat_deg, at.lon_deg) is not None


@functools.cache
def sight_kinds() -> frozenset[str]:
    """The kinds of sight there are."""
    return frozenset(sight_kind(entry) for entry in landmarks().by_id.values())


def _by_rail(start: LatLon, end: LatLon) -> tuple[Way, Journey | None]:
    """The way by rail with its journey; the journey is None where walking all the way takes no longer.

    Raises:
        Unreachable: an end has no station within reach, or no rail joins the two, and they are no walk apart.
    """
    metres = DETOUR * apart_m(start, end)
    on_foot = Way(minutes=walk_minutes(metres), metres=round(metres), mode="rail", exactness="estimate")
    journey = rail().journey(start, end, stations=(_station_at(start), _station_at(end)))
    if journey is None and metres > DETOUR * REACH_M:
        raise Unreachable(f"no rail joins the two, each within {REACH_M:.0f} m of a station")
    if journey is None or not journey.rides or journey.minutes >= on_foot.minutes:
        return on_foot, None
    way = Way(
        minutes=math.ceil(journey.minutes),
        metres=round(journey.metres),
        mode="rail",
        exactness="timetable" if journey.is_timed else "estimate",
        changes=len(journey.rides) - 1,
    )
    return way, journey


@functools.lru_cache(maxsize=KEPT_POINTS)
def _station_at(at: LatLon) -> str:
    """The Japanese name of the station at a point; empty where there is none."""
    stations = gazetteer.stations_near(at.lat_deg, at.lon_deg, radius_m=STATION_POINT_M, limit=1)
    return stations[0].place.name_ja if stations else ""


def _on_foot(start: LatLon, end: LatLon, mode: Mode) -> Way:
    if mode != "walk":
        raise Unsupported(f"Japan knows ways by rail and short walks, not by {mode}")
    straight_m = apart_m(start, end)
    if straight_m > MAX_WALK_M:
        raise Unreachable(f"{straight_m / 1000:.0f} km is no walk")
    metres = DETOUR * straight_m
    return Way(minutes=walk_minutes(metres), metres=round(metres), mode="walk", exactness="estimate")


def _area(within: str) -> str:
    """The id of the area a name means.

    Raises:
        NoSuchPlace, AmbiguousPlace: the name means no area, or several.
    """
    try:
        return gazetteer.place(within).id
    except gazetteer.NoSuchPlace:
        hits = gazetteer.resolve(within, kinds=("prefecture", "municipality"), limit=6)
    if not hits:
        raise NoSuchPlace(f"no area {within!r} in Japan")
    best = [hit for hit in hits if (hit.score, hit.place.kind) == (hits[0].score, hits[0].place.kind)]
    if len(best) > 1:
        candidates = [PlaceHit(place=area_place(hit.place), score=hit.score) for hit in best]
        raise AmbiguousPlace(f"{within!r} is the name of {len(best)} areas", candidates)
    return best[0].place.id


def _area_or_none(name: str) -> str | None:
    """The id of the area a name means, where it means one."""
    try:
        return _area(name)
    except (NoSuchPlace, AmbiguousPlace):
        return None


def _name_and_area(name: str) -> tuple[str, str]:
    """A name and the area written behind it, as in "Yasaka Shrine, Kyoto" or 八坂神社（京都）.

    >>> _name_and_area("Fuchu (Hiroshima)"), _name_and_area("Ueno")
    (('Fuchu', 'Hiroshima'), ('Ueno', ''))
    """
    match = re.fullmatch(r"(.+?)\s*(?:[,、]\s*(.+)|[(（](.+)[)）])", name)
    return (match[1], match[2] or match[3]) if match else (name, "")
