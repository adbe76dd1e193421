"""The page of the API: its routes and the fields of a spec, made from its OpenAPI document."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request

from gnomon_service.api.examples import TOOL
from gnomon_service.api.state import Shared
from gnomon_service.web.pages import View, page

VERBS = ("get", "post", "put", "patch", "delete")
FIRST = ("POST", "/v1/jobs")
# What stands for a path's parameters in a curl line: shell variables, which the page's beginning sets.
PLACES = {"{job_id}": '"$JOB"', "{trial_id}": '"$TRIAL"', "{name}": TOOL}

open_router = APIRouter(tags=["health"], include_in_schema=False)


@page(open_router, "/docs", "docs.html.j2", is_cheap=True)
def docs(request: Request, state: Shared) -> View:
    """Every route with its parameters, body, response and a line for curl, and the fields of a spec."""
    document = request.app.openapi()
    # curl takes an address without a scheme as one of http.
    scheme = "" if request.url.scheme == "http" else f"{request.url.scheme}://"
    base = shlex.quote(f"{scheme}{request.url.netloc}")
    groups = _groups(document, base=base, has_keys=bool(state.settings.api_keys))
    parts = parts_of_spec(document["components"]["schemas"])
    count = sum(map(len, groups.values()))
    return {
        "title": "REST API",
        "answer": f"{count} routes, each with a line for curl, and the {len(parts)} parts of a job's spec.",
        "version": document["info"]["version"],
        "groups": groups,
        "parts": parts,
    }


def _groups(document: Mapping[str, Any], *, base: str, has_keys: bool) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, verbs in document["paths"].items():
        for verb in VERBS:
            if verb in verbs:
                route = verbs[verb]
                view: dict[str, Any] = {
                    "verb": verb.upper(),
                    "path": path,
                    "description": route.get("description", ""),
                    "parameters": list(_parameters(route)),
                    **_body_of(route),
                    "response": _response_of(route),
                }
                view["curl"] = curl_line(verb.upper(), path, view["example"], base=base, has_keys=has_keys)
                groups.setdefault(route["tags"][0], []).append(view)
    for routes in groups.values():
        routes.sort(key=lambda route: (route["verb"], route["path"]) != FIRST)
    return dict(sorted(groups.items(), key=lambda item: item[0] != "jobs"))


def _parameters(route: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for parameter in route.get("parameters", ()):
        if parameter["name"] != "authorization":
            place = f"{parameter['in']}, required" if parameter.get("required") else parameter["in"]
            yield {
                "name": parameter["name"],
                "place": place,
                "description": parameter.get("description", ""),
            }


def curl_line(verb: str, path: str, body: object, *, base: str, has_keys: bool) -> str:
    """The shell's line that asks a route, with the example's body."""
    for parameter, place in PLACES.items():
        path = path.replace(parameter, place)
    parts = ["curl -s", *([f"-X {verb}"] if verb != "GET" and body is None else []), f"{base}{path}"]
    if has_keys and path.startswith("/v1"):
        parts.append('-H "Authorization: Bearer $GNOMON_API_KEY"')
    if body is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(json.dumps(body))}"]
    return " ".join(parts)


def _body_of(route: Mapping[str, Any]) -> dict[str, Any]:
    """The example of a route's body and its schema's fields; None and nothing where it takes none."""
    content = route.get("requestBody", {}).get("content", {})
    media = content.get("application/json", {})
    schema = media.get("schema", {})
    return {
        "example": media.get("example"),
        "example_text": _pretty(media.get("example")),
        "kinds": ", ".join(content),
        "part": schema.get("$ref", "").rpartition("/")[2],
        "fields": list(_fields(schema)),
    }


def _response_of(route: Mapping[str, Any]) -> str:
    answers = [answer for status, answer in route["responses"].items() if status.startswith("2")]
    return _pretty(answers[0].get("content", {}).get("application/json", {}).get("example"))


def _pretty(example: object) -> str:
    return "" if example is None else json.dumps(example, indent=2, ensure_ascii=False)


def parts_of_spec(schemas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The spec and its parts as tables: fields with types, defaults and descriptions.

    `schemas` are those of an OpenAPI document.
    """
    names = ["JobSpec", *sorted(_within("JobSpec", schemas) - {"JobSpec"})]
    return [
        {
            "name": name,
            "description": schemas[name].get("description", "").partition("\n\n")[0],
            "fields": list(_fields(schemas[name])),
        }
        for name in names
        if schemas[name].get("properties")
    ]


def _within(name: str, schemas: Mapping[str, Any]) -> set[str]:
    """The schema of that name and those that it refers to, directly or through others."""
    names, new = {name}, {name}
    while new:
        text = json.dumps([schemas[part] for part in new])
        new = set(re.findall(r'"#/components/schemas/([^"]+)"', text)) - names
        names |= new
    return names


def _fields(schema: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        default = json.dumps(field["default"], ensure_ascii=False) if "default" in field else ""
        yield {
            "name": name,
            "type": type_text(field),
            "default": "required" if name in required else default,
            "description": field.get("description", ""),
        }


def type_text(schema: Mapping[str, Any]) -> str:
    """A JSON schema's type in words.

    >>> type_text({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}]})
    'integer from 1 to 9, or null'
    >>> type_text({"type": "array", "items": {"$ref": "#/components/schemas/ArmSpec"}})
    'list of ArmSpec'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if options := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return ", or ".join(type_text(option) for option in options)
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {type_text(schema.get('items', {}))}"
    if isinstance(kind, list):
        return " or ".join(kind)
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    above = "above" if "exclusiveMinimum" in schema else "from"
    below = "below" if "exclusiveMaximum" in schema else "to"
    bounds = f" {above} {least:g}" if least is not None else ""
    bounds += f" {below} {most:g}" if most is not None else ""
    return f"{kind}{bounds}"
