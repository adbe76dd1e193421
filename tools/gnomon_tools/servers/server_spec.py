"""Defines a tool server in a spec: its address or command, the tools offered, filled arguments, limits."""

import re
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gnomon_tools.servers.listing import Listing

NAME_PATTERN = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
MAX_SERVER_NAME = 24
MAX_WORDS, MAX_WORD = 64, 4_096
Fill = Literal["$scene", "$scene_path", "$picture", "$picture_path", "$pictures", "$clip_path", "$sample_id"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class McpServer(_Strict):
    """An MCP server: a command that speaks over its standard streams, or the address of one over HTTP."""

    model_config = ConfigDict(title="McpServerSpec")

    command: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_WORDS,
        exclude_if=lambda value: value is None,
        description="The program and its arguments, as a list that no shell reads; null: a `url`.",
    )
    url: str | None = Field(
        default=None,
        max_length=2_000,
        exclude_if=lambda value: value is None,
        description="Address of a server, `http(s)://host[:port]/path`; null: a `command`.",
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=lambda value: not value,
        description="Environment variables of the command, besides PATH, language, time zone, certificates.",
    )
    env_from: list[str] = Field(
        default_factory=list,
        exclude_if=lambda value: not value,
        description="Names of variables of the worker that the command gets too; keys belong here.",
    )
    cwd: str | None = Field(
        default=None,
        max_length=MAX_WORD,
        exclude_if=lambda value: value is None,
        description="Folder that the command starts in; null: an empty one of its own.",
    )
    files: list[str] = Field(
        default_factory=list,
        max_length=MAX_WORDS,
        exclude_if=lambda value: not value,
        description="Files and folders that the command may read and write, besides those in its arguments.",
    )
    token_env: str | None = Field(
        default=None,
        max_length=100,
        exclude_if=lambda value: value is None,
        description="Name of the worker's variable with the bearer token for `url`; null: none is sent.",
    )

    @field_validator("command")
    @classmethod
    def _is_argv(cls, command: list[str] | None) -> list[str] | None:
        for word in command or ():
            if not word or len(word) > MAX_WORD or "\0" in word:
                raise ValueError(f"each word has 1 to {MAX_WORD:,} characters and no NUL")
        return command

    @field_validator("env", "env_from")
    @classmethod
    def _are_variables(cls, names: Any) -> Any:
        for name in names:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name):
                raise ValueError(f"{name!r} is no name of an environment variable")
        return names

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs a command or a url, and one of them alone")
        if self.url is not None and (self.env or self.env_from or self.cwd or self.files):
            raise ValueError("env, env_from, cwd and files belong to a command, not to a url")
        if self.command is not None and self.token_env:
            raise ValueError("token_env belongs to a url; a command gets keys by env_from")
        return self


class OpenApiServer(_Strict):
    """An HTTP interface that an OpenAPI 3 document describes; each operation is a tool."""

    model_config = ConfigDict(title="OpenApiServerSpec")

    document: str = Field(
        max_length=MAX_WORD,
        description="The OpenAPI document, JSON or YAML: a file, or an address on the server's own host.",
    )
    url: str | None = Field(
        default=None,
        max_length=2_000,
        exclude_if=lambda value: value is None,
        description="Where the interface is called; null: at the first of the document's own servers.",
    )
    token_env: str | None = Field(
        default=None,
        max_length=100,
        exclude_if=lambda value: value is None,
        description="Name of the worker's variable with the bearer token; null: none is sent.",
    )
    writes: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="Whether operations other than GET are offered too, which may change something there.",
    )


class ServerLimits(_Strict):
    """What a server may take."""

    model_config = ConfigDict(title="ServerLimitsSpec")

    call_seconds: float = Field(
        default=60.0, gt=0, le=3_600, description="Seconds after which a call is given up, and the server."
    )
    start_seconds: float = Field(
        default=60.0, gt=0, le=600, description="Seconds in which the server must have listed its tools."
    )
    max_result_bytes: int = Field(
        default=50_000, ge=100, le=10_000_000, description="Bytes of a result's text; the rest is cut off."
    )
    max_pictures: int = Field(default=8, ge=0, le=100, description="The most pictures of one result.")
    memory_mb: int = Field(
        default=4_096,
        ge=16,
        le=1_000_000,
        description="Memory of each process of a command, in megabytes (10^6 bytes).",
    )
    in_flight: int = Field(
        default=8, ge=1, le=1_000, description="Calls of one worker process at the same time."
    )


