"""Arm: one condition of an ablation."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gnomon.message import ToolChoice
from gnomon.sample import SHOWABLE, Shown
from tools.core.tool import Tool, contract_hash
from tools.core.toolbox import TOOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Who answers, with which tools, within which limits, and what the prompt shows."""

    name: str
    agent: str
    tools: tuple[str, ...] = ()
    tool_choice: ToolChoice = "auto"
    max_turns: int = 24
    max_tool_calls: int = 12
    max_tokens: int | None = None  # prompt and completion, over the trial
    max_usd: float | None = None
    show: tuple[Shown, ...] = SHOWABLE

    def toolset(self) -> tuple[Tool[Any], ...]:
        """The arm's tools, in the order of their names."""
        return tuple(TOOLS.get(name) for name in sorted(self.tools))

    @property
    def contract(self) -> str:
        """Hash of what the model is offered: names, schemas and descriptions of the tools."""
        return contract_hash(self.toolset())


def differences(one: Arm, other: Arm) -> list[str]:
    """Everything but the name in which two arms differ, as field names.

    >>> differences(Arm(name="a", agent="direct"), Arm(name="b", agent="react", tools=()))
    ['agent']
    """
    left, right = asdict(one), asdict(other)
    return [key for key in left if key != "name" and _plain(left[key]) != _plain(right[key])]


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
