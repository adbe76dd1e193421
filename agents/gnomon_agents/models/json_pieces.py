"""Writes JSON in pieces: large values are written once, shared, and never copied."""

import json
from collections.abc import Iterator, Mapping
from secrets import token_hex
from typing import Any

Piece = bytes | memoryview


class Written:
    """A value that is JSON already, in pieces."""

    __slots__ = ("pieces",)

    def __init__(self, *pieces: Piece) -> None:
        self.pieces = pieces


def quoted(text: bytes | memoryview) -> Written:
    """A text that needs no escapes, such as a picture in base64."""
    return Written(b'"', text, b'"')


def pieces_of(body: Mapping[str, Any]) -> list[Piece]:
    r"""The body as compact JSON, to be sent piece after piece; what is written already is not copied.

    >>> pieces_of({"a": [1, Written(b'"x"'), None]})
    [b'{"a":[1,', b'"x"', b',null]}']

    Raises:
        ValueError: a number in it is not finite.
    """
    written: list[Written] = []
    here = f"\0{token_hex(8)}"  # nobody who writes a part of the body can foresee it

    def place(value: object) -> str:
        if not isinstance(value, Written):
            raise TypeError(f"{type(value).__name__} is no JSON")
        written.append(value)
        return here

    text = json.dumps(body, separators=(",", ":"), allow_nan=False, default=place)
    return list(_between(text.split(json.dumps(here)), written))


def _between(texts: list[str], written: list[Written]) -> Iterator[Piece]:
    yield texts[0].encode()
    for value, text in zip(written, texts[1:], strict=True):
        yield from value.pieces
        yield text.encode()
