"""Scaffold: the same tools in another agent's loop."""

from pydantic import Field

from gnomon.benchmark import Benchmark
from gnomon.preset import Plan, Preset, PresetOptions, contrast


class ScaffoldOptions(PresetOptions):
    """`agents`: the first is the baseline of the others. `agent` is not looked at."""

    agents: list[str] = Field(default_factory=lambda: ["react", "text-react", "plan"], min_length=2)


def plan(options: ScaffoldOptions, _: Benchmark) -> Plan:
    """One arm an agent, all with the same tools and limits."""
    first, *others = dict.fromkeys(options.agents)
    return Plan(
        arms=tuple(options.with_tools(agent, agent=agent) for agent in (first, *others)),
        contrasts=tuple(contrast(first, agent, f"{agent} instead of {first}", "agent") for agent in others),
    )


scaffold = Preset(
    name="scaffold",
    description="Gives the same tools to other agents: how much hangs on the loop around the model.",
    options=ScaffoldOptions,
    plan=plan,
)
