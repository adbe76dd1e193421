"""Reads and writes a tool server of a spec as a command line, an address or an entry of YAML."""

import shlex
from collections.abc import Mapping
from typing import Any

import yaml

from gnomon.core.errors import SpecError
from gnomon.spec.spec_file import load_yaml

FIELD = "--server"


def written_server(text: str) -> dict[str, Any]:
    """A server as an entry of an arm's tools: of a command line, an address, or the entry itself as YAML.

    >>> written_server("uvx mcp-server-time --local-timezone UTC")
    {'mcp': {'command': ['uvx', 'mcp-server-time', '--local-timezone', 'UTC']}}
    >>> written_server("https://maps.example.org/mcp")
    {'mcp': {'url': 'https://maps.example.org/mcp'}}

    Raises:
        SpecError: it is none of these.
    """
    text = text.strip()
    if text.startswith("{"):
        entry = load_yaml(text)
        if isinstance(entry, dict):
            return entry
    if text.startswith(("http://", "https://")) and " " not in text:
        return {"mcp": {"url": text}}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise SpecError(f"no command line: {error}", field=FIELD) from None
    if not words:
        raise SpecError("needs a command line, an address, or {mcp: …} or {openapi: …}", field=FIELD)
    return {"mcp": {"command": words}}


def server_text(entry: Mapping[str, Any]) -> str:
    """What `written_server` reads as this entry: a command line or an address; with more in it, YAML.

    >>> server_text({"mcp": {"command": ["python", "my server.py"]}})
    "python 'my server.py'"
    >>> server_text({"mcp": {"url": "https://maps.example.org/mcp"}, "exclude": ["delete_*"]})
    "{mcp: {url: 'https://maps.example.org/mcp'}, exclude: [delete_*]}"
    """
    match entry:
        case {"mcp": {"command": [*words], **more}, **others} if not more and not others:
            return shlex.join(map(str, words))
        case {"mcp": {"url": str(url), **more}, **others} if not more and not others:
            return url
        case {"mcp": str(unreadable)}:
            return unreadable
    return yaml.safe_dump(
        entry, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6
    ).strip()
