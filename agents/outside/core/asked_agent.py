"""An agent whose loop is not ours: asked once for each answer; what it tells of its steps is recorded.

A call of it is made as one of a model is: within the rate limit of its address, tried again by the job's
policy, behind a circuit breaker. It is not tried again once it has called a tool of ours.
"""

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from agents.outside.core.handed_tools import handed_tools
from agents.outside.core.question import AgentReply, Question
from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.errors import AgentFault
from gnomon.core.model import Model
from gnomon.core.outside_agent import OutsideAgent
from gnomon.core.redaction import SHORTEST, key_in, redactor_here
from gnomon.core.trace import Account, ReplyStep, Step

NO_DEADLINE_S = 86_400.0  # the trial's own limit ends it sooner


class AskedAgent:
    """An outside agent behind the protocol of agents; `subject` is asked as a model is."""

    name = "outside"
    uses_tools = True
    description = "An agent from outside, with a loop of its own."

    def __init__(self, spec: OutsideAgent, subject: Model) -> None:
        self.spec, self._subject = spec, subject
        key = key_in(spec.api_key_env or "")
        if len(key) >= SHORTEST:
            redactor_here().add(key)

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        return 1, arm.max_turns

    def around(self, wrap: Callable[[Model], Model]) -> None:
        self._subject = wrap(self._subject)

    async def close(self) -> None:
        await self._subject.close()

    async def answer(self, context: AgentContext) -> str:
        """The agent's answer; the trace gets what it tells.

        Raises:
            ProviderFault: it cannot be reached, or refuses.
            AgentFault: it ended without an answer.
        """
        trace, started = context.trace, time.perf_counter()
        # An account of earlier turns may be lost with the worker that kept it: then it is unknown.
        earlier = trace.account or (Account() if trace.replies else None)
        trace.account = Account()
        calls_before = len(trace.tool_steps)
        async with AsyncExitStack() as stack:
            hands = bool(context.arm.tools) and self.spec.hands_tools == "mcp"
            server = await stack.enter_async_context(handed_tools(context)) if hands else None
            trace.tools_offered = len(context.toolbox.schemas) if hands else 0
            question = Question(
                messages=context.prompt,
                tools=context.toolbox.schemas if hands else [],
                seed=context.seed,
                timeout_s=self.spec.timeout_seconds or NO_DEADLINE_S,
                decoding=context.decoding,
                sample_id=context.sample_id,
                model_id=context.model.id,
                limits=_limits(context, self.spec),
                media=context.media,
                tool_server=server,
            )

            async def ask(_: int) -> AgentReply:
                reply = await self._subject.reply(question)
                if not isinstance(reply, AgentReply):
                    raise TypeError(f"{self.spec.kind} gave a {type(reply).__name__}")
                return reply

            try:
                reply = await context.retried(
                    ask, is_repeatable=lambda: len(trace.tool_steps) == calls_before
                )
            except AgentFault as fault:
                raise AgentFault(redactor_here().redact_text(fault.message), cause=fault.cause) from None
        reply = _redacted(reply)
        for step in _all_steps(reply, keeps_reasoning=trace.keeps_reasoning, started=started):
            trace.add(step)
        trace.account = reply.account if earlier is None else earlier.plus(reply.account)
        return reply.text


def _limits(context: AgentContext, spec: OutsideAgent) -> dict[str, Any]:
    arm = context.arm
    return {
        "seconds": spec.timeout_seconds,
        "max_turns": arm.max_turns,
        "max_tool_calls": context.tool_calls_left if arm.tools else None,
    }


def _redacted(reply: AgentReply) -> AgentReply:
    """The reply without secrets of this process: what is scored is what is kept."""
    redactor = redactor_here()
    steps: list[Step] = []
    for step in reply.steps:
        fields = {name: getattr(step, name) for name in step.__slots__}
        redacted = redactor.redact_in(fields)
        steps.append(step if redacted is fields else replace(step, **redacted))
    return replace(reply, text=redactor.redact(reply.text), steps=tuple(steps))


def _all_steps(reply: AgentReply, *, keeps_reasoning: bool, started: float) -> list[Step]:
    """The steps that were told, the answer as the last of them, with what all of it used."""
    steps = [
        replace(step, reasoning="") if isinstance(step, ReplyStep) and not keeps_reasoning else step
        for step in reply.steps
    ]
    last = steps[-1] if steps else None
    if isinstance(last, ReplyStep) and last.text == reply.text and not last.tool_calls:
        steps.pop()
    answer = last if isinstance(last, ReplyStep) and len(steps) < len(reply.steps) else None
    steps.append(
        ReplyStep(
            text=reply.text,
            tool_calls=(),
            finish_reason="stop",
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens,
            reasoning_tokens=reply.reasoning_tokens,
            reasoning=answer.reasoning if answer else "",
            flags=reply.flags,
            usd=reply.usd,
            cached=False,
            wall_s=round(time.perf_counter() - started, 6),
            tries=1,
        )
    )
    return steps
