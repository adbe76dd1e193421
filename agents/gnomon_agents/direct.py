"""One call of the model: the prompt, one reply, the answer.

The baseline. If the arm lists tools, the model is shown their schemas with `tool_choice: none`, so that an
arm can tell the effect of *seeing* tools from that of *using* them. A tool call that the model makes
nevertheless is kept in the trace and not run.
"""

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm


class _Direct:
    """One call of the model; its text is the answer."""

    name = "direct"
    uses_tools = False
    description = "One call of the model; its text is the answer. No tool is ever run."

    def model_calls(self, arm: Arm) -> tuple[int, int]:  # noqa: ARG002 (whatever the arm)
        return 1, 1

    async def answer(self, context: AgentContext) -> str:
        reply = await context.generate(context.prompt, tool_choice="none")
        return reply.text


direct = _Direct()
