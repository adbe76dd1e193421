"""The distance from one location to another, straight and by road or on foot.

`straight_m` is the geodesic on the WGS 84 ellipsoid in an anchored scene (Karney 2013, by geographiclib),
else the straight line of the plane; between floors it is the horizontal part, since heights are unknown.
`path_m` is the shortest way (Dijkstra's algorithm, by SciPy): outdoors along roads in their permitted
directions, indoors straight through each zone and through portals. It runs between the points of the network
nearest to both locations.

Error: `error_m` adds the position errors of both ends; `path_error_m` adds their distances from the network
as well.
"""

from pydantic import Field

from gnomon_tools.core.batch import Batch
from gnomon_tools.core.location import Location, locate
from gnomon_tools.core.marks import amount, drawn, number_in
from gnomon_tools.core.route import measure_route, no_network
from gnomon_tools.core.scene_marks import (
    location_dot,
    location_name,
    measured,
    spot_of,
    straight_line,
    way_lines,
)
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult


class DistanceArgs(ToolArgs):
    """From where to where."""

    start: Location = Field(
        description="where to measure from: exactly one of camera, place, or x_m with y_m"
    )
    end: Location = Field(description="where to measure to: exactly one of camera, place, or x_m with y_m")


class Straight(ToolResult):
    """Metres as the crow flies."""

    straight_m: float = Field(
        description="straight line: the geodesic where the scene is anchored; between floors its"
        " horizontal part"
    )
    error_m: float = Field(
        description="how far off straight_m may be: the position errors of both ends, added"
    )


class Distance(Straight):
    """Metres, straight and along the network."""

    path_m: float | None = Field(
        description="shortest way along roads, or through zones, doors, stairs and lifts,"
        " between the network's points nearest to both ends"
    )
    path_error_m: float | None = Field(
        description="how far off path_m may be: error_m and the distances of both ends from the network,"
        " added"
    )
    via: list[str] | None = Field(description="roads, or zones and portals, in order")
    floor_changes: int | None = Field(description="how often the path changes floors")
    no_path_reason: str | None = Field(description="why there is no path_m")


def run(context: ToolContext, args: DistanceArgs) -> Distance:
    """Measure.

    Raises:
        ToolError: a location is not found, or no way joins the two.
    """
    route = measure_route(context.scene, args.start, args.end)
    path = route.path
    return Distance(
        straight_m=route.straight_m,
        error_m=route.straight_error_m,
        path_m=path.length_m if path else None,
        path_error_m=route.path_error_m if path else None,
        via=list(path.via) if path else None,
        floor_changes=len(path.floors) - 1 if path else None,
        no_path_reason=None if path else no_network(context.scene),
    )


def straight_lines(context: ToolContext, args: DistanceArgs) -> list[Straight]:
    """The straight line alone: ways take long to find.

    Raises:
        ToolError: a location is not found.
    """
    start, end = locate(context.scene, args.start), locate(context.scene, args.end)
    straight_m = context.scene.frame.distance_m(start.xy_m, end.xy_m)
    return [Straight(straight_m=straight_m, error_m=start.error_m + end.error_m)]


def sketch(context: ToolContext, args: DistanceArgs, result: Result) -> Sketch:
    """Both locations, the straight line and the way."""
    scene, straight_m, path_m = context.scene, number_in(result, "straight_m"), number_in(result, "path_m")
    start, end = spot_of(scene, args.start), spot_of(scene, args.end)
    straight = straight_line(start, end, measured("straight", straight_m))
    way = way_lines(scene, start, end, measured("way", path_m)) if path_m is not None else []
    by_way = f"{amount(path_m, 'm')} by the shortest way, " if path_m is not None else ""
    ends = f"{location_name(args.start)} to {location_name(args.end)}"
    return drawn(
        f"{ends} → {by_way}{amount(straight_m, 'm')} straight",
        [straight, *way, location_dot(scene, args.start), location_dot(scene, args.end)],
        cameras=[args.start.camera or "", args.end.camera or ""],
    )


distance = Tool(
    name="distance",
    synonym="path_length",
    description=(
        "Measure the distance in metres between two locations: in a straight line, and the shortest way along"
        " the roads (outdoors) or through rooms, doors, stairs and lifts (indoors)."
    ),
    args=DistanceArgs,
    run=run,
    sketch=sketch,
    batch=Batch(
        takes={"start": "location", "end": "location"},
        rows=straight_lines,
        gives={
            "straight_m": "as above; ways along the network are told by single calls",
            "error_m": "as above",
        },
    ),
    example={"start": {"camera": "c1"}, "end": {"camera": "c2"}},
)
