"""Trades an API key for a cookie that scripts cannot read, and guards what a cookie may do.

The cookie is HttpOnly and SameSite=Strict, so pages of other sites neither read nor send it; a request that
changes something must also come from this server's own origin.
"""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from gnomon_service.api.access import COOKIE, comes_from_here
from gnomon_service.api.state import Shared
from gnomon_service.web.pages import page, respond

DAYS = 30

open_router = APIRouter(include_in_schema=False)


@page(open_router, "/ui/sign-in", "sign_in.html.j2", is_cheap=True)
def sign_in_page(next: str = "/") -> dict[str, object]:  # noqa: A002 - the name in the address
    """Asks for an API key."""
    return {"title": "Sign in", "answer": "", "next": own_path(next), "is_refused": False}


@open_router.post("/ui/sign-in", response_model=None)
def sign_in(
    request: Request,
    state: Shared,
    key: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002
) -> Response:
    """Keep the key in a cookie, if it is valid."""
    key, target = key.strip(), own_path(next)
    if not comes_from_here(request) or (
        state.settings.api_keys and state.settings.api_keys.find(key) is None
    ):
        view = {"title": "Sign in", "answer": "", "next": target, "is_refused": True}
        return respond(request, "sign_in.html.j2", view, status=403)
    answer = RedirectResponse(target, status_code=303)
    is_secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
    answer.set_cookie(
        COOKIE, key, max_age=DAYS * 86_400, httponly=True, samesite="strict", secure=is_secure, path="/"
    )
    return answer


@open_router.post("/ui/sign-out", response_model=None)
def sign_out(request: Request) -> Response:
    """Forget the key."""
    answer = RedirectResponse("/", status_code=303)
    if comes_from_here(request):
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def own_path(target: str) -> str:
    """The target if it is a path of this server, else the home page.

    >>> own_path("/ui/jobs/j_1?arm=raw"), own_path("//evil.example"), own_path("https://evil.example/")
    ('/ui/jobs/j_1?arm=raw', '/', '/')
    """
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_own else "/"
