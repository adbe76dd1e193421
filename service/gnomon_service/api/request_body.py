"""Reads request bodies, JSON or YAML, as plain data, and documents them."""

import json
from datetime import date
from http import HTTPStatus
from math import isfinite
from typing import Any

from anyio.to_thread import run_sync
from fastapi import Request
from starlette.exceptions import HTTPException

from gnomon.core.errors import SpecError

JSON = "application/json"
YAML = (
    "application/yaml",
    "application/x-yaml",
    "text/yaml",
)  # RFC 9512, and its aliases
LARGE_BYTES = 1_000_000  # JSON beyond it is read in a thread, so that the event loop goes on
MAX_YAML_BYTES = 200_000  # read some hundred times more slowly than JSON


async def plain_body(request: Request) -> object:
    """The body as plain data: JSON or YAML by content type and by content, finite numbers only.

    Raises:
        HTTPException: 415, the content type is another; 413, YAML too large to be read.
        SpecError: the body is not what its content type says.
    """
    # Neither JSON's type nor YAML's is one that a form or a simple request may have: a browser sends a
    # preflight request first, so a page of another site cannot post here.
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == JSON:
        body = await request.body()
        return _json(body) if len(body) <= LARGE_BYTES else await run_sync(_json, body)
    if kind not in YAML:
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"send the body as {JSON} or as {YAML[0]} (a spec file as it is)",
        )
    body = await request.body()
    if len(body) > MAX_YAML_BYTES:
        detail = f"YAML may have up to {MAX_YAML_BYTES:,} bytes; send a larger body as {JSON}"
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    return await run_sync(_yaml, body)


def body_docs(schema: dict[str, Any]) -> dict[str, Any]:
    """A route's `openapi_extra` for a body of this schema."""
    content = {kind: {"schema": schema} for kind in (JSON, YAML[0])}
    return {"requestBody": {"required": True, "content": content}}


def _json(body: bytes) -> object:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not valid JSON: {error}; YAML is sent as {YAML[0]}", field="body") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _yaml(body: bytes) -> object:
    from gnomon.spec.spec_file import load_yaml  # late: the API starts without YAML

    try:
        return _as_json(load_yaml(body.decode()))
    except UnicodeDecodeError:
        raise SpecError("not valid YAML: not UTF-8", field="body") from None
    except SpecError as error:
        raise SpecError(error.message, field="body") from None


def _as_json(value: object) -> object:
    """What YAML says as JSON would: dates as text; what JSON cannot say is refused."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise SpecError(f"{key!r} is not a text, as the names of fields are")
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value)):
        return value
    raise SpecError(f"{value!r} cannot be said in JSON")
