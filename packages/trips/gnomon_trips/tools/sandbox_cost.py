"""What a plan costs for all travellers, item by item.

A flight and a meal cost their price for each person; a car is needed for every 5 people (one's own) or 4
(taxi), a room for as many as its maximum occupancy says, each night.

Error: `cost_error_usd` 0 for what is known; `unpriced` counts what is not, which has no price.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult
from gnomon_trips.sandbox.answers import PlanArgs, sandbox_of
from gnomon_trips.sandbox.plan import read_days
from gnomon_trips.sandbox.record import TravelSandbox
from gnomon_trips.sandbox.rules import cost_lines


class CostRow(ToolResult):
    """One item."""

    day: int
    item: str
    cost_usd: int = Field(description="for all people")


class SandboxCost(ToolResult):
    """The cost of the plan."""

    total_usd: int = Field(description="for all people, without what has no price")
    people: int = Field(description="how many the query asks for")
    unpriced: int = Field(description="how many items of the plan are not known")
    cost_error_usd: int = Field(description="how far off the cost of known items may be")
    items: list[CostRow]


def run(context: ToolContext, args: PlanArgs) -> SandboxCost:
    """Add the prices."""
    sandbox = sandbox_of(context)
    lines = cost_lines(args.days(), sandbox)
    plan = read_days(args.days())
    items = sum(bool(day.transport) + len(day.meals) + bool(day.lodging) for day in plan)
    return SandboxCost(
        total_usd=sum(line.cost_usd for line in lines),
        people=sandbox.needs.people,
        unpriced=items - len(lines),
        cost_error_usd=0,
        items=[CostRow(day=line.day, item=line.item, cost_usd=line.cost_usd) for line in lines],
    )


def sketch(_: ToolContext, args: PlanArgs, result: Result) -> Sketch:
    """The items and their sum, in words."""
    items = counted(len(rows_in(result, "items")), "item")
    return drawn(f"{counted(len(args.plan), 'day')} → ${result.get('total_usd', '?')} for {items}")


sandbox_cost = Tool(
    name="sandbox_cost",
    description="Add up what a plan costs for all travellers, with the rooms and cars they need.",
    args=PlanArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
