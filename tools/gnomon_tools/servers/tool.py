"""A tool of a foreign server as a toolbox runs it: checked arguments in, text and pictures out."""

import base64
import contextvars
import functools
import hashlib
import io
import json
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon_tools.core.clip import Footage, Picture, Pictures
from gnomon_tools.core.inputs import Need
from gnomon_tools.core.open_picture import KEPT_AS_THEY_ARE, BadPicture, TooManyPixels, open_picture
from gnomon_tools.core.tool import (
    BadArguments,
    MediaSource,
    TextResult,
    Tool,
    ToolArgs,
    ToolContext,
    ToolError,
)
from gnomon_tools.scene.scene import Scene
from gnomon_tools.servers.answer import Answer, BadResult
from gnomon_tools.servers.connections import connections
from gnomon_tools.servers.listing import ListedTool, without_filled
from gnomon_tools.servers.server_spec import Fill, ToolServer

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

PNG_START = b"\x89PNG\r\n\x1a\n"
MAX_FAULTS = 5  # of one call's arguments, that the model is told
MAX_CHECKS = 300_000  # of one value, by keywords of its schema, whose references can double at every step
NEEDS: Mapping[Fill, Need] = {
    "$scene": Scene,
    "$scene_path": Scene,
    "$picture": Pictures,
    "$picture_path": Pictures,
    "$pictures": Pictures,
    "$clip_path": Footage,
    "$sample_id": None,
}


