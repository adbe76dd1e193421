"""Japan as a Provider: prefectures, municipalities, towns and stations, and ways by rail."""

from collections.abc import Sequence
from typing import TypeVar

from tools.gazetteer import search as gazetteer
from tools.gazetteer.place import KINDS, GazetteerPlace, Kind
from tools.itinerary.embedded import Embedded, table_of
from tools.itinerary.errors import AmbiguousPlace, BadArgument, NoSuchPlace, Unreachable, Unsupported
from tools.itinerary.haversine import metres_between
from tools.itinerary.japan.rail import rail
from tools.itinerary.place import (
    AdminPath,
    Answer,
    LatLon,
    Mode,
    Place,
    PlaceHit,
    Table,
    Way,
    walk_minutes,
)
from tools.itinerary.provider import check_radius

T = TypeVar("T")

STATION_M = 3000.0
"""A point farther than this from any station is not on rail's reach."""
DETOUR, MAX_WALK_M = 1.3, 10_000.0
"""Streets are not in the data: a walk is the straight line, a third longer."""


class Japan(Embedded):
    """The embedded gazetteer. It knows no sights, no hours and no fares: there is no open source of them."""

    name = "japan"
    version = "gazetteer 2022"
    attribution = gazetteer.ATTRIBUTION
    retrieved_at = "2022"

    async def resolve(
        self,
        name: str,
        *,
        within: str | None = None,
        bias: LatLon | None = None,
        kinds: Sequence[str] = (),
        limit: int = 5,
    ) -> Answer[tuple[PlaceHit, ...]]:
        if not name.strip():
            raise BadArgument("a place needs a name")
        wanted = _kinds(kinds)
        asked = name
        if not kinds and name.lower().endswith((" station", "駅")):
            asked, wanted = name[: -len(" station")] if name.isascii() else name[:-1], ("station",)
        area = _area(within) if within else None
        hits = gazetteer.resolve(asked, within=area, kinds=wanted, limit=limit)
        if not hits:
            raise NoSuchPlace(f"no {name!r} in Japan" + (f", within {within}" if within else ""))
        found = (
            PlaceHit(place=_place(hit.place), score=hit.score, distance_m=_off_m(hit.place, bias))
            for hit in hits
        )
        return self.answer(tuple(found), "exact")

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        found = gazetteer.reverse(at.lat_deg, at.lon_deg)
        if found is None:
            raise Unsupported(f"{at.lat_deg:.4f}, {at.lon_deg:.4f} is not in Japan")
        path = AdminPath(
            country="JP",
            prefecture=found.prefecture.name_en,
            municipality=found.municipality.name_en,
            town=found.town.name_en,
            evidence_m=round(found.distance_m, 1),
        )
        return self.answer(path, "estimate")

    async def nearby(
        self, at: LatLon, *, radius_m: float, kinds: Sequence[str] = (), limit: int = 30
    ) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(radius_m)
        if kinds and "station" not in kinds:
            raise Unsupported(f"only stations can be searched around a point here, not {', '.join(kinds)}")
        near = gazetteer.stations_near(at.lat_deg, at.lon_deg, radius_m=radius_m, limit=limit)
        hits = (PlaceHit(place=_place(one.place), distance_m=round(one.distance_m, 1)) for one in near)
        return self.answer(tuple(hits), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        try:
            return self.answer(_place(gazetteer.place(place_id)), "exact")
        except gazetteer.NoSuchPlace as error:
            raise NoSuchPlace(str(error)) from None

    async def route(
        self,
        start: LatLon,
        end: LatLon,
        *,
        mode: Mode = "rail",
        depart: str | None = None,  # noqa: ARG002 (there is no timetable)
    ) -> Answer[Way]:
        return self.answer(_way(start, end, mode), "estimate")

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "rail") -> Answer[Table]:
        return self.answer(table_of(points, mode, _way), "estimate")

    def covers(self, at: LatLon) -> bool:
        """Whether a point lies within 60 km of a town of Japan."""
        return gazetteer.reverse(at.lat_deg, at.lon_deg) is not None


