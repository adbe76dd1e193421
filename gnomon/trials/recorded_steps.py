"""The first steps of a trial given from a record: replies without asking the model, results without running
a tool. What comes after them is live. Agents notice no difference.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import Field

from gnomon.core.errors import DataError, SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.message import Message, ToolCall
from gnomon.core.model import Model, Reply, Request
from gnomon.core.read_calls import READ_FROM_TEXT
from gnomon.core.validation import StrictModel
from gnomon_tools.core.clip import Picture
from gnomon_tools.core.json_text import json_value
from gnomon_tools.core.tool import CallError
from gnomon_tools.core.toolbox import BAD_CALL, Observation, Toolbox, WrappedToolbox

RECORDED = "recorded"  # flag of a reply that comes from a record


class RecordedReply(StrictModel):
    """A reply as a trace holds it; what a provider hung on its turn beside it is in no trace."""

    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def as_reply(self) -> Reply:
        return Reply(
            text=self.text,
            reasoning=self.reasoning,
            tool_calls=cast(tuple[ToolCall, ...], tuple(self.tool_calls)),
            finish_reason=self.finish_reason,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            usd=0.0,
            flags=(RECORDED,),
        )


class RecordedResult(StrictModel):
    """A tool's result as a trace holds it: the call, what the model was given, and the hashes of pictures."""

    name: str
    arguments: str
    observation: str
    error: CallError | None = None
    injected: str | None = None
    pictures: list[str] = Field(default_factory=list)


class RecordedSteps(StrictModel):
    """The first replies and results of a trial, and the digest of the prompt that they answered."""

    prompt: str = ""
    replies: list[RecordedReply] = Field(default_factory=list)
    results: list[RecordedResult] = Field(default_factory=list)


class Playback:
    """Gives recorded steps to one trial, in their order."""

    def __init__(self, steps: RecordedSteps) -> None:
        self._steps = steps
        self._replies, self._results = list(steps.replies), list(steps.results)

    def check_prompt(self, prompt: list[Message]) -> None:
        """Refuse a prompt other than the recorded one: the data or the spec has changed since.

        Raises:
            DataError: the prompt is another.
        """
        if self._steps.prompt and self._steps.prompt != prompt_digest(prompt):
            raise DataError("the prompt is not the recorded one: data or spec have changed", field=RECORDED)

    def check_used(self) -> None:
        """Refuse an end before the last recorded step.

        Raises:
            DataError: recorded steps are left.
        """
        left = len(self._replies) + len(self._results)
        if left:
            raise DataError(f"the trial ended with {left} recorded steps left", field=RECORDED)

    def model(self, model: Model) -> Model:
        """The model, with its first replies from the record."""
        return _RecordedModel(model, self._next_reply)

    def toolbox(self, toolbox: Toolbox) -> Toolbox:
        return _RecordedToolbox(toolbox, self._next_result)

    def _next_reply(self) -> Reply | None:
        return self._replies.pop(0).as_reply() if self._replies else None

    def _next_result(self, name: str, arguments: str) -> RecordedResult | None:
        if not self._results:
            return None
        recorded = self._results.pop(0)
        if (recorded.name, _plain(recorded.arguments)) != (name, _plain(arguments)):
            number = len(self._steps.results) - len(self._results)
            message = (
                f"tool call {number} is {name}({arguments}), but {recorded.name}({recorded.arguments}) is"
                " recorded: the live conversation no longer fits the record"
            )
            raise DataError(message, field=RECORDED)
        return recorded


class _RecordedModel:
    """Any model; it is asked once the recorded replies have been given."""

    def __init__(self, model: Model, next_reply: Callable[[], Reply | None]) -> None:
        self.id, self._model, self._next_reply = model.id, model, next_reply

    async def reply(self, request: Request) -> Reply:
        return self._next_reply() or await self._model.reply(request)

    async def close(self) -> None:
        await self._model.close()


class _RecordedToolbox(WrappedToolbox):
    """Any toolbox; its tools run once the recorded results have been given."""

    def __init__(self, toolbox: Toolbox, next_result: Callable[[str, str], RecordedResult | None]) -> None:
        super().__init__(toolbox)
        self._next_result = next_result

    def is_ready(self, name: str) -> bool:  # noqa: ARG002
        return True  # what is recorded needs no server

    def call(self, name: str, arguments: str) -> Observation:
        """The recorded result of the call, or the toolbox's once there is none.

        Raises:
            DataError: the record holds another call, or a picture that the tool no longer makes.
        """
        recorded = self._next_result(name, arguments)
        if recorded is None:
            return self._toolbox.call(name, arguments)
        pictures: tuple[Picture, ...] = ()
        if recorded.pictures:  # a trace holds hashes alone; tools make the same picture again
            pictures = self._toolbox.call(name, arguments).pictures
            if [picture.sha256 for picture in pictures] != recorded.pictures:
                raise DataError(f"{name} no longer makes the recorded pictures", field=RECORDED)
        elif recorded.error not in BAD_CALL:
            self._toolbox.skip()
        return Observation(
            content=recorded.observation,
            error=recorded.error,
            injected=recorded.injected,
            pictures=pictures,
        )


def recorded_until(trace: Mapping[str, Any], from_step: int, *, result: object = None) -> RecordedSteps:
    """The steps of a stored trace up to number `from_step`, with `result` in place of that step's, if any.

    Raises:
        SpecError: there is no such step, or it is no tool's and can have no result.
    """
    steps = [step for step in trace.get("steps") or () if isinstance(step, Mapping)]
    if not 1 <= from_step <= len(steps):
        raise SpecError(f"no step {from_step}; the trial has {len(steps)}", field="from_step")
    kept = steps[:from_step]
    if result is not None:
        kept = [*kept[:-1], _with_result(kept[-1], result, number=from_step)]
    return RecordedSteps(
        prompt=prompt_digest(trace.get("prompt")),
        replies=[_reply(step) for step in kept if step.get("kind") == "reply"],
        results=[_result(step) for step in kept if step.get("kind") == "tool"],
    )


def prompt_digest(prompt: object) -> str:
    """A digest of a prompt's messages."""
    return stable_hash(prompt)


def _plain(arguments: str) -> object:
    """Arguments without the spaces and the order in which they were written, where they are JSON."""
    return json_value(arguments, otherwise=arguments)


def _with_result(step: Mapping[str, Any], result: object, *, number: int) -> Mapping[str, Any]:
    if step.get("kind") != "tool":
        raise SpecError(f"step {number} is no tool's, so it has no result", field="from_step")
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, allow_nan=False)
    return {**step, "observation": text, "error": None, "injected": None}


def _reply(step: Mapping[str, Any]) -> RecordedReply:
    names = ("text", "reasoning", "tool_calls", "finish_reason", "prompt_tokens", "completion_tokens")
    fields = {name: step[name] for name in names if step.get(name) is not None}
    if READ_FROM_TEXT in (step.get("flags") or ()):
        del fields["tool_calls"]  # they stand in the text, and are read from there again
    return RecordedReply.model_validate(fields)


def _result(step: Mapping[str, Any]) -> RecordedResult:
    names = ("name", "arguments", "observation", "error", "injected", "pictures")
    return RecordedResult.model_validate({name: step[name] for name in names if step.get(name) is not None})