DEFAULT_LIMITS = ServerLimits()


class ToolServer(_Strict):
    """A server of tools: exactly one of `mcp` and `openapi`, and how its tools are used."""

    model_config = ConfigDict(title="ToolServerSpec")

    mcp: McpServer | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="The server, where it speaks MCP; null: it does not.",
    )
    openapi: OpenApiServer | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="The interface, where an OpenAPI document describes it; null: none does.",
    )
    fill: dict[str, Fill] = Field(
        default_factory=dict,
        max_length=50,
        exclude_if=lambda value: not value,
        description=(
            "Arguments that the sample fills in, and the model does not see: `$scene` (GeoJSON text), "
            "`$scene_path`, `$picture`, `$picture_path`, `$pictures`, `$clip_path` or `$sample_id`, by the "
            "argument's name."
        ),
    )
    limits: ServerLimits = Field(
        default=DEFAULT_LIMITS,
        exclude_if=lambda value: value == DEFAULT_LIMITS,
        description="What the server may take: time, memory, length of results.",
    )
    listing: Listing | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description=(
            "The tools that the arms use, as the server listed them when the job was frozen; null: not yet."
        ),
    )

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if (self.mcp is None) == (self.openapi is None):
            raise ValueError("needs mcp or openapi, and one of them alone")
        return self

    @property
    def command(self) -> list[str] | None:
        """The command that is started for it; None where it is called by its address."""
        return self.mcp.command if self.mcp else None

    @property
    def is_command(self) -> bool:
        """Whether a process is started for it."""
        return self.command is not None

    def where(self) -> str:
        """Its command or address, for people.

        >>> ToolServer(mcp=McpServer(command=["uvx", "mcp-server-time"])).where()
        'uvx mcp-server-time'
        """
        if self.mcp:
            return " ".join(self.mcp.command or [str(self.mcp.url)])
        return (self.openapi.url or self.openapi.document) if self.openapi else ""

    def default_name(self) -> str:
        """A name made of its command or address.

        >>> ToolServer(mcp=McpServer(command=["npx", "-y", "@org/server-time@1.2", "DIR"])).default_name()
        'time'
        >>> ToolServer(mcp=McpServer(url="https://maps.example.org/mcp")).default_name()
        'maps_example_org'
        """
        if self.command:
            return _name_of_command(self.command)
        return _name_of_address(self.openapi.document if self.openapi else self.where())


RUNNERS = ("npx", "uvx", "node", "deno", "bunx", "pipx", "python", "python3", "uv", "docker", "env")
RUNNERS_WORDS = ("run", "tool", "exec", "-m", "-y", "--yes", "-q", "-i", "--rm")


def _name_of_command(command: list[str]) -> str:
    words = [word for word in command if word not in RUNNERS_WORDS]
    first = words[0].rpartition("/")[2] if words else ""
    if re.sub(r"[0-9.]+$", "", first) in RUNNERS:
        words = [word for word in words[1:] if not word.startswith("-")] or words
    return _identifier(words[0].rstrip("/").rpartition("/")[2] if words else "")


def _name_of_address(address: str) -> str:
    if "://" in address:
        return _identifier(address.partition("://")[2].partition("/")[0].partition(":")[0])
    return _identifier(address.rpartition("/")[2])


def _identifier(text: str) -> str:
    text = re.sub(r"(@[\w.^~-]+|\.(py|js|mjs|cjs|ts|exe|json|yaml|yml))$", "", text.lower())
    text = "_".join(part for part in re.split(r"[^a-z0-9]+", text) if part)
    text = re.sub(r"^(mcp_server_|server_|mcp_)|(_mcp_server|_mcp|_server)$", "", text)
    text = text[:MAX_SERVER_NAME].rstrip("_")
    return text if re.match(r"[a-z]", text) else f"server_{text}".rstrip("_")
