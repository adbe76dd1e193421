"""A tool: a typed function on a scene that a model may call."""

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from tools.core.clip import Footage, Picture
from tools.core.json_schema import plain_schema
from tools.core.sketch import Result, Sketch
from tools.scene.frame import Frame
from tools.scene.scene import Scene

if TYPE_CHECKING:
    from tools.core.batch import Batch
    from tools.itinerary.trip import Trip  # reads opening hours, which few tools need
    from tools.map_record.record import MapRecord
    from tools.sandbox.record import TravelSandbox


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


Need = Literal["scene", "footage", "gazetteer", "trip", "map_record", "sandbox", "pictures", "nothing"]


class MediaSource(Protocol):
    """Where a tool finds pictures: bytes by content hash."""

    def read(self, sha256: str) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a call may look at: the sample's scene, its clip, its trip, its map record, its travel
    sandbox and its media, nothing else.

    A sample without a scene has NOWHERE, a scene in which there is nothing.
    """

    scene: Scene
    media: MediaSource | None = None
    footage: Footage | None = None
    gazetteer: bool = False
    trip: "Trip | None" = None
    map_record: "MapRecord | None" = None
    sandbox: "TravelSandbox | None" = None
    pictures: Sequence[Picture] = ()  # those of the question, in order
    sample_id: str = ""

    def meets(self, need: Need) -> bool:
        """Whether there is what a tool needs."""
        return {
            "scene": self.scene is not EMPTY_SCENE,
            "footage": self.footage is not None,
            "gazetteer": self.gazetteer,
            "trip": self.trip is not None,
            "map_record": self.map_record is not None,
            "sandbox": self.sandbox is not None,
            "pictures": bool(self.pictures) and self.media is not None,
            "nothing": True,
        }[need]


EMPTY_SCENE = Scene(id="nowhere", frame=Frame(), kind="outdoor")


A = TypeVar("A", bound=ToolArgs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """Name, description, argument type and function of one tool, and what a sample needs for it.

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
    needs: Need = "scene"
    sketch: "Callable[[ToolContext, A, Result], Sketch] | None" = None
    example: Mapping[str, Any] = field(default_factory=dict, hash=False)
    synonym: str = ""
    is_slow: bool = False
    batch: "Batch | None" = field(default=None, hash=False)
    is_foreign: bool = False  # of another program: its results are text of any kind

    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI-style function schema: plain, without references.

        One object for a whole process, as building it takes a millisecond: not to be changed.
        """
        return _schema(self)

    def fits(self, context: ToolContext) -> bool:
        """Whether a sample has what the tool needs."""
        return context.meets(self.needs)

    def read_args(self, value: dict[str, Any]) -> A:
        """The arguments that a model wrote, checked.

        Raises:
            BadArguments: the tool does not take them; the message says why.
        """
        try:
            return self.args.model_validate_json(json.dumps(value))
        except ValidationError as error:
            raise BadArguments(_readable(error)) from None

    def result_schema(self) -> dict[str, Any]:
        """JSON schema of what a call gives back; what is unknown is left out of it."""
        result: type[ToolResult] = get_type_hints(self.run)["return"]
        return plain_schema(result.model_json_schema(mode="serialization"))

    def refusals(self) -> str:
        """What it refuses with a message to the model, from the docstring of its function; may be empty."""
        refusal = re.search(r"ToolError: (.*?)(?:\n\s*\n|\Z)", inspect.getdoc(self.run) or "", re.DOTALL)
        return " ".join(refusal[1].split()) if refusal else ""


def _readable(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg'].removeprefix('Value error, ')}"
        for item in error.errors()
    )
    return "; ".join(problems)


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
