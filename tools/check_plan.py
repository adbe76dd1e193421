"""The faults of a plan, found by the checks that score it.

The codes are those of the verifier that scores plans. It does not tell whether a trip is possible at all.

Error: walking times are as exact as in `travel`; a fault by physics alone has the code IMPOSSIBLE.
"""

from pydantic import Field

from tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from tools.itinerary.context import ask, trip_of
from tools.itinerary.draft import DraftPlan, plan_of
from tools.itinerary.trip import Trip
from tools.itinerary.verify.verify import verify_plan
from tools.itinerary.verify.violation import Verification


class CheckPlanArgs(ToolArgs):
    """A plan."""

    plan: DraftPlan = Field(description="the plan as it would be answered")


class Fault(ToolResult):
    """One fault."""

    code: str
    severity: str
    path: str
    expected: str
    found: str


class CheckPlan(ToolResult):
    """All faults, errors first; a plan with none passes."""

    errors: int
    faults: list[Fault]


def run(context: ToolContext, args: CheckPlanArgs) -> CheckPlan:
    """Verify the plan.

    Raises:
        ToolError: the provider failed.
    """
    trip = trip_of(context)
    told = ask(trip, _verified(args.plan, trip)).violations
    faults = sorted(told, key=lambda one: one.severity)
    return CheckPlan(
        errors=sum(one.severity == "error" for one in told),
        faults=[
            Fault(
                code=one.code,
                severity=one.severity,
                path=one.path,
                expected=one.expected,
                found=one.found,
            )
            for one in faults
        ],
    )


async def _verified(draft: DraftPlan, trip: Trip) -> Verification:
    return (await verify_plan(await plan_of(draft, trip.unjudged()), trip.unjudged()))[1]


check_plan = Tool(
    name="check_plan",
    description="Check a plan against the request, the map, the walking times and the opening hours; every"
    " fault comes with a code, where it is, what was expected and what was found.",
    args=CheckPlanArgs,
    run=run,
    needs="trip",
)
