"""A plan first, then ReAct with the plan in the conversation.

One turn for a plan, in which calls are forbidden; then `react`, with the plan in the conversation (Wang et
al. 2023). It costs one call of the model more.
"""

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon_agents.core.messages import with_user_turn
from gnomon_agents.core.tool_turn import tool_loop_calls
from gnomon_agents.react import react_from

PLAN = (
    "First write a short plan: which steps lead to the answer, and which tool serves each. Call no tool and"
    " give no answer yet."
)
ACT = "Now carry out the plan, and answer in the form that the question asks for."


class _Plan:
    """Plan and solve (Wang et al. 2023): one turn for a plan, in which calls are forbidden, then ReAct."""

    name = "plan"
    uses_tools = True
    description = "The model first writes a plan, then calls tools in turns as react does."

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        return tool_loop_calls(arm, before=1)

    async def answer(self, context: AgentContext) -> str:
        conversation = with_user_turn(context.prompt, PLAN)
        planned = await context.generate(conversation, tool_choice="none")
        conversation.append(planned.message(calls=[]))
        return await react_from(context, with_user_turn(conversation, ACT))


plan = _Plan()
