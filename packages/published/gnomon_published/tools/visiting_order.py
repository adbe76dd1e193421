"""The shortest way over places of Japan, as a plausible order in which they were visited.

The shortest way over all of them, found exactly (Held and Karp); a way and its reverse are equally long, so
give an end where one is known.

Error: `error_m` adds, for every leg, how far its ends may reach from their points.
"""

import math
from itertools import pairwise

from pydantic import Field

from gnomon_published.gazetteer.japan import Gazetteer
from gnomon_published.gazetteer.naming import FoundPlace, NamedPlace, found_place, place_of
from gnomon_published.gazetteer.search import distance_m
from gnomon_published.held_karp import MAX_POINTS, shortest_order
from gnomon_tools.core.marks import (
    amount,
    counted,
    drawn,
    line_of,
    number_in,
    place_dot,
    rows_in,
    some,
    texts_in,
)
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult


class VisitingOrderArgs(ToolArgs):
    """The places, in any order."""

    places: list[NamedPlace] = Field(
        min_length=2, max_length=MAX_POINTS, description="the places, each once, in any order"
    )
    first: str | None = Field(default=None, max_length=200, description="name of the first, if it is known")
    last: str | None = Field(default=None, max_length=200, description="name of the last, if it is known")


class Leg(ToolResult):
    """From one place to the next."""

    start: str
    end: str
    distance_m: float


class VisitingOrder(ToolResult):
    """The shortest order; a journey may have been another, and a way and its reverse are equally short."""

    order: list[str]
    legs: list[Leg]
    distance_m: float = Field(description="all legs together, straight")
    given_order_m: float = Field(description="the same in the order of the call, to compare")
    error_m: float = Field(description="how far off distance_m may be: places reach so far from their points")
    places: list[FoundPlace] = Field(description="what each name was taken for, in that order")


def run(_: ToolContext, args: VisitingOrderArgs) -> VisitingOrder:
    """Find the order.

    Raises:
        ToolError: a name is unknown, shared or given twice, or an end is not among the places.
    """
    names = [named.name for named in args.places]
    if len(set(names)) < len(names):
        raise ToolError("A name is given twice; every place is visited once.")
    places = [place_of(named) for named in args.places]
    first, last = _end(names, args.first, "first"), _end(names, args.last, "last")
    if first is not None and first == last:
        raise ToolError("first and last are the same place; a way has two ends.")
    metres = [
        [distance_m(start.lat_deg, start.lon_deg, end.lat_deg, end.lon_deg) for end in places]
        for start in places
    ]
    order = shortest_order(metres, first=first, last=last)
    legs = [Leg(start=names[a], end=names[b], distance_m=metres[a][b]) for a, b in pairwise(order)]
    in_order = [found_place(places[at]) for at in order]
    return VisitingOrder(
        order=[names[at] for at in order],
        legs=legs,
        distance_m=math.fsum(leg.distance_m for leg in legs),
        given_order_m=math.fsum(metres[a][a + 1] for a in range(len(places) - 1)),
        error_m=math.fsum(start.position_error_m + end.position_error_m for start, end in pairwise(in_order)),
        places=in_order,
    )


def _end(names: list[str], name: str | None, which: str) -> int | None:
    if name is None:
        return None
    if name not in names:
        raise ToolError(f"{which}: {name!r} is none of the places: {', '.join(names)}.")
    return names.index(name)


def sketch(_: ToolContext, args: VisitingOrderArgs, result: Result) -> Sketch:
    """The places, numbered, and the legs between them."""
    names, places = texts_in(result, "order"), rows_in(result, "places")
    dots = [
        place_dot(place, f"{at} {name}")
        for at, (name, place) in enumerate(zip(names, places, strict=False), 1)
    ]
    marks: list[Mark | None] = []
    for (start, end), leg in zip(pairwise(dots), rows_in(result, "legs"), strict=False):
        if start and end:
            marks.append(
                line_of([start.at, end.at], amount(number_in(leg, "distance_m"), "m"), has_arrow=True)
            )
    total = amount(number_in(result, "distance_m"), "m")
    summary = f"{counted(len(args.places), 'place')} → {some(names)}: {total}"
    return drawn(summary, [*marks, *dots], plane="earth")


visiting_order = Tool(
    name="visiting_order",
    description=(
        "Find the shortest order in which to visit Japanese towns, stations or municipalities, with the"
        " distance of each leg. A hint at the order of a journey, not a proof."
    ),
    args=VisitingOrderArgs,
    run=run,
    sketch=sketch,
    needs=Gazetteer,
    example={"places": [{"name": "Kyoto City"}, {"name": "Kobe City"}, {"name": "Nara City"}]},
)
