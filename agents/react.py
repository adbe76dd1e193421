"""ReAct: the model calls tools in turns until it answers."""

from agents import _react_graph
from gnomon.agent import AgentContext


class _React:
    """Reason and act: ask, run the tools it calls, tell it what they said, ask again (Yao et al. 2023).

    `tool_choice: required` holds until there was a call; held longer, no model could ever answer.
    A call that fails in any way comes back to the model as an observation. When the arm's tool calls are
    used up, every further call of that reply is told so, and the model is asked one last time without
    tools to choose from; if it calls again, the trial ends as `max_tool_calls`. The last reply without a
    call is the answer.
    """

    name = "react"
    uses_tools = True
    description = "The model calls tools in turns, sees what they say, and answers when it is ready."

    async def answer(self, context: AgentContext) -> str:
        return await _react_graph.run(context)


react = _React()
