"""A model that replies as its options say, for tests, rehearsals and planted effects.

The options of its `ModelSpec`:

    replies: ["Hello", {tool_calls: [{name: lookup, arguments: {name: shop}}]}, {fault: rate_limit}]
    rules: [{contains: "camera c1", tools: true, tool_choice: auto, replies: [...]}]  # the first that fits
    delay_s: 0.05
    prompt_tokens: 100
    completion_tokens: 10
    usd: 0.001

It keeps no state. A reply is chosen by its place in the conversation: as many assistant turns as there
are so far, and the last reply again from there on. So a trial that is run again gets the same replies,
and a fault at a place stays a fault however often it is tried.

It does as `tool_choice` says where its script lets it: where calls are forbidden, or required, it goes on to
the next reply without, or with, a call. Where there is none, it disobeys.
"""

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from gnomon.core.errors import ModelFault, ProviderFault, SpecError
from gnomon.core.message import Message, ToolCall, ToolChoice
from gnomon.core.model import Reply, Request
from gnomon.core.validation import StrictModel
from gnomon.spec.job_spec import ModelSpec


class ScriptedCall(StrictModel):
    """A tool call; `arguments` as text goes out as it is, so that bad JSON can be played."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    id: str | None = None  # None: one that is unique in the conversation


class ScriptedReply(StrictModel):
    """One reply: a text, tool calls, a text drawn by chance, or a fault.

    `draw` maps texts to weights; the trial's seed and the conversation decide, so that the same trial
    always draws the same. `fault` is the cause of a ProviderFault, `model_fault` that of a ModelFault.
    """

    text: str = ""
    tool_calls: list[ScriptedCall] = Field(default_factory=list)
    draw: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    finish_reason: str | None = None
    fault: str | None = None
    transient: bool = True
    retry_after_s: float | None = None
    model_fault: str | None = None


class Rule(StrictModel):
    """Replies for the conversations whose messages contain a text, that have tools or none, and in which
    the model may, must or must not call them.
    """

    contains: str = ""
    tools: bool | None = None
    tool_choice: ToolChoice | None = None
    replies: list[str | ScriptedReply] = Field(min_length=1)


class Script(StrictModel):
    """Everything the scripted model's options may hold."""

    replies: list[str | ScriptedReply] = Field(default_factory=list)
    rules: list[Rule] = Field(default_factory=list)
    delay_s: float = Field(default=0.0, ge=0)
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    usd: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.replies and not self.rules:
            raise ValueError("`replies` or `rules` must hold at least one reply")
        return self


class ScriptedModel:
    """A Model that plays a Script."""

    def __init__(self, spec: ModelSpec) -> None:
        """Read the script out of the spec's options.

        Raises:
            SpecError: they are no script; the message names the option.
        """
        self.id = spec.id
        try:
            self.script = Script.model_validate(spec.options)
        except ValidationError as error:
            # A reply is a text or an object: what was found deeper is about the one that was meant.
            deepest = max(error.errors(), key=lambda item: len(item["loc"]))
            path = [str(part) for part in deepest["loc"] if part not in ("str", "ScriptedReply")]
            field = ".".join(["options", *path])
            raise SpecError(deepest["msg"].removeprefix("Value error, "), field=field) from None

    async def reply(self, request: Request) -> Reply:
        await asyncio.sleep(self.script.delay_s)
        turn = sum(message["role"] == "assistant" for message in request.messages)
        replies = self._replies(request)
        chosen = _chosen(replies[min(turn, len(replies) - 1) :], request)
        if chosen.fault:
            raise ProviderFault(
                f"scripted fault {chosen.fault}",
                cause=chosen.fault,
                transient=chosen.transient,
                retry_after_s=chosen.retry_after_s,
            )
        if chosen.model_fault:
            raise ModelFault(f"scripted fault {chosen.model_fault}", cause=chosen.model_fault)
        return Reply(
            text=_drawn(chosen.draw, request) if chosen.draw else chosen.text,
            tool_calls=tuple(_call(call, turn, index) for index, call in enumerate(chosen.tool_calls)),
            finish_reason=chosen.finish_reason or ("tool_calls" if chosen.tool_calls else "stop"),
            prompt_tokens=self.script.prompt_tokens,
            completion_tokens=self.script.completion_tokens,
            usd=self.script.usd,
        )

    def _replies(self, request: Request) -> list[str | ScriptedReply]:
        text = "\n".join(_text(message) for message in request.messages)
        for rule in self.script.rules:
            fits = rule.tools in (None, bool(request.tools)) and rule.tool_choice in (
                None,
                request.tool_choice,
            )
            if fits and rule.contains in text:
                return rule.replies
        return self.script.replies or [""]

    async def close(self) -> None:
        return None


def _chosen(replies: Sequence[str | ScriptedReply], request: Request) -> ScriptedReply:
    """The first of the replies that `tool_choice` allows, else the first."""
    options = [ScriptedReply(text=line) if isinstance(line, str) else line for line in replies]
    if request.tools and request.tool_choice != "auto":
        must = request.tool_choice == "required"
        return next((reply for reply in options if bool(reply.tool_calls) == must), options[0])
    return options[0]


def _call(call: ScriptedCall, turn: int, index: int) -> ToolCall:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    name = f"call_{turn}_{index}" if call.id is None else call.id
    return {"id": name, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _drawn(weights: dict[str, float], request: Request) -> str:
    chance = random.Random(f"{request.seed} {bool(request.tools)} {[_text(m) for m in request.messages]}")
    return chance.choices(list(weights), list(weights.values()))[0]


def _text(message: Message) -> str:
    content = message["content"]
    if isinstance(content, list):
        return "\n".join(block["text"] for block in content if block["type"] == "text")
    return content or ""
