"""Writes JSON schemas in the plain form that function calling of every vendor understands."""

from typing import Any

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
        elif key in ("items", "anyOf"):
            plain[key] = (
                _plain(value, definitions)
                if key == "items"
                else [_plain(item, definitions) for item in value]
            )
        else:
            plain[key] = value
    return plain
