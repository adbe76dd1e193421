"""The town, municipality and prefecture of a point.

Error: `evidence_error_m` is the distance to the point that says so; beyond 2,000 m the answer is approximate.
"""

from pydantic import Field

from gnomon_tools.core.marks import dot_at, drawn, number_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_trips.itinerary.context import ask, trip_of
from gnomon_trips.itinerary.place import LatLon
from gnomon_trips.itinerary.trip import Trip


class WhereIsArgs(ToolArgs):
    """A point."""

    lat: float = Field(ge=-90, le=90, description="latitude in degrees, WGS 84")
    lon: float = Field(ge=-180, le=180, description="longitude in degrees, WGS 84")


class WhereIs(ToolResult):
    """The areas that hold the point."""

    country: str | None
    prefecture: str | None
    municipality: str | None
    town: str | None
    evidence_error_m: float = Field(description="distance to the evidence: beyond 2000 m approximate")
    source: str = Field(description="who says so, and the state of the data")


def run(context: ToolContext, args: WhereIsArgs) -> WhereIs:
    """Look a point up.

    Raises:
        ToolError: the point is outside the data.
    """
    trip = trip_of(context)
    answer = ask(trip, trip.provider.reverse(LatLon(lat_deg=args.lat, lon_deg=args.lon)))
    area = answer.value
    return WhereIs(
        country=area.country or None,
        prefecture=area.prefecture or None,
        municipality=area.municipality or None,
        town=area.town or None,
        evidence_error_m=area.evidence_m,
        source=answer.source,
    )


def sketch(_: ToolContext, args: WhereIsArgs, result: Result) -> Sketch:
    """The point, with the areas that hold it."""
    areas = [text_in(result, name) for name in ("town", "municipality", "prefecture", "country")]
    where = ", ".join(filter(None, areas)) or "nowhere known"
    point = dot_at((args.lon, args.lat), where, "asked", radius_m=number_in(result, "evidence_error_m"))
    return drawn(f"{args.lat:.4f}, {args.lon:.4f} → {where}", [point], plane="earth")


where_is = Tool(
    name="where_is",
    description="Tell in which country, prefecture, municipality and town a point lies, and how far the"
    " evidence for that is.",
    args=WhereIsArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"lat": 60.17, "lon": 24.944},
)
