"""Preset: a question about tools, as a set of arms with the contrasts that answer it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import Field, ValidationError, field_validator

from gnomon.analysis import AttributionSpec, ContrastSpec
from gnomon.arm import Arm
from gnomon.arm_spec import ArmSpec
from gnomon.benchmark import BENCHMARKS, Benchmark
from gnomon.contrast import Contrast
from gnomon.errors import SpecError
from gnomon.sample import SHOWABLE, Shown
from gnomon.spec_fault import first_fault
from gnomon.strict import Strict
from tools.core.registry import Registry, UnknownPlugin
from tools.core.toolbox import TOOLS


class PresetOptions(Strict):
    """What every preset takes: the agent, its tools and limits, and what the prompt shows."""

    agent: str = "react"
    tools: list[str] = Field(default_factory=lambda: list(TOOLS.names()), min_length=1)
    max_turns: int = Field(default=24, ge=1, le=1000)
    max_tool_calls: int = Field(default=12, ge=0, le=1000)
    max_tokens: int | None = Field(default=None, gt=0)
    max_usd: float | None = Field(default=None, gt=0)
    show: list[Shown] = Field(default_factory=lambda: list(SHOWABLE))

    @field_validator("tools", mode="before")
    @classmethod
    def _all_by_name(cls, tools: object) -> object:
        return list(TOOLS.names()) if tools == "all" else tools

    @field_validator("tools")
    @classmethod
    def _exist(cls, tools: list[str]) -> list[str]:
        for name in tools:
            if name not in TOOLS.names():
                raise ValueError(f"no tool {name!r}; there are: {', '.join(TOOLS.names())}")
        return sorted(set(tools))

    def arm(self, name: str, **changes: Any) -> Arm:
        """An arm with these options, but for `changes`; without tools unless these give some."""
        common: dict[str, Any] = {
            "agent": self.agent,
            "max_turns": self.max_turns,
            "max_tool_calls": self.max_tool_calls,
            "max_tokens": self.max_tokens,
            "max_usd": self.max_usd,
            "show": tuple(self.show),
        }
        return Arm(name=name, **{**common, **changes})

    def with_tools(self, name: str, **changes: Any) -> Arm:
        """An arm with these options and all their tools, but for `changes`."""
        return self.arm(name, **{"tools": tuple(self.tools), **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a preset makes of its options: arms, contrasts, and what it could not offer here (`notes`).

    `chain` are arms that a waterfall climbs one after the other; `attribution` asks for Shapley values.
    """

    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    chain: tuple[str, ...] = ()
    attribution: AttributionSpec | None = None
    notes: tuple[str, ...] = ()


O = TypeVar("O", bound=PresetOptions)  # noqa: E741 (O for options, as T for type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset(Generic[O]):
    """Name, what it isolates in a sentence, its options, and how they become a plan."""

    name: str
    description: str
    options: type[O]
    plan: Callable[[O, Benchmark], Plan]


PRESETS: Registry[Preset[Any]] = Registry("gnomon.presets", "arm preset", dashes=False)


def spelled_out(given: Mapping[str, Any]) -> dict[str, Any]:
    """A spec whose `arms` name a preset, with the preset's arms and contrasts in its place.

    What the spec itself says under `analysis` goes before the preset's.

    Raises:
        SpecError: no such preset or benchmark, or options that it does not take.
    """
    options = dict(given["arms"])
    name = options.pop("preset", None)
    if not isinstance(name, str) or name not in PRESETS.names():
        message = f"no preset {name!r}; there are: {', '.join(PRESETS.names())}; or list the arms one by one"
        raise SpecError(message, field="arms.preset")
    analysis = given.get("analysis") or {}
    if not isinstance(analysis, dict):
        raise SpecError("a mapping of fields, please", field="analysis")
    plan = planned(name, options, benchmark=str(given.get("benchmark")))
    return {
        **given,
        "arms": [ArmSpec.of(arm).model_dump(mode="json") for arm in plan.arms],
        "analysis": {**_analysis(name, plan), **analysis},
    }


def planned(name: str, options: Mapping[str, Any], *, benchmark: str) -> Plan:
    """The plan of the preset `name`.

    Raises:
        SpecError: no such benchmark, or options that the preset does not take.
    """
    try:
        plugin = BENCHMARKS.get(benchmark)
    except UnknownPlugin as error:
        raise SpecError(str(error), field="benchmark") from None
    preset = PRESETS.get(name)
    try:
        read = preset.options.model_validate(dict(options))
    except ValidationError as error:
        fault = first_fault(error, preset.options)
        raise SpecError(fault.message, field=f"arms.{fault.field}") from None
    return preset.plan(read, plugin)


def _analysis(name: str, plan: Plan) -> dict[str, Any]:
    contrasts = [
        ContrastSpec(
            baseline=one.baseline,
            variant=one.variant,
            isolates=one.isolates,
            factor=list(one.factor),
            primary=one.is_primary,
        ).model_dump()
        for one in plan.contrasts
    ]
    found: dict[str, Any] = {"preset": name, "contrasts": contrasts, "chain": list(plan.chain)}
    found["notes"] = list(plan.notes)
    found["attribution"] = plan.attribution.model_dump() if plan.attribution else None
    return found
