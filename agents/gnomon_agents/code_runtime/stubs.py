"""Describes tools as Python functions: a signature and a docstring made from the tool's JSON schema."""

import builtins
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.core.message import ToolSchema

TYPES = {
    "string": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "null": "None",
    "object": "dict",
    "array": "list",
}
# Bounds of a value, from and to, and what they count; then its other rules.
RANGES = {
    ("minimum", "maximum"): "",
    ("exclusiveMinimum", "exclusiveMaximum"): ", ends left out",
    ("minLength", "maxLength"): " characters",
    ("minItems", "maxItems"): " items",
}
RULES = {"pattern": "matches {}", "format": "a {}", "multipleOf": "a multiple of {}"}


def function_names(schemas: Sequence[ToolSchema]) -> dict[str, str]:
    """By the name of a function in Python, the name of its tool; no function hides a word of Python's.

    >>> tools = [{"function": {"name": name}} for name in ("speed", "max", "geo.find", "geo_find")]
    >>> list(function_names(tools))
    ['speed', 'max_', 'geo_find', 'geo_find_']
    """
    names: dict[str, str] = {}
    for schema in schemas:
        name = re.sub(r"\W", "_", schema["function"]["name"], flags=re.ASCII)
        name = f"_{name}" if name[:1].isdigit() else name
        while name in names or keyword.iskeyword(name) or hasattr(builtins, name) or name == "final_answer":
            name += "_"
        names[name] = schema["function"]["name"]
    return names


def parameter_names(schema: ToolSchema) -> list[str]:
    """The parameters of a tool's function, in the order of its signature: those that it needs come first."""
    needed = needed_names(schema)
    parameters = schema["function"].get("parameters") or {}
    return [*needed, *(name for name in parameters.get("properties", {}) if name not in needed)]


def needed_names(schema: ToolSchema) -> list[str]:
    """The parameters that a call must give."""
    parameters = schema["function"].get("parameters") or {}
    return [name for name in parameters.get("properties", {}) if name in parameters.get("required", ())]


def stub(name: str, schema: ToolSchema) -> str:
    '''The tool as a function of this name, as a Python file would declare it.

    >>> speed = {"type": "number", "minimum": 0, "description": "metres per second"}
    >>> parameters = {"properties": {"speed": speed}, "required": []}
    >>> tool = {"name": "walk", "description": "Walk.", "parameters": parameters}
    >>> print(stub("walk", {"function": tool}))
    def walk(speed: float = ...) -> dict:
        """Walk.
    <BLANKLINE>
        speed: metres per second (at least 0)
        """
    '''
    function = schema["function"]
    parameters = function.get("parameters") or {}
    properties: Mapping[str, Any] = parameters.get("properties", {})
    signature = ", ".join(
        f"{parameter}: {_type(properties[parameter])}{_default(parameter, parameters)}"
        for parameter in parameter_names(schema)
        if parameter.isidentifier() and not keyword.iskeyword(parameter)
    )
    lines = [
        line for parameter in parameter_names(schema) for line in _described(parameter, properties[parameter])
    ]
    said = " ".join(str(function.get("description", "")).split())
    documented = "\n".join([said, "", *(f"    {line}" for line in lines), "    "] if lines else [said])
    documented = documented.replace('"""', "'''")
    return f'def {name}({signature}) -> dict:\n    """{documented}"""'


def _default(parameter: str, parameters: Mapping[str, Any]) -> str:
    if parameter in parameters.get("required", ()):
        return ""
    part = parameters["properties"][parameter]
    has_default = isinstance(part, Mapping) and "default" in part
    return f" = {part['default']!r}" if has_default else " = ..."


def _type(part: Any) -> str:
    """A schema's type in Python's words; `dict` and `list` where it holds parts of its own."""
    if not isinstance(part, Mapping):
        return "Any"
    if "enum" in part or "const" in part:
        values = part.get("enum", [part.get("const")])
        return f"Literal[{', '.join(repr(value) for value in values)}]"
    for several in ("anyOf", "oneOf"):
        if several in part:
            return " | ".join(dict.fromkeys(_type(branch) for branch in part[several]))
    kind = part.get("type")
    if isinstance(kind, list):
        return " | ".join(TYPES.get(str(name), "Any") for name in kind)
    if kind == "array":
        return f"list[{_type(part['items'])}]" if part.get("items") else "list"
    return TYPES.get(str(kind), "Any")


def _described(name: str, part: Any, depth: int = 0) -> list[str]:
    """A parameter's line, and below it those of its fields."""
    if not isinstance(part, Mapping):
        return []
    rules = ", ".join(_rules(part))
    said = " ".join(str(part.get("description", "")).split())
    is_name = name.isidentifier() and not keyword.iskeyword(name)
    shown = name if is_name or depth else f"**{{{name!r}: …}}"  # it is passed by its name in a dict
    line = f"{'  ' * depth}{shown}: {said}{f' ({rules})' if rules else ''}".rstrip()
    fields = [line for inner in _objects(part) for line in _fields(inner, depth + 1)]
    return [line, *fields] if said or rules or fields or not is_name else []


def _objects(part: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas with fields in this one: itself, its items, its alternatives."""
    if part.get("properties"):
        return [part]
    parts = [part.get("items"), *part.get("anyOf", ()), *part.get("oneOf", ())]
    return [schema for inner in parts if isinstance(inner, Mapping) for schema in _objects(inner)]


def _fields(part: Mapping[str, Any], depth: int) -> list[str]:
    needed = part.get("required", ())
    lines: list[str] = []
    for name, field in part["properties"].items():
        is_needed = "" if name in needed else ", may be left out"
        first, *rest = _described(name, field, depth) or [f"{'  ' * depth}{name}:"]
        shown, _, said = first.partition(":")
        lines += [f"{shown} ({_type(field)}{is_needed}):{said}".rstrip(":"), *rest]
    return lines


def _rules(part: Mapping[str, Any]) -> list[str]:
    """Rules of this value, and of the items of a list."""
    rules = [_range(part, *ends, counted) for ends, counted in RANGES.items()]
    rules += [words.format(_number(part[rule])) for rule, words in RULES.items() if rule in part]
    items = part.get("items")
    if isinstance(items, Mapping) and not items.get("properties"):
        rules += [f"each {rule.removeprefix('each ')}" for rule in _rules(items)]
    return [rule for rule in rules if rule]


def _range(part: Mapping[str, Any], least: str, most: str, counted: str) -> str:
    if least in part and most in part:
        low, high = _number(part[least]), _number(part[most])
        return f"{low}{counted}" if low == high else f"{low} to {high}{counted}"
    if least in part or most in part:
        if least.startswith("exclusive"):
            return f"{'more' if least in part else 'less'} than {_number(part.get(least, part.get(most)))}"
        return (
            f"at {'least' if least in part else 'most'} {_number(part.get(least, part.get(most)))}{counted}"
        )
    return ""


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)