def _way(start: LatLon, end: LatLon, mode: Mode) -> Way:
    return _by_rail(start, end) if mode == "rail" else _on_foot(start, end, mode)


def _by_rail(start: LatLon, end: LatLon) -> Way:
    """Walk to the nearest station, ride, walk from the nearest station."""
    network = rail()
    first, first_m = network.nearest(start.lat_deg, start.lon_deg)
    last, last_m = network.nearest(end.lat_deg, end.lon_deg)
    if max(first_m, last_m) > STATION_M:
        raise Unreachable(f"no station within {STATION_M:.0f} m of one of the two")
    ride = network.trip(first, last)
    if ride is None:
        raise Unreachable("no rail joins the two")
    walked_m = DETOUR * (first_m + last_m)
    minutes = ride[0] + (walk_minutes(walked_m) if walked_m > 200 else 0)
    return Way(
        minutes=max(1, round(minutes)),
        metres=round(ride[1] + walked_m),
        mode="rail",
        exactness="estimate",
        changes=ride[2],
    )


def _on_foot(start: LatLon, end: LatLon, mode: Mode) -> Way:
    if mode != "walk":
        raise Unsupported(f"Japan knows ways by rail and short walks, not by {mode}")
    straight_m = float(metres_between(start.lat_deg, start.lon_deg, end.lat_deg, end.lon_deg))
    if straight_m > MAX_WALK_M:
        raise Unreachable(f"{straight_m / 1000:.0f} km is no walk")
    metres = DETOUR * straight_m
    return Way(minutes=walk_minutes(metres), metres=round(metres), mode="walk", exactness="estimate")


def _place(entry: GazetteerPlace) -> Place:
    areas = {area.kind: area for area in reversed(gazetteer.areas_of(entry))}  # the city, not its ward
    prefecture, city = areas.get("prefecture"), areas.get("municipality")
    own = {entry.kind: entry.name_en or entry.name_ja}
    return Place(
        id=entry.id,
        name=entry.name_en or entry.name_ja,
        at=LatLon(lat_deg=round(entry.lat_deg, 6), lon_deg=round(entry.lon_deg, 6)),
        kind=entry.kind,
        also=(entry.name_ja,) if entry.name_en else (),
        admin=AdminPath(
            country="JP",
            prefecture=own.get("prefecture") or (prefecture.name_en if prefecture else ""),
            municipality=own.get("municipality") or (city.name_en if city else ""),
            town=own.get("town", ""),
        ),
        tags=tuple(("line", line) for line in entry.lines),
    )


def _area(within: str) -> str:
    """The id of the area a name means.

    Raises:
        NoSuchPlace, AmbiguousPlace: it means none, or several.
    """
    try:
        return gazetteer.place(within).id
    except gazetteer.NoSuchPlace:
        hits = gazetteer.resolve(within, kinds=("prefecture", "municipality"), limit=6)
    if not hits:
        raise NoSuchPlace(f"no area {within!r} in Japan")
    best = [hit for hit in hits if (hit.score, hit.place.kind) == (hits[0].score, hits[0].place.kind)]
    if len(best) > 1:
        candidates = [PlaceHit(place=_place(hit.place), score=hit.score) for hit in best]
        raise AmbiguousPlace(f"{within!r} is the name of {len(best)} areas", candidates)
    return best[0].place.id


def _kinds(kinds: Sequence[str]) -> tuple[Kind, ...]:
    wanted = tuple(kind for kind in KINDS if kind in kinds)
    if kinds and not wanted:
        raise Unsupported(f"no kind {kinds[0]!r} in Japan; there are: {', '.join(KINDS)}")
    return wanted or KINDS


def _off_m(entry: GazetteerPlace, bias: LatLon | None) -> float | None:
    if bias is None:
        return None
    return round(float(metres_between(bias.lat_deg, bias.lon_deg, entry.lat_deg, entry.lon_deg)), 1)
