"""Whether one place of Japan lies in another.

By administrative codes. True if any place of the inner name lies in any area of the outer name.

Error: `doubt` says how many more places of the inner name lie elsewhere, if any do.
"""

from pydantic import Field

from gnomon_published.gazetteer.japan import Gazetteer
from gnomon_published.gazetteer.naming import SURE, FoundPlace, NamedPlace, found_place, hits_of
from gnomon_published.gazetteer.search import lies_in as is_in
from gnomon_published.gazetteer.search import resolve
from gnomon_tools.core.marks import drawn, place_dot, rows_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult


class LiesInArgs(ToolArgs):
    """The smaller and the larger place."""

    inner: NamedPlace = Field(description="the smaller place: a town, station or municipality")
    outer: str = Field(min_length=1, max_length=200, description="the municipality or prefecture around it")


class LiesIn(ToolResult):
    """The answer, with the places it is about."""

    lies_in: bool
    inner: list[FoundPlace] = Field(description="the places of that name that lie in it; if none, all")
    outer: list[FoundPlace] = Field(description="the areas of that name")
    doubt: str | None = Field(description="why the answer may not hold, if it may not")


def run(_: ToolContext, args: LiesInArgs) -> LiesIn:
    """Compare by administrative codes.

    Raises:
        ToolError: one of the names is unknown.
    """
    outers = [
        hit.place for hit in resolve(args.outer, kinds=("prefecture", "municipality")) if hit.score >= SURE
    ]
    if not outers:
        raise ToolError(f"There is no prefecture or municipality {args.outer!r}.")
    inners = [hit.place for hit in hits_of(args.inner) if hit.score >= SURE]
    if not inners:
        raise ToolError(f"There is no place {args.inner.name!r}, only names that begin so or are nearly so.")
    inside = [place for place in inners if any(place != outer and is_in(place, outer) for outer in outers)]
    elsewhere = len(inners) - len(inside)
    doubt = f"{elsewhere} more places of that name lie elsewhere" if inside and elsewhere else None
    return LiesIn(
        lies_in=bool(inside),
        inner=[found_place(place) for place in inside or inners],
        outer=[found_place(place) for place in outers],
        doubt=doubt,
    )


def sketch(_: ToolContext, args: LiesInArgs, result: Result) -> Sketch:
    """The places of both names."""
    is_inside = result.get("lies_in")
    answer = ("yes" if is_inside else "no") if isinstance(is_inside, bool) else "?"
    doubt = text_in(result, "doubt")
    marks = [place_dot(place, role="asked") for place in rows_in(result, "outer")]
    marks += [place_dot(place) for place in rows_in(result, "inner")]
    summary = f"{args.inner.name} in {args.outer} → {answer}" + (f"; {doubt}" if doubt else "")
    return drawn(summary, marks, plane="earth")


lies_in = Tool(
    name="lies_in",
    description=(
        "Tell whether a Japanese town, station or municipality lies in a given municipality or prefecture, by"
        " their administrative codes."
    ),
    args=LiesInArgs,
    run=run,
    sketch=sketch,
    needs=Gazetteer,
    example={"inner": {"name": "Shibuya"}, "outer": "Tokyo"},
)
