"""The places around a point.

Error: as in `find_place`.
"""

from pydantic import Field

from gnomon_tools.core.marks import amount, dot_at, drawn, place_dot, rows_in, some, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext
from gnomon_trips.itinerary.context import FoundPlaces, ask, trip_of
from gnomon_trips.itinerary.place import LatLon
from gnomon_trips.itinerary.provider import NearbyQuery
from gnomon_trips.itinerary.trip import Trip


class PlacesNearArgs(ToolArgs):
    """Where, how far around, and what."""

    lat: float = Field(ge=-90, le=90, description="latitude in degrees, WGS 84")
    lon: float = Field(ge=-180, le=180, description="longitude in degrees, WGS 84")
    radius_m: float = Field(1000.0, gt=0, le=20_000, description="how far around, in metres")
    kinds: list[str] = Field([], max_length=10, description="only places of these kinds, such as cafe")
    limit: int = Field(10, ge=1, le=30, description="how many at most")


class PlacesNear(FoundPlaces):
    """The places, nearest first; none if there are none."""


def run(context: ToolContext, args: PlacesNearArgs) -> PlacesNear:
    """Look around.

    Raises:
        ToolError: the point is outside the data.
    """
    trip = trip_of(context)
    at = LatLon(lat_deg=args.lat, lon_deg=args.lon)
    query = NearbyQuery(at, args.radius_m, kinds=tuple(args.kinds), limit=args.limit)
    return PlacesNear.of(ask(trip, trip.provider.nearby(query)))


def sketch(_: ToolContext, args: PlacesNearArgs, result: Result) -> Sketch:
    """The point with its radius, and the places around it."""
    hits, kinds = rows_in(result, "hits"), some(args.kinds) if args.kinds else "places"
    centre = dot_at((args.lon, args.lat), "centre", "asked", radius_m=args.radius_m)
    nearest = f"{len(hits)}, nearest {text_in(hits[0], 'name')}" if hits else "none"
    summary = f"{kinds} within {amount(args.radius_m, 'm')} of {args.lat:.4f}, {args.lon:.4f} → {nearest}"
    return drawn(summary, [centre, *(place_dot(hit) for hit in hits)], plane="earth")


places_near = Tool(
    name="places_near",
    description="List the places around a point, nearest first, with kinds, positions and distances.",
    args=PlacesNearArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"lat": 60.17, "lon": 24.944, "radius_m": 300.0, "kinds": ["cafe"]},
)
