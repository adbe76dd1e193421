"""Every fault of a plan by the rules that apply to its query, each in words.

The eight common rules (known places, nothing missing, places in the day's city, route, no repeats, transport,
least nights) and what the query asks for (budget, cuisines, house rule, type of room, transport). The query
is read by the benchmark's reader.

Error: `unread_error` 0: no rule is left unchecked, except that the wishes of the query wait until the plan
is complete and all in it is known.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult
from gnomon_trips.sandbox.answers import PlanArgs, sandbox_of
from gnomon_trips.sandbox.record import TravelSandbox
from gnomon_trips.sandbox.rules import judge


class FaultRow(ToolResult):
    """One rule that is broken."""

    rule: str
    faults: list[str] = Field(description="where and how")


class SandboxCheck(ToolResult):
    """The faults of the plan."""

    keeps_every_rule: bool
    broken: list[FaultRow] = Field(description="by rule; empty where every rule is kept")
    rules_checked: list[str] = Field(description="the rules that apply to the query")
    unread_error: int = Field(description="how many rules could not be checked: none")


def run(context: ToolContext, args: PlanArgs) -> SandboxCheck:
    """Judge the plan."""
    judgement = judge(args.days(), sandbox_of(context))
    return SandboxCheck(
        keeps_every_rule=judgement.final_pass,
        broken=[FaultRow(rule=rule, faults=list(words)) for rule, words in judgement.faults.items()],
        rules_checked=list(judgement.asked),
        unread_error=0,
    )


def sketch(_: ToolContext, args: PlanArgs, result: Result) -> Sketch:
    """The rules that are broken, in words."""
    broken = counted(len(rows_in(result, "broken")), "rule")
    return drawn(f"{counted(len(args.plan), 'day')} → {broken} broken")


sandbox_check = Tool(
    name="sandbox_check",
    description="Check a plan against all rules and against what the query asks for, and name every fault.",
    args=PlanArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
