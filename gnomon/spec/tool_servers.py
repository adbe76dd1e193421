"""Lifts the tool servers that arms name into the spec's `servers`, and names their tools in the arms.

`tools: [{mcp: …}]` becomes the names `SERVER__TOOL`, and the server with its listing goes into `servers`:
from then on the spec says all that a model is offered, and no server is needed to read it.
"""

import json
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError

from gnomon.core.errors import SpecError
from gnomon.core.validation import StrictModel, first_validation_error
from gnomon.spec.endpoints import EndpointAllowlist, check_address
from gnomon.spec.size import MAX_BYTES
from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.servers.cassette import Cassette, CassetteError, open_cassette
from gnomon_tools.servers.listing import SEPARATOR, ListedTool, Listing
from gnomon_tools.servers.server_spec import MAX_SERVER_NAME, NAME_PATTERN, ToolServer

FORMS = {  # what a part of a server must be
    "mcp": '{command: ["npx", "-y", "my-server"]} or {url: "https://…"}',
    "mcp.command": 'a list of words, such as ["npx", "-y", "my-server"]',
}
ALLOWED_COMMANDS_ENV = "GNOMON_ALLOWED_COMMANDS"
MAX_SERVERS = 20
DEFINES = ("mcp", "openapi", "fill", "limits")

Commands = tuple[tuple[str, ...], ...]
ListTools = Callable[[str, ToolServer], Listing]


class ToolsEntry(StrictModel):
    """A server in an arm's list of tools, and which of its tools the arm has."""

    model_config = ConfigDict(title="ServerToolsSpec")

    server: str | None = Field(default=None, description="Name of a server under `servers`.")
    name: str | None = Field(
        default=None,
        max_length=MAX_SERVER_NAME,
        pattern=NAME_PATTERN,
        description="What the server is called here; null: a name made of its command or host.",
    )
    include: list[str] | None = Field(
        default=None, max_length=1_000, description="Its tools that the arm has, `*` for any; null: all."
    )
    exclude: list[str] = Field(
        default_factory=list, max_length=1_000, description="Its tools that the arm does not have."
    )


def parse_commands(text: str) -> Commands:
    """Read GNOMON_ALLOWED_COMMANDS: command lines, separated by semicolons.

    >>> parse_commands("uvx mcp-server-time; /opt/tools/serve --read-only")
    (('uvx', 'mcp-server-time'), ('/opt/tools/serve', '--read-only'))

    Raises:
        SpecError: an entry is no command line.
    """
    try:
        entries = [tuple(shlex.split(entry)) for entry in text.split(";")]
    except ValueError as error:
        raise SpecError(f"no command line: {error}", field=ALLOWED_COMMANDS_ENV) from None
    return tuple(entry for entry in entries if entry)


def check_command(argv: Sequence[str], allowed: Commands, *, is_trusted: bool, field: str) -> None:
    """Refuse a command that the operator has not allowed: an allowed entry is its beginning, word by word.

    `is_trusted` holds for the command line alone: who types there may run anything anyway.

    Raises:
        SpecError: the command begins like no allowed one.
    """
    if is_trusted or any(tuple(argv[: len(entry)]) == entry for entry in allowed):
        return
    names = "; ".join(map(shlex.join, allowed)) or "none"
    raise SpecError(
        f"{shlex.join(argv)!r} may not be run here; who runs the service allows commands: {names} "
        f"({ALLOWED_COMMANDS_ENV})",
        field=field,
    )


def check_server(
    server: ToolServer,
    *,
    commands: Commands,
    endpoints: EndpointAllowlist,
    is_request: bool,
    is_trusted: bool,
    field: str,
) -> None:
    """Refuse a server whose command or address the operator has not allowed.

    Raises:
        SpecError: names the field and what is allowed.
    """
    if server.mcp is not None and server.mcp.command is not None:
        inner = f"{field}.mcp"
        check_command(server.mcp.command, commands, is_trusted=not is_request, field=f"{inner}.command")
        for name in ("env", "env_from", "cwd", "files"):
            if is_request and getattr(server.mcp, name):
                message = "not permitted over REST; allowed: a command of the operator's that sets it itself"
                raise SpecError(message, field=f"{inner}.{name}")
    elif server.mcp is not None:
        check_address(
            str(server.mcp.url),
            server.mcp.token_env,
            endpoints,
            is_trusted=is_trusted,
            field=f"{field}.mcp.url",
            key_field=f"{field}.mcp.token_env",
        )
    elif server.openapi is not None:
        for name, address in (("document", server.openapi.document), ("url", server.openapi.url or "")):
            if "://" in address:
                check_address(
                    address,
                    server.openapi.token_env,
                    endpoints,
                    is_trusted=is_trusted,
                    field=f"{field}.openapi.{name}",
                    key_field=f"{field}.openapi.token_env",
                )


