"""Arm presets: a question about tools, as a set of arms with the contrasts that answer it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import Field, ValidationError, field_validator

from gnomon.core.agent import AGENTS, runs_tools
from gnomon.core.arm import Arm, CassetteUse, Contrast
from gnomon.core.benchmark import BENCHMARKS, Benchmark
from gnomon.core.errors import SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.outside_agent import AnyAgent, OutsideAgent
from gnomon.core.sample import SHOWABLE, Shown
from gnomon.core.tool_inputs import usable_tools
from gnomon.core.validation import StrictModel, first_validation_error
from gnomon.spec.analysis_spec import AttributionSpec
from gnomon_tools.core.plugin_code import contained
from gnomon_tools.core.registry import Registry, UnknownPlugin, choices
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.servers.listing import SEPARATOR

MAX_GROUP_NAME = 80  # characters, as of an arm's name


class PresetOptions(StrictModel):
    """What every preset takes: the agent, its tools and limits, and what the prompt shows.

    `tools: all` are those that the benchmark's samples can serve.
    """

    agent: AnyAgent = "react"
    tools: list[str] = Field(default_factory=lambda: list(TOOLS.working_names()), min_length=1)
    max_turns: int = Field(default=24, ge=1, le=1000)
    max_tool_calls: int = Field(default=12, ge=0, le=1000)
    max_tokens: int | None = Field(default=None, gt=0)
    max_usd: float | None = Field(default=None, gt=0)
    show: list[Shown] = Field(default_factory=lambda: list(SHOWABLE))
    cassette: CassetteUse | None = None

    @field_validator("tools")
    @classmethod
    def _exist(cls, tools: list[str]) -> list[str]:
        for name in tools:
            if name not in TOOLS and SEPARATOR not in name:  # those of servers are looked at later
                raise ValueError(f"no tool {name!r}; there are: {', '.join(TOOLS.names())}")
        return sorted(set(tools))

    @property
    def has_outside_agent(self) -> bool:
        """Whether the agent's loop is not ours: it is handed tools, and calls them or not as it likes."""
        return isinstance(self.agent, OutsideAgent)

    def arm(self, name: str, **changes: Any) -> Arm:
        """An arm with these options, but for `changes`; without tools unless these give some."""
        common: dict[str, Any] = {
            "agent": self.agent,
            "max_turns": self.max_turns,
            "max_tool_calls": self.max_tool_calls,
            "max_tokens": self.max_tokens,
            "max_usd": self.max_usd,
            "show": tuple(self.show),
            **({"cassette": self.cassette} if self.cassette else {}),
        }
        return Arm(name=name, **{**common, **changes})

    def with_tools(self, name: str, **changes: Any) -> Arm:
        """An arm with these options and all their tools, but for `changes`."""
        return self.arm(name, **{"tools": tuple(self.tools), **changes})


class GroupedOptions(PresetOptions):
    """Options of presets that take tools away or add them in groups: by default each tool is one."""

    groups: dict[str, list[str]] = Field(default_factory=dict)

    @field_validator("groups")
    @classmethod
    def _disjoint(cls, groups: dict[str, list[str]]) -> dict[str, list[str]]:
        grouped: set[str] = set()
        for name, tools in groups.items():
            if len(name) > MAX_GROUP_NAME:
                raise ValueError(f"a group's name has {len(name)} characters; allowed: {MAX_GROUP_NAME}")
            for tool in tools:
                if tool not in TOOLS and SEPARATOR not in tool:
                    raise ValueError(f"no tool {tool!r}; there are: {', '.join(TOOLS.names())}")
                if tool in grouped:
                    raise ValueError(f"{tool!r} is in two groups")
                grouped.add(tool)
            if not tools:
                raise ValueError(f"{name!r} is empty")
        return {name: sorted(groups[name]) for name in sorted(groups)}

    def players(self) -> dict[str, list[str]]:
        """The groups by name; without any, each tool by itself."""
        return self.groups or {name: [name] for name in self.tools}

    def coalition(self, joined: Collection[str]) -> Arm:
        """The arm with the tools of these groups, named by them or, where that is shorter, by the others."""
        players = self.players()
        tools = tuple(tool for name in sorted(joined) for tool in players[name])
        return self.arm(coalition_name(joined, players), tools=tools)


def coalition_name(joined: Collection[str], players: Collection[str]) -> str:
    """A short name of a set of tools among all.

    >>> [coalition_name(joined, "abc") for joined in ("", "a", "bc", "abc")]
    ['none', 'only a', 'all but a', 'all']
    """
    others = sorted(set(players) - set(joined))
    if not joined or not others:
        return "all" if joined else "none"
    few = len(joined) <= len(others)
    name = f"only {' + '.join(sorted(joined))}" if few else f"all but {' + '.join(others)}"
    return name if len(name) <= 80 else f"{len(joined)} tools {stable_hash(sorted(joined), size=8)}"


def contrast(baseline: str, variant: str, isolates: str, *factor: str, is_primary: bool = False) -> Contrast:
    """A contrast, short enough for a table of them."""
    return Contrast(baseline=baseline, variant=variant, isolates=isolates, factor=factor, primary=is_primary)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPlan:
    """What a preset makes of its options: arms, contrasts, and what it could not offer here (`notes`).

    `chain` are arms that a waterfall climbs one after the other; `attribution` asks for Shapley values.
    """

    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    chain: tuple[str, ...] = ()
    attribution: AttributionSpec | None = None
    notes: tuple[str, ...] = ()


