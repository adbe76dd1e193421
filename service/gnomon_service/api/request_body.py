"""Reads request bodies, JSON or YAML, as plain data, and documents them."""

from collections.abc import Callable
from datetime import date
from functools import partial
from http import HTTPStatus
from math import isfinite
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from gnomon.core.errors import SpecError
from gnomon_service.posted_json import json_body

JSON = "application/json"
YAML = (
    "application/yaml",
    "application/x-yaml",
    "text/yaml",
)  # RFC 9512, and its aliases
MAX_YAML_BYTES = 200_000  # read some hundred times more slowly than JSON


async def posted_body(request: Request) -> Callable[[], object]:
    """What reads the body as plain data: JSON or YAML by content type and by content, finite numbers only.

    It takes time and memory: call it in one of the request's places (`places.py`). It raises SpecError where
    the body is not what its content type says.

    Raises:
        HTTPException: 415, the content type is another; 413, YAML too large to be read.
    """
    kind = type_of_body(request, JSON, *YAML)
    if kind == JSON:
        return partial(json_body, await request.body())
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_YAML_BYTES:
            detail = f"YAML may have up to {MAX_YAML_BYTES:,} bytes; send a larger body as {JSON}"
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    return partial(_yaml, bytes(body))


PostedBody = Annotated[Callable[[], object], Depends(posted_body)]


def type_of_body(request: Request, *allowed: str) -> str:
    """The content type of a request.

    Neither JSON's type nor YAML's is one that a form or a simple request may have: a browser sends a
    preflight request first, so a page of another site cannot post here.

    Raises:
        HTTPException: 415, it is none that is allowed.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in allowed:
        also = f" or as {YAML[0]} (a spec file as it is)" if YAML[0] in allowed else ""
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send the body as {JSON}{also}")
    return kind


def body_docs(schema: dict[str, Any]) -> dict[str, Any]:
    """A route's `openapi_extra` for a body of this schema."""
    content = {kind: {"schema": schema} for kind in (JSON, YAML[0])}
    return {"requestBody": {"required": True, "content": content}}


def _yaml(body: bytes) -> object:
    from gnomon.spec.spec_file import load_yaml  # late: the API starts without YAML

    try:
        return _as_json(load_yaml(body.decode()))
    except UnicodeDecodeError:
        raise SpecError("not valid YAML: not UTF-8", field="body") from None
    except SpecError as error:
        raise SpecError(error.message, field="body") from None


def _as_json(value: object) -> object:
    """A value of YAML as one of JSON: dates as text; what JSON does not have is refused."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise SpecError(f"{key!r} is no name of a field; allowed: a text")
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value)):
        return value
    raise SpecError(f"{value!r} is no value of JSON; allowed: text, number, true, false, null, list, object")
