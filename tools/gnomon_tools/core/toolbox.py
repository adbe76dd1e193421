"""The tools of one arm, bound to one sample."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gnomon_tools.core.clip import Picture
from gnomon_tools.core.inputs import Input
from gnomon_tools.core.json_schema import MOST_BYTES, brief_schema
from gnomon_tools.core.outage import ToolOutage
from gnomon_tools.core.plugin_code import is_ctrl_c
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.tool import (
    BadArguments,
    CallError,
    PictureResult,
    TextResult,
    Tool,
    ToolArgs,
    ToolContext,
    ToolError,
    ToolResult,
)

Held = TypeVar("Held", bound=Input)

TOOLS: Registry[Tool[Any]] = Registry(
    "gnomon_tools", "tool", dashes=False, group="gnomon.tools", accepts=lambda item: isinstance(item, Tool)
)

MAX_MESSAGE = 1500  # characters: a model that sends a thousand wrong points need not read of each

BAD_CALL = ("unknown_tool", "bad_json", "bad_arguments")  # the tool was not run


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a call gave back: JSON text for the model, pictures, and the kind of failure, if it failed.

    `injected` names the fault that an experiment put in its place; the model is not told.
    """

    content: str
    error: CallError | None = None
    pictures: tuple[Picture, ...] = ()
    injected: str | None = None


class Toolbox:
    """The tools an agent may call on one sample; a failed call is an observation, never an exception.

    Tools that need what the sample does not have (a scene, a clip, a trip) are not offered.
    """

    def __init__(self, tools: Iterable[Tool[Any]], context: ToolContext | None) -> None:
        self._given = tuple(tools)
        self._bind(context)

    def _bind(self, context: ToolContext | None) -> None:
        offered = (tool for tool in self._given if context is None or tool.fits(context))
        self._tools = {tool.name: tool for tool in offered}
        self._context = context
        self.schemas = [tool.schema() for tool in self._tools.values()]

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        """All tools that it was made with, whether they fit or not."""
        return self._given

    @property
    def context(self) -> ToolContext | None:
        """What its calls look at."""
        return self._context

    def find(self, kind: type[Held]) -> Held | None:
        """The input of this type that the tools work on, if there is one."""
        return self._context.find(kind) if self._context else None

    def learn(self, value: Input) -> None:
        """Have the tools work on an input that has just become known: those that need it are offered now."""
        self._bind(self._context.having(value) if self._context else None)

    def call(self, name: str, arguments: str) -> Observation:
        """Run the tool `name` on `arguments`, a JSON object as the model wrote it."""
        tool = self._tools.get(name)
        if tool is None:
            return unknown_tool(name, list(self._tools))
        try:
            value = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            return _failed("bad_json", f"The arguments are not JSON: {error}.")
        if not isinstance(value, dict):
            return _failed("bad_arguments", "The arguments must be one JSON object.")
        try:
            args = tool.read_args(value, self._context)
        except BadArguments as error:
            return _failed("bad_arguments", str(error))
        return self.observe(tool, args, self._context)

    def is_slow(self, name: str) -> bool:
        """Whether the tool of this own name is a slow one; false where there is none."""
        return name in self._tools and self._tools[name].is_slow

    def is_ready(self, name: str) -> bool:
        """Whether the tool of this own name can be called at once."""
        return name not in self._tools or self._tools[name].is_ready

    def prepare(self, name: str) -> None:
        """Start what calls of this tool need."""
        self._tools[name].prepare()

    def own_name(self, name: str) -> str:
        """The tool's own name, where it is shown to the model under another."""
        return name

    def skip(self) -> None:
        """Pass over a call whose result comes from a record: it counts as one of the toolbox's calls."""

    def observe(self, tool: Tool[Any], args: ToolArgs, context: ToolContext | None) -> Observation:
        """Run a tool on arguments that were found good; experiments put other observations here.

        Raises:
            ToolOutage: the tool cannot run on this machine at all.
        """
        if context is None:
            return _failed("tool_error", "This question has no scene that tools could look at.")
        try:
            result = tool.run(context, args)
            pictures = result.pictures if isinstance(result, PictureResult) else ()
            content = result.text if isinstance(result, TextResult) else to_json(result)
            return Observation(content=content, pictures=pictures)
        except ToolError as error:
            return _failed(error.kind, str(error))
        except ToolOutage:
            raise
        except BaseException as error:  # a fault of the tool's: kept, counted and shown, but no end to us
            if is_ctrl_c(error):
                raise
            return _failed("tool_crash", f"The tool failed inside: {type(error).__name__}.")


