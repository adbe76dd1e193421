"""Planner: gathers facts, drafts a trip, has it scheduled and verified, and mends what is wrong."""

from agents.trips import graph
from gnomon.core.agent import AgentContext


class _Planner:
    """intake, ground, gather with tools, draft, schedule, verify, repair (three rounds at most), finalize.

    What it may do is what the arm's tools allow: `order_visits` makes it schedule, `check_plan` makes it
    verify and repair. It refuses a request whose places are not found, naming them.
    """

    name = "planner"
    uses_tools = True
    description = (
        "Plans a trip: gathers facts, drafts, schedules, verifies and repairs, or refuses with reasons."
    )

    async def answer(self, context: AgentContext) -> str:
        return await graph.run(context)


planner = _Planner()
