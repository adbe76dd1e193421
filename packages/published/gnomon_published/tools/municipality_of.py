"""The municipality and prefecture of a named town, station or city of Japan.

From the embedded [gazetteer](gazetteer.md) of Japan; offered only to questions that play there. English and
Japanese names, any usual spelling. `match_ratio` is 1 for the full name, 0.95 where another word says what it
is (Shibuya City for Shibuya-ku), 0.9 without one, less for names that begin so or are nearly so. Sights and
shops are not in it: the message then names the words of the name that are places.

Error: `position_error_m` is how far from its point the place may reach: to its farthest town, or 1 km for a
station, 2 km for a town.
"""

from pydantic import Field

from gnomon_published.gazetteer.japan import Gazetteer
from gnomon_published.gazetteer.naming import FoundPlace, NamedPlace, found_place, hits_of
from gnomon_published.gazetteer.search import ATTRIBUTION
from gnomon_tools.core.marks import drawn, place_dot, rows_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult


class Candidate(ToolResult):
    """A place that the name may mean."""

    match_ratio: float = Field(
        description="1: its full name; 0.9: without city, ward or station; less: nearly"
    )
    place: FoundPlace


class MunicipalityOf(ToolResult):
    """All that the name may mean, the likeliest first."""

    candidates: list[Candidate]
    source: str


def run(_: ToolContext, args: NamedPlace) -> MunicipalityOf:
    """Look the name up.

    Raises:
        ToolError: no place has that name.
    """
    candidates = [Candidate(match_ratio=hit.score, place=found_place(hit.place)) for hit in hits_of(args)]
    return MunicipalityOf(candidates=candidates, source=ATTRIBUTION)


def sketch(_: ToolContext, args: NamedPlace, result: Result) -> Sketch:
    """The places that the name may mean."""
    places = [row["place"] for row in rows_in(result, "candidates") if "place" in row]
    likeliest = places[0] if places else None
    areas = (text_in(likeliest, name) for name in ("name", "ward", "municipality", "prefecture"))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    summary = f"{args.name} → {', '.join(filter(None, areas)) or 'nothing'}{more}"
    return drawn(summary, [place_dot(place) for place in places], plane="earth")


municipality_of = Tool(
    name="municipality_of",
    description=(
        "Look up a Japanese town, railway station, municipality or prefecture by name: which municipality and"
        " prefecture it lies in, with all places that share the name. Knows no sights and shops."
    ),
    args=NamedPlace,
    run=run,
    sketch=sketch,
    needs=Gazetteer,
    example={"name": "Dotonbori"},
)
