"""What every tool keeps."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from gnomon_conformance.check import ensure, junk, text
from gnomon_tools.core.inputs import held
from gnomon_tools.core.registry import ALLOWED_NAME, NAME
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Scene

# Ends of the names of numbers: metres, seconds, degrees, pixels, …
UNITS: tuple[str, ...] = ("_m", "_m2", "_s", "_deg", "_mps", "_mps2", "_px", "_px2", "_fps", "kmh")
UNITS += ("seconds", "_ratio", "_share", "_cosine")
SURPRISES = ("$ref", "$defs", "prefixItems", '"null"', "null", '"title"', "anyOf", "oneOf")
HOSTILE = ("[" * 5000, '{"a":' * 500 + "1" + "}" * 500, "9" * 5000, '{"a": 1e999}', '"\\ud800"', "\ud800", "")
IDS = ("c1", "c2", "c4", "k1", "p1", "Bakery", "desk", "nowhere", "", "\x00", "é", "Nara", "奈良市")
DRAWN, AGAIN = 40, 5


def scenes() -> tuple[Scene, ...]:
    """Scenes to call tools on: a street with two cameras, nothing at all, and a camera of unknown place."""
    from shapely import LineString

    from gnomon_tools.scene.scene import Road, ScenePlace

    cameras = {
        name: Camera(id=name, xy_m=(x_m, 1.0), heading_deg=90.0, fov_deg=60.0, range_m=40.0)
        for name, x_m in (("c1", 0.0), ("c2", 90.0))
    }
    roads = {"r1": Road(id="r1", line=LineString([(-10, 0), (100, 0)]))}
    places = {"p1": ScenePlace(id="p1", name="Bakery", kind="shop", xy_m=(5.0, 5.0))}
    street = Scene(id="street", frame=Frame(), kind="outdoor", cameras=cameras, roads=roads, places=places)
    unknown = Scene(id="unknown", frame=Frame(), kind="indoor", cameras={"c1": Camera(id="c1")})
    return street, Scene(id="empty", frame=Frame(), kind="outdoor"), unknown


class ToolSuite:
    """A tool says what it does, describes what it takes and gives, and answers whatever a model sends."""

    def __init__(self, tool: Tool[Any], where: Sequence[Scene] | None = None) -> None:
        self._tool, self._where = tool, where

    def says_what_it_does(self) -> None:
        """A name that is allowed, a description of 40 to 300 characters that ends with a full stop."""
        tool = self._tool
        ensure(NAME.fullmatch(tool.name), f"name {tool.name!r}; allowed: {ALLOWED_NAME}")
        ensure(40 < len(tool.description) < 300, "description: 41 to 299 characters, for the model to read")
        ensure(tool.description.endswith("."), "description: ends with a full stop")
        ensure(issubclass(tool.args, ToolArgs), "args: a class that extends ToolArgs")

    def describes_every_argument(self) -> None:
        """Each argument, at any depth, has a description of more than 8 characters."""
        for name, field in fields_of(self._parameters):
            ensure(
                len(field.get("description", "")) > 8, f"argument {name!r}: Field(description=…), in words"
            )

    def has_a_plain_schema(self) -> None:
        """The arguments are a valid JSON schema that every provider takes: no references, unions or nulls."""
        import jsonschema

        jsonschema.Draft202012Validator.check_schema(self._parameters)
        ensure(self._parameters["type"] == "object", "the arguments are an object")
        ensure(self._parameters["additionalProperties"] is False, "args: other names are refused")
        written = json.dumps(self._parameters)
        for surprise in SURPRISES:
            ensure(surprise not in written, f"schema of the arguments: holds {surprise}, which not all take")

    def results_carry_units_and_an_error(self) -> None:
        """Names of numbers in the result end with their unit; one field says how far off it may be."""
        fields = fields_of(self._tool.result_schema())
        ensure(
            any("error" in name for name, _ in fields),
            "result: one field says how far off it may be, *error*",
        )
        for name, field in fields:
            if field.get("type") == "number":
                ensure(name.endswith(UNITS), f"result {name!r}: a number's name ends with its unit, {UNITS}")

    def takes_its_own_example(self) -> None:
        """The example, where it has one, is allowed by its arguments."""
        if self._tool.example:
            self._tool.args.model_validate_json(json.dumps(dict(self._tool.example)))

    def answers_whatever_a_model_sends(self) -> None:
        """Arguments as the schema allows and as it does not: a result or an error in words, never a crash."""
        draw = random.Random(self._tool.name)
        for arguments in self._drawn(draw):
            self._hold(json.dumps(arguments))
        for _ in range(DRAWN // 4):
            self._hold(text(draw))
            self._hold(json.dumps(junk(draw)))

    def answers_hostile_text(self) -> None:
        """Deep nesting, huge numbers, lone surrogates, nothing at all: an error in words."""
        for arguments in HOSTILE:
            self._hold(arguments)

    def answers_the_same_to_the_same(self) -> None:
        """A call depends on its arguments and its sample alone: the same gives the same again."""
        for scene in self._scenes:
            for arguments in list(self._drawn(random.Random(self._tool.name)))[:AGAIN]:
                first, again = (call(self._tool, scene, json.dumps(arguments)) for _ in range(2))
                ensure(first == again, f"{json.dumps(arguments)} gave {first.content}, then {again.content}")

    @cached_property
    def _scenes(self) -> Sequence[Scene]:
        return scenes() if self._where is None else self._where

    @property
    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self._tool.schema()["function"]["parameters"]
        return parameters

    def _hold(self, arguments: str) -> None:
        for scene in self._scenes:
            hold(self._tool, scene, arguments)

    def _drawn(self, draw: random.Random) -> Iterator[object]:
        """Arguments that the schema allows, more or less, and some with other values."""
        names = sorted(self._parameters["properties"]) or ["x"]
        for number in range(DRAWN):
            yield (
                offer(self._parameters, draw)
                if number % 4
                else {name: junk(draw) for name in draw.sample(names, draw.randrange(len(names) + 1))}
            )


def call(tool: Tool[Any], scene: Scene, arguments: str) -> Observation:
    """What a call gives back, with a text of arguments as a model wrote it."""
    return Toolbox([tool], ToolContext(inputs=held(scene), is_free=True)).call(tool.name, arguments)


def hold(tool: Tool[Any], scene: Scene, arguments: str) -> None:
    """Call a tool with whatever a model may write.

    Raises:
        NotKept: it crashed, or gave what is no JSON object with a result or an error.
    """
    observation = call(tool, scene, arguments)
    called = f"{tool.name}({arguments[:200]}) on the scene {scene.id}"
    message = "raise ToolError for what a model can mend, and bear every number"
    ensure(observation.error != "tool_crash", f"{called}: {observation.content}; {message}")
    result = json.loads(observation.content, parse_constant=_refuse)
    has_error = observation.error is not None
    ensure(("error" in result) == has_error, f"{called}: a result has no field `error`, an error has one")
    ensure(len(result.get("error", "")) < 2000, f"{called}: an error has less than 2,000 characters")


def fields_of(schema: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every named field of a schema, at any depth."""
    fields: list[tuple[str, dict[str, Any]]] = []
    for name, field in schema.get("properties", {}).items():
        fields.append((name, field))
        for inner in (field, field.get("items", {})):
            fields.extend(fields_of(inner))
    return fields


def offer(schema: Mapping[str, Any], draw: random.Random) -> Any:
    """A value that a schema allows, more or less: ids of the scenes are among the texts."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        wanted = [n for n in properties if n in schema.get("required", ()) or draw.random() < 0.5]
        return {name: offer(properties[name], draw) for name in wanted}
    if kind == "array":
        low, high = schema.get("minItems", 0), min(schema.get("maxItems", 4), 4)
        return [offer(schema["items"], draw) for _ in range(draw.randint(low, max(low, high)))]
    if kind == "number":
        low_m, high_m = schema.get("minimum", -2000), schema.get("maximum", 2000)
        extremes = (float("nan"), float("inf"), -1e308, 0.0, draw.uniform(0, 900))
        return draw.choice(extremes) if draw.random() < 0.3 else draw.uniform(low_m, high_m)
    if kind == "integer":
        return draw.choice((draw.randint(-3, 3), draw.randint(0, 900), 2**70, -(2**70)))
    return draw.random() < 0.5 if kind == "boolean" else draw.choice(IDS)


def _refuse(constant: str) -> None:
    ensure(False, f"the result holds {constant}, which is not JSON")
