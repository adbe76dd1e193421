"""Direct: the prompt, one call, the answer."""

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm


class _Direct:
    """One call of the model; its text is the answer.

    Tools that the arm lists are still shown to the model (a control: what does their mere presence
    change?), but it is asked not to call them, and a call it makes nevertheless is not run.
    """

    name = "direct"
    uses_tools = False
    description = "One call of the model; its text is the answer. No tool is ever run."

    def model_calls(self, arm: Arm) -> tuple[int, int]:  # noqa: ARG002 (whatever the arm)
        return 1, 1

    async def answer(self, context: AgentContext) -> str:
        reply = await context.generate(context.prompt, tool_choice="none")
        return reply.text


direct = _Direct()
