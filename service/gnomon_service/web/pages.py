"""Turns what a page's handler returns into HTML, JSON or Markdown.

A handler returns a view: a plain dict with `title` (the page's heading), `answer` (one sentence that answers
the page's question) and the data that its template shows. The same view is the page's `.json` twin and, as
`as_markdown` writes it, its `.md` twin: agents and screen readers get the same facts. What begins with `_` is
for the HTML alone: drawings, mostly.
"""

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from gnomon.drawing.arm_look import arm_look
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.text_formats import FILTERS, capitalised
from gnomon_service.api.access import COOKIE, SAFE
from gnomon_service.api.places import in_place, with_request
from gnomon_service.extension import EXTENSIONS, NavigationEntry
from gnomon_service.web.markdown_twin import as_markdown
from gnomon_service.web.static_files import folders, static_url

View = dict[str, Any]
Form = Literal["html", "json", "md"]
# Pages show text of models and strangers: nothing in it may run, load or send data.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}
READS_ONLY = Markup(
    '<p class="note">Your key may only read; this takes one with the scope <code>run</code>.</p>'
)
LONE_LINK = re.compile(r"\s*\(\[[^\]`]*\]\([^)]*\)\)")
NAVIGATION = (
    NavigationEntry("Jobs", "/", ("/ui/jobs", "/ui/new", "/ui/trials")),
    NavigationEntry("Workers", "/ui/workers", ("/ui/workers",)),
    NavigationEntry("Keys", "/ui/keys", ("/ui/keys",)),
)


def page(
    router: APIRouter, path: str, template: str, *, is_cheap: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a handler as a page at `path`, with twins at `path.json` and `path.md`.

    The handler may return a Response of its own, such as a redirect, in place of a view. Unless it is cheap
    it takes a place.
    """

    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        base = "/index" if path == "/" else path
        for form, address in (("json", f"{base}.json"), ("md", f"{base}.md"), ("html", path)):
            endpoint = _endpoint(handler, template, form)  # type: ignore[arg-type]
            router.add_api_route(
                address,
                endpoint if is_cheap else in_place("pages")(endpoint),
                methods=["GET"],
                include_in_schema=False,
                response_model=None,
            )
        return handler

    return register


def _endpoint(handler: Callable[..., Any], template: str, form: Form) -> Callable[..., Response]:
    signature = inspect.signature(handler)
    takes_request = "request" in signature.parameters

    @functools.wraps(handler)
    def endpoint(request: Request, **values: Any) -> Response:
        view = handler(request=request, **values) if takes_request else handler(**values)
        return view if isinstance(view, Response) else respond(request, template, view, form=form)

    endpoint.__signature__ = with_request(signature).replace(  # type: ignore[attr-defined]
        return_annotation=Response
    )
    return endpoint


def respond(
    request: Request, template: str, view: View, *, form: Form = "html", status: int = 200
) -> Response:
    """The view in a form; 304 where the client has it already."""
    facts = {name: value for name, value in view.items() if not name.startswith("_")}
    if form == "json":
        return JSONResponse(facts, status_code=status, headers=HEADERS)
    if form == "md":
        return PlainTextResponse(
            escape_surrogates(as_markdown(facts)),
            status_code=status,
            media_type="text/markdown; charset=utf-8",
            headers=HEADERS,
        )
    may_change = getattr(request.state, "may_change", True)  # without keys everybody may
    for_whom = {"is_signed_in": COOKIE in request.cookies, "may_change": may_change}
    text = render(template, view, path=request.url.path, **for_whom)
    etag = f'"{hashlib.sha256(text.encode()).hexdigest()[:20]}"'
    if status == 200 and request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={**HEADERS, "ETag": etag})
    return HTMLResponse(text, status_code=status, headers={**HEADERS, "ETag": etag})


def render(
    template: str, view: View, *, path: str, is_signed_in: bool = False, may_change: bool = True
) -> str:
    """The page of a view as HTML; everything in the view is escaped. Who may not change anything is shown no
    form that would.
    """
    chosen = environment().get_template(template)
    text = chosen.render(
        **view,
        view=view,
        path=path,
        is_signed_in=is_signed_in,
        may_change=may_change,
        reads_only=READS_ONLY,
        navigation=[
            {"word": word, "href": href, "is_here": path == href or _is_below(path, below)}
            for word, href, below in _navigation()
        ],
    )
    return escape_surrogates(text)


@functools.cache
def _navigation() -> tuple[NavigationEntry, ...]:
    """The entries of all pages; those of packages stand behind the jobs."""
    added = (entry for extension in EXTENSIONS for entry in extension.navigation)
    return (*NAVIGATION[:1], *added, *NAVIGATION[1:])


def _is_below(path: str, beginnings: tuple[str, ...]) -> bool:
    return any(f"{path}/".startswith(f"{beginning}/") for beginning in beginnings)


@functools.cache
def environment() -> Environment:
    """The templates' environment; anything that is not defined is an error."""
    made = Environment(
        loader=ChoiceLoader(
            [PackageLoader("gnomon_service.web"), *map(FileSystemLoader, folders("templates"))]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"static": static_url, "arm_look": arm_look}
    made.filters |= {
        **FILTERS,
        "thousands": lambda number: f"{number:,}",
        "markdown": as_html,
    }
    return made


def as_html(text: str) -> Markup:
    """A docstring as HTML.

    Its links lead to files of the documents: only their words are kept, and nothing of an aside like
    `([why](adr/1.md))`.
    """
    return Markup(_markdown().render(LONE_LINK.sub("", text)))  # noqa: S704 - it lets no HTML through


@functools.cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    for mark in ("link_open", "link_close"):
        made.add_render_rule(mark, lambda *_: "")
    return made


def as_page(request: Request, problem: JSONResponse) -> Response:
    """A problem (RFC 9457) as a page, where a person's browser asked for one: what failed and what to do."""
    if not _is_for_page(request):
        return problem
    if problem.status_code == HTTPStatus.UNAUTHORIZED:
        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        target = wanted if request.method in SAFE else "/"
        return RedirectResponse(f"/ui/sign-in?next={quote(target)}", status_code=HTTPStatus.SEE_OTHER)
    body = json.loads(bytes(problem.body))
    answer = capitalised(body["detail"]).rstrip(".")
    view = {"title": body["title"], "answer": answer, "faults": body.get("errors", [body]), "problem": body}
    return respond(request, "error.html.j2", view, status=problem.status_code)


def _is_for_page(request: Request) -> bool:
    path = request.url.path
    is_page = path == "/" or path.startswith("/ui/")
    return (
        is_page and not path.endswith((".json", ".md")) and "text/html" in request.headers.get("accept", "")
    )
