"""Leave one out: what each tool is worth when all others are there."""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, GroupedOptions, Preset, contrast


def plan(options: GroupedOptions, _: Benchmark) -> ArmPlan:
    """All tools, and all but each one."""
    players = options.players()
    full = options.coalition(players)
    lacking = {name: options.coalition(players.keys() - {name}) for name in players}
    return ArmPlan(
        arms=(full, *lacking.values()),
        contrasts=tuple(
            contrast(arm.name, full.name, f"{name}, given all others", "tools")
            for name, arm in lacking.items()
        ),
    )


leave_one_out = Preset(
    name="leave_one_out",
    description="Takes each tool away from the full set: which of them cannot be spared.",
    options=GroupedOptions,
    plan=plan,
)
