"""What a server offered when a job was frozen: names, descriptions and schemas of its tools, hashed."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MAX_TOOLS = 1_000
MAX_LISTING_BYTES = 150_000  # of all tools that a job uses of a server
MAX_SHOWN_NAME = 64  # characters that every provider takes
SEPARATOR = "__"  # between the names of a server and of its tool; our own tools have none


class ListedTool(BaseModel):
    """A tool as its server describes it; `shown` is its name before the model."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="ListedToolSpec")

    shown: str = Field(max_length=MAX_SHOWN_NAME, description="Its name in arms, requests and rows.")
    name: str = Field(max_length=1_000, description="Its name on the server.")
    description: str = Field(default="", description="What it says of itself; goes to the model as it is.")
    parameters: dict[str, Any] = Field(description="JSON schema of its arguments, as the server lists it.")
    result: dict[str, Any] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="JSON schema of its structured result; null: it has none.",
    )
    route: dict[str, Any] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description=("Method, path and places of the arguments of an OpenAPI operation; null: it is none."),
    )

    def contract(self) -> str:
        """Hash of all that a server must not change while a job runs."""
        plain = self.model_dump(mode="json", exclude={"shown"})
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


class Listing(BaseModel):
    """The tools of one server, in the order of their shown names."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="ServerListingSpec")

    tools: list[ListedTool] = Field(description="The tools, in the order of their names.")
    protocol: str = Field(default="", max_length=100, description="The protocol's revision that was spoken.")
    server: str = Field(default="", max_length=300, description="Name and version that the server states.")
    sandbox: str = Field(
        default="",
        max_length=500,
        exclude_if=lambda value: not value,
        description="What kept the command from other files when it was listed; empty: not a command.",
    )

    @property
    def sha256(self) -> str:
        """Hash of the tools: names, descriptions and schemas."""
        return hashlib.sha256("".join(tool.contract() for tool in self.tools).encode()).hexdigest()

    def limited_to(self, shown: Collection[str]) -> "Listing":
        """The listing of these tools alone."""
        return self.model_copy(update={"tools": [tool for tool in self.tools if tool.shown in shown]})

    def changes(self, now: "Listing") -> list[str]:
        """The names of the tools that are absent now, or offered otherwise."""
        contracts = {tool.name: tool.contract() for tool in now.tools}
        return [tool.name for tool in self.tools if contracts.get(tool.name) != tool.contract()]


def shown_names(server: str, names: Iterable[str]) -> dict[str, str]:
    """The name under which each tool of a server is shown: no dots, at most 64 characters, each once.

    >>> shown_names("time", ["now", "time.now", "time/now"])
    {'now': 'time__now', 'time.now': 'time__time_now', 'time/now': 'time__time_now_3ca2'}
    """
    shown: dict[str, str] = {}
    taken = set[str]()
    for name in sorted(names):
        short = f"{server}{SEPARATOR}{re.sub(r'[^A-Za-z0-9_-]', '_', name) or 'tool'}"
        if len(short) > MAX_SHOWN_NAME or short in taken:
            short = f"{short[: MAX_SHOWN_NAME - 5]}_{hashlib.sha256(name.encode()).hexdigest()[:4]}"
        taken.add(short)
        shown[name] = short
    return shown


def server_in(tool: str) -> str:
    """The server whose tool an arm means by this name; empty for a tool of our own.

    >>> server_in("time__now"), server_in("distance")
    ('time', '')
    """
    return tool.partition(SEPARATOR)[0] if SEPARATOR in tool else ""


def without_filled(parameters: Mapping[str, Any], filled: Collection[str]) -> dict[str, Any]:
    """The schema of arguments without those that the sample fills in."""
    schema = {key: value for key, value in parameters.items() if key != "$schema"}
    schema.setdefault("type", "object")
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        schema["properties"] = {name: value for name, value in properties.items() if name not in filled}
    else:
        schema["properties"] = {}
    if isinstance(schema.get("required"), list):
        schema["required"] = [name for name in schema["required"] if name not in filled]
    return schema
