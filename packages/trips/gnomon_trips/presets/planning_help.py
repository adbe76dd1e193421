"""Compares what helps a planner: facts told, fetched, with a verifier, or with a scheduler.

`question` shows the request alone, `told` also all the facts. In `fetched` the same facts are behind tools.
`checked` adds the tools that judge a plan (`check`), `scheduled` the one that makes it (`schedule`). A
benchmark without these keeps the first three arms. With `agent: planner` each runs through its graph.

Primary: `fetched − told`, `checked − fetched` and `scheduled − fetched`.
"""

from pydantic import Field

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast

CHECKERS = ("check_plan", "sandbox_check", "sandbox_cost")
SCHEDULERS = ("order_visits", "plan_trip", "sandbox_schedule")


class PlanningHelpOptions(PresetOptions):
    """`check` and `schedule`: the tools that judge plans, and those that make them."""

    check: list[str] = Field(default_factory=lambda: list(CHECKERS))
    schedule: list[str] = Field(default_factory=lambda: list(SCHEDULERS))
    max_tool_calls: int = Field(default=30, ge=0, le=1000)
    max_turns: int = Field(default=32, ge=1, le=1000)


def plan(options: PlanningHelpOptions, _: Benchmark) -> ArmPlan:
    """Five arms with one agent and one set of limits; fewer where there is no such tool."""
    hidden = tuple(part for part in options.show if part != "facts")
    shown = (*hidden, "facts")
    checkers = [tool for tool in options.tools if tool in options.check]
    schedulers = [tool for tool in options.tools if tool in options.schedule]
    searches = tuple(tool for tool in options.tools if tool not in (*checkers, *schedulers))
    arms = [
        options.arm("question", show=hidden),
        options.arm("told", show=shown),
        options.with_tools("fetched", show=hidden, tools=searches),
    ]
    contrasts = [
        contrast("told", "fetched", "the fetching", "tools", "show", is_primary=True),
        contrast("question", "told", "the evidence", "show"),
    ]
    notes = []
    for name, isolates, tools in (
        ("checked", "the verifier's feedback", checkers),
        ("scheduled", "the scheduler", schedulers),
    ):
        if tools:
            arms.append(options.with_tools(name, show=hidden, tools=tuple(sorted((*searches, *tools)))))
            contrasts.append(contrast("fetched", name, isolates, "tools", is_primary=True))
        else:
            notes.append(f"No tool is for the arm {name!r} here, so it is left out.")
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts), notes=tuple(notes))


planning_help = Preset(
    name="planning_help",
    description="Tells, fetches, verifies or schedules: which help a planner of trips gains most from.",
    options=PlanningHelpOptions,
    plan=plan,
)
