"""Trips planned in stages: facts, draft, schedule, verification and repair.

A LangGraph graph for trips ([trips](../packages/trips/README.md)): intake, ground, select, gather ⇄ tools,
draft, recommend, schedule, verify, repair (three rounds at most), guide, finalize. It acts through the
arm's tools alone: with `order_visits` it schedules what was drafted, or refuses what is proven impossible;
with `check_plan` it verifies and sends the faults back to the model. Names that are not found end in a
refusal, before the model is asked. When turns or calls run out, the draft with the fewest faults is the
answer.
"""

from gnomon.core.agent import AgentContext
from gnomon_trips.agents.itinerary import graph


class _Planner:
    """Runs the graph of packages/trips/gnomon_trips/agents/itinerary/graph.py on the prompt."""

    name = "planner"
    uses_tools = True
    description = (
        "Plans a trip: gathers facts, drafts, schedules, verifies and repairs, or refuses with reasons."
    )

    async def answer(self, context: AgentContext) -> str:
        return await graph.run(context)


planner = _Planner()
