"""Puts a tool's JSON schema into words: its fields one by one, each with its type, limits and default."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LOCATION = {"camera", "place", "x_m", "y_m", "floor"}  # the fields of the one object that every tool shares


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """A field of an object; `depth` counts the objects that it is in. `default` is None where it is empty."""

    name: str
    kind: str
    description: str
    is_required: bool
    default: Any
    depth: int


def fields_of(schema: Mapping[str, Any], *, code: str = "{}", depth: int = 0) -> Iterator[SchemaField]:
    """The fields of an object, each before those of the objects in it; allowed values are written as `code`.

    >>> speed = {"type": "number", "minimum": 0, "maximum": 100, "default": 1.5}
    >>> [(field.name, field.kind, field.default) for field in fields_of({"properties": {"speed": speed}})]
    [('speed', 'number, 0 to 100', 1.5)]
    """
    for name, field in schema.get("properties", {}).items():
        default = field.get("default")
        yield SchemaField(
            name=name,
            kind=kind_of(field, code=code),
            description=field.get("description", ""),
            is_required=name in schema.get("required", ()),
            default=None if default in (None, [], "") else default,
            depth=depth,
        )
        inner = field
        while inner.get("type") == "array":
            inner = inner.get("items", {})
        if not _is_location(inner):
            yield from fields_of(inner, code=code, depth=depth + 1)


def kind_of(schema: Mapping[str, Any], *, code: str = "{}") -> str:
    """A type in words, with its limits.

    >>> kind_of({"enum": ["a", "b"]}, code="`{}`"), kind_of({"type": "array", "items": {"type": "string"}})
    ('`a` or `b`', 'list of texts')
    """
    if _is_location(schema):
        return "location"
    if "enum" in schema:
        return " or ".join(code.format(value) for value in schema["enum"])
    kind: str = schema.get("type", "any")
    if kind == "array":
        ends = range_words(schema.get("minItems"), schema.get("maxItems"))
        return f"list of {f'{ends} ' if ends else ''}{_plural(schema.get('items', {}), code)}"
    word = {"string": "text", "boolean": "true or false", "object": "object"}.get(kind, kind)
    if kind not in ("number", "integer"):
        return word
    ends = range_words(schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum"))
    return f"{word}, {ends}" if ends else word


def _is_location(schema: Mapping[str, Any]) -> bool:
    return set(schema.get("properties", ())) == LOCATION


def _plural(items: Mapping[str, Any], code: str) -> str:
    if items.get("type") == "array" or "enum" in items:
        return f"({kind_of(items, code=code)})"
    word = kind_of({"type": items.get("type", "any")})
    return {"text": "texts", "any": "values"}.get(word, f"{word}s")


def range_words(low: float | None, high: float | None) -> str:
    """The ends of a range; empty where it has none.

    >>> range_words(0, 1000), range_words(1, None), range_words(2, 2)
    ('0 to 1,000', 'at least 1', '2')
    """
    texts = [None if end is None else f"{end:,.10g}" for end in (low, high)]
    if texts[0] is None or texts[1] is None:
        return next(
            (f"{word} {text}" for word, text in zip(("at least", "at most"), texts, strict=True) if text), ""
        )
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} to {texts[1]}"
