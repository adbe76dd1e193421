"""Finds out who makes a request, and refuses it without a valid key or scope, or beyond the key's rate."""

import math
from typing import Annotated

from fastapi import Depends, Header, Request
from starlette.exceptions import HTTPException

from gnomon.core.errors import SpecError
from gnomon_service.api.state import State, state_of
from gnomon_service.api_keys import digest_of
from gnomon_workers.poster import NOBODY, Poster

COOKIE = "gnomon_key"  # holds the key that was typed into the sign-in page; scripts cannot read it
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def authorised(
    request: Request,
    state: Annotated[State, Depends(state_of)],
    authorization: Annotated[str | None, Header()] = None,
) -> None:
    """Refuse a request without a valid key, or beyond its key's rate; pass all if no keys are set.

    The key is in the header, or in the cookie of a browser; then what changes something must come from a page
    of this server.
    """
    keys = state.settings.api_keys
    if not keys:
        return
    key = key_of(request, authorization)
    entry = keys.find(key)
    if entry is None:
        raise HTTPException(
            401, "send Authorization: Bearer and one of the API keys", headers={"WWW-Authenticate": "Bearer"}
        )
    if not authorization and not comes_from_here(request):
        raise HTTPException(
            403, "the request comes from a page of another site; allowed: pages of this server"
        )
    request.state.may_change = entry.scope != "read"  # pages go by it
    if not request.state.may_change and request.method not in SAFE:
        raise HTTPException(403, "this key may read only; allowed: a key with the scope run")
    wait_s = state.pace.wait_s(digest_of(key))
    if wait_s > 0:
        detail = f"more than {state.settings.max_per_minute:,} requests per minute"
        raise HTTPException(429, detail, headers={"Retry-After": str(math.ceil(wait_s))})
    if request.method == "GET" and (job_id := request.path_params.get("job_id")):
        state.looks.note(job_id, entry.poster.name)


def key_of(request: Request, authorization: str | None) -> str:
    """The key that a request carries: in its header, else in its cookie; empty if in neither."""
    if authorization:
        scheme, _, key = authorization.partition(" ")
        return key.strip() if scheme.lower() == "bearer" else ""
    return request.cookies.get(COOKIE, "")


def comes_from_here(request: Request) -> bool:
    """Whether a request that changes something was sent by one of this server's own pages.

    Browsers send Origin with every POST; the scheme is not compared, as a proxy may have ended TLS.
    """
    if request.method in SAFE:
        return True
    origin = request.headers.get("origin", "")
    return bool(origin) and origin.partition("//")[2].lower() == request.headers.get("host", "").lower()


def caller_of(request: Request, authorization: Annotated[str | None, Header()] = None) -> bytes:
    """The caller, as the digest of its key; all callers without a key are one."""
    return digest_of(key_of(request, authorization))


Caller = Annotated[bytes, Depends(caller_of)]


def poster_of(
    request: Request,
    state: Annotated[State, Depends(state_of)],
    authorization: Annotated[str | None, Header()] = None,
) -> Poster:
    """Who makes the request; nobody in particular without keys."""
    entry = state.settings.api_keys.find(key_of(request, authorization)) if state.settings.api_keys else None
    return NOBODY if entry is None else entry.poster


Who = Annotated[Poster, Depends(poster_of)]


def _idempotency_key(
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> str | None:
    if idempotency_key is not None and not (idempotency_key.isascii() and idempotency_key.strip()):
        raise SpecError("needs 1 to 200 ASCII characters", field="Idempotency-Key")
    return idempotency_key


IdempotencyKey = Annotated[str | None, Depends(_idempotency_key)]
