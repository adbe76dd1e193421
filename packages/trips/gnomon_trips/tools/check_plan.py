"""The faults of a plan, found by the checks that score it.

The codes are those of the verifier that scores plans. It does not tell whether a trip is possible at all.

Error: walking times are as exact as in `travel`; a fault by physics alone has the code IMPOSSIBLE.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in, some, text_in
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_trips.itinerary.context import ask, day_line, known_dot, trip_of
from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.selection import as_planned
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.verify import verify_plan
from gnomon_trips.itinerary.verify.violation import Verification


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


class Missing(ToolResult):
    """A check that no source could answer."""

    code: str
    path: str
    why: str


class CheckPlan(ToolResult):
    """All faults, errors first, and what could not be checked; a plan without errors passes."""

    errors: int
    faults: list[Fault]
    unchecked: list[Missing] = Field(description="checks that no source could answer: no faults of the plan")


def run(context: ToolContext, args: CheckPlanArgs) -> CheckPlan:
    """Verify the plan.

    Raises:
        ToolError: the provider failed.
    """
    trip = trip_of(context)
    verdict = ask(trip, _verified(args.plan, trip))
    violations = verdict.violations
    faults = sorted(violations, key=lambda violation: violation.severity)
    return CheckPlan(
        errors=sum(violation.severity == "error" for violation in violations),
        faults=[
            Fault(
                code=violation.code,
                severity=violation.severity,
                path=violation.path,
                expected=violation.expected,
                found=violation.found,
            )
            for violation in faults
        ],
        unchecked=[Missing(code=one.code, path=one.path, why=one.why) for one in verdict.unchecked],
    )


async def _verified(draft: DraftPlan, trip: Trip) -> Verification:
    trip = await as_planned(draft, trip.unjudged())
    return (await verify_plan(await plan_of(draft, trip), trip))[1]


def sketch(context: ToolContext, args: CheckPlanArgs, result: Result) -> Sketch:
    """The visits of the plan, those with a fault as problems, with a dashed line a day."""
    faults, marks = rows_in(result, "faults"), list[Mark | None]()
    codes: dict[str, str] = {}
    for fault in faults:  # of several faults of a visit the first is shown
        codes.setdefault(".".join(text_in(fault, "path").split(".")[:4]), text_in(fault, "code"))
    for day_index, day in enumerate(args.plan.days):
        dots = []
        for index, visit in enumerate(day.visits):
            code = codes.get(f"days.{day_index}.visits.{index}", "")
            label = f"{index + 1} {visit.place} {visit.arrive}–{visit.leave} {code}"
            dots.append(known_dot(context, visit.place, label, "problem" if code else "asked"))
        marks += [day_line(context, day_index, dots, f"day {day_index + 1}", "asked"), *dots]
    visits = f", {counted(sum(len(day.visits) for day in args.plan.days), 'visit')}" if args.plan.days else ""
    names = list(dict.fromkeys(text_in(fault, "code") for fault in faults))
    verdict = f"{counted(len(faults), 'fault')}: {some(names)}" if faults else "no faults"
    missing = list(dict.fromkeys(text_in(row, "code") for row in rows_in(result, "unchecked")))
    verdict += f", not checked: {some(missing)}" if missing else ""
    return drawn(f"{args.plan.status}{visits} → {verdict}", marks, plane="earth")


check_plan = Tool(
    name="check_plan",
    description="Check a plan against the request, the map, the walking times and the opening hours; every"
    " fault comes with a code, where it is, what was expected and what was found.",
    args=CheckPlanArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={
        "plan": {
            "days": [
                {
                    "visits": [
                        {"place": "Ateneum", "arrive": "10:00", "leave": "12:00"},
                        {"place": "Kiasma", "arrive": "12:30", "leave": "14:30"},
                    ]
                }
            ]
        }
    },
)
