"""What has a name or is near a location: places, roads, zones and cameras.

At most 30 matches are shown.

With `at`, what lies within the radius on its floor, the nearest first; without, exact names before parts of
names. Several of one name are all shown.

Error: `error_m` adds the position errors of `at` and of a camera found.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import shapely
from pydantic import Field, model_validator
from shapely.geometry.base import BaseGeometry

from gnomon_tools.core.batch import Batch
from gnomon_tools.core.location import Location, Position, locate
from gnomon_tools.core.marks import (
    amount,
    counted,
    dot_at,
    drawn,
    floor_of,
    number_in,
    rows_in,
    some,
    text_in,
    xy_in,
)
from gnomon_tools.core.scene_marks import location_dot, location_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.scene.scene import Scene

SHOWN = 30

Kind = Literal["place", "road", "zone", "camera"]


class LookupArgs(ToolArgs):
    """A name, a location, or both."""

    name: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="id, name or part of a name; case does not matter",
    )
    at: Location | None = Field(
        default=None, description="look around here: exactly one of camera, place, or x_m with y_m"
    )
    radius_m: float = Field(default=50.0, ge=0, le=1e6, description="how far around `at` to look, in metres")

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.name is None and self.at is None:
            raise ValueError("give a name, a location `at`, or both")
        return self


class Match(ToolResult):
    """One thing found."""

    kind: Kind
    id: str
    name: str | None
    category: str | None = Field(description="for a place: what kind of place")
    floor: int
    x_m: float | None = Field(description="where it is: of a road or zone a point in its middle")
    y_m: float | None
    distance_m: float | None = Field(
        description="from `at`, on its floor: to the nearest point of a road or zone, 0 inside a zone"
    )
    error_m: float = Field(
        description="how far off its position and distance_m may be: the position errors, added"
    )


class Matches(ToolResult):
    """What was found: the nearest first with `at`, else exact names first."""

    matches: list[Match] = Field(description=f"at most {SHOWN}")
    total: int = Field(description="how many there are, shown or not")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thing:
    kind: Kind
    id: str
    floor: int
    shape: BaseGeometry | None
    name: str = ""
    category: str | None = None
    error_m: float = 0.0

    def called(self, name: str) -> int | None:
        """0 by its id or whole name, 1 by a part of its name, None not at all."""
        wanted, own = name.casefold(), self.name.casefold()
        if wanted in (self.id.casefold(), own):
            return 0
        return 1 if wanted in own else None


def run(context: ToolContext, args: LookupArgs) -> Matches:
    """Look around or look a name up; nothing found is an empty list.

    Raises:
        ToolError: `at` is not found.
    """
    matches = found(context, args)
    return Matches(matches=matches[:SHOWN], total=len(matches))


def found(context: ToolContext, args: LookupArgs) -> list[Match]:
    """All there is, in order.

    Raises:
        ToolError: `at` is not found.
    """
    here = locate(context.scene, args.at) if args.at is not None else None
    matches: list[tuple[float, Match]] = []
    for entry in _things(context.scene):
        rank = entry.called(args.name) if args.name is not None else 0
        distance_m = _distance_m(entry, here) if here is not None else None
        too_far = here is not None and (distance_m is None or distance_m > args.radius_m)
        if rank is not None and not too_far:
            order = distance_m if distance_m is not None else float(rank)
            matches.append((order, _match(entry, distance_m, here.error_m if here else 0.0)))
    matches.sort(key=lambda pair: (pair[0], pair[1].kind, pair[1].id))
    return [match for _, match in matches]


def _things(scene: Scene) -> Iterator[_Thing]:
    for place in scene.places.values():
        point = shapely.Point(place.xy_m)
        yield _Thing(
            kind="place", id=place.id, floor=place.floor, shape=point, name=place.name, category=place.kind
        )
    for road in scene.roads.values():
        yield _Thing(kind="road", id=road.id, floor=0, shape=road.line, name=road.name)
    for zone in scene.zones.values():
        yield _Thing(kind="zone", id=zone.id, floor=zone.floor, shape=zone.area, name=zone.name)
    for camera in scene.cameras.values():
        spot = shapely.Point(camera.xy_m) if camera.xy_m is not None else None
        error_m = camera.position_error_m
        yield _Thing(kind="camera", id=camera.id, floor=camera.floor, shape=spot, error_m=error_m)


def _distance_m(entry: _Thing, here: Position) -> float | None:
    if entry.shape is None or entry.floor != here.floor:
        return None
    return float(entry.shape.distance(shapely.Point(here.xy_m)))


def _middle(shape: BaseGeometry) -> shapely.Point:
    if isinstance(shape, shapely.LineString):
        return shape.interpolate(0.5, normalized=True)
    return shape.point_on_surface()


def _match(entry: _Thing, distance_m: float | None, here_error_m: float) -> Match:
    middle = _middle(entry.shape) if entry.shape is not None else None
    return Match(
        kind=entry.kind,
        id=entry.id,
        name=entry.name or None,
        category=entry.category,
        floor=entry.floor,
        x_m=middle.x if middle is not None else None,
        y_m=middle.y if middle is not None else None,
        distance_m=distance_m,
        error_m=entry.error_m + here_error_m,
    )


def sketch(context: ToolContext, args: LookupArgs, result: Result) -> Sketch:
    """What was found, about the location that it was looked for around."""
    matches, total = rows_in(result, "matches"), number_in(result, "total")
    names = [text_in(match, "name") or text_in(match, "id") for match in matches]
    marks = []
    for match, name in zip(matches, names, strict=True):
        away_m = number_in(match, "distance_m")
        label = name if away_m is None else f"{name} {amount(away_m, 'm')}"
        marks.append(dot_at(xy_in(match), label, floor=floor_of(match), radius_m=number_in(match, "error_m")))
    around = ""
    if args.at is not None:
        around = f"within {amount(args.radius_m, 'm')} of {location_name(args.at)}"
        at = location_dot(context.scene, args.at)
        marks.append(at and dot_at(at.at, at.label, "asked", floor=at.floor, radius_m=args.radius_m))
    query = " ".join(filter(None, (args.name and f"“{args.name}”", around)))
    hits = counted(len(matches) if total is None else int(total), "match", "matches")
    summary = f"{query} → {hits}: {some(names)}" if matches else f"{query} → nothing"
    return drawn(
        summary,
        marks,
        cameras=[text_in(match, "id") for match in matches if text_in(match, "kind") == "camera"],
    )


lookup = Tool(
    name="lookup",
    synonym="find_on_map",
    description=(
        "Look up places, roads, zones and cameras of the scene by name, or what lies within a radius of a"
        " location; with ids, floors, positions and distances in metres, the nearest first."
    ),
    args=LookupArgs,
    run=run,
    sketch=sketch,
    example={"at": {"camera": "c1"}, "radius_m": 100.0},
    batch=Batch(
        takes={"at": "location", "radius_m": "number"},
        rows=found,
        gives={
            "row": "number of the point, from 0, rising: once for each thing within the radius",
            "kind": "place, road, zone or camera",
            "id": "of that thing",
            "distance_m": "as above; of one point rising",
            "error_m": "as above",
        },
    ),
)
