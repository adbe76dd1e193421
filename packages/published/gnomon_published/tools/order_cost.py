"""The length of the way through sightings without a clock, for each order given.

A hop is the shortest way from the exit of one sighting to the entry of the next; no clock is needed.
`turn_deg` adds the turns from the heading at the exit to the straight way, and from that to the heading at
the entry.

Error: `error_m` adds the errors of all ends of hops and their distances from the network.
"""

import math
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from gnomon_tools.core.location import Location, listed, locate
from gnomon_tools.core.marks import amount, counted, drawn, number_in, rows_in, some, text_in, texts_in
from gnomon_tools.core.route import measure_route
from gnomon_tools.core.scene_marks import heading_arrow, location_dot, measured, spot_of, way_lines
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.angles import bearing_deg, turn_deg

MAX_HOPS = 400
Name = Annotated[str, Field(max_length=200)]
Order = Annotated[list[Name], Field(min_length=2, max_length=20)]
Heading = Annotated[float, Field(ge=-360, le=360)]


class Sighting(ToolArgs):
    """Where a target came into a view and left it."""

    name: Name = Field(description="what the orders call this sighting, such as its camera's id")
    entry: Location = Field(description="where it came into view: one of camera, place, or x_m with y_m")
    exit: Location = Field(description="where it left: one of camera, place, or x_m with y_m")
    entry_heading_deg: Heading | None = Field(
        default=None, description="its direction at the entry, if known"
    )
    exit_heading_deg: Heading | None = Field(default=None, description="its direction at the exit, if known")


class OrderCostArgs(ToolArgs):
    """The sightings and the orders to compare."""

    sightings: list[Sighting] = Field(min_length=2, max_length=20, description="the sightings, in any order")
    orders: list[Order] = Field(
        min_length=1, max_length=24, description="orders of sightings, each a list of their names"
    )


class Hop(ToolResult):
    """From the exit of one sighting to the entry of the next."""

    start: str
    end: str
    distance_m: float = Field(description="the shortest way, straight where the scene has no network")
    floor_changes: int = Field(description="how often it changes floors")
    turn_deg: float | None = Field(
        description="turns from the heading at the exit to the straight way and from it to the heading at the"
        " entry, added; left out where neither is known"
    )


class OrderTotal(ToolResult):
    """One order, hop by hop."""

    order: list[str]
    distance_m: float = Field(description="all hops together")
    turn_deg: float = Field(description="all known turns together")
    error_m: float = Field(description="how far off distance_m may be: the errors of all hops, added")
    hops: list[Hop]


class OrderCost(ToolResult):
    """The orders, the shortest first."""

    orders: list[OrderTotal]


def run(context: ToolContext, args: OrderCostArgs) -> OrderCost:
    """Add up the hops of every order.

    Raises:
        ToolError: a name is unknown or given twice, a location is not found, or there is no way for a hop.
    """
    by_name = {sighting.name: sighting for sighting in args.sightings}
    if len(by_name) < len(args.sightings):
        raise ToolError(
            f"Every sighting needs a name of its own; given: {listed(s.name for s in args.sightings)}."
        )
    strange = [name for order in args.orders for name in order if name not in by_name]
    if strange:
        raise ToolError(f"There is no sighting {strange[0]!r}. Sightings: {listed(by_name)}.")
    steps = dict.fromkeys(step for order in args.orders for step in pairwise(order))
    if len(steps) > MAX_HOPS:
        raise ToolError(f"The orders have {len(steps)} different hops; at most {MAX_HOPS} are measured.")
    hops = {step: _hop(context, by_name[step[0]], by_name[step[1]]) for step in steps}
    totals = [_total(order, [hops[step] for step in pairwise(order)]) for order in args.orders]
    return OrderCost(orders=sorted(totals, key=lambda total: total.distance_m))


def _total(order: list[str], hops: list[tuple[Hop, float]]) -> OrderTotal:
    return OrderTotal(
        order=order,
        distance_m=math.fsum(hop.distance_m for hop, _ in hops),
        turn_deg=math.fsum(hop.turn_deg or 0.0 for hop, _ in hops),
        error_m=math.fsum(error_m for _, error_m in hops),
        hops=[hop for hop, _ in hops],
    )


def _hop(context: ToolContext, first: Sighting, second: Sighting) -> tuple[Hop, float]:
    route = measure_route(context.scene, first.exit, second.entry)
    start, end = locate(context.scene, first.exit), locate(context.scene, second.entry)
    turns = []
    if start.xy_m != end.xy_m:
        straight_deg = bearing_deg(start.xy_m, end.xy_m)
        headings = (first.exit_heading_deg, second.entry_heading_deg)
        turns = [abs(turn_deg(heading, straight_deg)) for heading in headings if heading is not None]
    hop = Hop(
        start=first.name,
        end=second.name,
        distance_m=route.path.length_m if route.path else route.straight_m,
        floor_changes=len(route.path.floors) - 1 if route.path else abs(start.floor - end.floor),
        turn_deg=math.fsum(turns) if turns else None,
    )
    return hop, route.path_error_m


def sketch(context: ToolContext, args: OrderCostArgs, result: Result) -> Sketch:
    """The sightings, and the hops of the shortest order."""
    scene, by_name = context.scene, {sighting.name: sighting for sighting in args.sightings}
    marks: list[Mark | None] = []
    for sighting in args.sightings:
        exit_spot = spot_of(scene, sighting.exit)
        marks.append(location_dot(scene, sighting.entry, f"{sighting.name} in"))
        marks.append(location_dot(scene, sighting.exit, f"{sighting.name} out"))
        marks.append(heading_arrow(scene, exit_spot, sighting.exit_heading_deg, role="asked"))
    totals = rows_in(result, "orders")
    best = totals[0] if totals else {}
    for hop in rows_in(best, "hops"):
        start, end = by_name.get(text_in(hop, "start")), by_name.get(text_in(hop, "end"))
        if start and end:
            label = measured("", number_in(hop, "distance_m"))
            marks += way_lines(scene, spot_of(scene, start.exit), spot_of(scene, end.entry), label)
    shortest = f"{some(texts_in(best, 'order'))}: {amount(number_in(best, 'distance_m'), 'm')}"
    return drawn(f"{counted(len(args.orders), 'order')} → shortest {shortest}", marks)


order_cost = Tool(
    name="order_cost",
    synonym="sequence_length",
    description=(
        "Compare orders of sightings that have no clock: the way from each exit to the next entry, with its"
        " turns, hop by hop and in all. The true order tends to be short and smooth."
    ),
    args=OrderCostArgs,
    run=run,
    sketch=sketch,
    example={
        "sightings": [
            {"name": "c1", "entry": {"camera": "c1"}, "exit": {"camera": "c1"}, "exit_heading_deg": 90.0},
            {"name": "c2", "entry": {"camera": "c2"}, "exit": {"camera": "c2"}, "exit_heading_deg": 90.0},
            {"name": "c3", "entry": {"camera": "c3"}, "exit": {"camera": "c3"}, "exit_heading_deg": 90.0},
        ],
        "orders": [["c1", "c2", "c3"], ["c2", "c1", "c3"]],
    },
)