class WrappedToolbox(Toolbox):
    """Any toolbox, whose calls a subclass answers in its own way."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self.schemas = toolbox.schemas

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        return self._toolbox.tools

    @property
    def context(self) -> ToolContext | None:
        return self._toolbox.context

    def find(self, kind: type[Held]) -> Held | None:
        return self._toolbox.find(kind)

    def learn(self, value: Input) -> None:
        self._toolbox.learn(value)
        self.schemas = self._toolbox.schemas

    def is_slow(self, name: str) -> bool:
        return self._toolbox.is_slow(name)

    def is_ready(self, name: str) -> bool:
        return self._toolbox.is_ready(name)

    def prepare(self, name: str) -> None:
        self._toolbox.prepare(name)

    def skip(self) -> None:
        self._toolbox.skip()


class BriefToolbox(WrappedToolbox):
    """Any toolbox, whose schemas are told in short; its tools stay as they are.

    Where it `is_bounded`, our own tools are told within 250 tokens, and where it `has_kinds`, a location as
    one of its kinds; a server's tools stay as their author has them.
    """

    def __init__(self, toolbox: Toolbox, *, is_bounded: bool, has_kinds: bool) -> None:
        super().__init__(toolbox)
        self._is_bounded, self._has_kinds = is_bounded, has_kinds
        self._shorten()

    def _shorten(self) -> None:
        foreign = {tool.name for tool in self.tools if tool.is_foreign}
        self.schemas = []
        for schema in self._toolbox.schemas:
            is_own = self._toolbox.own_name(schema["function"]["name"]) not in foreign
            brief = brief_schema(
                schema,
                keeps_quotes=self._is_bounded,
                most_bytes=MOST_BYTES if is_own and self._is_bounded else None,
                has_kinds=is_own and self._has_kinds,
            )
            self.schemas.append(brief)

    def learn(self, value: Input) -> None:
        """As of any; what is offered from then on is told in short too."""
        super().learn(value)
        self._shorten()

    def call(self, name: str, arguments: str) -> Observation:
        """Run the call."""
        return self._toolbox.call(name, arguments)

    def own_name(self, name: str) -> str:
        """The tool's own name, where it is shown to the model under another."""
        return self._toolbox.own_name(name)


def unknown_tool(name: str, tools: Sequence[str]) -> Observation:
    """What a call of a tool that is not offered gives back."""
    return _failed("unknown_tool", f"There is no tool {name!r}. Tools: {', '.join(tools) or 'none'}.")


def to_json(result: ToolResult) -> str:
    """A result as compact JSON, numbers to three decimals (millimetres, milliseconds).

    Positions on the Earth are told to five (a metre).

    Raises:
        ValueError: a number is not finite, which JSON cannot hold.
    """
    plain = _rounded(result.model_dump(mode="python", exclude_none=True))
    return _encode(plain)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode  # made once: dumps makes one a call
DECIMALS, EARTH_DECIMALS = 3, 5
ON_EARTH = ("lat_deg", "lon_deg", "lat_lon_deg", "lon_lat_deg")  # ends of names of fields


def _rounded(value: object, decimals: int = DECIMALS) -> object:
    if isinstance(value, float):
        return round(value, decimals) + 0.0  # so that no −0.0 is shown
    if isinstance(value, dict):
        return {
            key: _rounded(item, EARTH_DECIMALS if str(key).endswith(ON_EARTH) else DECIMALS)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_rounded(item, decimals) for item in value]
    return value


def _failed(kind: CallError, message: str) -> Observation:
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}…"
    return Observation(content=json.dumps({"error": message}, ensure_ascii=False), error=kind)
