"""Shows an arm's tools under other names and in another order; behind the names they are the same tools."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gnomon.core.arm import Arm
from gnomon.core.ids import stable_hash
from gnomon.trials.condition import Condition, Situation
from gnomon_tools.core.inputs import Input
from gnomon_tools.core.toolbox import TOOLS, Observation, Toolbox, WrappedToolbox, unknown_tool
from gnomon_tools.servers.listing import SEPARATOR

OPAQUE = "tool_{number:02d}"
FOREIGN = "tool_{hash}"  # of a server: no list says which number it has
KEPT = 256


def presented(toolbox: Toolbox, arm: Arm, *, seed: int) -> Toolbox:
    """The toolbox as the arm shows it; itself where that is by name and under the tools' own names."""
    if arm.tool_names == "original" and arm.tool_order == "by_name":
        return toolbox
    return PresentedToolbox(toolbox, arm, seed=seed)


class PresentedToolbox(WrappedToolbox):
    """Any toolbox under other names. Traces and rows keep the tools' own names (`own_name`)."""

    def __init__(self, toolbox: Toolbox, arm: Arm, *, seed: int) -> None:
        super().__init__(toolbox)
        self._arm, self._seed = arm, seed
        self._shown = shown_names(arm.tools) if arm.tool_names == "renamed" else {}
        self._own = {shown: own for own, shown in self._shown.items()}
        self._present()

    def _present(self) -> None:
        names = tuple(sorted(self._shown.items()))
        schemas = self._toolbox.schemas
        if names:
            schemas = [self._renamed(schema, names) for schema in schemas]
        self.schemas = _ordered(schemas, self._arm, self._seed)

    def _renamed(self, schema: dict[str, Any], names: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        own = schema["function"]["name"]
        if SEPARATOR in own:  # a server's: no registry has it
            return _under(schema, self._shown[own], self._shown)
        return _renamed(own, names)

    def own_name(self, name: str) -> str:
        return self._own.get(name, name)

    def learn(self, value: Input) -> None:
        super().learn(value)
        self._present()

    def call(self, name: str, arguments: str) -> Observation:
        """Run the tool that is shown under this name; a tool that is renamed has its new name alone."""
        if not self._shown:
            return self._toolbox.call(name, arguments)
        if name not in self._own:
            return unknown_tool(name, [schema["function"]["name"] for schema in self.schemas])
        observation = self._toolbox.call(self._own[name], arguments)
        return replace(observation, content=_with_names(observation.content, self._shown))


def shown_names(tools: Sequence[str]) -> dict[str, str]:
    """The name under which each of these tools is shown: the synonym that its file gives, else its number.

    Numbers are those of all tools that there are, so that a tool has one name in all arms; others' tools come
    after ours, so that ours are called the same wherever more are installed.
    """
    numbers = {name: number for number, name in enumerate(TOOLS.own_names(), start=1)}
    if any(name not in numbers for name in tools):
        more = enumerate(TOOLS.outside_names(), start=len(numbers) + 1)
        numbers.update({name: number for number, name in more})
    own = {
        name: TOOLS.get(name).synonym or OPAQUE.format(number=numbers[name])
        for name in tools
        if name in numbers
    }
    return own | {name: FOREIGN.format(hash=stable_hash(name, size=4)) for name in tools if SEPARATOR in name}


def _ordered(schemas: list[dict[str, Any]], arm: Arm, seed: int) -> list[dict[str, Any]]:
    if arm.tool_order == "reversed":
        return schemas[::-1]
    if arm.tool_order == "shuffled":
        return random.Random(f"tool order {seed}").sample(schemas, len(schemas))
    return list(schemas)


@lru_cache(KEPT)
def _renamed(own: str, names: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """A tool's schema under its other name, with the others' in descriptions: one object for a process."""
    shown = dict(names)
    return _under(TOOLS.get(own).schema(), shown[own], shown)


def _under(schema: Mapping[str, Any], name: str, shown: Mapping[str, str]) -> dict[str, Any]:
    other: dict[str, Any] = json.loads(_with_names(json.dumps(schema), shown))
    other["function"]["name"] = name
    return other


def _with_names(text: str, shown: Mapping[str, str]) -> str:
    """The text with tools by their other names. A name without a `_` is a word like any other, and stays; so
    does one right before a quotation mark, as it may be that of a field.
    """
    names = [re.escape(name) for name in shown if "_" in name]
    if not names:
        return text
    return re.sub(rf"\b({'|'.join(names)})\b(?!\")", lambda match: shown[match[1]], text)


class ToolNames(Condition):
    """Tools under other names, in another order, or both."""

    name = "tool_names"
    description = "shows the tools under other names, or in another order"

    def is_of(self, arm: Arm) -> bool:
        return arm.tool_names != "original" or arm.tool_order != "by_name"

    def as_shown(self, toolbox: Toolbox, now: Situation) -> Toolbox:
        return presented(toolbox, now.arm, seed=now.seed)


tool_names = ToolNames()
