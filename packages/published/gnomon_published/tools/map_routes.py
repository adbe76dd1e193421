"""The routes between two places by one mode, and the directions of one of them.

Without `via` all routes are listed with time and length; with `via` the route that takes these roads is
given step by step. Times and lengths of single steps are given where the service gives them.

Error: `duration_error_s` 30: the service gives whole minutes.
"""

from typing import Literal

from pydantic import Field

from gnomon_published.map_record.answers import DURATION_ERROR_S, AmountsRow, amounts_fields, record_of
from gnomon_published.map_record.names import resolve, ways_between
from gnomon_published.map_record.record import MapRecord, MapRoute
from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.name_match import plain_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult

MAX_LISTED = 12


class MapRoutesArgs(ToolArgs):
    """From where to where, how, and which route."""

    start: str = Field(min_length=1, max_length=300, description="name of the place where the routes start")
    end: str = Field(min_length=1, max_length=300, description="name of the place where the routes end")
    mode: Literal["foot", "car", "bicycle", "transit"] = Field(description="how to travel")
    via: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="roads of the one route whose directions are wanted; left out: all routes, in short",
    )


class StepRow(AmountsRow):
    """One direction."""

    text: str = Field(description="such as Turn left onto High Street")


class RouteRow(AmountsRow):
    """One route; what is not known is left out."""

    via: str = Field(description="the roads it takes")
    step_count: int = Field(description="number of its directions; 0 where they are not known")
    steps: list[StepRow] | None = Field(None, description="its directions; only where `via` was given")


class MapRoutesAnswer(ToolResult):
    """The routes, in the order of the map service."""

    start: str = Field(description="the place where the routes start")
    end: str = Field(description="the place where the routes end")
    mode: str = Field(description="how to travel")
    duration_error_s: float = Field(description="how far off each time may be by rounding")
    routes: list[RouteRow] = Field(description="all routes, or the one asked for")


def run(context: ToolContext, args: MapRoutesArgs) -> MapRoutesAnswer:
    """Find the routes.

    Raises:
        ToolError: a name is not known or may mean several places, or no such route is known.
    """
    routes = record_of(context).routes
    if not routes:
        raise ToolError("Not known: the map data hold no routes.")
    start, end, between = ways_between(routes, args.start, args.end)
    chosen = [route for route in between if route.mode == args.mode]
    if not chosen:
        known = dict.fromkeys(f"{route.start} to {route.end} by {route.mode}" for route in between or routes)
        raise ToolError(
            f"Not known: routes from {start} to {end} by {args.mode}. There are: "
            f"{'; '.join(list(known)[:MAX_LISTED])}."
        )
    if args.via is not None:
        via = plain_name(resolve(args.via, (route.via for route in chosen), "route via"))
        chosen = [route for route in chosen if plain_name(route.via) == via]
    return MapRoutesAnswer(
        start=start,
        end=end,
        mode=args.mode,
        duration_error_s=DURATION_ERROR_S,
        routes=[_row(route, with_steps=args.via is not None) for route in chosen],
    )


def _row(route: MapRoute, *, with_steps: bool) -> RouteRow:
    steps = [
        StepRow.model_validate({"text": step.text, **amounts_fields(step.amounts)}) for step in route.steps
    ]
    return RouteRow.model_validate(
        {
            "via": route.via,
            "step_count": len(steps),
            "steps": steps if with_steps else None,
            **amounts_fields(route.amounts),
        }
    )


def sketch(_: ToolContext, args: MapRoutesArgs, result: Result) -> Sketch:
    """The routes in words: their ends have no position."""
    rows = rows_in(result, "routes")
    steps = rows_in(rows[0], "steps") if len(rows) == 1 else []
    said = counted(len(steps), "step") if steps else counted(len(rows), "route")
    return drawn(f"{args.start} to {args.end} by {args.mode} → {said}")


map_routes = Tool(
    name="map_routes",
    description="List the routes from one place to another by one mode with time and length; with `via`, give"
    " the directions of that route step by step.",
    args=MapRoutesArgs,
    run=run,
    sketch=sketch,
    needs=MapRecord,
)
