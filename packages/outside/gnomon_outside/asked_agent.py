"""An agent whose loop is not ours: asked once for each answer; what it tells of its steps is recorded.

A call of it is made as one of a model is: within the rate limit of its address, tried again by the job's
policy, behind a circuit breaker. It is not tried again once it has called a tool of ours.
"""

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.errors import AgentFault
from gnomon.core.message import Message
from gnomon.core.model import Model
from gnomon.core.outside_agent import OutsideAgent
from gnomon.core.read_calls import flag_of, read_calls, text_calls
from gnomon.core.redaction import SHORTEST, key_in, redactor_here
from gnomon.core.trace import Account, ReplyStep, Step
from gnomon_agents.core.messages import as_observation, with_user_turn
from gnomon_agents.core.tool_turn import run_call, tool_choice_now
from gnomon_outside.handed_tools import handed_tools
from gnomon_outside.question import AgentReply, Question

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
            while True:
                kept, reply = read_calls(
                    await self._ask(context, question),
                    question.tools,
                    may_call=tool_choice_now(context) != "none",
                    mode=context.tool_calls,
                    trace=trace,
                )
                for step in _all_steps(kept, question, keeps=trace.keeps_reasoning, started=started):
                    trace.add(step)
                earlier = kept.account if earlier is None else earlier.plus(kept.account)
                trace.account = earlier
                if not reply.tool_calls:
                    return reply.text
                context.check_limits()
                messages = [*question.messages, Message(role="assistant", content=kept.text)]
                for call in reply.tool_calls:  # told in words: not every agent takes results of calls
                    result = await run_call(context, call)
                    messages = with_user_turn(messages, as_observation(result["content"]))
                question = replace(question, messages=messages, limits=_limits(context, self.spec))
                trace.account, started = Account(), time.perf_counter()

    async def _ask(self, context: AgentContext, question: Question) -> AgentReply:
        """One answer of the agent, without secrets; asked again if need be, until it has called a tool."""
        trace = context.trace
        calls_before = len(trace.tool_steps)

        async def ask(_: int) -> AgentReply:
            reply = await self._subject.reply(question)
            if not isinstance(reply, AgentReply):
                raise TypeError(f"{self.spec.kind} gave a {type(reply).__name__}")
            return reply

        try:
            reply = await context.retried(ask, is_repeatable=lambda: len(trace.tool_steps) == calls_before)
        except AgentFault as fault:
            raise AgentFault(redactor_here().redact_text(fault.message), cause=fault.cause) from None
        return _redacted(reply)


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


def _all_steps(reply: AgentReply, question: Question, *, keeps: bool, started: float) -> list[Step]:
    """The steps that were told, the answer as the last of them, with what all of it used; `keeps`: with their
    reasoning.
    """
    steps = [
        _told(step, question, keeps_reasoning=keeps) if isinstance(step, ReplyStep) else step
        for step in reply.steps
    ]
    last = steps[-1] if steps else None
    if isinstance(last, ReplyStep) and last.text == reply.text and not last.tool_calls:
        steps.pop()
    answer = last if isinstance(last, ReplyStep) and len(steps) < len(reply.steps) else None
    steps.append(
        ReplyStep(
            text=reply.text,
            tool_calls=reply.tool_calls,
            finish_reason="stop",
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens,
            reasoning_tokens=reply.reasoning_tokens,
            reasoning=answer.reasoning if answer else "",
            has_reasoning=answer is not None and answer.has_reasoning,
            flags=reply.flags,
            model_version=reply.model_version,
            usd=reply.usd,
            cached=False,
            wall_s=round(time.perf_counter() - started, 6),
            tries=1,
        )
    )
    return steps


def _told(step: ReplyStep, question: Question, *, keeps_reasoning: bool) -> ReplyStep:
    calls = None if step.tool_calls else text_calls(step.text, question.tools)
    flags = step.flags if calls is None else (*step.flags, flag_of(calls))
    return replace(
        step,
        flags=flags,
        reasoning=step.reasoning if keeps_reasoning else "",
        has_reasoning=bool(step.reasoning.strip()),
    )
