"""The distance and direction between two places of Japan.

The geodesic on the WGS 84 ellipsoid between the points that stand for the two. A name that several places of
one kind share is refused with all of them.

Error: `error_m` adds how far both places may reach from their points.
"""

from geographiclib.geodesic import Geodesic
from pydantic import Field

from tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from tools.gazetteer.naming import FoundPlace, NamedPlace, found_place, place_of


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
    one, other = place_of(args.start), place_of(args.end)
    line = Geodesic.WGS84.Inverse(one.lat_deg, one.lon_deg, other.lat_deg, other.lon_deg)
    start, end = found_place(one), found_place(other)
    return HowFar(
        distance_m=line["s12"],
        error_m=start.position_error_m + end.position_error_m,
        bearing_deg=line["azi1"] % 360 if line["s12"] > 0 else None,
        start=start,
        end=end,
    )


how_far = Tool(
    name="how_far",
    description=(
        "Measure the straight distance in metres and the compass direction between two Japanese towns,"
        " stations, municipalities or prefectures, given by name."
    ),
    args=HowFarArgs,
    run=run,
    needs="gazetteer",
)
