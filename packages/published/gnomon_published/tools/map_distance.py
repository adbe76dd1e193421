"""The straight-line distance and the direction between two places whose positions the map data hold.

The geodesic on the WGS 84 ellipsoid.

Error: `error_m` adds the rounding of both positions.
"""

from geographiclib.geodesic import Geodesic
from pydantic import Field

from gnomon_published.map_record.answers import PlaceRow, record_of
from gnomon_published.map_record.names import resolve
from gnomon_published.map_record.record import MapPlace, MapRecord
from gnomon_tools.core.marks import amount, drawn, line_of, number_in, place_dot
from gnomon_tools.core.name_match import plain_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.angles import EIGHTHS


class MapDistanceArgs(ToolArgs):
    """From where to where."""

    start: str = Field(min_length=1, max_length=300, description="name of the place to measure from")
    end: str = Field(min_length=1, max_length=300, description="name of the place to measure to")


class MapDistanceAnswer(ToolResult):
    """The straight line from start to end."""

    distance_m: float = Field(description="geodesic on the WGS 84 ellipsoid")
    error_m: float = Field(description="how far off that may be by the rounding of both positions")
    bearing_deg: float | None = Field(description="compass direction at the start; left out for one point")
    direction: str | None = Field(description="the same as one of eight directions, such as northeast")
    start: PlaceRow = Field(description="the place measured from")
    end: PlaceRow = Field(description="the place measured to")


def run(context: ToolContext, args: MapDistanceArgs) -> MapDistanceAnswer:
    """Measure.

    Raises:
        ToolError: a name is not known or may mean several places, or a position is not known.
    """
    record = record_of(context)
    (start, start_error_m), (end, end_error_m) = _located(record, args.start), _located(record, args.end)
    line = Geodesic.WGS84.Inverse(start.lat_deg, start.lon_deg, end.lat_deg, end.lon_deg)
    bearing_deg = line["azi1"] % 360 if line["s12"] > 0 else None
    return MapDistanceAnswer(
        distance_m=line["s12"],
        error_m=start_error_m + end_error_m,
        bearing_deg=bearing_deg,
        direction=None if bearing_deg is None else EIGHTHS[round(bearing_deg / 45) % 8],
        start=start,
        end=end,
    )


def _located(record: MapRecord, name: str) -> tuple[PlaceRow, float]:
    """The place of this name that has a position, and the rounding of that."""
    with_position = [place for place in record.every_place() if place.lat_deg is not None]
    if not with_position:
        raise ToolError("Not known: the map data hold no positions.")
    wanted = plain_name(resolve(name, (place.name for place in with_position), "place with a position"))
    places = [place for place in with_position if plain_name(place.name) == wanted]
    if len({(place.lat_deg, place.lon_deg) for place in places}) > 1:
        spots = "; ".join(f"{place.address} ({place.lat_deg}, {place.lon_deg})" for place in places)
        raise ToolError(f"{places[0].name!r} is at several positions: {spots}.")
    return _spot(places[0]), places[0].position_error_m or 0.0


def _spot(place: MapPlace) -> PlaceRow:
    return PlaceRow(
        name=place.name,
        lat_deg=place.lat_deg,
        lon_deg=place.lon_deg,
        position_error_m=place.position_error_m,
    )


def sketch(_: ToolContext, args: MapDistanceArgs, result: Result) -> Sketch:
    """Both places and the straight line between them."""
    start, end = place_dot(result.get("start"), args.start), place_dot(result.get("end"), args.end)
    far, bearing_deg = amount(number_in(result, "distance_m"), "m"), number_in(result, "bearing_deg")
    straight = line_of([start.at, end.at], far, has_arrow=True) if start and end else None
    towards = "" if bearing_deg is None else f", {amount(bearing_deg, '°')}"
    return drawn(f"{args.start} to {args.end} → {far}{towards}", [straight, start, end], plane="earth")


map_distance = Tool(
    name="map_distance",
    description="Measure the straight-line distance in metres and the compass direction from one place to"
    " another, by the positions that the map data hold.",
    args=MapDistanceArgs,
    run=run,
    sketch=sketch,
    needs=MapRecord,
)
