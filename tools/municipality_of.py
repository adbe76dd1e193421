"""Which municipality and prefecture of Japan a named town, station or city lies in."""

from pydantic import Field

from tools.core.tool import Tool, ToolContext, ToolResult
from tools.gazetteer.naming import FoundPlace, NamedPlace, found_place, hits_of
from tools.gazetteer.place import Hit
from tools.gazetteer.search import ATTRIBUTION


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
        ToolError: nothing is known by it.
    """
    return MunicipalityOf(candidates=[_candidate(hit) for hit in hits_of(args)], source=ATTRIBUTION)


def _candidate(hit: Hit) -> Candidate:
    return Candidate(match_ratio=hit.score, place=found_place(hit.place))


municipality_of = Tool(
    name="municipality_of",
    description=(
        "Look up a Japanese town, railway station, municipality or prefecture by name: which municipality and"
        " prefecture it lies in, with all places that share the name. Knows no sights and shops."
    ),
    args=NamedPlace,
    run=run,
    needs="gazetteer",
)
