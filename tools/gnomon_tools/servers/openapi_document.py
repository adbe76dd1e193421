"""Reads an OpenAPI 3 document into tools: one for each operation, its parameters and body as arguments."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from gnomon_tools.servers.listing import MAX_TOOLS, ListedTool, Listing, shown_names

MAX_DOCUMENT_BYTES = 5_000_000
MAX_PARTS = 20_000  # of one schema, its references written out
MAX_DEPTH = 100  # of one schema, likewise
METHODS = ("get", "put", "post", "delete", "patch")
PLACES = ("path", "query", "header")
NEVER_SENT = ("authorization", "cookie", "host", "content-length")  # headers that no model sets


class DocumentError(ValueError):
    """The document describes no interface that can be used; the message says why."""


def parse_document(data: bytes) -> dict[str, Any]:
    """JSON or YAML as plain data.

    Raises:
        DocumentError: it is neither, too long, or no OpenAPI 3 document.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        raise DocumentError(f"has more than {MAX_DOCUMENT_BYTES:,} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = _from_yaml(data)
    if not isinstance(document, dict) or not str(document.get("openapi", "")).startswith("3."):
        raise DocumentError("is no OpenAPI 3 document")
    return document


def _from_yaml(data: bytes) -> Any:
    import yaml  # late: most documents are JSON

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(data)):
            raise DocumentError("has aliases (*name), which are not read")
        return yaml.safe_load(data)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DocumentError(f"is neither JSON nor YAML: {' '.join(str(error).split())[:200]}") from None


def read_listing(
    name: str, document: Mapping[str, Any], *, url: str | None, source: str, writes: bool
) -> Listing:
    """The operations of a document as tools of the server `name`.

    Raises:
        DocumentError: it names no address, or has no operation that may be offered.
    """
    base = url or _own_url(document, source)
    operations = {operation.key: operation for operation in _operations(document, writes=writes)}
    if len(operations) > MAX_TOOLS:
        raise DocumentError(f"has more than {MAX_TOOLS:,} operations")
    names = shown_names(name, operations)
    tools = []
    for key, operation in operations.items():
        written = operation.written
        parameters, places = _arguments(document, [*operation.shared, *_list(written.get("parameters"))])
        body = _body(document, written)
        if body is not None:
            schema, is_required = body
            parameters["properties"]["body"] = schema
            places["body"] = "body"
            if is_required:
                parameters["required"].append("body")
        words = [written.get("summary"), written.get("description")]
        method, path = operation.method, operation.path
        tools.append(
            ListedTool(
                shown=names[key],
                name=key,
                description="\n".join(str(word) for word in words if word) or f"{method.upper()} {path}",
                parameters=parameters,
                route={"method": method, "path": path, "url": base, "places": places},
            )
        )
    if not tools:
        raise DocumentError("has no operation to offer; those that write need `writes: true`")
    info = document.get("info")
    about = info if isinstance(info, Mapping) else {}
    return Listing(
        tools=sorted(tools, key=lambda tool: tool.shown),
        protocol=f"OpenAPI {document['openapi']}",
        server=f"{about.get('title', '')} {about.get('version', '')}".strip()[:300],
    )


def _own_url(document: Mapping[str, Any], source: str) -> str:
    servers = _list(document.get("servers"))
    address = str(servers[0].get("url", "")) if servers else ""
    if "://" in source:
        address = urljoin(source, address or "/")
    if "://" not in address or "{" in address:
        raise DocumentError("names no address of its server; write it as `url`")
    return address.rstrip("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    """An operation with a name of its own, and the parameters that its path shares."""

    key: str
    method: str
    path: str
    written: Mapping[str, Any]
    shared: list[Any]


def _operations(document: Mapping[str, Any], *, writes: bool) -> Iterator[_Operation]:
    used = set[str]()
    paths = document.get("paths")
    for path, item in paths.items() if isinstance(paths, Mapping) else ():
        for method in METHODS if writes else ("get",):
            operation = item.get(method) if isinstance(item, Mapping) else None
            # A path that begins otherwise would go to another host: `@there/` behind `http://here`.
            if not isinstance(operation, Mapping) or not path.startswith("/"):
                continue
            path_words = re.sub(r"[^A-Za-z0-9]+", "_", path).strip("_")
            key = str(operation.get("operationId") or f"{method}_{path_words}")
            while key in used:
                key = f"{key}_{method}"
            used.add(key)
            shared = _list(item.get("parameters"))
            yield _Operation(key=key, method=method, path=path, written=operation, shared=shared)


def _arguments(document: Mapping[str, Any], written: list[Any]) -> tuple[dict[str, Any], dict[str, str]]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    places: dict[str, str] = {}
    for entry in written:
        parameter = _resolved(document, entry)
        name, place = str(parameter.get("name", "")), parameter.get("in")
        if not name or place not in PLACES or (place == "header" and name.lower() in NEVER_SENT):
            continue
        schema = _resolved(document, parameter.get("schema") or {})
        if parameter.get("description") and "description" not in schema:
            schema = {**schema, "description": str(parameter["description"])}
        properties[name], places[name] = schema, str(place)
        if (parameter.get("required") or place == "path") and name not in required:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}, places


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> tuple[dict[str, Any], bool] | None:
    body = _resolved(document, operation.get("requestBody") or {})
    content = body.get("content")
    media = content.get("application/json") if isinstance(content, Mapping) else None
    if not isinstance(media, Mapping):
        return None
    return _resolved(document, media.get("schema") or {}), bool(body.get("required"))


def _resolved(document: Mapping[str, Any], value: Any) -> Any:
    """The value with references within the document replaced by what they name; where they go round, or
    lead out of it, by anything.

    Raises:
        DocumentError: it takes more than MAX_PARTS parts, or is deeper than MAX_DEPTH.
    """
    parts = 0

    def resolve(value: Any, within: tuple[str, ...], depth: int) -> Any:
        nonlocal parts
        parts += 1
        if parts > MAX_PARTS:
            raise DocumentError(f"has a schema of more than {MAX_PARTS:,} parts")
        if depth > MAX_DEPTH:
            raise DocumentError(f"has a schema that is more than {MAX_DEPTH} levels deep")
        if isinstance(value, list):
            return [resolve(item, within, depth + 1) for item in value]
        if not isinstance(value, Mapping):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            is_round = reference in within
            if is_round:
                return {}
            return resolve(_target(document, reference), (*within, reference), depth + 1)
        return {key: resolve(item, within, depth + 1) for key, item in value.items()}

    return resolve(value, (), 0)


def _target(document: Mapping[str, Any], reference: str) -> Any:
    target: Any = document
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ():
        target = (
            target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        )
    return target if isinstance(target, Mapping) and target is not document else {}


def _list(value: Any) -> list[Any]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
