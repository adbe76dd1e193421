"""A model that replies as its options say, for tests, rehearsals and planted effects.

The options of its `ModelSpec` are a script (gnomon/spec/script.py).

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

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.message import ToolCall, text_of
from gnomon.core.model import Reply, Request
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.script import ScriptedCall, ScriptedReply, read_script


class ScriptedModel:
    """A Model that plays a Script."""

    def __init__(self, spec: ModelSpec) -> None:
        """Raises:
        SpecError: the spec's options are no script; the message names the option.
        """
        self.id = spec.id
        self.script = read_script(spec.options)

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
        text = "\n".join(text_of(message) for message in request.messages)
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
    chance = random.Random(f"{request.seed} {bool(request.tools)} {[text_of(m) for m in request.messages]}")
    return chance.choices(list(weights), list(weights.values()))[0]
