"""Writes JSON schemas in the plain form that function calling of every vendor understands."""

import functools
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

Schema = dict[str, Any]

NULL = {"type": "null"}


def plain_schema(schema: Schema) -> Schema:
    """The same schema with references replaced by what they name, and without titles and nulls.

    An optional field says so by being absent from `required`; "or null" and "default: null" only add noise.

    >>> optional = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Name"}
    >>> plain_schema({"type": "object", "properties": {"name": optional}})
    {'type': 'object', 'properties': {'name': {'type': 'string'}}}
    """
    return _plain(schema, schema.get("$defs", {}))


def _plain(schema: Schema, definitions: Schema) -> Schema:
    if "$ref" in schema:
        named = definitions[schema["$ref"].rpartition("/")[2]]
        return _plain(
            {**named, **{key: value for key, value in schema.items() if key != "$ref"}}, definitions
        )
    options = [option for option in schema.get("anyOf", ()) if option != NULL]
    if len(options) == 1:
        kept = {key: value for key, value in schema.items() if key != "anyOf"}
        return _plain({**options[0], **kept}, definitions)
    plain: Schema = {}
    for key, value in schema.items():
        if key in ("title", "$defs") or (key == "default" and value is None):
            continue
        if key == "properties":
            plain[key] = {name: _plain(field, definitions) for name, field in value.items()}
        elif key == "items":
            plain[key] = _plain(value, definitions)
        elif key == "anyOf":
            plain[key] = [_plain(option, definitions) for option in value]
        else:
            plain[key] = value
    return plain


# Errors tell of them where they are broken.
_GUARDS = frozenset({"title", "$schema", "minLength", "maxLength", "minItems", "maxItems"})
_ENDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_UP_TO_COLON = re.compile(r"(?:(?![;:]\s).)*", re.DOTALL)
_UP_TO_COLON_UNQUOTED = re.compile(r'(?:"[^"]*"|(?![;:]\s).)*', re.DOTALL)
_UNIT = re.compile(r",? in (?:metres per second|metres|seconds|degrees|pixels)\b")
_UNIT_NAMES = ("_m", "_mps", "_s", "_deg", "_px")
WIDE = 1_000  # an integer's bound of this size only guards; one at 0 says what the name says
MOST_BYTES = 1_000  # 250 tokens
# What a description tells of a value's form, and which part is told elsewhere.
_FORM = re.compile(
    r'\[[^]]*\]|"[^"]*"|\b[A-Z]+(?:[:-][A-Z]+)+\b|(?:exactly )?one of [^;]*|(?:counter-)?clockwise [^,;]*'
    r"|fields as in \w+"
)


# "exactly one of camera, place, or x_m with y_m"
_ONE_OF = re.compile(r"(?:^|: )(?:exactly )?one of (.+)$")
_BETWEEN_KINDS = re.compile(r",? or |, ")


def brief_schema(
    schema: Schema, *, keeps_quotes: bool = True, most_bytes: int | None = None, has_kinds: bool = False
) -> Schema:
    """A function's schema with what a model needs for its call: without bounds that only guard, and with a
    kind of object described once, where it occurs first. Texts are shortened, but not inside quotes; jobs of
    before are sent them as they were.

    Where it `has_kinds`, an object whose description says of which fields a call gives one, such as "one of
    camera, or x_m with y_m", is told as an object of each kind: small models else fill in all fields
    (docs/wording.md). A field that is not named there goes with the last.

    A function that has more than `most_bytes` as compact JSON says no bounds, no text twice, and of some
    fields the form of their values alone: so many that it fits, if it can. Names, types, enumerations and
    what is required stay.

    One object for a whole process: not to be changed.

    >>> spot = {"type": "object", "properties": {"x_m": {"type": "number", "maximum": 1e6}}, "title": "Spot"}
    >>> parameters = {"type": "object", "properties": {"start": spot, "end": spot}}
    >>> brief = brief_schema({"type": "function", "function": {"name": "go", "parameters": parameters}})
    >>> brief["function"]["parameters"]["properties"]["start"]
    {'type': 'object', 'properties': {'x_m': {'type': 'number'}}}
    >>> brief["function"]["parameters"]["properties"]["end"]
    {'type': 'object', 'description': 'fields as in start'}
    >>> spot["description"], spot["properties"]["camera"] = "one of camera, or x_m", {"type": "string"}
    >>> brief = brief_schema({"type": "function", "function": {"parameters": parameters}}, has_kinds=True)
    >>> kinds = brief["function"]["parameters"]["properties"]["start"]["anyOf"]
    >>> [kind["required"] for kind in kinds]
    [['camera'], ['x_m']]
    """
    start = _UP_TO_COLON_UNQUOTED if keeps_quotes else _UP_TO_COLON
    return _brief_function(json.dumps(schema), start, most_bytes, has_kinds)


@functools.lru_cache(maxsize=4_096)
def _brief_function(schema: str, start: re.Pattern[str], most_bytes: int | None, has_kinds: bool) -> Schema:
    read: Schema = json.loads(schema)
    function = read["function"]
    if isinstance(function.get("parameters"), dict):
        if has_kinds:
            _find_kinds(function["parameters"])
        function["parameters"] = _brief(function["parameters"], {}, "", start)
        if most_bytes is not None and _size(read) > most_bytes:
            _fit(read, list(_fields(function["parameters"])), most_bytes)
    return read


