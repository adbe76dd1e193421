"""What a package adds to the service: routes, pages, things to call tools on, and tools for `gnomon mcp`.

An extension is found by its entry point, `gnomon.extensions`. What it holds is made when it is needed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon_tools.core.inputs import Need
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.tool import ToolContext

if TYPE_CHECKING:
    from fastapi import APIRouter

    from gnomon_tools.mcp_server.offer import ServedTool


class NavigationEntry(NamedTuple):
    """A word in the navigation of all pages, its address, and the beginnings of the addresses below it."""

    word: str
    href: str
    below: tuple[str, ...]


class OpenedInput(NamedTuple):
    """What a tool can be called on: its title, and the context with it.

    `text` is what a client reads of it as JSON; empty for a scene, of which it reads the GeoJSON.
    """

    title: str
    context: ToolContext
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """Inputs of one kind that tools can be called on without any job.

    `choices` are their names in words by key; `open` is what a key names, None where it names none of these;
    `read` makes one of the value of a JSON file, None where it is none. `more` says in a few words which keys
    it knows beside the choices.
    """

    kind: Need
    choices: Mapping[str, str]
    open: Callable[[str], OpenedInput | None]
    read: Callable[[object], OpenedInput | None] = lambda _: None
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """`folders` hold `templates` and `static` files of its pages. Routes need the key of the API, if it has
    one. A tool for `gnomon mcp` takes the place of a tool of the same name.
    """

    name: str
    description: str
    routers: Callable[[], Sequence["APIRouter"]] = tuple
    navigation: tuple[NavigationEntry, ...] = ()
    folders: tuple[Path, ...] = ()
    inputs: tuple[InputSource, ...] = ()
    mcp_tools: Callable[[], Sequence["ServedTool"]] = tuple
    mcp_instructions: str = ""


EXTENSIONS: Registry[Extension] = Registry(
    "", "extension", group="gnomon.extensions", accepts=lambda item: isinstance(item, Extension)
)


def input_sources() -> tuple[InputSource, ...]:
    """The sources of all extensions."""
    return tuple(source for extension in EXTENSIONS for source in extension.inputs)
