"""The base of everything that is read from a spec, and the first error of a spec in words."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetPydanticSchema, ValidationError
from pydantic_core import CoreSchema, ErrorDetails
from pydantic_core.core_schema import list_schema, no_info_after_validator_function, simple_ser_schema

from gnomon.core.errors import SpecError
from gnomon_tools.core.registry import NEAR

ERRORS_READ = 200  # of one document: for each unknown name a field is looked for that is near


class StrictModel(BaseModel):
    """Unknown names are refused, numbers are finite, nothing changes once it is read."""

    # "constants": what is not finite in a value of any form stays so when it is written, and is refused there
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, ser_json_inf_nan="constants")


def _as_tuple(source: Any, schema_of: GetCoreSchemaHandler) -> CoreSchema:
    items = list_schema(schema_of(get_args(source)[0]))
    return no_info_after_validator_function(tuple, items, serialization=simple_ser_schema("any"))


# Of a tuple[X, ...] in a spec: what is written is a list, and messages and the JSON schema call it so.
AS_LIST = GetPydanticSchema(_as_tuple)


# What pydantic says of a value, in a person's words, by its kind of error and with what belongs to it.
_WORDS = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number, an integer"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be greater than or equal to {ge:,.15g}",
    "greater_than": "must be greater than {gt:,.15g}",
    "less_than_equal": "must be less than or equal to {le:,.15g}",
    "less_than": "must be less than {lt:,.15g}",
}
_BEGINNINGS = {  # of a message that goes on with a field's form, by pydantic's kind of error
    "missing": "missing; allowed: ",
    "too_short": "needs at least 1 entry; allowed: ",
    "list_type": "must be ",
    "string_type": "must be ",
    "model_type": "must be ",
    "literal_error": "must be ",
}


def first_validation_error(
    error: ValidationError, root: type[BaseModel], *, forms: Mapping[str, str] = MappingProxyType({})
) -> SpecError:
    """The first field that is wrong, with all that is said of it; `root` is what was being read.

    `forms` says what a field must be where pydantic would only say that it is absent or of another type, by
    its path; `*` stands for any place in a list.
    """
    messages: dict[str, list[str]] = {}
    errors = error.errors()[:ERRORS_READ]
    for item in sorted(errors, key=lambda item: not _near(item, root)):  # first what was misspelt
        path = _path(item)
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            near, allowed = _near(item, root), ", ".join(_model_at(path[:-1], root).model_fields)
            message = (
                f"did you mean {near!r}? Allowed here: {allowed}" if near else f"allowed here: {allowed}"
            )
            message = f"not permitted; {message}"
        elif item["type"] in _BEGINNINGS and (form := forms.get(_form_path(path))):
            message = _BEGINNINGS[item["type"]] + form
        elif item["type"] == "model_type":  # with the model's name as the OpenAPI document has it
            title = _model_at(path, root).model_config.get("title")
            message = message.replace(item["ctx"]["class_name"], title or item["ctx"]["class_name"])
        elif words := _WORDS.get(item["type"]):
            message = words.format(**item.get("ctx", {}))
        elif item["type"] == "string_too_short" and item["ctx"]["min_length"] == 1:
            message = "must not be empty"
        messages.setdefault(".".join(map(str, path)), []).append(message)
    field, of_field = next(iter(messages.items()))
    message = "; or: ".join(dict.fromkeys(of_field))
    if not field:  # a validator of the whole model: its message begins with the field
        field, _, message = message.partition(": ")
    return SpecError(message, field=field)


def _path(item: ErrorDetails) -> list[str | int]:
    """Where the error is. Where a field may be of several types, pydantic puts the one it tried there too."""
    return [part for part in item["loc"] if not re.match(r"(literal|list|tuple)\[|agent:", str(part))]


def _near(item: ErrorDetails, root: type[BaseModel]) -> str:
    """The field that an unknown name may be meant for; empty where none is near, and for other errors."""
    if item["type"] != "extra_forbidden":
        return ""
    *path, name = _path(item)
    names = _model_at(path, root).model_fields
    return next(iter(difflib.get_close_matches(str(name), names, n=1, cutoff=NEAR)), "")


def _form_path(path: Sequence[str | int]) -> str:
    return ".".join("*" if isinstance(part, int) else part for part in path)


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _model_at(path: Sequence[str | int], root: type[BaseModel]) -> type[BaseModel]:
    """The model whose fields `path` leads to."""
    model = root
    for part in path:
        if isinstance(part, str):
            field = model.model_fields.get(part)  # None: a name in a mapping of models
            model = next(_models_in(field.annotation)) if field else model
    return model
