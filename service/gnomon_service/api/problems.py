"""Turns every error into application/problem+json (RFC 9457) with the offending field."""

import logging
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException

from gnomon.core.errors import GnomonError, Unavailable
from gnomon.core.redaction import Redactor, without_folders
from gnomon.stopping import Unwanted
from gnomon_tools.core.outside import PluginFault
from gnomon_workers.store.database import why_away

RETRY_AFTER_S = 5
CLIENT_CLOSED_REQUEST = 499  # a status that no client receives
MEDIA_TYPE = "application/problem+json"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "detail": {"type": "string"},
        "status": {"type": "integer"},
        "field": {"type": "string", "description": "path of the offending field"},
        "errors": {"type": "array", "items": {"type": "object"}},
    },
}
_BODY = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    422: {"description": "A field holds what is not allowed", **_BODY},
    "default": {"description": "Any other error", **_BODY},
}
log = logging.getLogger(__name__)


def problem(
    status: int,
    *,
    title: str,
    detail: str,
    field: str = "",
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem response without secrets; `field` and `errors` are left out if empty."""
    strike = Redactor().redact_setting
    body: dict[str, Any] = {
        "type": "urn:gnomon:problem:" + title.lower().replace(" ", "-"),
        "title": title,
        "status": status,
        "detail": strike(detail),
    }
    if field:
        body["field"] = strike(field)
    if errors:
        body["errors"] = [{name: strike(text) for name, text in error.items()} for error in errors]
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


Handler = Callable[[Request, Exception], JSONResponse]
AsPage = Callable[[Request, JSONResponse], Response]


def add_handlers(app: FastAPI, as_page: AsPage) -> None:
    """Make `app` answer every error with a problem, which `as_page` may turn into a page."""
    handlers: dict[type[Exception], Handler] = {
        GnomonError: _ours,
        PluginFault: _plugin,
        RequestValidationError: _bad_request,
        HTTPException: _http,
        OperationalError: _store_away,
        NoConnection: _store_busy,
        Unwanted: _gone,
        Exception: _unknown,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, _answering(handler, as_page))


def _answering(handler: Handler, as_page: AsPage) -> Callable[[Request, Exception], Response]:
    return lambda request, error: as_page(request, handler(request, error))


def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, GnomonError)  # noqa: S101 (registered for this class; the checker cannot know)
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%s", error)
    detail = without_folders(error.message)
    return problem(error.status, title=error.title, detail=detail, field=error.field)


def _plugin(_: Request, error: Exception) -> JSONResponse:
    log.error("%s", error)
    return problem(503, title="Plug-in cannot be used", detail=without_folders(str(error)))


def _bad_request(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 (as above)
    errors = [
        {
            "field": ".".join(str(part) for part in item["loc"][1:]) or str(item["loc"][0]),
            "detail": item["msg"],
        }
        for item in error.errors()
    ]
    first = errors[0]
    return problem(422, title="Not allowed", detail=first["detail"], field=first["field"], errors=errors)


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 (as above)
    title = HTTPStatus(error.status_code).phrase
    says_more = error.detail != title
    detail = error.detail if says_more else f"{title}: {request.method} {request.url.path}"
    return problem(error.status_code, title=title, detail=detail, headers=error.headers)


def _store_away(_: Request, error: Exception) -> JSONResponse:
    # Whether it was done is unknown: with an Idempotency-Key a retry is safe.
    log.error("the store: %s", type(error).__name__)
    detail = f"{why_away(error)}; try again"
    return problem(503, title=Unavailable.title, detail=detail, headers={"Retry-After": str(RETRY_AFTER_S)})


def _store_busy(_: Request, __: Exception) -> JSONResponse:
    detail = "all connections to the store are in use; try again"
    return problem(503, title=Unavailable.title, detail=detail, headers={"Retry-After": str(RETRY_AFTER_S)})


def _gone(_: Request, __: Exception) -> JSONResponse:
    return problem(CLIENT_CLOSED_REQUEST, title="Client gone", detail="nobody waits for the answer")


def _unknown(_: Request, error: Exception) -> JSONResponse:
    # The server logs the traceback; the caller gets no internals.
    log.error("unexpected %s", type(error).__name__)
    return problem(500, title="Internal error", detail="an error in Gnomon; the server's log has the details")
