"""The objects of a scene by name, page by page, with the centres of their boxes.

Error: `error_m` is rounding alone.
"""

from pydantic import Field

from gnomon_rooms.named_boxes import ROUNDED_M, BoxName, boxes_in, kind_named, outlines, rounded
from gnomon_tools.core.marks import counted, drawn, number_in, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.scene.boxes import Boxes

PAGE = 20  # objects on a page


class BoxListArgs(ToolArgs):
    """Which kind, and which page."""

    kind: BoxName | None = Field(None, description="kind of object, such as chair; left out: all")
    page: int = Field(1, ge=1, le=1000, description="page, from 1; a page has 20 objects")


class ListedBox(ToolResult):
    """An object."""

    name: str
    x_m: float
    y_m: float
    z_m: float = Field(description="height of its centre")


class BoxList(ToolResult):
    """The objects of a page."""

    total: int = Field(description="how many there are on all pages")
    pages: int
    objects: list[ListedBox]
    error_m: float = Field(description="how far off the centres may be")


def run(context: ToolContext, args: BoxListArgs) -> BoxList:
    """List.

    Raises:
        ToolError: there is no such kind or page.
    """
    boxes = boxes_in(context)
    chosen = list(boxes.by_name.values()) if args.kind is None else kind_named(boxes, args.kind)
    pages = max(1, -(-len(chosen) // PAGE))
    if args.page > pages:
        raise ToolError(f"There is no page {args.page}; allowed: 1 to {pages}.")
    rows = []
    for box in chosen[PAGE * (args.page - 1) : PAGE * args.page]:
        x_m, y_m, z_m = map(rounded, box.centre_m)
        rows.append(ListedBox(name=box.name, x_m=x_m, y_m=y_m, z_m=z_m))
    return BoxList(total=len(chosen), pages=pages, objects=rows, error_m=ROUNDED_M)


def sketch(context: ToolContext, args: BoxListArgs, result: Result) -> Sketch:
    """The boxes of the page from above."""
    found = counted(int(number_in(result, "total") or 0), "object")
    summary = f"{args.kind or 'all objects'}, page {args.page} → {found}"
    return drawn(summary, outlines(context, rows_in(result, "objects")))


box_list = Tool(
    name="box_list",
    description="List the objects of the scene by name, all or of one kind, with the centres of their boxes.",
    args=BoxListArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
