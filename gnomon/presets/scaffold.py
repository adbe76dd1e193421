"""Gives the same tools to other agents: how much depends on the loop around the model.

All agents have the same tools and limits; each is compared with the first.
"""

from pydantic import Field, field_validator

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


class ScaffoldOptions(PresetOptions):
    """`agents`: the first is the baseline of the others. `agent` is not looked at."""

    agents: list[str] = Field(default_factory=lambda: ["react", "text-react", "plan"], min_length=2)

    @field_validator("agents")
    @classmethod
    def _each_once(cls, agents: list[str]) -> list[str]:
        if len(set(agents)) < len(agents):
            raise ValueError(f"holds an agent twice: {', '.join(agents)}")
        return agents


def plan(options: ScaffoldOptions, _: Benchmark) -> ArmPlan:
    """One arm an agent, all with the same tools and limits."""
    first, *others = options.agents
    return ArmPlan(
        arms=tuple(options.with_tools(agent, agent=agent) for agent in (first, *others)),
        contrasts=tuple(contrast(first, agent, f"{agent} instead of {first}", "agent") for agent in others),
    )


scaffold = Preset(
    name="scaffold",
    description="Gives the same tools to other agents: how much depends on the loop around the model.",
    options=ScaffoldOptions,
    plan=plan,
)
