"""A tool: a typed function on a scene that a model may call."""

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from gnomon_tools.core.clip import Footage, Picture, Pictures
from gnomon_tools.core.inputs import Input, Inputs, Need, held, need_fault
from gnomon_tools.core.json_schema import plain_schema
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene

if TYPE_CHECKING:
    from gnomon_tools.core.batch import Batch

I = TypeVar("I", bound=Input)  # noqa: E741 (an input)

CallError = Literal[
    "unknown_tool",
    "bad_json",
    "bad_arguments",
    "tool_error",
    "tool_crash",
    "injected",
    "timeout",
    "bad_result",
]


class ToolError(Exception):
    """A message to the model: what is wrong with its call and what would be right.

    `kind` is how the failed call is counted.
    """

    kind: ClassVar[CallError] = "tool_error"


class BadArguments(Exception):
    """Arguments that a tool does not take, in words for the model."""


class ToolArgs(BaseModel):
    """Base of every tool's arguments: unknown names are refused, nothing is coerced, numbers are finite."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class ToolResult(BaseModel):
    """Base of every tool's result; field names carry their units."""

    model_config = ConfigDict(frozen=True)


class PictureResult(ToolResult):
    """Base of results with pictures: they travel beside the JSON, in order, and are not part of it."""

    pictures: SkipJsonSchema[tuple[Picture, ...]] = Field(exclude=True)


class TextResult(PictureResult):
    """A result that is text as another program wrote it, with the pictures that it sent."""

    text: str


class MediaSource(Protocol):
    """Where a tool finds pictures: bytes by content hash."""

    def read(self, sha256: str) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a call may look at: the sample's inputs and its media, nothing else.

    Where a call `is_free`, as it belongs to no question, it finds what is at hand anywhere as well.
    """

    inputs: Inputs = field(default_factory=dict)
    media: MediaSource | None = None
    sample_id: str = ""
    is_free: bool = False

    def find(self, kind: type[I]) -> I | None:
        """The input of this type; None where there is none.

        >>> ToolContext(inputs=held(EMPTY_SCENE)).find(Scene) is EMPTY_SCENE, ToolContext().find(Scene)
        (True, None)
        """
        value: I | None = self.inputs.get(kind)
        return kind.at_hand() if value is None and self.is_free else value

    def meets(self, need: Need) -> bool:
        """Whether there is what a tool needs."""
        return need is None or self.find(need) is not None

    def having(self, value: Input) -> "ToolContext":
        """The same with this value as its input of that type."""
        return replace(self, inputs={**self.inputs, **held(value)})

    @property
    def scene(self) -> Scene:
        """Its scene; one in which there is nothing where it has none."""
        return self.find(Scene) or EMPTY_SCENE

    @property
    def footage(self) -> Footage | None:
        """Its clip."""
        return self.find(Footage)

    @property
    def pictures(self) -> Sequence[Picture]:
        """The pictures of its question, in order."""
        pictures = self.find(Pictures)
        return () if pictures is None else pictures.listed


EMPTY_SCENE = Scene(id="nowhere", frame=Frame(), kind="outdoor")


A = TypeVar("A", bound=ToolArgs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """Name, description, argument type and function of one tool, and what a sample needs for it.

    `needs` is the type of what it works on, without which no arm has it; None: its arguments alone. One that
    `works_alone` is offered with what it needs, and takes its arguments alone.
    `run` raises ToolError for whatever the model can correct; any other exception is an error of ours.
    `sketch` turns a call's arguments and its recorded result into a drawing for people; models never see it.
    `example` holds arguments to start from on the tool's page: those of a call that works on
    examples/scenes/small.geojson, for a tool that needs a scene. `synonym` is another name that says as much,
    for arms that rename tools; without one they number it. A tool that `is_slow` searches long or
    calls another process: agents run it in a thread. `batch` is its form over columns, for those who call it
    on very many rows.
    """

    name: str
    description: str
    args: type[A]
    run: Callable[[ToolContext, A], ToolResult]
    needs: Need = Scene
    sketch: "Callable[[ToolContext, A, Result], Sketch] | None" = None
    example: Mapping[str, Any] = field(default_factory=dict, hash=False)
    synonym: str = ""
    works_alone: bool = False
    is_slow: bool = False
    batch: "Batch | None" = field(default=None, hash=False)
    is_foreign: bool = False  # of another program: its results are text of any kind

    def __post_init__(self) -> None:
        if fault := need_fault(self.needs):
            raise TypeError(f"the tool {self.name!r}: {fault}")

    @property
    def is_ready(self) -> bool:
        """Whether it can be called at once: not while another program has yet to be started for it."""
        return True

    def prepare(self) -> None:
        """Start what its calls need; if that fails, the call says so."""

    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI-style function schema: plain, without references.

        One object for a whole process, as building it takes a millisecond: not to be changed.
        """
        return _schema(self)

    def fits(self, context: ToolContext) -> bool:
        """Whether a sample has what the tool needs."""
        return context.meets(self.needs)

    def read_args(self, value: dict[str, Any], context: ToolContext | None = None) -> A:
        """The arguments that a model wrote, checked; `context` lets a message name what there is.

        Raises:
            BadArguments: the tool does not take them; the message says why.
        """
        try:
            return self.args.model_validate_json(json.dumps(value), context=context)
        except ValidationError as error:
            raise BadArguments(_readable(error, _schema(self)["function"]["parameters"])) from None

    def result_schema(self) -> dict[str, Any]:
        """JSON schema of what a call gives back; what is unknown is left out of it."""
        result: type[ToolResult] = get_type_hints(self.run)["return"]
        return plain_schema(result.model_json_schema(mode="serialization"))

    def refusals(self) -> str:
        """What it refuses with a message to the model, from the docstring of its function; may be empty."""
        refusal = re.search(r"ToolError: (.*?)(?:\n\s*\n|\Z)", inspect.getdoc(self.run) or "", re.DOTALL)
        return " ".join(refusal[1].split()) if refusal else ""


def _readable(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """What is wrong with arguments, in words: a name that is not there is told with those that are."""
    problems = []
    for item in error.errors():
        loc, said = item["loc"], item["msg"].removeprefix("Value error, ").replace(" after validation", "")
        if item["type"] == "extra_forbidden":
            said = f"there is no such argument; allowed: {_names_at(loc[:-1], schema)}"
        elif item["type"] == "model_type":
            said = f"must be an object with: {_names_at(loc, schema)}"
        problems.append(f"{'.'.join(map(str, loc)) or 'arguments'}: {said}")
    return "; ".join(problems)


def _names_at(loc: Sequence[int | str], schema: Mapping[str, Any]) -> str:
    """The fields of the object that a path leads to, as a schema without references has them."""
    for part in loc:
        schema = (
            schema.get("items", {}) if isinstance(part, int) else schema.get("properties", {}).get(part, {})
        )
    return ", ".join(schema.get("properties", ())) or "none"


@functools.cache
def _schema(tool: Tool[Any]) -> dict[str, Any]:
    parameters = plain_schema(tool.args.model_json_schema())
    parameters.pop("description", None)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def contract_hash(tools: tuple[Tool[Any], ...]) -> str:
    """Hash of names, descriptions and argument schemas: equal hashes, equal offers to a model.

    >>> contract_hash(())
    'e3b0c44298fc'
    """
    text = "".join(json.dumps(tool.schema(), sort_keys=True) for tool in sorted(tools, key=lambda t: t.name))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