class ServerArgs(ToolArgs):
    """Arguments of a foreign tool, as the model wrote them."""

    values: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTool(Tool[ServerArgs]):
    """One listed tool of a server."""

    server: str
    definition: ToolServer = field(hash=False, repr=False)
    listed: ListedTool = field(hash=False, repr=False)
    offer: dict[str, Any] = field(hash=False, repr=False)  # its schema for the model

    @property
    def is_ready(self) -> bool:
        return connections().is_live(self.server, self.definition)

    def prepare(self) -> None:
        connections().start(self.server, self.definition)

    def schema(self) -> dict[str, Any]:
        return self.offer

    def result_schema(self) -> dict[str, Any]:
        return self.listed.result or {}

    def refusals(self) -> str:
        return ""

    def fits(self, context: ToolContext) -> bool:
        return all(context.meets(NEEDS[fill]) for fill in self._fills().values())

    def read_args(
        self,
        value: dict[str, Any],
        context: ToolContext | None = None,  # noqa: ARG002 (the schema says it all)
    ) -> ServerArgs:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            raise BadArguments("they hold half a character, or nest too deeply") from None
        faults = argument_faults(self.name, self.offer["function"]["parameters"], value)
        if faults:
            raise BadArguments("; ".join(faults))
        return ServerArgs(values=value)

    def _fills(self) -> dict[str, Fill]:
        """Those of the server's fills that are arguments of this tool."""
        properties = self.listed.parameters.get("properties")
        names = properties if isinstance(properties, Mapping) else {}
        return {name: fill for name, fill in self.definition.fill.items() if name in names}

    def filled(self, context: ToolContext, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the server gets them."""
        fills = self._fills()
        folder: Callable[[], Path] = lambda: connections().folder(self.server, self.definition)  # noqa: E731
        return {**values, **{name: _content(fill, context, folder) for name, fill in fills.items()}}

    def result_of(self, answer: Answer, context: ToolContext) -> TextResult:
        """What the model reads of an answer.

        Raises:
            ToolError: the server says that the call failed.
            BadResult: the structured result does not fit the schema that the server listed for it.
        """
        limits = self.definition.limits
        text = answer.text(limits.max_result_bytes)
        if answer.is_error:
            raise ToolError(text)
        if self.listed.result is not None and self.definition.mcp is not None:
            faults = result_faults(self.name, self.listed.result, answer.structured)
            if faults:
                raise BadResult(f"The tool's result breaks its own schema: {faults[0]}.")
        shown = [_kept(data, context.media) for data in answer.pictures[: limits.max_pictures]]
        notes = [picture for picture in shown if isinstance(picture, str)]
        if len(answer.pictures) > limits.max_pictures:
            notes.append(f"[{len(answer.pictures) - limits.max_pictures} more pictures, not shown]")
        words = "\n".join([*([text] if text else []), *notes])
        kept = tuple(picture for picture in shown if isinstance(picture, Picture))
        return TextResult(text=words or "(a picture)", pictures=kept)


def server_tool(server: str, definition: ToolServer, listed: ListedTool) -> ServerTool:
    """The tool of that listing."""
    filled = definition.fill.keys()
    parameters = without_filled(listed.parameters, filled)
    function = {"name": listed.shown, "description": listed.description, "parameters": parameters}
    tool: ServerTool

    def run(context: ToolContext, args: ServerArgs) -> TextResult:
        arguments = tool.filled(context, args.values)
        return tool.result_of(connections().call(server, definition, listed, arguments), context)

    tool = ServerTool(
        name=listed.shown,
        description=listed.description,
        args=ServerArgs,
        run=run,
        needs=None,
        is_slow=True,
        is_foreign=True,
        server=server,
        definition=definition,
        listed=listed,
        offer={"type": "function", "function": function},
    )
    return tool


def argument_faults(name: str, schema: Mapping[str, Any], value: object) -> list[str]:
    """What in the arguments breaks the schema; nothing where the schema itself cannot be read."""
    return _faults(f"arguments of {name}", schema, value)


def result_faults(name: str, schema: Mapping[str, Any], value: object) -> list[str]:
    """What in a structured result breaks the schema that the server listed for it."""
    if value is None:
        return ["there is no structured result"]
    return _faults(f"result of {name}", schema, value)


def _faults(what: str, schema: Mapping[str, Any], value: object) -> list[str]:
    from jsonschema.exceptions import ValidationError

    _checks_left.set([MAX_CHECKS])
    try:
        validator = _validator(what, json.dumps(schema, sort_keys=True))
        errors: list[ValidationError] = []
        for error in validator.iter_errors(value) if validator else ():
            errors.append(error)
            if len(errors) == MAX_FAULTS:
                break
    except Exception:  # noqa: BLE001 a schema that names what is not there, nests or takes without end
        return []
    return [_in_words(error) for error in errors]


def _in_words(error: Any) -> str:
    where = ".".join(map(str, error.absolute_path))
    message = error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        message += f"; allowed: {', '.join(map(str, error.schema.get('properties', ()))) or 'none'}"
    return f"{where}: {message}" if where else message


class _TooManyChecks(Exception):
    """A value takes more checks than its schema is worth."""


_checks_left: contextvars.ContextVar[list[int]] = contextvars.ContextVar("checks_left")


@functools.lru_cache(maxsize=1024)
def _validator(_what: str, schema: str) -> "Validator | None":
    """A checker of the schema that fetches no references, runs no regular expressions, whose cost a server
    could make endless, and gives up after `MAX_CHECKS`; None where the schema is none.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry

    checked = _without_patterns(json.loads(schema))
    try:
        Draft202012Validator.check_schema(checked)
    except SchemaError:
        return None
    registry: Registry[Any] = Registry()
    return _bounded_class()(checked, registry=registry)


@functools.lru_cache(maxsize=1)
def _bounded_class() -> Any:
    """The checker of the draft, each keyword of which counts."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    def counted(check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def run(validator: Any, word: Any, value: Any, schema: Any) -> Iterator[Any]:
            left = _checks_left.get()
            left[0] -= len(word) if isinstance(word, list) else 1
            if left[0] < 0:
                raise _TooManyChecks
            yield from check(validator, word, value, schema) or ()

        return run

    checks = {word: counted(check) for word, check in Draft202012Validator.VALIDATORS.items()}
    return extend(Draft202012Validator, checks)


def _without_patterns(schema: Any, *, are_names: bool = False) -> Any:
    if isinstance(schema, list):
        return [_without_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if are_names:
        return {name: _without_patterns(item) for name, item in schema.items()}
    drops = {"pattern", "patternProperties", "propertyNames", "format"}
    drops |= {"unevaluatedProperties", "unevaluatedItems", "uniqueItems"}  # what they take cannot be counted
    if "patternProperties" in schema:
        drops.add("additionalProperties")
    return {
        key: value
        if key in ("enum", "const", "default", "examples")
        else _without_patterns(value, are_names=key in ("properties", "$defs", "definitions"))
        for key, value in schema.items()
        if key not in drops
    }


def _kept(data: bytes, media: MediaSource | None) -> "Picture | str":
    """The picture among the media; in words where it cannot be read or there is no place for it."""
    put = getattr(media, "put", None)  # a store of media takes pictures, what only reads them does not
    if put is None:
        return f"[a picture of {len(data):,} bytes, not kept]"
    data = _without_broken_extras(data)
    try:
        with open_picture(io.BytesIO(data), (*KEPT_AS_THEY_ARE, "GIF", "WEBP")) as image:
            if image.format not in KEPT_AS_THEY_ARE:
                buffer = io.BytesIO()
                image.convert("RGB").save(buffer, "PNG")
                data = buffer.getvalue()
            else:
                image.verify()
    except TooManyPixels as error:
        return f"[a picture that {error}]"
    except BadPicture:
        return "[a picture that cannot be read]"
    kept = put(data)
    return Picture(sha256=kept.sha256, media_type=kept.media_type, width=kept.width, height=kept.height)


def _without_broken_extras(data: bytes) -> bytes:
    """A PNG without the chunks that a picture does not need and whose checksums are wrong, as servers send
    them (a colour profile of server-everything's); other data as they are.
    """
    if not data.startswith(PNG_START):
        return data
    kept, at = [PNG_START], len(PNG_START)
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4])
        chunk = data[at:end]
        is_needed = chunk[4:5].isupper()
        if is_needed or zlib.crc32(chunk[4:-4]) == int.from_bytes(chunk[-4:]):
            kept.append(chunk)
        at = end
    return b"".join(kept)


def _content(fill: Fill, context: ToolContext, folder: Callable[[], Path]) -> Any:
    """What an argument is filled with."""
    if fill == "$sample_id":
        return context.sample_id
    if fill in ("$scene", "$scene_path"):
        text = _scene_text(context)
        return text if fill == "$scene" else _file(text.encode(), ".geojson", folder)
    path = getattr(context.footage, "path", None)
    if fill == "$clip_path":
        if path is None:
            raise ToolError("The clip of this question is no file.")
        return _copied(path, folder)
    media = context.media
    if media is None:
        raise ToolError("There are no pictures here.")
    if fill == "$picture_path":
        picture = context.pictures[0]
        suffix = ".png" if picture.media_type == "image/png" else ".jpg"
        return _file(media.read(picture.sha256), suffix, folder)
    encoded = [base64.b64encode(media.read(picture.sha256)).decode() for picture in context.pictures]
    return encoded if fill == "$pictures" else encoded[0]


def _scene_text(context: ToolContext) -> str:
    from gnomon_tools.scene.format import scene_to_json

    return json.dumps(scene_to_json(context.scene), ensure_ascii=False)


def _file(data: bytes, suffix: str, folder: Callable[[], Path]) -> str:
    """The path of a file with these bytes in the folder that the server may read."""
    return _put(folder() / f"{_short_hash(data)}{suffix}", lambda new: new.write_bytes(data))


def _copied(source: Path, folder: Callable[[], Path]) -> str:
    """The path of a clip in the folder that the server may read: copied once, as Landlock knows no links."""
    name = _short_hash(str(source.absolute()).encode())
    return _put(folder() / f"{name}{source.suffix}", lambda new: shutil.copyfile(source, new))


def _short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _put(path: Path, write: Callable[[Path], object]) -> str:
    """The path, with the file there whole: threads may ask for the same one at the same time."""
    if not path.exists():
        new = path.with_suffix(f".{secrets.token_hex(8)}.new")
        write(new)
        new.replace(path)
    return str(path)
