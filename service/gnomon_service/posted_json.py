"""Reads JSON that was sent to the API as plain data."""

import json

from gnomon.core.errors import SpecError


def json_body(body: bytes | str) -> object:
    """JSON as plain data.

    Raises:
        SpecError: it is none, or holds numbers that are not finite.
    """
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not valid JSON: {error}; YAML is sent as application/yaml", field="body") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")
