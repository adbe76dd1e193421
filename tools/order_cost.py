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

from tools.core.location import Location, listed, locate
from tools.core.route import measure_route
from tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from tools.geometry.angles import bearing_deg, turn_deg

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
    known = {sighting.name: sighting for sighting in args.sightings}
    if len(known) < len(args.sightings):
        raise ToolError(
            f"Every sighting needs a name of its own; given: {listed(s.name for s in args.sightings)}."
        )
    strange = [name for order in args.orders for name in order if name not in known]
    if strange:
        raise ToolError(f"There is no sighting {strange[0]!r}. Sightings: {listed(known)}.")
    steps = dict.fromkeys(step for order in args.orders for step in pairwise(order))
    if len(steps) > MAX_HOPS:
        raise ToolError(f"The orders have {len(steps)} different hops; at most {MAX_HOPS} are measured.")
    hops = {step: _hop(context, known[step[0]], known[step[1]]) for step in steps}
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


def _hop(context: ToolContext, one: Sighting, other: Sighting) -> tuple[Hop, float]:
    found = measure_route(context.scene, one.exit, other.entry)
    start, end = locate(context.scene, one.exit), locate(context.scene, other.entry)
    turns = []
    if start.xy_m != end.xy_m:
        straight_deg = bearing_deg(start.xy_m, end.xy_m)
        headings = (one.exit_heading_deg, other.entry_heading_deg)
        turns = [abs(turn_deg(heading, straight_deg)) for heading in headings if heading is not None]
    hop = Hop(
        start=one.name,
        end=other.name,
        distance_m=found.path.length_m if found.path else found.straight_m,
        floor_changes=len(found.path.floors) - 1 if found.path else abs(start.floor - end.floor),
        turn_deg=math.fsum(turns) if turns else None,
    )
    return hop, found.path_error_m


order_cost = Tool(
    name="order_cost",
    description=(
        "Compare orders of sightings that have no clock: the way from each exit to the next entry, with its"
        " turns, hop by hop and in all. The true order tends to be short and smooth."
    ),
    args=OrderCostArgs,
    run=run,
)
