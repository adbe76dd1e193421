"""Reads the script of a scripted model from the options of its `ModelSpec`.

replies: ["Hello", {tool_calls: [{name: lookup, arguments: {name: shop}}]}, {fault: rate_limit}]
rules: [{contains: "camera c1", tools: true, tool_choice: auto, replies: [...]}]  # the first that fits
delay_s: 0.05
prompt_tokens: 100
completion_tokens: 10
usd: 0.001
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from gnomon.core.errors import SpecError
from gnomon.core.message import ToolChoice
from gnomon.core.validation import StrictModel


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


def read_script(options: Mapping[str, object]) -> Script:
    """The script in the options of a model.

    Raises:
        SpecError: they are no script; the message names the option.
    """
    try:
        return Script.model_validate(options)
    except ValidationError as error:
        # A reply is a text or an object: what was found deeper is about the one that was meant.
        deepest = max(error.errors(), key=lambda item: len(item["loc"]))
        path = [str(part) for part in deepest["loc"] if part not in ("str", "ScriptedReply")]
        field = ".".join(["options", *path])
        message = deepest["msg"].removeprefix("Value error, ")
        if deepest["type"] == "extra_forbidden":
            levels: dict[str, type[StrictModel]] = {
                "tool_calls": ScriptedCall,
                "ScriptedReply": ScriptedReply,
                "rules": Rule,
            }
            inner = (level for part, level in levels.items() if part in deepest["loc"][:-1])
            model = next(inner, Script)
            message = f"not permitted; allowed here: {', '.join(model.model_fields)}"
        raise SpecError(message, field=field) from None
