"""Reads texts that may be JSON: what models wrote, what tools returned, what rows keep."""

import json
from typing import Any


def json_value(text: str | bytes, *, otherwise: Any = None) -> Any:
    """The value of a JSON text; `otherwise` where it is none, or nests too deep.

    >>> json_value("[1, 2]"), json_value("north"), json_value("north", otherwise="?")
    ([1, 2], None, '?')
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def json_object(text: str | bytes) -> dict[str, Any]:
    """The object of a JSON text; empty for any other text.

    >>> json_object('{"n": 1}'), json_object("[1]"), json_object("{")
    ({'n': 1}, {}, {})
    """
    value = json_value(text)
    return value if isinstance(value, dict) else {}
