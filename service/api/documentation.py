"""Route that shows the API on one page, made from its OpenAPI document; the page loads nothing."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader

VERBS = ("get", "post", "put", "patch", "delete")

router = APIRouter(tags=["health"], include_in_schema=False)


@router.get("/docs", response_class=HTMLResponse)
def docs(request: Request) -> HTMLResponse:
    """Every route with its parameters, as a page."""
    document = request.app.openapi()
    templates = Environment(
        loader=PackageLoader("service.api"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    page = templates.get_template("docs.html.j2").render(info=document["info"], groups=_groups(document))
    return HTMLResponse(
        page, headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    )


def _groups(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, verbs in document["paths"].items():
        for verb in VERBS:
            if verb in verbs:
                route = verbs[verb]
                groups.setdefault(route["tags"][0], []).append({"verb": verb.upper(), "path": path, **route})
    return groups
