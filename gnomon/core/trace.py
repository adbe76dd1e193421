"""Trace: what happened in a trial, step by step."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gnomon.core.message import Message, ToolCall

OVER = 1.1  # times the limit of a reply: beyond that its endpoint does not keep it, however it counts
PROVIDER_FAULT = "provider fault"  # how the note of one begins
TOLD = ("model_version", "has_reasoning")  # fields that a stored step has only where they say something


@dataclass(slots=True, kw_only=True)  # not frozen, see `Request`
class ReplyStep:
    """The model replied."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    usd: float | None
    cached: bool
    wall_s: float
    tries: int
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    reasoning: str = ""
    request_changes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    model_version: str = ""
    has_reasoning: bool = False  # whether there was any, also where the trace does not keep it
    kind: Literal["reply"] = "reply"


@dataclass(slots=True, kw_only=True)
class ToolStep:
    """A tool was called; `error` is the kind of failure, if it failed.

    `injected` names the fault that the arm put in place of the tool's own result; `pictures` are hashes.
    """

    name: str
    arguments: str
    observation: str
    error: str | None
    wall_s: float
    injected: str | None = None
    pictures: tuple[str, ...] = ()
    kind: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteStep:
    """Something else worth keeping: a retry, a limit, a fault of ours."""

    text: str
    kind: Literal["note"] = "note"


Step = ReplyStep | ToolStep | NoteStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What an outside agent told of what it used; None: it did not tell.

    `tells_calls` says whether its calls of tools are in the trace.
    """

    model_calls: int | None = None
    tells_calls: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    usd: float | None = None

    def plus(self, other: "Account") -> "Account":
        """Both together: what one does not tell is unknown of both.

        >>> Account(model_calls=2, usd=0.5).plus(Account(model_calls=1)).model_calls
        3
        """
        return Account(
            tells_calls=self.tells_calls and other.tells_calls,
            **{
                name: None if None in pair else pair[0] + pair[1]
                for name in self.__slots__
                if name != "tells_calls" and (pair := (getattr(self, name), getattr(other, name)))
            },
        )


def _nothing(_: Step) -> None:
    return None


@dataclass(slots=True, kw_only=True)
class Trace:
    """The steps so far; grows while the trial runs. `watch` sees each step as it happens."""

    prompt: list[Message] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    watch: Callable[[Step], None] = _nothing
    keeps_reasoning: bool = True
    response: str | None = None  # the final answer as the agent gave it to the scorer; None: it gave none
    tools_offered: int | None = None  # those that fitted the sample; None before the model was asked
    tool_names: Collection[str] = ()  # of those on offer when it answered: by them a call in text is known
    account: Account | None = None  # of an outside agent; None: every call is a step
    judge_metrics: Mapping[str, float | str | None] = field(default_factory=dict)  # what the judge has cost
    waited_s: float = 0.0  # for leave to call, and where the provider asked to wait: no seconds of the trial

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self.watch(step)

    @property
    def replies(self) -> list[ReplyStep]:
        return [step for step in self.steps if step.kind == "reply"]

    def exceeds(self, limit: int | None) -> bool:
        """Whether a reply is longer than so many tokens, without its reasoning, which some do not count."""
        return limit is not None and any(
            (reply.completion_tokens or 0) - (reply.reasoning_tokens or 0) > OVER * limit
            for reply in self.replies
        )

    @property
    def tool_steps(self) -> list[ToolStep]:
        return [step for step in self.steps if step.kind == "tool"]

    @property
    def waits_for_provider(self) -> bool:
        """Whether the provider has failed and given nothing since, or nothing but notes has come at all."""
        for step in reversed(self.steps):
            if not isinstance(step, NoteStep):
                return False
            if step.text.startswith(PROVIDER_FAULT):
                return True
        return True

    @property
    def usd(self) -> float | None:
        """Dollars spent; None as soon as the price of one paid reply is unknown."""
        if self.account is not None:
            return self.account.usd
        prices = [reply.usd for reply in self.replies if not reply.cached]
        return None if None in prices else sum(price for price in prices if price is not None)

    @property
    def model_calls(self) -> int | None:
        """Calls of the model; None where an outside agent does not tell."""
        return len(self.replies) if self.account is None else self.account.model_calls

    @property
    def tool_calls(self) -> int | None:
        """Calls of tools; None where they are an outside agent's own and it does not tell."""
        return len(self.tool_steps) if self._has_calls else None

    @property
    def tool_errors(self) -> int | None:
        """Calls of tools that failed; None as `tool_calls`."""
        return sum(step.error is not None for step in self.tool_steps) if self._has_calls else None

    @property
    def _has_calls(self) -> bool:
        return self.account is None or self.account.tells_calls

    @property
    def prompt_tokens(self) -> int | None:
        return self._tokens("prompt_tokens")

    @property
    def completion_tokens(self) -> int | None:
        return self._tokens("completion_tokens")

    @property
    def cached_tokens(self) -> int | None:
        return self._tokens("cached_tokens")

    @property
    def reasoning_tokens(self) -> int | None:
        return self._tokens("reasoning_tokens")

    def _tokens(self, name: str) -> int | None:
        if self.account is not None:
            tokens: int | None = getattr(self.account, name)
            return tokens
        counts = [getattr(reply, name) for reply in self.replies]
        return None if None in counts else sum(counts)

    def to_json(self) -> dict[str, Any]:
        """The trace as plain data; pictures stay hashes."""
        return {
            "prompt": self.prompt,
            "steps": [_plain(step) for step in self.steps],
            "response": self.response,
        }


def _plain(step: Step) -> dict[str, Any]:
    """The step as a dict. Not `asdict`: that copies tool calls in depth, which are plain data already."""
    fields = {name: getattr(step, name) for name in step.__slots__}
    return {name: value for name, value in fields.items() if value or name not in TOLD}