def check_servers(servers: Mapping[str, ToolServer], endpoints: EndpointAllowlist) -> None:
    """Refuse servers of a stored job at addresses that may not be called from here.

    Raises:
        SpecError: names the server and what is allowed.
    """
    for name, server in servers.items():
        check_server(
            server,
            commands=(),
            endpoints=endpoints,
            is_request=False,
            is_trusted=True,
            field=f"servers.{name}",
        )


def lift_servers(
    written: Mapping[str, Any],
    *,
    check: Callable[[ToolServer, str], None],
    list_tools: ListTools | None,
    find_file: Callable[[str, str], Path],
    is_request: bool,
) -> dict[str, Any]:
    """The spec with the servers of its arms or preset options under `servers`, and their tools in the arms.

    `check` refuses a server before it is started, by the field that names it; `find_file` finds a cassette.
    Servers whose calls are all answered from a cassette are taken from it, and not started.

    Raises:
        SpecError: a server is not written as it must be, is not allowed or cannot be listed, or has no such
            tool.
    """
    if "arms" not in written:
        return dict(written)
    with_cassette = partial(_with_cassette, find_file=find_file, is_request=is_request)
    written = {**written, "arms": _changed(written["arms"], with_cassette)}
    entries = list(_entries(written["arms"]))
    by_hand = written.get("servers")
    if not by_hand and not any(isinstance(tool, Mapping) for entry in entries for tool in entry.tools):
        return written
    lifting = _Lifting(check=check, list_tools=list_tools, find_file=find_file, is_request=is_request)
    if by_hand is not None and not isinstance(by_hand, Mapping):
        raise SpecError("must be a mapping of names to servers", field="servers")
    for name, definition in (by_hand or {}).items():
        lifting.add_named(str(name), definition)
    lifted = {entry.field: lifting.names(entry) for entry in entries}
    used = {name for names in lifted.values() for name in names if isinstance(name, str)}
    live = {name for entry in entries if entry.cassette is None for name in map(str, lifted[entry.field])}

    def with_tools(holder: Mapping[str, Any], at: str) -> Mapping[str, Any]:
        return {**holder, "tools": lifted[f"{at}.tools"]} if f"{at}.tools" in lifted else holder

    arms = _changed(written["arms"], with_tools)
    return {**written, "arms": arms, "servers": lifting.frozen(used, live)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A list of tools, of an arm or of a preset's options, and the cassette that answers its calls."""

    field: str
    tools: list[Any]
    cassette: Cassette | None


def _changed(arms: Any, change: Callable[[Mapping[str, Any], str], Mapping[str, Any]]) -> Any:
    """Arms, or options of a preset, each changed by its own field; what is neither stays."""
    if isinstance(arms, Mapping):
        return change(arms, "arms")
    if not isinstance(arms, list):
        return arms
    return [change(arm, f"arms.{at}") if isinstance(arm, Mapping) else arm for at, arm in enumerate(arms)]


def _with_cassette(
    arm: Mapping[str, Any], at: str, *, find_file: Callable[[str, str], Path], is_request: bool
) -> Mapping[str, Any]:
    """An arm with the path of its cassette spelled out and the hash of what that holds."""
    use, field = arm.get("cassette"), f"{at}.cassette"
    if not isinstance(use, Mapping):
        return arm
    if isinstance(use.get("record"), str):
        if is_request:
            message = "no file is written for a request; allowed: GET /v1/jobs/{id}/cassette at its end"
            raise SpecError(message, field=f"{field}.record")
        return {**arm, "cassette": {**use, "record": str(Path(use["record"]).absolute())}}
    if isinstance(use.get("replay"), str):
        path = find_file(use["replay"], f"{field}.replay")
        cassette = _opened(path, use.get("sha256"), f"{field}.replay")
        return {**arm, "cassette": {**use, "replay": str(path), "sha256": cassette.sha256}}
    return arm


def _opened(path: Path, sha256: object, field: str) -> Cassette:
    try:
        return open_cassette(path, sha256 if isinstance(sha256, str) else None)
    except CassetteError as error:
        raise SpecError(str(error), field=field) from None


def _entries(arms: object) -> Iterator[_Entry]:
    """The lists of tools of arms, or of a preset's options."""
    holders = {"arms": arms} if isinstance(arms, Mapping) else {}
    if isinstance(arms, list):
        holders = {f"arms.{at}": arm for at, arm in enumerate(arms) if isinstance(arm, Mapping)}
    for field, holder in holders.items():
        tools = holder.get("tools")
        tools = [tools] if isinstance(tools, Mapping) else tools
        if isinstance(tools, list):
            use = holder.get("cassette")
            path = use.get("replay") if isinstance(use, Mapping) else None
            cassette = _opened(Path(path), None, field) if isinstance(path, str) else None
            yield _Entry(field=f"{field}.tools", tools=tools, cassette=cassette)


class _Lifting:
    def __init__(
        self,
        *,
        check: Callable[[ToolServer, str], None],
        list_tools: ListTools | None,
        find_file: Callable[[str, str], Path],
        is_request: bool,
    ) -> None:
        self._check, self._list_tools = check, list_tools
        self._find_file, self._is_request = find_file, is_request
        self._servers: dict[str, ToolServer] = {}
        self._listings: dict[str, Listing] = {}
        self._fields: dict[str, str] = {}  # that name each server

    def add_named(self, name: str, written: object) -> None:
        field = f"servers.{name}"
        try:
            ToolsEntry(name=name)
        except ValidationError:
            message = f"{name!r} is no name of a server; allowed: lower-case letters, digits and single `_`"
            raise SpecError(f"{message}, up to {MAX_SERVER_NAME} characters", field="servers") from None
        self._add(name, self._read(written, field), field)

    def names(self, entry: _Entry) -> list[Any]:
        """The list with names of tools in place of servers."""
        names: list[Any] = []
        for at, tool in enumerate(entry.tools):
            if isinstance(tool, Mapping):
                names += self._of_server(tool, f"{entry.field}.{at}", entry.cassette)
            elif tool == "all" and len(entry.tools) > 1:
                names += TOOLS.working_names()
            else:
                names.append(tool)
        return names

    def frozen(self, used: Collection[str], live: Collection[str]) -> dict[str, Any]:
        """The servers as plain data, each with the listing of the tools that are used; those with tools that
        are called `live` must be allowed.
        """
        servers: dict[str, Any] = {}
        for name, server in self._servers.items():
            listing = self._listings[name].limited_to(used)
            if any(tool.shown in live for tool in listing.tools):
                self._check(server, self._fields[name])
            if not listing.tools:
                raise SpecError("no arm has a tool of this server", field=f"servers.{name}")
            plain = server.model_copy(update={"listing": listing})
            servers[name] = plain.model_dump(mode="json")
        size = len(json.dumps(servers))
        if size > MAX_BYTES:
            message = f"the tools of its servers take {size:,} bytes; allowed: {MAX_BYTES:,}, by `include`"
            raise SpecError(message, field="servers")
        return servers

    def _of_server(self, entry: Mapping[str, Any], field: str, cassette: Cassette | None) -> list[str]:
        defining = {key: value for key, value in entry.items() if key in DEFINES}
        try:
            choice = ToolsEntry.model_validate({k: v for k, v in entry.items() if k not in DEFINES})
        except ValidationError as error:
            fault = first_validation_error(error, ToolsEntry)
            raise SpecError(fault.message, field=f"{field}.{fault.field}") from None
        if choice.server is not None:
            if defining or choice.name:
                raise SpecError("`server` names one that is defined under `servers`", field=field)
            if cassette and choice.server in cassette.servers and choice.server not in self._servers:
                self._add(choice.server, cassette.servers[choice.server], field)
            if choice.server not in self._servers:
                there_are = ", ".join(self._servers) or "none"
                raise SpecError(
                    f"no server {choice.server!r}; there are: {there_are}", field=f"{field}.server"
                )
            name = choice.server
        else:
            name = self._named(self._read(defining, field), choice.name, field, cassette)
        return [tool.shown for tool in _chosen(self._listings[name], choice, field)]

    def _read(self, written: object, field: str) -> ToolServer:
        try:
            server = ToolServer.model_validate(written)
        except ValidationError as error:
            fault = first_validation_error(error, ToolServer, forms=FORMS)
            where = f"{field}.{fault.field}" if fault.field and fault.field.isidentifier() else field
            if "." in fault.field:
                where = f"{field}.{fault.field}"
            raise SpecError(fault.message, field=where) from None
        if server.openapi is not None and "://" not in server.openapi.document and server.listing is None:
            path = self._find_file(server.openapi.document, f"{field}.openapi.document")
            interface = server.openapi.model_copy(update={"document": str(path)})
            return server.model_copy(update={"openapi": interface})
        return server if self._is_request else _with_absolute_paths(server)

    def _named(self, server: ToolServer, name: str | None, field: str, cassette: Cassette | None) -> str:
        for known, other in self._servers.items():
            if _is_same(other, server) and name in (None, known):
                return known
        if cassette is not None:
            recorded = _recorded_as(server, name, cassette)
            if recorded is not None:
                listing = cassette.servers[recorded].listing
                self._add(recorded, server.model_copy(update={"listing": listing}), field)
                return recorded
            there_are = ", ".join(f"{known} ({other.where()})" for known, other in cassette.servers.items())
            raise SpecError(f"the cassette holds no such server; it holds: {there_are}", field=field)
        if name is not None and name in self._servers:
            raise SpecError(f"{name!r} is another server already", field=f"{field}.name")
        free = name or server.default_name()
        number = 2
        while free in self._servers:
            free = f"{server.default_name()[: MAX_SERVER_NAME - 3]}_{number}"
            number += 1
        self._add(free, server, field)
        return free

    def _add(self, name: str, server: ToolServer, field: str) -> None:
        if len(self._servers) == MAX_SERVERS:
            raise SpecError(f"has more than {MAX_SERVERS} servers", field="servers")
        listing = server.listing
        if listing is None:
            if self._list_tools is None:
                raise SpecError("cannot be listed here", field=field)
            self._check(server, field)
            try:
                listing = self._list_tools(name, server)
            except ServerFault as fault:
                raise SpecError(str(fault), field=field) from None
        if not listing.tools:
            raise SpecError(f"the server {name} lists no tool", field=field)
        route = listing.tools[0].route
        if server.openapi is not None and server.openapi.url is None and route is not None:
            interface = server.openapi.model_copy(update={"url": str(route["url"])})
            server = server.model_copy(update={"openapi": interface})
            if server.listing is None:  # the document names the address, which must be allowed as any
                self._check(server, field)
        self._fields[name] = field
        self._servers[name] = server.model_copy(update={"listing": None})
        self._listings[name] = listing


def _recorded_as(server: ToolServer, name: str | None, cassette: Cassette) -> str | None:
    """The name under which a cassette holds the server: the one that it is given, else that of the same
    definition, else of one that would be called the same, as paths differ between machines.
    """
    if name is not None:
        return name if name in cassette.servers else None
    for is_it in (
        lambda other: _is_same(other, server),
        lambda other: other.default_name() == server.default_name(),
    ):
        for known, other in cassette.servers.items():
            if is_it(other):
                return known
    return None


def _is_same(one: ToolServer, other: ToolServer) -> bool:
    """Whether two definitions mean one server: limits, and what a cassette leaves out of it, do not count."""
    return _identity(one) == _identity(other)


def _identity(server: ToolServer) -> object:
    if server.mcp is not None:
        mcp = server.mcp
        return server.fill, mcp.command, mcp.url, mcp.cwd, sorted(mcp.env), mcp.env_from, mcp.files
    interface = server.openapi
    return server.fill, interface.document if interface else "", interface.writes if interface else False


def _chosen(listing: Listing, choice: ToolsEntry, field: str) -> list[ListedTool]:
    """The tools of the listing that an entry includes and does not exclude."""
    for kind, patterns in (("include", choice.include or []), ("exclude", choice.exclude)):
        for pattern in patterns:
            if not any(_matches(tool, [pattern]) for tool in listing.tools):
                there_are = ", ".join(tool.name for tool in listing.tools[:40])
                raise SpecError(f"no tool {pattern!r}; there are: {there_are}", field=f"{field}.{kind}")
    chosen = [
        tool
        for tool in listing.tools
        if (choice.include is None or _matches(tool, choice.include)) and not _matches(tool, choice.exclude)
    ]
    if not chosen:
        raise SpecError("leaves no tool of the server", field=field)
    return chosen


def _matches(tool: ListedTool, patterns: Sequence[str]) -> bool:
    names = (tool.name, tool.shown, tool.shown.partition(SEPARATOR)[2])
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


def _with_absolute_paths(server: ToolServer) -> ToolServer:
    """The server with the paths of its command spelled out, as it starts in a folder of its own: words that
    name an existing file or folder by a `/` or a `.`, as in `./data` and `server.py`.
    """
    if server.mcp is None or server.mcp.command is None:
        return server
    mcp = server.mcp
    command = [_absolute(word) for word in server.mcp.command]
    changes: dict[str, Any] = {
        "command": command,
        "files": [str(Path(file).absolute()) for file in mcp.files],
    }
    if mcp.cwd:
        changes["cwd"] = str(Path(mcp.cwd).absolute())
    return server.model_copy(update={"mcp": mcp.model_copy(update=changes)})


def _absolute(word: str) -> str:
    if ("/" not in word and "." not in word) or word.startswith(("/", "-", "@")):
        return word
    try:
        is_path = word.startswith(("./", "../")) or Path(word).exists()
        return str(Path(word).absolute()) if is_path else word
    except OSError:
        return word
