"""The first fault of a spec, in words a user can act on."""

import re
from collections.abc import Sequence
from typing import get_args

from pydantic import BaseModel, ValidationError

from gnomon.errors import SpecError


def first_fault(error: ValidationError, root: type[BaseModel]) -> SpecError:
    """The first field that is wrong, with all that is said of it; `root` is what was being read."""
    said: dict[str, list[str]] = {}
    for item in error.errors():
        # Where a field may be of several types, pydantic puts the type it tried behind the field's name.
        path = [part for part in item["loc"] if not re.match(r"(literal|list|tuple)\[", str(part))]
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            message = f"not permitted; allowed here: {', '.join(_fields_beside(path, root))}"
        said.setdefault(".".join(map(str, path)), []).append(message)
    field, messages = next(iter(said.items()))
    message = "; or: ".join(messages)
    if not field:  # a rule of the whole spec: its message begins with the field
        field, _, message = message.partition(": ")
    return SpecError(message, field=field)


def _fields_beside(path: Sequence[str | int], root: type[BaseModel]) -> tuple[str, ...]:
    """The fields there are where `path` names one that is not."""
    model = root
    for part in path[:-1]:
        if isinstance(part, str):
            kinds = [model.model_fields[part].annotation]
            kinds += get_args(kinds[0])
            model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    return tuple(model.model_fields)
