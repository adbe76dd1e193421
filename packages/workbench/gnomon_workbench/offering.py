"""Defines what a package adds to the workbench, to call tools on and to serve by `gnomon mcp`.

An offering is found by its entry point, `gnomon.offerings`. What it holds is made when it is needed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gnomon_tools.core.inputs import Need
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.tool import ToolContext

if TYPE_CHECKING:
    from gnomon_workbench.mcp_server.offer import ServedTool


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
class Offering:
    """A tool for `gnomon mcp` takes the place of a tool of the same name."""

    name: str
    description: str
    inputs: tuple[InputSource, ...] = ()
    mcp_tools: Callable[[], Sequence["ServedTool"]] = tuple
    mcp_instructions: str = ""


OFFERINGS: Registry[Offering] = Registry(
    "", "offering", group="gnomon.offerings", accepts=lambda item: isinstance(item, Offering)
)


def input_sources() -> tuple[InputSource, ...]:
    """The sources of all offerings."""
    return tuple(source for offering in OFFERINGS for source in offering.inputs)
