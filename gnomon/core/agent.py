"""How an agent answers a sample: it sees its context and nothing else."""

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from gnomon.core.arm import Arm
from gnomon.core.decoding import NO_DECODING, Decoding
from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.ids import stable_seed
from gnomon.core.message import Block, ImageBlock, Message, ToolCall, ToolChoice, text_of
from gnomon.core.model import CALL_TIMEOUT_S, Model, Reply, Request
from gnomon.core.outside_agent import OutsideAgent
from gnomon.core.provider_wait import provider_wait, sleep_as_asked
from gnomon.core.read_calls import ToolCallsIn, read_calls
from gnomon.core.retry import DEFAULT_RETRY, RetryPolicy
from gnomon.core.trace import PROVIDER_FAULT, NoteStep, ReplyStep, ToolStep, Trace
from gnomon.core.words import LATEST_WORDS, WordsVersion
from gnomon_tools.core.abilities import ability_faults
from gnomon_tools.core.plugin_code import contained
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.toolbox import Observation, Toolbox

if TYPE_CHECKING:
    from gnomon.media import MediaStore

T = TypeVar("T")

READ_OTHERWISE = "what the model read of a result:"  # begins a note
TOOL_THREADS = 128  # calls of slow tools at the same time


class LimitReached(Exception):
    """A limit of the arm ended the trial; `limit` names it."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"limit reached: {limit}")
        self.limit = limit


class Checkpoints(Protocol):
    """Keeps how far a trial has come, so that another process can go on from there.

    `state` is what the agent gave for its last checkpoint in an earlier attempt, whose steps are in the trace
    by then; None where a turn begins. `answers` are those to the turns before, of a question with follow-ups.
    """

    state: bytes | None
    answers: list[str]

    def keep(self, state: Callable[[], bytes], *, after: str) -> Awaitable[None]:
        """Take a checkpoint now, after the node of that name; the answer comes when it is written. It raises
        nothing, and does nothing where too little would be lost.
        """

    def begin_anew(self, reason: str) -> None:
        """Forget what the earlier attempt did in this turn: its state cannot be read."""

    def end_turn(self, answer: str) -> None:
        """A turn is over, with this answer."""


@dataclass(slots=True, kw_only=True)
class AgentContext:
    """All that an agent has: the prompt, a model to ask, tools to use; both are recorded and limited.

    `checkpoints` are for agents that can go on in the middle; None where no other process would. `media`
    holds the prompt's pictures, for agents that do not ask the model; None where there are none.
    """

    prompt: list[Message]
    arm: Arm
    model: Model
    toolbox: Toolbox
    trace: Trace
    seed: int
    call_timeout_s: float = CALL_TIMEOUT_S
    retry: RetryPolicy = DEFAULT_RETRY
    decoding: Decoding = NO_DECODING
    checkpoints: Checkpoints | None = None
    sample_id: str = ""
    media: "MediaStore | None" = None
    tool_calls: ToolCallsIn = "native"  # where calls are read, see `ModelSpec`
    words: WordsVersion = LATEST_WORDS
    _returned: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    async def generate(
        self,
        messages: list[Message],
        *,
        tool_choice: ToolChoice | None = None,
        offer_tools: bool = True,
        draw: int = 0,
    ) -> Reply:
        """One reply of the model, tried again when its provider fails in passing.

        Calls that it writes as text are flagged; where the model's entry says so and calls are allowed, they
        are its calls. Without `offer_tools` the request holds no schemas: for agents that tell of tools in
        words, and read calls themselves. Another `draw` of the same messages has another seed.

        Raises:
            LimitReached: the arm's turns, tokens or dollars are used up.
            ProviderFault, ModelFault: as the model raises them.
        """
        self.check_limits()
        self._note_changed_results(messages)
        request = Request(
            messages=messages,
            tools=self.toolbox.schemas if offer_tools else [],
            tool_choice=tool_choice or self.arm.tool_choice,
            seed=stable_seed(self.seed, draw) if draw else self.seed,
            timeout_s=self.call_timeout_s,
            decoding=self.decoding,
        )
        # Planning for a trip that has just become known offers more than the trial began with.
        self.trace.tools_offered = max(self.trace.tools_offered or 0, len(self.toolbox.schemas))

        read = partial(read_calls, tools=request.tools, mode=self.tool_calls, trace=self.trace)

        async def call(attempt: int) -> Reply:
            started = time.perf_counter()
            try:
                with contained():
                    reply = await self.model.reply(request)
            except ModelFault as fault:
                if fault.reply is not None:  # it was paid for
                    self._note(read(fault.reply, may_call=False)[0], started, tries=attempt)
                raise
            kept, reply = (
                read(reply, may_call=request.tool_choice != "none") if offer_tools else (reply, reply)
            )
            self._note(kept, started, tries=attempt)
            return reply

        return await self.retried(call)

    def _note_changed_results(self, messages: list[Message]) -> None:
        """Note results of calls that an agent has cut or reworded, each once: the trace then holds both.

        What it adds behind a result, such as that no call is left, is no change of the result.
        """
        for message in messages:
            if message["role"] != "tool":
                continue
            call_id, read = message["tool_call_id"], text_of(message)
            if not read.startswith(self._returned.get(call_id, "")):
                self._returned[call_id] = read
                self.trace.add(NoteStep(text=f"{READ_OTHERWISE} {read}"))

    async def retried(
        self, call: Callable[[int], Awaitable[T]], *, is_repeatable: Callable[[], bool] = lambda: True
    ) -> T:
        """What a call returns, tried again when its provider fails in passing; `call` is passed the number of
        the try, from 1. One that is not repeatable any more is not.

        Raises:
            ProviderFault: as the last try raises it.
        """
        attempt, retry = 0, self.retry
        while True:
            attempt += 1
            try:
                return await call(attempt)
            except ProviderFault as fault:
                note = f"{PROVIDER_FAULT} ({fault.cause}), try {attempt} of {retry.max_attempts}: {fault}"
                if not (retry.may_retry(fault, attempt) and is_repeatable()):
                    self.trace.add(NoteStep(text=note))
                    raise
                pause_s = max(retry.capped_s(retry.pause_s(attempt)), fault.retry_after_s or 0.0)
            again = f"{note.rstrip('.')}. Again in {retry.capped_s(pause_s):.1f} s"
            self.trace.add(NoteStep(text=again))
            await sleep_as_asked(pause_s, retry=retry, on_the_clock=True)

    def _note(self, reply: Reply, started: float, *, tries: int) -> None:
        self.trace.add(
            ReplyStep(
                text=reply.text,
                tool_calls=reply.tool_calls,
                finish_reason=reply.finish_reason,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                cached_tokens=reply.cached_tokens,
                cache_write_tokens=reply.cache_write_tokens,
                reasoning_tokens=reply.reasoning_tokens,
                reasoning=reply.reasoning if self.trace.keeps_reasoning else "",
                request_changes=reply.request_changes,
                flags=reply.flags,
                model_version=reply.model_version,
                has_reasoning=bool(reply.reasoning.strip()),
                usd=reply.usd,
                cached=reply.cached,
                wall_s=round(time.perf_counter() - started, 6),
                tries=tries,
            )
        )

    async def call_tool(self, call: ToolCall) -> Message:
        """Run one tool call and return the message for the model, failure or not.

        A slow tool runs in a thread, so that other trials go on meanwhile. The start of its server is off the
        trial's clock.

        Raises:
            LimitReached: the arm's tool calls are used up.
        """
        if self.tool_calls_left <= 0:
            raise LimitReached("max_tool_calls")
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        own_name, loop = self.toolbox.own_name(name), asyncio.get_running_loop()
        is_slow = self.toolbox.is_slow(own_name)
        if is_slow and not self.toolbox.is_ready(own_name):
            async with provider_wait():
                await loop.run_in_executor(_tool_threads(), self.toolbox.prepare, own_name)
        started = time.perf_counter()
        observation: Observation
        if is_slow:
            run = partial(self.toolbox.call, name, arguments)
            observation = await loop.run_in_executor(_tool_threads(), run)
        else:
            observation = self.toolbox.call(name, arguments)
        self.trace.add(
            ToolStep(
                name=own_name,
                arguments=arguments,
                observation=observation.content,
                error=observation.error,
                injected=observation.injected,
                wall_s=round(time.perf_counter() - started, 6),
                pictures=tuple(picture.sha256 for picture in observation.pictures),
            )
        )
        self._returned[call["id"]] = observation.content
        return {"role": "tool", "tool_call_id": call["id"], "content": _content(observation)}

    @property
    def tool_calls_left(self) -> int:
        return self.arm.max_tool_calls - len(self.trace.tool_steps)

    @property
    def turns_left(self) -> int:
        """How often the model may still be asked."""
        return self.arm.max_turns - len(self.trace.replies)

    @property
    def may_call_tools(self) -> bool:
        """Whether there are tools, the arm allows calls, and one is left."""
        return bool(self.toolbox.schemas) and self.arm.tool_choice != "none" and self.tool_calls_left > 0

    def check_limits(self) -> None:
        """Whether the model may be asked once more.

        Raises:
            LimitReached: the arm's turns, tokens or dollars are used up.
        """
        replies = self.trace.replies
        if self.turns_left <= 0:
            raise LimitReached("max_turns")
        # What is known counts, even where the usage or price of one reply is not.
        if self.arm.max_tokens is not None:
            tokens = sum((reply.prompt_tokens or 0) + (reply.completion_tokens or 0) for reply in replies)
            if tokens >= self.arm.max_tokens:
                raise LimitReached("max_tokens")
        if self.arm.max_usd is not None:
            usd = sum(reply.usd or 0.0 for reply in replies if not reply.cached)
            if usd >= self.arm.max_usd:
                raise LimitReached("max_usd")


@functools.cache
def _tool_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(TOOL_THREADS, thread_name_prefix="tool")


def _content(observation: Observation) -> str | list[Block]:
    if not observation.pictures:
        return observation.content
    pictures: list[ImageBlock] = [
        {"type": "image", "sha256": picture.sha256, "media_type": picture.media_type}
        for picture in observation.pictures
    ]
    return [{"type": "text", "text": observation.content}, *pictures]


class Agent(Protocol):
    """How a sample is answered: one module in `agents/`."""

    name: str
    uses_tools: bool
    description: str

    async def answer(self, context: AgentContext) -> str:
        """The final answer, as text for the benchmark's parser."""


