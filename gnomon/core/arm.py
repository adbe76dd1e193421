"""Arm: one condition of an ablation."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

from gnomon.core.message import ToolChoice
from gnomon.core.sample import SHOWABLE, Shown
from tools.core.tool import Tool, contract_hash
from tools.core.toolbox import TOOLS

Results = Literal["live", "neutral"]
FaultKind = Literal["explicit", "silent"]
Lasting = Literal["transient", "permanent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Tools that fail on purpose.

    `explicit` faults are errors the model can read; `silent` ones are plausible results about the wrong
    cameras and places, or with a wrong scale and a wrong north. `rate` is the share of calls that is hit
    (transient: each call anew) or the chance of each tool to be broken for the whole trial (permanent).
    """

    kind: FaultKind
    lasting: Lasting
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Who answers, with which tools, within which limits, what the prompt shows, and what is perturbed."""

    name: str
    agent: str
    tools: tuple[str, ...] = ()
    tool_choice: ToolChoice = "auto"
    max_turns: int = 24
    max_tool_calls: int = 12
    max_tokens: int | None = None  # prompt and completion, over the trial
    max_usd: float | None = None
    show: tuple[Shown, ...] = SHOWABLE
    results: Results = "live"  # neutral: calls are checked, but every result says that nothing is known
    faults: Faults | None = None
    frozen_toolset_hash: str = ""  # the contract at the time the job was frozen; empty: never frozen

    def toolset(self) -> tuple[Tool[Any], ...]:
        """The arm's tools, in the order of their names."""
        return _toolset(tuple(sorted(self.tools)))

    @property
    def toolset_hash(self) -> str:
        """Hash of what the model is offered: names, schemas and descriptions of the tools."""
        return _contract(tuple(sorted(self.tools)))

    @property
    def toolset_unchanged(self) -> bool:
        """Whether its tools are still offered as they were when the job was frozen."""
        return self.frozen_toolset_hash in ("", self.toolset_hash)


@lru_cache(maxsize=1024)
def _toolset(names: tuple[str, ...]) -> tuple[Tool[Any], ...]:
    return tuple(TOOLS.get(name) for name in names)


@lru_cache(maxsize=1024)
def _contract(names: tuple[str, ...]) -> str:
    return contract_hash(_toolset(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field in which two arms differ, with its value in each as plain data."""

    field: str
    baseline: Any
    variant: Any


def diff(baseline: Arm, variant: Arm) -> tuple[Difference, ...]:
    """Everything but the name in which two arms differ; the order of tools and of what is shown is nothing.

    `contract` stands among the fields where the same tools were frozen with other schemas or descriptions.

    >>> raw, tools = Arm(name="raw", agent="direct"), Arm(name="tools", agent="react", tools=("speed",))
    >>> [(one.field, one.baseline, one.variant) for one in diff(raw, tools)]
    [('agent', 'direct', 'react'), ('tools', [], ['speed'])]
    """
    left, right = asdict(baseline), asdict(variant)
    names = [name for name in left if name not in ("name", "frozen_toolset_hash")]
    found = [
        Difference(field=name, baseline=_plain(left[name]), variant=_plain(right[name]))
        for name in names
        if _plain(left[name]) != _plain(right[name])
    ]
    pins = (baseline.frozen_toolset_hash, variant.frozen_toolset_hash)
    if set(baseline.tools) == set(variant.tools) and all(pins) and pins[0] != pins[1]:
        found.append(Difference(field="contract", baseline=pins[0], variant=pins[1]))
    return tuple(found)


def differences(one: Arm, other: Arm) -> list[str]:
    """The names of the fields of `diff`.

    >>> differences(Arm(name="a", agent="direct"), Arm(name="b", agent="react", tools=()))
    ['agent']
    """
    return [found.field for found in diff(one, other)]


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
