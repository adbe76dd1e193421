"""Reads files of JSON from outside: whole documents, and lines one at a time, each within bounds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from gnomon.core.errors import SpecError

MOST_DOCUMENT = 512 * 2**20  # bytes of a document that is read as a whole
MOST_LINE = 64 * 2**20  # bytes of a line
MOST_VALUES = 8_000_000  # of a text that is decoded at a time: an empty list of two bytes takes 64
Model = TypeVar("Model", bound=BaseModel)


class LenientModel(BaseModel):
    """A base for formats of others: ignores unknown names and allows only finite numbers."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


def document(path: Path) -> Any:
    """A whole file of JSON.

    Raises:
        SpecError: it cannot be read, is larger than MOST_DOCUMENT, or is not JSON.
    """
    try:
        if path.stat().st_size > MOST_DOCUMENT:
            raise SpecError(f"{path.name} is larger than {MOST_DOCUMENT:,} bytes", field="FILE")
        return decoded(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"{path} cannot be read as JSON: {error}", field="FILE") from None


def decoded(text: bytes) -> Any:
    r"""JSON as plain data.

    >>> decoded(b'\xef\xbb\xbf[1]')
    [1]

    Raises:
        ValueError: it is none, or holds more than MOST_VALUES values.
        RecursionError: it is nested too deep.
    """
    if count_values(text) > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES:,} values")
    return json.loads(text.decode("utf-8-sig"))


def count_values(text: bytes) -> int:
    """How many values a text or a piece of JSON holds, never too low: what stands in strings counts too."""
    return sum(map(text.count, (b",", b"[", b"{")))


def lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The lines of a file with their numbers from 1, each read as JSON; empty ones are left out.

    Raises:
        SpecError: it cannot be read, or a line is not JSON or longer than MOST_LINE; names the line.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                if len(line) > MOST_LINE:
                    raise SpecError(f"longer than {MOST_LINE:,} bytes", field=f"line {number}")
                if line.strip():
                    yield number, _parsed(line, number)
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}", field="FILE") from None


def _parsed(line: bytes, number: int) -> Any:
    try:
        return decoded(line)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", field=f"line {number}") from None


def checked(model: type[Model], value: object, *, where: str) -> Model:
    """What a file holds at `where`, as that model.

    Raises:
        SpecError: it is none; names where and the field.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field, message = ".".join(map(str, first["loc"])), first["msg"]
        if first["type"] == "extra_forbidden":
            message = f"not permitted; allowed: {', '.join(model.model_fields)}"
        raise SpecError(f"{field}: {message}" if field else message, field=where) from None