def steps_to_live(
    options: PresetOptions, *, placebo: str, primary: bool
) -> tuple[list[Arm], list[Contrast], list[str], list[str]]:
    """The steps between the arms `raw` and `live`: their arms, contrasts, the whole chain, and notes.

    `schema_only` lists the tools and forbids calls, `placebo` answers them with results about something else.
    An agent from outside cannot be forbidden to call: it goes from `raw` to `placebo` in one step.
    """
    placebo_arm = options.with_tools("placebo", results=placebo)
    says = contrast("placebo", "live", "what the tools say", "results")
    if options.has_outside_agent:
        both = contrast(
            "raw", "placebo", "the sight of tools and the calling", "tools", "results", is_primary=primary
        )
        note = "no schema_only arm: an agent from outside cannot be forbidden to call the tools it is handed"
        return [placebo_arm], [both, says], ["raw", "placebo", "live"], [note]
    return (
        [options.with_tools("schema_only", tool_choice="none"), placebo_arm],
        [
            contrast("raw", "schema_only", "the sight of tools", "tools", "tool_choice"),
            contrast("schema_only", "placebo", "the calling", "tool_choice", "results", is_primary=primary),
            says,
        ],
        ["raw", "schema_only", "placebo", "live"],
        [],
    )


O = TypeVar("O", bound=PresetOptions)  # noqa: E741 (O for options, as T for type)


class PresetPage(NamedTuple):
    """What the link to a page says, and its address below that of the job."""

    word: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset(Generic[O]):
    """Name, what it isolates in a sentence, its options, and how they become a plan.

    `example` holds options for documents and tests: those that have no default, and what keeps the arms few.
    `page` is the page that an extension has for each job of it.
    """

    name: str
    description: str
    options: type[O]
    plan: Callable[[O, Benchmark], ArmPlan]
    example: Mapping[str, Any] = field(default_factory=dict)
    page: PresetPage | None = None


PRESETS: Registry[Preset[Any]] = Registry(
    "gnomon.presets",
    "arm preset",
    dashes=False,
    group="gnomon.presets",
    accepts=lambda item: isinstance(item, Preset),
)


def expand_preset(written: Mapping[str, Any]) -> dict[str, Any]:
    """A spec whose `arms` name a preset, with the preset's arms and contrasts in its place.

    What the spec itself holds under `analysis` goes before the preset's.

    Raises:
        SpecError: the preset or benchmark does not exist, or the preset does not take these options.
    """
    options = dict(written["arms"])
    name = options.pop("preset", None)
    if not isinstance(name, str) or name not in PRESETS:
        there_are = choices(str(name), PRESETS.names(), may_be_yours=True)
        raise SpecError(f"no preset {name!r}; {there_are}; or list the arms one by one", field="arms.preset")
    analysis = written.get("analysis") or {}
    if not isinstance(analysis, dict):
        raise SpecError("a mapping of fields, please", field="analysis")
    plan = plan_arms(name, options, benchmark=str(written.get("benchmark")))
    return {
        **written,
        "arms": [arm.model_dump(mode="json") for arm in plan.arms],
        "analysis": {**_analysis(name, plan), **analysis},
    }


def plan_arms(name: str, options: Mapping[str, Any], *, benchmark: str) -> ArmPlan:
    """The plan of the preset `name`.

    Raises:
        SpecError: the benchmark does not exist, or the preset does not take these options.
    """
    try:
        plugin = BENCHMARKS.get(benchmark)
    except UnknownPlugin as error:
        raise SpecError(str(error), field="benchmark") from None
    return plan_of(PRESETS.get(name), options, plugin)


def plan_of(preset: Preset[Any], options: Mapping[str, Any], plugin: Benchmark) -> ArmPlan:
    """The plan of a preset.

    Raises:
        SpecError: the preset does not take these options.
    """
    if options.get("tools", "all") == "all":
        options = {**options, "tools": usable_tools(plugin)}
    try:
        read = preset.options.model_validate(dict(options))
    except ValidationError as error:
        fault = first_validation_error(error, preset.options)
        raise SpecError(fault.message, field=f"arms.{fault.field}") from None
    with contained():
        plan = preset.plan(read, plugin)
    _check_agent(plan, read)
    return plan


def _check_agent(plan: ArmPlan, options: PresetOptions) -> None:
    """Refuses an agent that runs no tools where arms of the preset have tools to call: no contrast of theirs
    would say anything.
    """
    for arm in plan.arms:
        calls = bool(arm.tools) and arm.tool_choice != "none" and arm.agent == options.agent
        if calls and not runs_tools(arm):
            agents = sorted(name for name in AGENTS.names() if AGENTS.get(name).uses_tools)
            message = f"{arm.agent_label!r} runs no tools, which {arm.name!r} is about"
            raise SpecError(f"{message}; allowed: {', '.join(agents)}", field="arms.agent")


def _analysis(name: str, plan: ArmPlan) -> dict[str, Any]:
    return {
        "preset": name,
        "contrasts": [contrast.model_dump(mode="json") for contrast in plan.contrasts],
        "chain": list(plan.chain),
        "notes": list(plan.notes),
        "attribution": plan.attribution.model_dump() if plan.attribution else None,
    }