def _find_kinds(schema: Any) -> None:
    """Take out of descriptions which fields a call gives one of, and hold them as `kinds` beside these."""
    if not isinstance(schema, dict):
        return
    fields = schema.get("properties", {})
    if said := _ONE_OF.search(schema.get("description", "")):
        kinds = [kind.split(" with ") for kind in _BETWEEN_KINDS.split(said[1])]
        if len(kinds) > 1 and fields.keys() >= {name for kind in kinds for name in kind}:
            schema["description"] = schema["description"][: said.start()]
            schema["kinds"] = kinds
    for part in (*fields.values(), schema.get("items")):
        _find_kinds(part)


def _by_kind(schema: Schema) -> Schema:
    """The object as one of its kinds, of which each has its fields alone."""
    fields, kinds = schema["properties"], schema["kinds"]
    others = fields.keys() - {name for kind in kinds for name in kind}
    each_kind = [
        {"type": "object", "properties": {name: fields[name] for name in kind}, "required": kind}
        for kind in kinds
    ]
    each_kind[-1]["properties"] |= {name: part for name, part in fields.items() if name in others}
    apart = ("type", "properties", "required", "kinds")
    return {key: value for key, value in schema.items() if key not in apart} | {"anyOf": each_kind}


class _Field(NamedTuple):
    """A field, or what a list holds; in order: what a call may do without, the deepest, the shortest."""

    is_required: bool
    height: int  # 0: an argument; its fields are at -1
    length: int  # of its description
    schema: Schema


def _fields(schema: Schema, height: int = 0) -> Iterator[_Field]:
    for kind in schema.get("anyOf", ()):  # a call may do without each of them
        yield from _fields({**kind, "required": ()}, height)
    parts = [
        (name in schema.get("required", ()), part) for name, part in schema.get("properties", {}).items()
    ]
    for is_required, part in parts:
        at: Any = part
        while isinstance(at, dict):
            yield _Field(is_required, height, len(at.get("description", "")), at)
            yield from _fields(at, height - 1)
            at = at.get("items")


def _fit(read: Schema, fields: list[_Field], most_bytes: int) -> None:
    texts: set[str] = set()
    for *_, schema in fields:
        for end in _ENDS & schema.keys():
            del schema[end]
        if schema.get("default") in schema.get("enum", ())[:1]:
            schema.pop("default", None)
        if schema.get("description") in texts:
            del schema["description"]
        texts.add(schema.get("description", ""))
    for *_, schema in sorted(fields, key=lambda field: field[:3]):
        if _size(read) <= most_bytes:
            return
        if form := ", ".join(_FORM.findall(schema.pop("description", ""))):
            schema["description"] = form


def _size(schema: Schema) -> int:
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())


def _brief(schema: Any, described: dict[str, str], name: str, start: re.Pattern[str]) -> Any:
    """The part of that name; `described` are the objects so far, each with the name of its first place."""
    if not isinstance(schema, dict):
        return schema
    brief = {key: value for key, value in schema.items() if not _is_guard(key, value, schema)}
    properties = schema.get("properties")
    if isinstance(properties, dict) and properties:
        fields = json.dumps(properties, sort_keys=True)
        if fields in described:
            said = f"{_in_short(schema.get('description', ''), start)}; fields as in {described[fields]}"
            return {"type": "object", "description": said.removeprefix("; ")}
        if name:
            described[fields] = name
        required = schema.get("required") or ()
        brief["properties"] = {
            field: _brief(
                _field_in_short(field, part, start, is_required=field in required), described, field, start
            )
            for field, part in properties.items()
        }
    if "items" in schema:
        items = _brief(schema["items"], described, name, start)
        if "description" in schema and isinstance(items, dict) and "properties" in items:
            items.pop("description", None)  # the list's own says it
        brief["items"] = items
    for several in ("anyOf", "oneOf"):
        if isinstance(schema.get(several), list):
            brief[several] = [_brief(part, described, name, start) for part in schema[several]]
    return _by_kind(brief) if "kinds" in brief else brief


def _field_in_short(name: str, part: Any, start: re.Pattern[str], *, is_required: bool) -> Any:
    """A field without the unit that its name tells; one that a call may do without with its first words."""
    if not isinstance(part, dict) or not isinstance(part.get("description"), str):
        return part
    said = part["description"] if is_required else _in_short(part["description"], start)
    return {**part, "description": _UNIT.sub("", said) if name.endswith(_UNIT_NAMES) else said}


def _in_short(description: str, start: re.Pattern[str]) -> str:
    """The first part of a description: what comes behind it is about cases, or says that it may be absent."""
    match = start.match(description)
    return (match[0] if match else "").rstrip(".").removesuffix(", if known")


def _is_guard(key: str, value: Any, schema: Schema) -> bool:
    if key in _ENDS and isinstance(value, int | float):
        return schema.get("type") == "number" or value == 0 or abs(value) >= WIDE
    if key == "pattern":
        return "description" in schema
    says_nothing = (key == "additionalProperties" and value is False) or (key == "default" and not value)
    return key in _GUARDS or says_nothing