@runtime_checkable
class CallsInWords(Protocol):
    """An agent that describes its tools in the prompt: its requests hold no schemas."""

    calls_in_words: bool


@runtime_checkable
class CountsModelCalls(Protocol):
    """An agent that knows how often it calls the model; plans and presets then price a trial closely."""

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        """The fewest and the most calls of the model that a trial of the arm takes, retries not counted."""


def is_agent(item: object) -> bool:
    """Whether an object of a plug-in file is an agent: it answers, and says whether it uses tools."""
    return isinstance(getattr(item, "uses_tools", None), bool) and callable(getattr(item, "answer", None))


@runtime_checkable
class OutsideLoop(Protocol):
    """An agent whose loop is not ours: it is asked once for each answer, as a model is."""

    spec: OutsideAgent

    def around(self, wrap: Callable[[Model], Model]) -> None:
        """Put something around what is asked: a rate limit, a circuit breaker."""

    async def close(self) -> None:
        """Close connections and end processes."""


def _agent_fault(agent: object) -> str:
    kinds = (CallsInWords, CountsModelCalls)
    faults = [*ability_faults(agent, Agent, is_optional=False)]
    return "; ".join([*faults, *(fault for kind in kinds for fault in ability_faults(agent, kind))])


# Named here, imported only when asked for: listing agents does not load LangGraph.
AGENTS: Registry[Agent] = Registry(
    "gnomon_agents", "agent", group="gnomon.agents", accepts=is_agent, check=_agent_fault
)
OUTSIDE: Registry[Callable[[OutsideAgent], Agent]] = Registry(
    "", "kind of outside agent", group="gnomon.outside_agents", accepts=lambda _: False
)


