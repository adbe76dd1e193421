"""Several drafts without tools, then the answer that most of them agree on.

The control for the tokens that tools make a model spend (preset `matched_compute`). It drafts answers, each
with a seed of its own, for as long as one more draft and the final choice fit into the arm's `max_tokens`;
then the model is shown all drafts and asked for the answer that most agree on (universal self-consistency,
Chen et al. 2023). Without `max_tokens`, or with a provider that counts no tokens, there are three drafts.
"""

from gnomon.core.agent import AgentContext
from gnomon.core.model import Reply
from gnomon_agents.core.messages import with_user_turn

DRAFTS = 3  # where no tokens are set as a limit, or the provider does not count them
CHOOSE = (
    "Above are independent drafts of your answer. Find the answer that most of them agree on, and reply with"
    " that answer alone, in the form that the question asks for."
)


class _Vote:
    """Universal self-consistency: the model itself finds what its drafts agree on.

    It drafts for as long as another draft and the choice fit into the arm's `max_tokens` and `max_turns`. One
    draft, or drafts that are all the same, are the answer at once.
    """

    name = "vote"
    uses_tools = False
    description = "Drafts several answers without tools, as tokens allow, and takes what most agree on."

    async def answer(self, context: AgentContext) -> str:
        drafts = [await context.generate(context.prompt, tool_choice="none")]
        while _is_room(context, drafts):
            drafts.append(await context.generate(context.prompt, tool_choice="none", draw=len(drafts)))
        if len({draft.text for draft in drafts}) == 1:
            return drafts[0].text
        # All drafts in one turn of the assistant: none of them is what the provider said, so none of its
        # reasoning goes back with them.
        drafts_text = "\n\n".join(
            f"Draft {number}:\n{draft.text}" for number, draft in enumerate(drafts, start=1)
        )
        conversation = with_user_turn(
            [*context.prompt, {"role": "assistant", "content": drafts_text}], CHOOSE
        )
        return (await context.generate(conversation, tool_choice="none")).text


def _is_room(context: AgentContext, drafts: list[Reply]) -> bool:
    """Whether another draft and the choice fit: the choice reads prompt and drafts, and writes one more."""
    if len(drafts) + 2 > context.arm.max_turns:
        return False
    prompts = [draft.prompt_tokens for draft in drafts]
    written = [draft.completion_tokens for draft in drafts]
    budget = context.arm.max_tokens
    if budget is None or None in prompts or None in written:
        return len(drafts) < DRAFTS
    read, wrote = [n or 0 for n in prompts], [n or 0 for n in written]
    spent, draft = sum(read) + sum(wrote), max(read) + max(wrote)
    choice = max(read) + sum(wrote) + 2 * max(wrote)
    return spent + draft + choice <= budget


vote = _Vote()
