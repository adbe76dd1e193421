"""The first fault of a spec, in words a user can act on."""

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from pydantic import BaseModel, ValidationError

from gnomon.core.errors import SpecError

# What a part of a job spec must be, where pydantic would only say that it is absent or of another type.
_FORMS = {
    "benchmark": "the name of a benchmark, such as worlds",
    "models": "a list of models, each {id: …}, such as {id: reference}",
    "models.*": "{id: …}, such as {id: reference}",
    "arms": "a list of arms, each {name: …, agent: …, tools: …}, or a preset, such as {preset: ladder}",
    "arms.*": "{name: …, agent: …, tools: …}",
}
_BEGINNINGS = {  # by pydantic's kind of error
    "missing": "missing; allowed: ",
    "too_short": "needs at least 1 entry; allowed: ",
    "list_type": "must be ",
    "string_type": "must be ",
    "model_type": "must be ",
}


def first_validation_error(error: ValidationError, root: type[BaseModel]) -> SpecError:
    """The first field that is wrong, with all that is said of it; `root` is what was being read."""
    said: dict[str, list[str]] = {}
    for item in error.errors():
        # Where a field may be of several types, pydantic puts the type it tried behind the field's name.
        path = [part for part in item["loc"] if not re.match(r"(literal|list|tuple)\[", str(part))]
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            message = f"not permitted; allowed here: {', '.join(_fields_beside(path, root))}"
        elif item["type"] in _BEGINNINGS and (form := _form_at(path)):
            message = _BEGINNINGS[item["type"]] + form
        said.setdefault(".".join(map(str, path)), []).append(message)
    field, messages = next(iter(said.items()))
    message = "; or: ".join(messages)
    if not field:  # a rule of the whole spec: its message begins with the field
        field, _, message = message.partition(": ")
    return SpecError(message, field=field)


def _form_at(path: Sequence[str | int]) -> str | None:
    return _FORMS.get(".".join("*" if isinstance(part, int) else part for part in path))


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _fields_beside(path: Sequence[str | int], root: type[BaseModel]) -> tuple[str, ...]:
    """The fields there are where `path` names one that is not."""
    model = root
    for part in path[:-1]:
        if isinstance(part, str):
            field = model.model_fields.get(part)  # None: a name in a mapping of models
            model = next(_models_in(field.annotation)) if field else model
    return tuple(model.model_fields)
