"""Japan as a Provider: prefectures, municipalities, towns and stations, and ways by rail."""

from collections.abc import Sequence

from tools.gazetteer import search as gazetteer
from tools.gazetteer.place import KINDS, GazetteerPlace, Kind
from tools.itinerary.embedded import Embedded
from tools.itinerary.errors import AmbiguousPlace, BadArgument, NoSuchPlace, Unreachable, Unsupported
from tools.itinerary.haversine import metres_between, off_m
from tools.itinerary.japan.rail import rail
from tools.itinerary.place import (
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
from tools.itinerary.provider import NameQuery, NearbyQuery, check_radius

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
    exactness: Exactness = "estimate"

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        name, within = query.name, query.within
        if not name.strip():
            raise BadArgument("a place needs a name")
        kinds, bare_name = _kinds(query.kinds), name
        if not query.kinds and name.lower().endswith((" station", "駅")):
            kinds, bare_name = ("station",), name[: -len(" station")] if name.isascii() else name[:-1]
        area = _area(within) if within else None
        entries = gazetteer.resolve(bare_name, within=area, kinds=kinds, limit=query.limit)
        if not entries:
            raise NoSuchPlace(f"no {name!r} in Japan" + (f", within {within}" if within else ""))
        hits = (
            PlaceHit(
                place=_place(entry.place), score=entry.score, distance_m=off_m(_at(entry.place), query.bias)
            )
            for entry in entries
        )
        return self.answer(tuple(hits), "exact")

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
        if query.kinds and "station" not in query.kinds:
            kinds = ", ".join(query.kinds)
            raise Unsupported(f"only stations can be searched around a point here, not {kinds}")
        near = gazetteer.stations_near(
            query.at.lat_deg, query.at.lon_deg, radius_m=query.radius_m, limit=query.limit
        )
        hits = (PlaceHit(place=_place(entry.place), distance_m=round(entry.distance_m, 1)) for entry in near)
        return self.answer(tuple(hits), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        try:
            return self.answer(_place(gazetteer.place(place_id)), "exact")
        except gazetteer.NoSuchPlace as error:
            raise NoSuchPlace(str(error)) from None

    def way(self, start: LatLon, end: LatLon, mode: Mode) -> Way:
        """By rail from station to station, or a short walk."""
        return _by_rail(start, end) if mode == "rail" else _on_foot(start, end, mode)

    def covers(self, at: LatLon) -> bool:
        """Whether a point lies within 60 km of a town of Japan."""
        return gazetteer.reverse(at.lat_deg, at.lon_deg) is not None


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


def _at(entry: GazetteerPlace) -> LatLon:
    return LatLon(lat_deg=entry.lat_deg, lon_deg=entry.lon_deg)


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
        candidates = [PlaceHit(place=_place(hit.place), score=hit.score) for hit in best]
        raise AmbiguousPlace(f"{within!r} is the name of {len(best)} areas", candidates)
    return best[0].place.id


def _kinds(kinds: Sequence[str]) -> tuple[Kind, ...]:
    own_kinds = tuple(kind for kind in KINDS if kind in kinds)
    if kinds and not own_kinds:
        raise Unsupported(f"no kind {kinds[0]!r} in Japan; there are: {', '.join(KINDS)}")
    return own_kinds or KINDS