def agent_of(arm: Arm) -> Agent:
    """The agent that answers under an arm; one from outside is a new object, which its user closes.

    Raises:
        UnknownPlugin: the agent does not exist; the message lists those that do.
    """
    return AGENTS.get(arm.agent) if isinstance(arm.agent, str) else OUTSIDE.get(arm.agent.kind)(arm.agent)


def agents_of(arms: Collection[Arm]) -> dict[str, Agent]:
    """The agent of each arm by the arm's name; arms with the same outside agent share one object.

    Raises:
        UnknownPlugin: as `agent_of`.
    """
    by_agent: dict[str | OutsideAgent, Agent] = {}
    for arm in arms:
        if arm.agent not in by_agent:
            by_agent[arm.agent] = agent_of(arm)
    return {arm.name: by_agent[arm.agent] for arm in arms}


async def close_agents(agents: Iterable[Agent]) -> None:
    """Close those from outside; whatever goes wrong then changes no result."""
    for agent in {id(agent): agent for agent in agents}.values():
        if isinstance(agent, OutsideLoop):
            with suppress(Exception):
                await agent.close()


def model_calls(arm: Arm) -> tuple[int, int]:
    """The fewest and the most calls of the model that a trial of the arm takes, retries not counted.

    Of an agent that does not say, and of one that is not here or not ours, that is anything up to the arm's
    turns.

    >>> model_calls(Arm(name="a", agent="react")), model_calls(Arm(name="b", agent="react", tools=("speed",)))
    ((1, 1), (1, 13))
    >>> model_calls(Arm(name="c", agent="vote"))
    (1, 24)
    """
    agent = _agent_here(arm)
    return agent.model_calls(arm) if isinstance(agent, CountsModelCalls) else (1, arm.max_turns)


def runs_tools(arm: Arm) -> bool:
    """Whether the arm's agent runs tools, if it is here; of another it is taken to.

    >>> runs_tools(Arm(name="a", agent="direct")), runs_tools(Arm(name="b", agent="react"))
    (False, True)
    """
    agent = _agent_here(arm)
    return agent is None or agent.uses_tools


def sends_schemas(arm: Arm) -> bool:
    """Whether the model of the arm is sent schemas: not by agents from outside or that call in words."""
    return _agent_here(arm) is not None and not calls_in_words(arm)


def calls_in_words(arm: Arm) -> bool:
    """Whether the arm's agent is here and tells of its tools in the prompt.

    >>> calls_in_words(Arm(name="a", agent="react")), calls_in_words(Arm(name="b", agent="text-react"))
    (False, True)
    """
    agent = _agent_here(arm)
    return agent is not None and isinstance(agent, CallsInWords) and agent.calls_in_words


def _agent_here(arm: Arm) -> Agent | None:
    return AGENTS.find(arm.agent) if isinstance(arm.agent, str) else None
