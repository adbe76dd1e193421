"""The places of a kind around a place, or those that match a search, as a map service lists them.

The service's order is kept. Lists are found by the place they are around, by their kind, or by both; where
several fit, all are named and none is chosen.

Error: `position_error_m` of each place is the rounding of its position.
"""

from pydantic import Field

from gnomon_published.map_record.answers import PlaceRow, place_row, record_of
from gnomon_published.map_record.names import fitting_names, resolve
from gnomon_published.map_record.record import MapRecord, NearbyList
from gnomon_tools.core.marks import amount, counted, drawn, place_dot, rows_in
from gnomon_tools.core.name_match import plain_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult

MAX_LISTED = 12


class MapNearbyArgs(ToolArgs):
    """Around what, and which kind."""

    around: str = Field(min_length=1, max_length=300, description="name of the place to look around")
    kind: str | None = Field(
        None, min_length=1, max_length=100, description="kind of places, such as restaurants; left out: any"
    )


class MapNearbyAnswer(ToolResult):
    """One list of places."""

    around: str = Field(description="the place that was looked around")
    kind: str = Field(description="the kind of places listed")
    order: str = Field(description="nearest first, or not sorted")
    radius_m: float | None = Field(description="how far around; left out where it is not said")
    places: list[PlaceRow] = Field(description="the places, in the order of the map service")


def run(context: ToolContext, args: MapNearbyArgs) -> MapNearbyAnswer:
    """Find the list.

    Raises:
        ToolError: there is no such list, or several fit.
    """
    lists = record_of(context).nearby
    if not lists:
        raise ToolError("Not known: the map data hold no list of places around any place.")
    try:
        centre = resolve(args.around, (listed.around for listed in lists))
    except ToolError:
        raise ToolError(f"Not known around {args.around!r}. There are: {_names(lists)}.") from None
    around = [listed for listed in lists if plain_name(listed.around) == plain_name(centre)]
    fitting = around if args.kind is None else _of_kind(around, args.kind)
    if len(fitting) > 1:
        raise ToolError(f"Several lists fit: {_names(fitting)}. Name the kind.")
    if not fitting:
        raise ToolError(f"Not known: no {args.kind!r} around {centre}. There are: {_names(around)}.")
    (listed,) = fitting
    return MapNearbyAnswer(
        around=listed.around,
        kind=listed.kind,
        order=listed.order,
        radius_m=listed.radius_m,
        places=[place_row(place) for place in listed.places],
    )


def _of_kind(lists: list[NearbyList], kind: str) -> list[NearbyList]:
    """Those whose kind has the words, in the singular or the plural."""
    by_kind = {_stem(listed.kind): listed for listed in lists}
    return [by_kind[name] for name in fitting_names(_stem(kind), list(by_kind))]


def _stem(kind: str) -> str:
    """The words of a kind without the endings of the plural.

    >>> _stem("Bakeries"), _stem("Hardware Stores"), _stem("church")
    ('baker', 'hardware store', 'church')
    """
    words = plain_name(kind).split()
    return " ".join(word.removesuffix("s").removesuffix("ie").removesuffix("y") for word in words)


def _names(lists: tuple[NearbyList, ...] | list[NearbyList]) -> str:
    return "; ".join(f"{listed.kind} around {listed.around}" for listed in lists[:MAX_LISTED])


def sketch(_: ToolContext, args: MapNearbyArgs, result: Result) -> Sketch:
    """The places that have a position."""
    rows = rows_in(result, "places")
    within = result.get("radius_m")
    radius = f" within {amount(within, 'm')}" if isinstance(within, int | float) else ""
    summary = f"{args.kind or 'places'} around {args.around}{radius} → {counted(len(rows), 'place')}"
    return drawn(summary, [place_dot(row) for row in rows], plane="earth")


map_nearby = Tool(
    name="map_nearby",
    description="List the places of a kind around a place, in the map service's order, with address, rating,"
    " price level and opening hours where known.",
    args=MapNearbyArgs,
    run=run,
    sketch=sketch,
    needs=MapRecord,
)
