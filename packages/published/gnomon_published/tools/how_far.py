"""The distance and direction between two places of Japan.

The geodesic on the WGS 84 ellipsoid between the points that stand for the two. A name that several places of
one kind share is refused with all of them.

Error: `error_m` adds how far both places may reach from their points.
"""

from geographiclib.geodesic import Geodesic
from pydantic import Field

from gnomon_published.gazetteer.japan import Gazetteer
from gnomon_published.gazetteer.naming import FoundPlace, NamedPlace, found_place, place_of
from gnomon_tools.core.marks import amount, drawn, line_of, number_in, place_dot
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult


class HowFarArgs(ToolArgs):
    """From where to where."""

    start: NamedPlace = Field(description="the place to measure from")
    end: NamedPlace = Field(description="the place to measure to")


class HowFar(ToolResult):
    """The straight way between the points that stand for the two places."""

    distance_m: float = Field(description="geodesic on the WGS 84 ellipsoid")
    error_m: float = Field(description="how far off that may be: both places reach so far from their points")
    bearing_deg: float | None = Field(description="compass direction at the start; left out for one point")
    start: FoundPlace
    end: FoundPlace


def run(_: ToolContext, args: HowFarArgs) -> HowFar:
    """Measure.

    Raises:
        ToolError: a name is unknown or shared.
    """
    place, other_place = place_of(args.start), place_of(args.end)
    line = Geodesic.WGS84.Inverse(place.lat_deg, place.lon_deg, other_place.lat_deg, other_place.lon_deg)
    start, end = found_place(place), found_place(other_place)
    return HowFar(
        distance_m=line["s12"],
        error_m=start.position_error_m + end.position_error_m,
        bearing_deg=line["azi1"] % 360 if line["s12"] > 0 else None,
        start=start,
        end=end,
    )


def sketch(_: ToolContext, args: HowFarArgs, result: Result) -> Sketch:
    """Both places and the straight line between them."""
    start, end = place_dot(result.get("start"), args.start.name), place_dot(result.get("end"), args.end.name)
    far, bearing_deg = amount(number_in(result, "distance_m"), "m"), number_in(result, "bearing_deg")
    straight = line_of([start.at, end.at], far, has_arrow=True) if start and end else None
    towards = "" if bearing_deg is None else f", {amount(bearing_deg, '°')}"
    return drawn(
        f"{args.start.name} to {args.end.name} → {far}{towards}", [straight, start, end], plane="earth"
    )


how_far = Tool(
    name="how_far",
    description=(
        "Measure the straight distance in metres and the compass direction between two Japanese towns,"
        " stations, municipalities or prefectures, given by name."
    ),
    args=HowFarArgs,
    run=run,
    sketch=sketch,
    needs=Gazetteer,
    example={"start": {"name": "Tokyo Station"}, "end": {"name": "Osaka Station"}},
)
