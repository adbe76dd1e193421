"""Parses Python on any thread.

CPython 3.11 counts the depth of its parser for all threads together (its issue 106905). Where two parse at
the same moment, one of them fails with `SystemError`, though its source is good. It is then asked again.
"""

import ast
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_TRIES = 100


def parse(source: str | bytes) -> ast.Module:
    """The syntax tree of a module, as `ast.parse` gives it."""
    return _asked_again(lambda: ast.parse(source))


def literal(source: str) -> Any:
    """The value of a literal, as `ast.literal_eval` gives it."""
    return _asked_again(lambda: ast.literal_eval(source))


def _asked_again(read: Callable[[], T]) -> T:
    for _ in range(_TRIES):
        try:
            return read()
        except SystemError:
            continue
    raise RecursionError("other threads parsed Python each time that this source was tried")
